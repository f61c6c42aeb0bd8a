//! `provider/model?param=value`, as people write it.

use std::fmt;
use std::str::FromStr;

use crate::setup::SetupError;

/// A model and how it is to be called.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelName {
    /// The provider's name in the configuration.
    pub provider: String,
    /// The vendor's name of the model; may contain slashes and colons.
    pub model: String,
    /// How it is to be called.
    pub parameters: Parameters,
}

/// A model's name without the date or the `latest` that says which edition is meant.
pub(crate) fn family(model: &str) -> &str {
    let digits = |text: &str, count: usize| text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit());
    let tail = |text: &'_ str, count: usize| {
        text.rsplit_once(['-', '@']).filter(|(_, tail)| digits(tail, count)).map(|(head, _)| head.len())
    };
    let cut = |from: Option<usize>, count: usize| tail(model.get(..from?)?, count);
    let day = cut(Some(model.len()), 8);
    let dashed = cut(cut(cut(Some(model.len()), 2), 2), 4);
    let named = model.strip_suffix("-latest").map(str::len);
    day.or(dashed).or(named).and_then(|end| model.get(..end)).unwrap_or(model)
}

/// Call parameters; what is not set is the vendor's choice.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parameters {
    /// How freely the next token is drawn.
    pub temperature: Option<f64>,
    /// The share of likely tokens that are drawn from.
    pub top_p: Option<f64>,
    /// Most tokens of one answer.
    pub max_tokens: Option<u64>,
    /// How much to think: one of [`Parameters::EFFORTS`].
    pub reasoning: Option<String>,
    /// For answers that can be repeated, where the vendor can.
    pub seed: Option<u64>,
}

impl Parameters {
    /// What can be set.
    pub const NAMES: [&str; 5] = ["temperature", "top_p", "max_tokens", "reasoning", "seed"];
    /// How much a model can be asked to think.
    pub const EFFORTS: [&str; 7] = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];

    fn set(&mut self, whole: &str, name: &str, value: &str) -> Result<(), SetupError> {
        let bad = |wanted: &'static str| SetupError::BadParameter {
            model: whole.to_owned(),
            name: name.to_owned(),
            value: value.to_owned(),
            wanted,
        };
        match name {
            "temperature" => self.temperature = Some(between(value, 2.0).ok_or_else(|| bad("a number from 0 to 2"))?),
            "top_p" => self.top_p = Some(between(value, 1.0).ok_or_else(|| bad("a number from 0 to 1"))?),
            "max_tokens" => {
                let number = value.parse().ok().filter(|number| *number > 0);
                self.max_tokens = Some(number.ok_or_else(|| bad("a whole number above 0"))?);
            }
            "reasoning" => {
                let known = Self::EFFORTS.contains(&value).then(|| value.to_owned());
                self.reasoning = Some(known.ok_or_else(|| bad("none, minimal, low, medium, high, xhigh or max"))?);
            }
            "seed" => self.seed = Some(value.parse().map_err(|_| bad("a whole number"))?),
            _ => return Err(SetupError::UnknownParameter { model: whole.to_owned(), name: name.to_owned() }),
        }
        Ok(())
    }
}

fn between(value: &str, most: f64) -> Option<f64> {
    value.parse().ok().filter(|number| (0.0..=most).contains(number))
}

impl ModelName {
    /// `provider/model`, without the parameters.
    pub fn label(&self) -> String {
        format!("{}/{}", self.provider, self.model)
    }
}

impl FromStr for ModelName {
    type Err = SetupError;

    fn from_str(text: &str) -> Result<Self, SetupError> {
        let (label, query) = text.split_once('?').unwrap_or((text, ""));
        let (provider, model) = label
            .split_once('/')
            .filter(|(provider, model)| !provider.is_empty() && !model.is_empty())
            .ok_or_else(|| SetupError::BadName(text.to_owned()))?;
        let mut parameters = Parameters::default();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            parameters.set(text, name, value)?;
        }
        Ok(Self { provider: provider.to_owned(), model: model.to_owned(), parameters })
    }
}

impl fmt::Display for ModelName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.provider, self.model)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<ModelName, SetupError> {
        text.parse()
    }

    #[test]
    fn model_names_may_have_slashes_and_colons() {
        let name =
            parse("openrouter/vendor/model:free?temperature=0.2&reasoning=high&max_tokens=100&seed=7&top_p=1").unwrap();
        assert_eq!(name.label(), "openrouter/vendor/model:free");
        assert_eq!(
            name.parameters,
            Parameters {
                temperature: Some(0.2),
                top_p: Some(1.0),
                max_tokens: Some(100),
                reasoning: Some("high".to_owned()),
                seed: Some(7)
            }
        );
        assert_eq!(parse("ollama/qwen3:8b").unwrap().model, "qwen3:8b");
    }

    #[test]
    fn editions_are_of_one_family() {
        for model in ["claude-sonnet-4-5", "claude-sonnet-4-5-20250929", "claude-sonnet-4-5@20250929"] {
            assert_eq!(family(model), "claude-sonnet-4-5");
        }
        assert_eq!(family("gpt-5-2025-08-07"), "gpt-5");
        assert_eq!(family("devstral-medium-latest"), "devstral-medium");
        assert_eq!(family("gemini-2.5-flash"), "gemini-2.5-flash");
        assert_eq!(family(""), "");
    }

    #[test]
    fn what_is_wrong_is_said() {
        for text in ["gpt-5", "/gpt-5", "openai/", ""] {
            assert!(matches!(parse(text), Err(SetupError::BadName { .. })), "{text}");
        }
        let unknown = parse("openai/gpt-5?temprature=1").unwrap_err().to_string();
        assert!(unknown.contains("temprature") && unknown.contains("temperature, top_p"), "{unknown}");
        let longer = parse("openai/gpt-5?reasoning_effort=high").unwrap_err().to_string();
        assert!(longer.contains("did you mean `reasoning`?"), "{longer}");
        let bad = parse("openai/gpt-5?temperature=hot").unwrap_err().to_string();
        assert!(bad.contains("a number from 0 to 2"), "{bad}");
        assert!(parse("openai/gpt-5?temperature=NaN").is_err());
        assert!(parse("openai/gpt-5?max_tokens=0").is_err());
        assert!(parse("openai/gpt-5?reasoning=lots").is_err());
    }
}

//! How models differ by their generation.

use serde_json::{Value, json};

use crate::wire::target::Target;

/// A generation, as `2.5` is written in a model's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Generation(u32, u32);

/// The first that thinks.
const THINKING: Generation = Generation(2, 5);
/// The first that is told by a level how much to think, and that refuses calls without a signature.
const SIGNED: Generation = Generation(3, 0);
/// What names without a number stand for, such as `gemini-flash-latest`.
const NEWEST: Generation = Generation(u32::MAX, 0);

impl Generation {
    /// The generation of `model`; none when it is of another family.
    pub(super) fn of(model: &str) -> Option<Self> {
        let (_, rest) = model.split_once("gemini-")?;
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (number, _) = rest.split_at_checked(end)?;
        let (major, minor) = number.split_once('.').unwrap_or((number, "0"));
        match (major.parse(), minor.parse()) {
            (Ok(major), Ok(minor)) => Some(Self(major, minor)),
            _ => Some(NEWEST),
        }
    }

    /// Whether the first call of every answer must have a signature when it goes back.
    pub(super) fn wants_signatures(self) -> bool {
        self >= SIGNED
    }
}

/// The `thinkingConfig` for a model; none when it does not think.
pub(super) fn thinking(target: &Target) -> Option<Value> {
    let generation = Generation::of(&target.model).filter(|generation| *generation >= THINKING)?;
    let Some(effort) = target.parameters.reasoning.as_deref() else {
        let thinks = target.info.reasoning || !target.info.known;
        return thinks.then(|| json!({ "includeThoughts": true }));
    };
    if generation >= SIGNED {
        return Some(json!({ "includeThoughts": true, "thinkingLevel": level(effort, &target.model) }));
    }
    Some(match budget(effort, &target.model) {
        // Thoughts can't be shown where there are none.
        0 => json!({ "thinkingBudget": 0 }),
        budget => json!({ "includeThoughts": true, "thinkingBudget": budget }),
    })
}

fn level(effort: &str, model: &str) -> &'static str {
    match effort {
        "none" | "minimal" if model.contains("flash") => "minimal",
        // The larger models can't think less than this.
        "none" | "minimal" | "low" => "low",
        "medium" => "medium",
        _ => "high",
    }
}

/// The tokens that the vendor itself takes an effort to mean.
fn budget(effort: &str, model: &str) -> u32 {
    let large = model.contains("pro");
    match effort {
        // The larger model can't be kept from thinking.
        "none" if large => 128,
        "none" => 0,
        "minimal" | "low" => 1024,
        "medium" => 8192,
        "xhigh" | "max" if large => 32768,
        _ => 24576,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::route::Parameters;

    fn thinking_of(model: &str, effort: Option<&str>) -> Option<Value> {
        let parameters = Parameters { reasoning: effort.map(str::to_owned), ..Parameters::default() };
        thinking(&Target { parameters, ..Target::new("gemini", model) })
    }

    #[test]
    fn generations_are_read_from_names() {
        assert_eq!(Generation::of("gemini-2.5-flash-lite"), Some(Generation(2, 5)));
        assert_eq!(Generation::of("models/gemini-3-pro-preview"), Some(Generation(3, 0)));
        assert_eq!(Generation::of("gemini-3.1-pro"), Some(Generation(3, 1)));
        assert_eq!(Generation::of("gemini-flash-latest"), Some(NEWEST));
        assert_eq!(Generation::of("gemma-3-27b"), None);
    }

    #[test]
    fn each_generation_is_asked_in_its_way() {
        assert_eq!(thinking_of("gemini-2.0-flash", Some("high")), None);
        assert_eq!(thinking_of("gemini-2.5-flash", None), Some(json!({ "includeThoughts": true })));
        assert_eq!(thinking_of("gemini-2.5-flash", Some("none")), Some(json!({ "thinkingBudget": 0 })));
        let budget = json!({ "includeThoughts": true, "thinkingBudget": 128 });
        assert_eq!(thinking_of("gemini-2.5-pro", Some("none")), Some(budget));
        let level = |level: &str| Some(json!({ "includeThoughts": true, "thinkingLevel": level }));
        assert_eq!(thinking_of("gemini-3-flash-preview", Some("none")), level("minimal"));
        assert_eq!(thinking_of("gemini-3-pro-preview", Some("minimal")), level("low"));
        assert_eq!(thinking_of("gemini-3-pro-preview", Some("max")), level("high"));
    }
}

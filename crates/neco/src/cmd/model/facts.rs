//! What is known of a model, in words.

use neco_proto::app::models::{ModelFacts, ProviderType};

/// Columns before what follows a line that is too wide.
pub const HANGING: usize = 14;

/// What it can do besides text.
pub fn abilities(facts: &ModelFacts) -> String {
    let named = [(facts.vision, "vision"), (facts.tools, "tools"), (facts.reasoning, "reasoning")];
    named.iter().filter(|(can, _)| *can).map(|(_, name)| *name).collect::<Vec<_>>().join(" ")
}

/// `$3 / $15`, for a million tokens of input and output.
pub fn short_price(facts: &ModelFacts) -> String {
    let Some((input, output)) = facts.input_price.zip(facts.output_price) else { return "-".to_owned() };
    format!("{} / {}", dollars(input), dollars(output))
}

/// A price for a million tokens, without needless digits.
pub fn dollars(amount: f64) -> String {
    let text = format!("{amount:.4}");
    let short = text.trim_end_matches('0').trim_end_matches('.');
    // Cents are written with two digits.
    match short.split_once('.') {
        Some((_, cents)) if cents.len() == 1 => format!("${short}0"),
        Some(_) | None => format!("${short}"),
    }
}

/// The format that a model is asked in.
pub fn wire(kind: ProviderType) -> &'static str {
    match kind {
        ProviderType::Openai => "OpenAI chat completions",
        ProviderType::Responses => "OpenAI responses",
        ProviderType::Anthropic => "Anthropic messages",
        ProviderType::Gemini => "Gemini generateContent",
        ProviderType::Scripted => "a script, not a model",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prices_are_short() {
        for (amount, shown) in [(3.0, "$3"), (0.3, "$0.30"), (1.25, "$1.25"), (0.0125, "$0.0125"), (0.0, "$0")] {
            assert_eq!(dollars(amount), shown);
        }
        let priced = ModelFacts { input_price: Some(0.28), output_price: Some(0.42), ..ModelFacts::default() };
        let prices = (short_price(&priced), short_price(&ModelFacts::default()));
        assert_eq!(prices, ("$0.28 / $0.42".to_owned(), "-".to_owned()));
    }
}

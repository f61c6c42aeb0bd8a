//! What is known of a model, in words and as JSON.

use neco_config::section::ProviderType;
use neco_model::ModelInfo;
use neco_model::cost::Price;
use serde_json::{Map, Value, json};

/// Columns before what follows a line that is too wide.
pub const HANGING: usize = 14;

/// What it can do besides text.
pub fn abilities(info: &ModelInfo) -> String {
    let named = [(info.vision, "vision"), (info.tools, "tools"), (info.reasoning, "reasoning")];
    named.iter().filter(|(can, _)| *can).map(|(_, name)| *name).collect::<Vec<_>>().join(" ")
}

/// `$3 / $15`, for a million tokens of input and output.
pub fn short_price(price: Option<Price>) -> String {
    price.map_or_else(|| "-".to_owned(), |price| format!("{} / {}", dollars(price.input), dollars(price.output)))
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

/// The fields of a model's JSON that say what is known of it.
pub fn as_json(info: &ModelInfo) -> Map<String, Value> {
    let price = info.price;
    let fields = json!({
        "context_window": info.context_window,
        "max_output": info.max_output,
        "known": info.known,
        "input_price": price.map(|price| price.input),
        "output_price": price.map(|price| price.output),
        "cache_read_price": price.map(|price| price.cache_read),
        "cache_write_price": price.map(|price| price.cache_write),
        "long_prompt": price.and_then(|price| price.long).map(|long| {
            json!({ "over": long.over, "input_times": long.input, "output_times": long.output })
        }),
        "vision": info.vision,
        "tools": info.tools,
        "reasoning": info.reasoning,
    });
    match fields {
        Value::Object(fields) => fields,
        _ => Map::new(),
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
        let price = Price { input: 0.28, output: 0.42, cache_read: 0.0, cache_write: 0.0, long: None };
        assert_eq!((short_price(Some(price)).as_str(), short_price(None).as_str()), ("$0.28 / $0.42", "-"));
    }
}

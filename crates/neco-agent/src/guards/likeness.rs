//! How alike two calls are: arguments by their types, results by what they say.

use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::Value;

use super::guard::{CallSeen, Failure};

/// Calls that are more alike than this are the same thing once more.
const ALIKE: f64 = 0.8;
/// Characters of a text that are compared: comparing costs the square of them.
const COMPARED: usize = 200;

/// A call and what it gave, as far as that is compared.
pub(super) struct Like {
    tool: String,
    arguments: Value,
    failed: bool,
    /// Whether it was not allowed. It did not run: who counts failures counts that.
    refused: bool,
    /// The beginning of what it gave, and all of it as a number.
    output: (String, u64),
}

impl Like {
    pub(super) fn of(call: &CallSeen<'_>) -> Self {
        let arguments = serde_json::from_str(&call.arguments).unwrap_or_else(|_| Value::from(call.arguments.as_str()));
        let mut hasher = DefaultHasher::new();
        call.output.hash(&mut hasher);
        let output = (beginning(call.output), hasher.finish());
        let refused = call.error.is_some_and(Failure::is_refusal);
        Self { tool: call.tool.to_owned(), arguments, failed: call.error.is_some(), refused, output }
    }

    /// Whether it is hardly another call than this one and got no further: it gave the same, or failed in hardly another
    /// way. Pages of a log are alike too, and are read on purpose.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        let fails_alike = || self.failed && other.failed && of_texts(&self.output.0, &other.output.0) > ALIKE;
        !(self.refused || other.refused)
            && self.tool == other.tool
            && (self.output.1 == other.output.1 || fails_alike())
            && of_values(&self.arguments, &other.arguments) > ALIKE
    }
}

fn beginning(text: &str) -> String {
    text.chars().take(COMPARED).collect()
}

/// How alike two values are, from 0 to 1: values of another type are not, and what holds others is as alike as they are.
fn of_values(one: &Value, other: &Value) -> f64 {
    match (one, other) {
        (Value::String(one), Value::String(other)) => of_texts(&beginning(one), &beginning(other)),
        (Value::Number(one), Value::Number(other)) => of_numbers(one.as_f64(), other.as_f64()),
        (Value::Array(one), Value::Array(other)) => {
            let alike = one.iter().zip(other).map(|(one, other)| of_values(one, other)).sum();
            share(alike, one.len().max(other.len()))
        }
        (Value::Object(one), Value::Object(other)) => {
            let both = one.iter().filter_map(|(name, value)| Some((value, other.get(name)?)));
            let (count, alike) =
                both.fold((0, 0.0), |(count, sum), (one, other)| (count + 1, sum + of_values(one, other)));
            share(alike, one.len() + other.len() - count)
        }
        (one, other) => f64::from(u8::from(one == other)),
    }
}

fn of_texts(one: &str, other: &str) -> f64 {
    strsim::normalized_levenshtein(one, other)
}

fn of_numbers(one: Option<f64>, other: Option<f64>) -> f64 {
    let (Some(one), Some(other)) = (one, other) else { return 0.0 };
    let larger = one.abs().max(other.abs());
    if larger == 0.0 { 1.0 } else { (1.0 - (one - other).abs() / larger).max(0.0) }
}

/// The part of so many that is alike; nothing is like nothing.
fn share(alike: f64, count: usize) -> f64 {
    if count == 0 { 1.0 } else { alike / count as f64 }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_compared_by_their_types() {
        for (one, other, alike) in [
            (json!({"path": "src/module_1.rs"}), json!({"path": "src/module_2.rs"}), true),
            (json!({"path": "a", "limit": 100}), json!({"path": "a", "limit": 101}), true),
            (json!({"path": "a", "all": true}), json!({"path": "a", "all": false}), false),
            (json!({"path": "a", "offset": 1}), json!({"path": "a", "offset": 2001}), false),
            (json!({"pattern": "parse_config"}), json!({"pattern": "load_settings"}), false),
            (json!({"pattern": "1"}), json!({"pattern": 1}), false),
            (json!({"a": [1, 2, 3]}), json!({"a": [1, 2, 3, 4]}), false),
            (json!({}), json!({}), true),
        ] {
            assert_eq!(of_values(&one, &other) > ALIKE, alike, "{one} {other}");
        }
    }

    proptest! {
        #[test]
        fn likeness_is_the_same_both_ways_and_whole_for_the_same(one in "\\PC{0,40}", other in "\\PC{0,40}", number in -9i32..9) {
            let (one, other) = (json!({"text": one, "number": number}), json!({"text": other, "number": 3}));
            prop_assert!((of_values(&one, &other) - of_values(&other, &one)).abs() < 1e-9);
            prop_assert!((of_values(&one, &one) - 1.0).abs() < 1e-9);
            prop_assert!((0.0..=1.0).contains(&of_values(&one, &other)));
        }
    }
}

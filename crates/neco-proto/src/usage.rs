//! Tokens and money.

use std::ops::AddAssign;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

/// No session has used more tokens: a log that says so repeats a vendor's nonsense.
const MOST_TOKENS: u64 = 1_000_000_000_000_000;
/// No session has cost more, so that no sum is infinite.
const MOST_DOLLARS: f64 = 1e15;

/// What one or more model calls used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Usage {
    /// All input tokens, cached ones included.
    #[serde(deserialize_with = "tokens")]
    pub input: u64,
    /// All output tokens, reasoning included.
    #[serde(deserialize_with = "tokens")]
    pub output: u64,
    /// The part of `input` that was read from the vendor's cache.
    #[serde(default, deserialize_with = "tokens")]
    pub cache_read: u64,
    /// The part of `input` that was written to the vendor's cache.
    #[serde(default, deserialize_with = "tokens")]
    pub cache_write: u64,
    /// The part of `output` that was reasoning.
    #[serde(default, deserialize_with = "tokens")]
    pub reasoning: u64,
    /// US dollars; absent when the price of the model is not known.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "cost")]
    pub cost: Option<f64>,
    /// How many of those calls have no known price, so that `cost` leaves them out.
    #[serde(default, skip_serializing_if = "is_none")]
    pub unpriced: u32,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_none(count: &u32) -> bool {
    *count == 0
}

/// Reads a count whatever stands there: a log of an older version may hold what a vendor said. Nonsense counts nothing.
fn tokens<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
    let value = Option::<Value>::deserialize(from)?.unwrap_or_default();
    // The cast saturates, and what is negative becomes nothing.
    let number = value.as_u64().or_else(|| value.as_f64().map(|number| number as u64));
    Ok(number.filter(|number| *number <= MOST_TOKENS).unwrap_or(0))
}

/// The same for money.
fn cost<'de, D: Deserializer<'de>>(from: D) -> Result<Option<f64>, D::Error> {
    let value = Option::<Value>::deserialize(from)?;
    Ok(value.and_then(|value| value.as_f64()).filter(|cost| (0.0..=MOST_DOLLARS).contains(cost)))
}

/// Reads a number that an older version may have written although it was none; JSON has no other than finite ones.
pub(crate) fn finite<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    Ok(Option::<Value>::deserialize(from)?.and_then(|value| value.as_f64()).unwrap_or(0.0))
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        // Vendors' numbers are not ours to trust.
        self.input = self.input.saturating_add(other.input);
        self.output = self.output.saturating_add(other.output);
        self.cache_read = self.cache_read.saturating_add(other.cache_read);
        self.cache_write = self.cache_write.saturating_add(other.cache_write);
        self.reasoning = self.reasoning.saturating_add(other.reasoning);
        self.unpriced = self.unpriced.saturating_add(other.unpriced);
        self.cost = match (self.cost, other.cost) {
            (None, None) => None,
            (mine, theirs) => Some((mine.unwrap_or(0.0) + theirs.unwrap_or(0.0)).clamp(0.0, MOST_DOLLARS)),
        };
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::event::{BudgetReached, UsageEvent};

    #[test]
    fn a_log_with_nonsense_in_it_can_be_read() {
        for nonsense in
            [json!(u64::MAX), json!(1e308), json!(-1), json!("7"), json!(null), json!({ "n": 1 }), json!([])]
        {
            let mut event = json!({ "model": "a/b", "input": 10, "output": nonsense, "cache_read": nonsense });
            event["reasoning"] = nonsense.clone();
            event["cost"] = nonsense.clone();
            let read: UsageEvent = serde_json::from_value(event).unwrap();
            let Usage { input, output, cache_read, reasoning, cost, .. } = read.usage;
            assert_eq!((input, output, cache_read, reasoning, cost), (10, 0, 0, 0, None), "{nonsense}");
        }
        let fraction: Usage = serde_json::from_value(json!({ "input": 1.5, "output": 2, "cost": 0.25 })).unwrap();
        assert_eq!((fraction.input, fraction.output, fraction.cost), (1, 2, Some(0.25)));
        let reached: BudgetReached =
            serde_json::from_value(json!({ "of": "cost", "limit": 1.0, "used": null })).unwrap();
        assert_eq!(reached, BudgetReached::Cost { limit: 1.0, used: 0.0 });
    }

    #[test]
    fn sums_stay_finite() {
        let mut sum = Usage { cost: Some(f64::MAX), input: u64::MAX, ..Usage::default() };
        sum += sum;
        assert_eq!((sum.cost, sum.input), (Some(MOST_DOLLARS), u64::MAX));
    }
}

//! Tokens and money.

use std::ops::AddAssign;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What one or more model calls used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Usage {
    /// All input tokens, cached ones included.
    pub input: u64,
    /// All output tokens, reasoning included.
    pub output: u64,
    /// The part of `input` that was read from the vendor's cache.
    #[serde(default)]
    pub cache_read: u64,
    /// The part of `input` that was written to the vendor's cache.
    #[serde(default)]
    pub cache_write: u64,
    /// The part of `output` that was reasoning.
    #[serde(default)]
    pub reasoning: u64,
    /// US dollars; absent when the price of the model is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    /// How many of those calls have no known price, so that `cost` leaves them out.
    #[serde(default, skip_serializing_if = "is_none")]
    pub unpriced: u32,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_none(count: &u32) -> bool {
    *count == 0
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
            (mine, theirs) => Some(mine.unwrap_or(0.0) + theirs.unwrap_or(0.0)),
        };
    }
}

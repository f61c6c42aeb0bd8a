//! From tokens to money.

use neco_proto::Usage;

/// US dollars for a million tokens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Price {
    /// Input that is read anew.
    pub input: f64,
    /// Output, thoughts included.
    pub output: f64,
    /// Input that the vendor had in its cache.
    pub cache_read: f64,
}

impl Price {
    /// What `usage` costs. Writing to the cache counts as input: vendors of these formats charge no
    /// more for it.
    #[must_use]
    pub fn of(&self, usage: &Usage) -> f64 {
        let cached = usage.cache_read.min(usage.input);
        let tokens = |count: u64| count as f64 / 1e6;
        tokens(usage.input - cached) * self.input
            + tokens(cached) * self.cache_read
            + tokens(usage.output) * self.output
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cached_input_has_its_own_price() {
        let price = Price { input: 2.0, output: 10.0, cache_read: 0.5 };
        let usage = Usage { input: 1_000_000, output: 100_000, cache_read: 400_000, ..Usage::default() };
        assert!((price.of(&usage) - 2.4).abs() < 1e-9);
        let odd = Usage { input: 10, cache_read: 20, ..Usage::default() };
        assert!((price.of(&odd) - 5e-6).abs() < 1e-12);
    }
}

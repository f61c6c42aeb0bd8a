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
    /// Input that the vendor put into its cache.
    pub cache_write: f64,
    /// What long prompts cost more.
    pub long: Option<LongPrompt>,
}

/// How many times as much a call with a long prompt costs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LongPrompt {
    /// More input tokens than this.
    pub over: u64,
    /// For all input, cached or not.
    pub input: f64,
    /// For all output.
    pub output: f64,
}

impl Price {
    /// Nothing.
    pub const FREE: Self = Self { input: 0.0, output: 0.0, cache_read: 0.0, cache_write: 0.0, long: None };

    /// What `usage` costs.
    pub fn of(&self, usage: &Usage) -> f64 {
        let read = usage.cache_read.min(usage.input);
        let written = usage.cache_write.min(usage.input - read);
        let tokens = |count: u64| count as f64 / 1e6;
        let input = tokens(usage.input - read - written) * self.input
            + tokens(read) * self.cache_read
            + tokens(written) * self.cache_write;
        let output = tokens(usage.output) * self.output;
        match self.long.filter(|long| usage.input > long.over) {
            Some(long) => input * long.input + output * long.output,
            None => input + output,
        }
    }

    /// `usage` with what it costs. A vendor that says what it takes knows better; one that says nothing or less
    /// knows not.
    pub fn laid_on(&self, usage: Usage) -> Usage {
        let said = usage.cost.filter(|cost| *cost > 0.0);
        Usage { cost: said.or_else(|| Some(self.of(&usage)).filter(|cost| cost.is_finite())), ..usage }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cached_input_has_its_own_price() {
        let price = Price { input: 2.0, output: 10.0, cache_read: 0.5, cache_write: 2.5, long: None };
        let usage = Usage { input: 1_000_000, output: 100_000, cache_read: 400_000, ..Usage::default() };
        assert!((price.of(&usage) - 2.4).abs() < 1e-9);
        let written = Usage { cache_write: 200_000, ..usage };
        assert!((price.of(&written) - 2.5).abs() < 1e-9);
        let long = Price { long: Some(LongPrompt { over: 999_999, input: 2.0, output: 3.0 }), ..price };
        assert!((long.of(&usage) - 5.8).abs() < 1e-9);
        assert!((long.of(&Usage { input: 999_999, ..usage }) - 2.4).abs() < 1e-5);
        let odd = Usage { input: 10, cache_read: 20, ..Usage::default() };
        assert!((price.of(&odd) - 5e-6).abs() < 1e-12);
    }
}

//! Who is asked first.

use std::sync::atomic::{AtomicUsize, Ordering};

use neco_config::section::Strategy;

use crate::cost::Price;

/// Whose turn it is.
#[derive(Debug, Default)]
pub struct Turns(AtomicUsize);

impl Turns {
    /// The positions `0..count` in the order in which they are tried this time.
    pub fn order(&self, strategy: Strategy, count: usize) -> impl Iterator<Item = usize> + use<> {
        let first = match strategy {
            Strategy::RoundRobin if count > 0 => self.0.fetch_add(1, Ordering::Relaxed) % count,
            // The cheapest of a group stands first in it: see `by_price`.
            Strategy::RoundRobin | Strategy::First | Strategy::Cheapest => 0,
        };
        (first..count).chain(0..first)
    }

    /// The same without taking a turn: for what is only asked if everything before it fails.
    pub fn order_for_later(&self, count: usize) -> impl Iterator<Item = usize> + use<> {
        let first = self.0.load(Ordering::Relaxed).checked_rem(count).unwrap_or(0);
        (first..count).chain(0..first)
    }
}

/// Puts the cheapest first, by the price of input and output together; what is free costs nothing, and
/// what has no known price comes last. Those that cost the same stay in their order.
pub fn by_price<T>(models: &mut [T], price: impl Fn(&T) -> Option<Price>) {
    let dollars = |model: &T| price(model).map_or(f64::INFINITY, |price| price.input + price.output);
    models.sort_by(|one, other| dollars(one).total_cmp(&dollars(other)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cheapest_stands_first_and_the_unknown_last() {
        let price = |input, output| Some(Price { input, output, cache_read: 0.0, cache_write: 0.0, long: None });
        let mut models = [
            ("unknown", None),
            ("dear", price(5.0, 25.0)),
            ("cheap output", price(3.0, 1.0)),
            ("cheap input", price(1.0, 3.0)),
            ("free", price(0.0, 0.0)),
        ];
        by_price(&mut models, |(_, price)| *price);
        assert_eq!(models.map(|(name, _)| name), ["free", "cheap output", "cheap input", "dear", "unknown"]);
    }

    #[test]
    fn in_turn_or_always_the_first() {
        let turns = Turns::default();
        let order = |strategy| turns.order(strategy, 3).collect::<Vec<_>>();
        assert_eq!(order(Strategy::RoundRobin), [0, 1, 2]);
        assert_eq!(order(Strategy::RoundRobin), [1, 2, 0]);
        assert_eq!(order(Strategy::First), [0, 1, 2]);
        assert_eq!(order(Strategy::Cheapest), [0, 1, 2]);
        assert_eq!(order(Strategy::RoundRobin), [2, 0, 1]);
        assert_eq!(turns.order(Strategy::RoundRobin, 0).count(), 0);
        assert_eq!(turns.order_for_later(3).collect::<Vec<_>>(), turns.order_for_later(3).collect::<Vec<_>>());
        assert_eq!(turns.order_for_later(0).count(), 0);
    }
}

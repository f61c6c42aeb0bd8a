//! Who is asked first.

use std::sync::atomic::{AtomicUsize, Ordering};

use neco_config::section::Strategy;

/// Whose turn it is.
#[derive(Debug, Default)]
pub struct Turns(AtomicUsize);

impl Turns {
    /// The positions `0..count` in the order in which they are tried this time.
    pub fn order(&self, strategy: Strategy, count: usize) -> impl Iterator<Item = usize> + use<> {
        let first = match strategy {
            Strategy::RoundRobin if count > 0 => self.0.fetch_add(1, Ordering::Relaxed) % count,
            Strategy::RoundRobin | Strategy::First => 0,
        };
        (first..count).chain(0..first)
    }

    /// The same without taking a turn: for what is only asked if everything before it fails.
    pub fn order_for_later(&self, count: usize) -> impl Iterator<Item = usize> + use<> {
        let first = self.0.load(Ordering::Relaxed).checked_rem(count).unwrap_or(0);
        (first..count).chain(0..first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_turn_or_always_the_first() {
        let turns = Turns::default();
        let order = |strategy| turns.order(strategy, 3).collect::<Vec<_>>();
        assert_eq!(order(Strategy::RoundRobin), [0, 1, 2]);
        assert_eq!(order(Strategy::RoundRobin), [1, 2, 0]);
        assert_eq!(order(Strategy::First), [0, 1, 2]);
        assert_eq!(order(Strategy::RoundRobin), [2, 0, 1]);
        assert_eq!(turns.order(Strategy::RoundRobin, 0).count(), 0);
        assert_eq!(turns.order_for_later(3).collect::<Vec<_>>(), turns.order_for_later(3).collect::<Vec<_>>());
        assert_eq!(turns.order_for_later(0).count(), 0);
    }
}

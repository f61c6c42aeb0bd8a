//! When a wait is worth a line of its own, where none can be written over.

use std::time::{Duration, Instant};

/// A wait that is shorter needs no word.
const FIRST: Duration = Duration::from_secs(5);
/// How long it is silent about a wait that it has told of.
const AGAIN: Duration = Duration::from_secs(60);

/// Knows when a wait was told of last.
#[derive(Default)]
pub(super) struct Patience {
    told: Option<Instant>,
}

impl Patience {
    /// Whether a wait that began at `since` is to be told of now.
    pub(super) fn is_over(&mut self, since: Instant, now: Instant) -> bool {
        let (from, enough) = match self.told.filter(|told| *told >= since) {
            Some(told) => (told, AGAIN),
            None => (since, FIRST),
        };
        let over = now.saturating_duration_since(from) >= enough;
        if over {
            self.told = Some(now);
        }
        over
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_told_after_some_seconds_and_then_once_a_while() {
        let (mut patience, begun) = (Patience::default(), Instant::now());
        let mut told = |since: u64, until: u64| {
            let at = |seconds| begun + Duration::from_secs(seconds);
            (since..=until).filter(|second| patience.is_over(at(since), at(*second))).collect::<Vec<_>>()
        };
        assert_eq!(told(0, 130), [5, 65, 125]);
        assert_eq!(told(131, 140), [136], "another wait");
    }
}

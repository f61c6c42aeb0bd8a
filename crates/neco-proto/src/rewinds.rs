//! Which events of a log still count, after going back and taking that back.
//!
//! Going back deletes nothing: of a log that ends with a rewind to `to` counts what counts of the log up to
//! `to`, and everything from the rewind on. So taking a rewind back is one more rewind, to the event before it.

use std::ops::RangeInclusive;

use crate::event::{Event, EventBody};
use crate::ids::Seq;

/// The rewinds of a log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rewinds {
    /// Where each stands and the last event before it that still counts, oldest first.
    found: Vec<(Seq, Seq)>,
}

/// The events of a log that count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effective {
    /// In order, apart from each other.
    ranges: Vec<RangeInclusive<Seq>>,
}

impl Rewinds {
    /// The rewinds among `events`.
    pub fn of<'a>(events: impl IntoIterator<Item = &'a Event>) -> Self {
        let mut rewinds = Self::default();
        events.into_iter().for_each(|event| rewinds.note(event));
        rewinds
    }

    /// Takes note of the next event.
    pub fn note(&mut self, event: &Event) {
        if let EventBody::Rewind(rewind) = &event.body
            && rewind.conversation
        {
            self.found.push((event.seq, rewind.to));
        }
    }

    /// Whether every event counts.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// What counts of the log up to the event `last`.
    #[must_use]
    pub fn effective(&self, last: Seq) -> Effective {
        let mut ranges = Vec::new();
        let mut end = last;
        for (seq, to) in self.found.iter().rev() {
            if *seq <= end {
                ranges.push(*seq..=end);
                // What a damaged log says must not count events twice.
                end = (*to).min(seq.saturating_sub(1));
            }
        }
        ranges.push(1..=end);
        ranges.reverse();
        Effective { ranges }
    }
}

impl Effective {
    /// Whether the event at `seq` counts.
    #[must_use]
    pub fn counts(&self, seq: Seq) -> bool {
        let at = self.ranges.partition_point(|range| *range.end() < seq);
        self.ranges.get(at).is_some_and(|range| range.contains(&seq))
    }

    /// The stretches between them, which do not.
    #[must_use]
    pub fn gaps(&self) -> Vec<RangeInclusive<Seq>> {
        let between = self.ranges.windows(2).map(|pair| match pair {
            [before, after] => before.end() + 1..=after.start().saturating_sub(1),
            _ => RangeInclusive::new(1, 0),
        });
        between.filter(|gap| !gap.is_empty()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(found: &[(Seq, Seq)], last: Seq) -> Vec<Seq> {
        let effective = Rewinds { found: found.to_vec() }.effective(last);
        (1..=last).filter(|seq| effective.counts(*seq)).collect()
    }

    #[test]
    fn going_back_and_taking_that_back() {
        assert_eq!(counted(&[], 3), [1, 2, 3]);
        assert_eq!(counted(&[(5, 2)], 7), [1, 2, 5, 6, 7]);
        assert_eq!(counted(&[(5, 2)], 4), [1, 2, 3, 4], "a rewind counts from its own place on");
        assert_eq!(counted(&[(5, 2), (8, 4)], 9), [1, 2, 3, 4, 8, 9], "taken back");
        assert_eq!(counted(&[(5, 2), (8, 4), (10, 7)], 10), [1, 2, 5, 6, 7, 10], "and that taken back");
        assert_eq!(counted(&[(5, 2), (8, 6)], 8), [1, 2, 5, 6, 8], "twice, one after the other");
        assert_eq!(counted(&[(5, 0)], 5), [5]);
        assert_eq!(counted(&[(5, 9)], 5), [1, 2, 3, 4, 5], "a damaged log");
    }
}

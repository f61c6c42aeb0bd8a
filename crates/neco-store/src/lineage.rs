//! Whose events a session's log is made of.
//!
//! A fork has the events of its parent up to a point, and its own after it. The parent may be a fork
//! itself, and the point may lie in what the parent has from its own parent.

use std::ops::RangeInclusive;

use neco_proto::{Seq, SessionId};
use uuid::Uuid;

/// A session on the way from a fork to the one that everything began with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ancestor {
    pub(crate) id: SessionId,
    /// The last event that it has from its parent; 0 when it has none.
    pub(crate) base: Seq,
}

/// Events that one session has written itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    /// The session that wrote them.
    pub(crate) owner: SessionId,
    /// They come after this one.
    pub(crate) after: Seq,
    /// And this is the last one, if there are so many.
    pub(crate) last: Seq,
}

/// The parts of the log of the first one of `ancestors` after the event `since`, oldest first. Each of
/// `ancestors` is the parent of the one before it.
pub(crate) fn segments(ancestors: &[Ancestor], since: Seq) -> Vec<Segment> {
    let mut segments = Vec::new();
    let mut last = Seq::MAX;
    for ancestor in ancestors {
        let after = ancestor.base.max(since);
        if after < last {
            segments.push(Segment { owner: ancestor.id, after, last });
        }
        last = last.min(ancestor.base);
        if last <= since {
            break;
        }
    }
    segments.reverse();
    segments
}

/// The ids that begin with `prefix`; `None` when no id can. Hyphens and case do not matter.
pub(crate) fn ids_with(prefix: &str) -> Option<RangeInclusive<SessionId>> {
    let mut lowest = 0u128;
    let mut free_bits = u128::BITS;
    for character in prefix.chars().filter(|character| *character != '-') {
        free_bits = free_bits.checked_sub(4)?;
        lowest |= u128::from(character.to_digit(16)?) << free_bits;
    }
    let highest = lowest | u128::MAX.checked_shr(u128::BITS - free_bits).unwrap_or(0);
    Some(SessionId::from(Uuid::from_u128(lowest))..=SessionId::from(Uuid::from_u128(highest)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use uuid::Uuid;

    use super::*;

    #[test]
    fn every_event_has_one_owner() {
        let id = |number| SessionId::from(Uuid::from_u128(number));
        let ancestors = |bases: &[Seq]| -> Vec<Ancestor> {
            bases.iter().zip(1..).map(|(base, number)| Ancestor { id: id(number), base: *base }).collect()
        };
        for (bases, since, expected) in [
            (&[0][..], 0, vec![(1, 0, Seq::MAX)]),
            (&[0], 9, vec![(1, 9, Seq::MAX)]),
            (&[5, 0], 0, vec![(2, 0, 5), (1, 5, Seq::MAX)]),
            (&[5, 0], 3, vec![(2, 3, 5), (1, 5, Seq::MAX)]),
            (&[5, 0], 5, vec![(1, 5, Seq::MAX)]),
            (&[9, 5, 0], 0, vec![(3, 0, 5), (2, 5, 9), (1, 9, Seq::MAX)]),
            (&[4, 5, 0], 0, vec![(3, 0, 4), (1, 4, Seq::MAX)]),
            (&[4, 5, 2, 0], 1, vec![(4, 1, 2), (3, 2, 4), (1, 4, Seq::MAX)]),
            (&[0, 7, 0], 0, vec![(1, 0, Seq::MAX)]),
        ] {
            let found: Vec<_> = segments(&ancestors(bases), since)
                .into_iter()
                .map(|segment| (segment.owner.as_uuid().as_u128(), segment.after, segment.last))
                .collect();
            assert_eq!(found, expected, "{bases:?} since {since}");
        }
    }

    proptest! {
        #[test]
        fn every_prefix_of_an_id_finds_it(id: u128, cut in 0usize..=36, upper: bool) {
            let id = Uuid::from_u128(id);
            for text in [id.hyphenated().to_string(), id.simple().to_string()] {
                let mut prefix: String = text.chars().take(cut).collect();
                if upper {
                    prefix = prefix.to_uppercase();
                }
                prop_assert!(ids_with(&prefix).unwrap().contains(&SessionId::from(id)));
            }
        }

        #[test]
        fn an_id_is_found_only_by_its_own_prefix(id: u128, prefix in "[0-9a-f]{0,32}") {
            let id = Uuid::from_u128(id);
            let found = ids_with(&prefix).unwrap().contains(&SessionId::from(id));
            prop_assert_eq!(found, id.simple().to_string().starts_with(&prefix));
        }

        #[test]
        fn any_text_is_answered(prefix: String) {
            let hex = prefix.chars().filter(|character| *character != '-');
            let fits = hex.clone().count() <= 32 && hex.clone().all(|character| character.is_ascii_hexdigit());
            prop_assert_eq!(ids_with(&prefix).is_some(), fits);
        }
    }
}

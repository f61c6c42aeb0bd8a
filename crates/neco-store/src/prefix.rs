//! The first characters of a session id, as people type them.

use std::ops::RangeInclusive;

use neco_proto::SessionId;
use uuid::Uuid;

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

    use super::*;

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

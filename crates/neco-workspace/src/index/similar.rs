//! How far two words are apart.

/// How many letters have to be put in, taken away, changed or swapped to make one word of the other, if
/// that is at most `most`. Most words are told apart without comparing them letter by letter.
pub(super) fn distance(one: &str, other: &str, most: usize) -> Option<usize> {
    if one.len().abs_diff(other.len()) > 4 * most {
        return None;
    }
    // A change replaces one letter by another, so that at most two letters come or go.
    if (letters(one) ^ letters(other)).count_ones() as usize > 8 * most {
        return None;
    }
    if one.is_ascii() && other.is_ascii() {
        let apart = (letters(one) ^ letters(other)).count_ones() as usize > 2 * most;
        if apart || one.len().abs_diff(other.len()) > most {
            return None;
        }
    }
    Some(strsim::osa_distance(one, other)).filter(|distance| *distance <= most)
}

/// Which letters a word has, as bits.
fn letters(word: &str) -> u64 {
    word.bytes().fold(0, |bits, byte| bits | 1 << (byte & 63))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_is_what_a_full_comparison_says(one in "[a-dé文_]{0,8}", other in "[a-dé文_]{0,8}", most in 1_usize..3) {
            let full = strsim::osa_distance(&one, &other);
            prop_assert_eq!(distance(&one, &other, most), (full <= most).then_some(full));
        }
    }
}

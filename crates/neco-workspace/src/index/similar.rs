//! How far two words are apart.

/// A word that others are compared with. Most are told apart without comparing them letter by letter.
pub(super) struct Like<'a> {
    word: &'a str,
    letters: u64,
    /// The farthest that counts.
    most: usize,
}

impl<'a> Like<'a> {
    /// To `word`, from which others are at most so far.
    pub(super) fn new(word: &'a str, most: usize) -> Self {
        Self { word, letters: letters(word), most }
    }

    /// How many letters have to be put in, taken away, changed or swapped to make one word of the other.
    pub(super) fn of(&self, other: &str) -> Option<usize> {
        // Of other scripts a letter has up to four bytes.
        let bytes = if self.word.is_ascii() && other.is_ascii() { 1 } else { 4 };
        if self.word.len().abs_diff(other.len()) > bytes * self.most {
            return None;
        }
        // A change replaces one letter by another, so that at most two letters come or go.
        if (self.letters ^ letters(other)).count_ones() as usize > 2 * bytes * self.most {
            return None;
        }
        Some(strsim::osa_distance(self.word, other)).filter(|distance| *distance <= self.most)
    }
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
            prop_assert_eq!(Like::new(&one, most).of(&other), (full <= most).then_some(full));
        }
    }
}

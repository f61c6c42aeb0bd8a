//! Takes out of what a shell prints what we put before a command: a shell that can't read a line prints all of it.

use std::borrow::Cow;

/// So much of our words at the end of a piece of output waits for the next one; less is anybody's, and a shell prints
/// its line at once.
const LEAST: usize = 6;

/// What stands before a command in the line that its shell is given.
#[derive(Debug, Default)]
pub(super) struct OwnWords {
    words: Vec<u8>,
    /// What may be their beginning.
    held: Vec<u8>,
}

impl OwnWords {
    pub(super) fn new(words: String) -> Self {
        Self { words: words.into_bytes(), held: Vec::new() }
    }

    /// A piece of output without them.
    pub(super) fn taken_out<'a>(&mut self, piece: &'a [u8]) -> Cow<'a, [u8]> {
        if self.words.is_empty() {
            return Cow::Borrowed(piece);
        }
        let mut text = Cow::Borrowed(piece);
        if !self.held.is_empty() {
            text.to_mut().splice(..0, std::mem::take(&mut self.held));
        }
        while let Some(at) = self.found_in(&text) {
            text.to_mut().drain(at..at + self.words.len());
        }
        let begun =
            (LEAST..self.words.len()).rev().find(|most| self.words.get(..*most).is_some_and(|w| text.ends_with(w)));
        if let Some(length) = begun {
            let at = text.len() - length;
            self.held = text.to_mut().split_off(at);
        }
        text
    }

    /// What still waits, at the end of all output.
    pub(super) fn rest(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.held)
    }

    fn found_in(&self, text: &[u8]) -> Option<usize> {
        let first = self.words.first()?;
        let begins = |(at, byte): (usize, &u8)| {
            (byte == first && text.get(at..).is_some_and(|rest| rest.starts_with(&self.words))).then_some(at)
        };
        text.iter().enumerate().find_map(begins)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const WORDS: &str = "trap 'x' EXIT; ";

    fn taken_out(pieces: &[&[u8]]) -> String {
        let mut own = OwnWords::new(WORDS.to_owned());
        let mut left: Vec<u8> = pieces.iter().flat_map(|piece| own.taken_out(piece).into_owned()).collect();
        left.extend(own.rest());
        String::from_utf8_lossy(&left).into_owned()
    }

    #[test]
    fn only_our_words_go_also_when_they_come_in_pieces() {
        assert_eq!(taken_out(&[b"bash: line 1: `trap 'x' EXIT; if then'\n"]), "bash: line 1: `if then'\n");
        assert_eq!(taken_out(&[b"a trap '", b"x' EXI", b"T; b"]), "a b");
        assert_eq!(taken_out(&[b"a trap '", b"y' EXIT; b trap 'x' EX"]), "a trap 'y' EXIT; b trap 'x' EX");
        assert_eq!(OwnWords::default().taken_out(b"trap 'x' EXIT; ").into_owned(), WORDS.as_bytes());
    }

    proptest! {
        #[test]
        fn only_whole_words_of_ours_go(
            pieces in prop::collection::vec(prop_oneof![Just("trap '"), Just("'x' "), Just("EXIT; "), Just(WORDS), Just("a"), Just("trap 'x"), Just("' ")], 0..8)
        ) {
            let bytes: Vec<&[u8]> = pieces.iter().map(|piece| piece.as_bytes()).collect();
            prop_assert_eq!(taken_out(&bytes), taken_out(&[pieces.concat().as_bytes()]));
            prop_assert!(!taken_out(&bytes).contains(WORDS) || pieces.concat().replace(WORDS, "").contains(WORDS));
        }
    }
}

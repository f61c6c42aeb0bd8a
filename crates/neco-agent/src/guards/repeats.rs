//! Repetition in what happens and in what is said.

/// The shortest text that counts as saying the same again.
const SHORTEST: usize = 24;
/// Characters at the end of a text that are looked at.
const END: usize = 6000;
/// Characters that a repeated piece must fill in all.
const FILLED: usize = 300;
/// How often a piece must follow itself.
const TIMES: usize = 4;

/// The length of the shortest cycle of at most `longest` that the end of `items` goes through `times` times.
pub(super) fn cycle<T: PartialEq>(items: &[T], longest: usize, times: usize) -> Option<usize> {
    (1..=longest).find(|length| {
        let Some(start) = items.len().checked_sub(length * times) else { return false };
        let end = items.get(start..).unwrap_or_default();
        end.iter().zip(end.iter().skip(*length)).all(|(one, next)| one == next)
    })
}

/// The piece that the end of a text repeats over and over, if it does.
pub(super) fn repeated_piece(text: &str) -> Option<String> {
    let end: Vec<char> = {
        let mut end: Vec<char> = text.trim_end().chars().rev().take(END).collect();
        end.reverse();
        end
    };
    let longest = end.len() / TIMES;
    let length = (1..=longest).find(|length| repeats_at_end(&end, *length))?;
    let piece: String = end.get(end.len().saturating_sub(length)..)?.iter().collect();
    // A ruler, or a table of dashes, is no loop.
    let says_something = piece.chars().any(char::is_alphanumeric);
    says_something.then(|| piece.trim().to_owned()).filter(|piece| !piece.is_empty())
}

fn repeats_at_end(end: &[char], length: usize) -> bool {
    let run =
        end.iter().rev().zip(end.iter().rev().skip(length)).take_while(|(one, before)| one == before).count() + length;
    run >= length * TIMES && run >= FILLED
}

/// What tells one saying from another; nothing for one that is too short to matter.
pub(super) fn saying(text: &str) -> Option<String> {
    let plain = text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    (plain.chars().count() >= SHORTEST).then_some(plain)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn cycles_are_found_at_the_end() {
        for (items, expected) in [
            ("aaa", Some(1)),
            ("aa", None),
            ("xyababab", Some(2)),
            ("abab", None),
            ("abcabcabc", Some(3)),
            ("abcdeabcdeabcde", Some(5)),
            ("abcdefabcdefabcdef", None),
            ("aaab", None),
            ("", None),
        ] {
            let items: Vec<char> = items.chars().collect();
            assert_eq!(cycle(&items, 5, 3), expected, "{items:?}");
        }
    }

    #[test]
    fn a_text_that_runs_in_circles_is_told_from_a_long_one() {
        let circle = format!("Here it is. {}", "I will fix it now. ".repeat(30));
        assert_eq!(repeated_piece(&circle).map(|piece| piece.len()), Some("I will fix it now.".len()));
        let lines: String = (0..200).map(|number| format!("line {number} of the report\n")).collect();
        for harmless in [lines.as_str(), "ha ha ha ha", "-".repeat(500).as_str(), "", "no"] {
            assert_eq!(repeated_piece(harmless), None, "{harmless}");
        }
    }

    proptest! {
        #[test]
        fn whatever_is_repeated_often_enough_is_found(piece in "[a-z]{2,9} ", before in "[A-Z ]{0,40}") {
            let text = format!("{before}{}", piece.repeat(FILLED / piece.len() + TIMES));
            prop_assert!(repeated_piece(&text).is_some());
        }

        /// Doing the same over and over is a cycle however it begins; doing new things never is.
        #[test]
        fn a_cycle_is_found_wherever_it_begins(before in prop::collection::vec(10u8..200, 0..20), cycle_of in prop::collection::vec(0u8..9, 1..=5)) {
            let looped: Vec<u8> = before.iter().copied().chain(cycle_of.iter().copied().cycle().take(cycle_of.len() * 3)).collect();
            prop_assert!(cycle(&looped, 5, 3).is_some());
            let new: Vec<usize> = (0..before.len()).collect();
            prop_assert_eq!(cycle(&new, 5, 3), None);
        }
    }
}

//! Takes out what would steer a terminal, and nothing else; and the marks that are there for the model alone.

use std::borrow::Cow;

/// A sequence that is longer is none: what follows is text again.
const LONGEST_SEQUENCE: usize = 4096;

/// Takes terminal control out of text that comes in pieces: a sequence may be split anywhere.
#[derive(Clone, Debug, Default)]
pub struct Cleaner {
    state: State,
    length: usize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Text,
    /// After ESC.
    Escape,
    /// After ESC and characters that announce one more.
    Intermediate,
    /// In a control sequence: up to a final letter.
    Control,
    /// In a command string: up to BEL or ESC \.
    Words,
    /// After ESC in a command string.
    WordsEscape,
}

impl Cleaner {
    /// The next piece without escape sequences and control characters; line ends, carriage
    /// returns and tabs stay.
    pub fn push(&mut self, piece: &str) -> String {
        piece.chars().filter(|char| self.keeps(*char)).collect()
    }

    fn keeps(&mut self, char: char) -> bool {
        self.length = if self.state == State::Text { 0 } else { self.length + 1 };
        // A line end or sheer length is the end of whatever that was.
        if char == '\n' || self.length > LONGEST_SEQUENCE {
            self.state = State::Text;
        }
        self.state = match (self.state, char) {
            (State::Text, '\u{1b}') => State::Escape,
            (State::Text, '\u{9b}') => State::Control,
            (State::Text, '\u{90}' | '\u{98}' | '\u{9d}' | '\u{9e}' | '\u{9f}') => State::Words,
            (State::Text, _) => return is_harmless(char),
            (State::Escape, '[') => State::Control,
            (State::Escape, ']' | 'P' | 'X' | '^' | '_') => State::Words,
            (State::Escape | State::Intermediate, ' '..='/') => State::Intermediate,
            (State::Escape | State::Control | State::Intermediate | State::WordsEscape, '\u{1b}') => State::Escape,
            (State::Escape | State::Intermediate, _) => State::Text,
            (State::Control, '@'..='~') => State::Text,
            (State::Control, _) => State::Control,
            (State::Words, '\u{7}' | '\u{9c}') => State::Text,
            (State::Words, '\u{1b}') => State::WordsEscape,
            (State::Words, _) => State::Words,
            (State::WordsEscape, '\\') => State::Text,
            (State::WordsEscape, _) => State::Words,
        };
        false
    }
}

/// A whole text without escape sequences and control characters; line ends and tabs stay.
#[must_use]
pub fn clean(text: &str) -> String {
    Cleaner::default().push(text).replace('\r', "")
}

/// The same in one line.
#[must_use]
pub fn clean_line(text: &str) -> String {
    clean(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Not a control character, nor one that makes text run backwards so that it reads as something else.
fn is_harmless(char: char) -> bool {
    match char {
        '\n' | '\t' | '\r' => true,
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => false,
        _ => !char.is_control(),
    }
}

/// Whether a line is the mark above or below text from outside, which is there for the model alone.
#[must_use]
pub fn is_mark(line: &str) -> bool {
    let name = line.strip_prefix("</").or_else(|| line.strip_prefix('<'));
    name.is_some_and(|name| name.starts_with("untrusted-")) && line.ends_with('>')
}

/// What a tool gave, without those marks.
#[must_use]
pub fn without_marks(text: &str) -> Cow<'_, str> {
    if !text.contains("untrusted-") {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.split_inclusive('\n').filter(|line| !is_mark(line.trim_end_matches(['\r', '\n']))).collect())
}

/// A text without those marks wherever in a line they stand, as in the task of an agent that another task's output was
/// put into: `Look: <untrusted-74196f source="task a">`.
#[must_use]
pub fn without_inner_marks(text: &str) -> Cow<'_, str> {
    if !text.contains("untrusted-") {
        return Cow::Borrowed(text);
    }
    let (mut out, mut rest) = (String::new(), text);
    while let Some((before, tag)) = rest.find('<').and_then(|at| rest.split_at_checked(at)) {
        out.push_str(before);
        rest = match after_mark(tag) {
            Some(after) => after,
            None => {
                out.push('<');
                tag.strip_prefix('<').unwrap_or_default()
            }
        };
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// What stands behind the mark that a text begins with.
fn after_mark(text: &str) -> Option<&str> {
    let (mark, after) = text.split_once('>')?;
    let name = mark.strip_prefix("</").or_else(|| mark.strip_prefix('<'))?.strip_prefix("untrusted-")?;
    let (suffix, about) = name.split_at_checked(6)?;
    let is_ours = suffix.bytes().all(|byte| byte.is_ascii_hexdigit())
        && (about.is_empty() || about.starts_with(" source=\""))
        && !mark.contains('\n');
    is_ours.then_some(after)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn sequences_go_and_text_stays() {
        for (raw, expected) in [
            ("plain\n\ttext ✓ 漢字", "plain\n\ttext ✓ 漢字"),
            ("\u{1b}[1;31mred\u{1b}[0m", "red"),
            ("\u{1b}]0;title\u{7}after", "after"),
            ("\u{1b}]8;;http://x\u{1b}\\link\u{1b}]8;;\u{1b}\\", "link"),
            ("\u{1b}]52;c;ZXZpbA==\u{7}", ""),
            ("a\u{8}b\u{0}c\u{7f}", "abc"),
            ("\u{9b}31mred", "red"),
            ("\u{9d}0;title\u{9c}x", "x"),
            ("\u{1b}(Bx\u{1b}cy", "xy"),
            ("safe\u{202e}txt.exe", "safetxt.exe"),
            ("\u{1b}]never ends\nnext line", "\nnext line"),
            ("\u{1b}\u{1b}[2Jx", "x"),
            ("one\r\ntwo", "one\ntwo"),
        ] {
            assert_eq!(clean(raw), expected, "{raw:?}");
        }
        assert_eq!(clean_line(" a\n\n b\tc\u{1b}[0m "), "a b c");
    }

    #[test]
    fn marks_for_the_model_go_and_what_only_mentions_them_stays() {
        let output = "[p1 runs]\n<untrusted-74196f source=\"p1\">\none\r\ntwo\n</untrusted-74196f>\n(2 lines)";
        assert_eq!(without_marks(output), "[p1 runs]\none\r\ntwo\n(2 lines)");
        let mentioned = "grep untrusted- *.rs\nx <untrusted-1> y\n";
        assert_eq!(without_marks(mentioned), mentioned);
    }

    #[test]
    fn marks_within_a_line_go_too_where_they_are_ours() {
        let task = "Look: <untrusted-ca9781 source=\"task a\">\nparser.rs\n</untrusted-ca9781> and 1 < 2";
        assert_eq!(clean_line(&without_inner_marks(task)), "Look: parser.rs and 1 < 2");
        for mentioned in ["x <untrusted-1> y", "<untrusted- <", "a <b untrusted-", "<untrusted-ca9781x>"] {
            assert_eq!(without_inner_marks(mentioned), mentioned);
        }
    }

    #[test]
    fn a_string_that_never_ends_does_not_swallow_everything() {
        let text = format!("\u{1b}]{}the end", "x".repeat(LONGEST_SEQUENCE * 2));
        assert!(clean(&text).ends_with("the end"));
    }

    proptest! {
        #[test]
        fn nothing_that_steers_survives_wherever_it_is_cut(text in "[\\PC\u{1b}\u{7}\u{9b}\\[\\]m;\\\\\n\r]{0,60}", cut in 0usize..60) {
            let cut = text.char_indices().nth(cut).map_or(text.len(), |(at, _)| at);
            let (one, two) = text.split_at(cut);
            let mut cleaner = Cleaner::default();
            let pieces = cleaner.push(one) + &cleaner.push(two);
            prop_assert_eq!(&pieces, &Cleaner::default().push(&text));
            prop_assert!(pieces.chars().all(is_harmless));
        }

        #[test]
        fn text_without_control_is_untouched(text in "[a-zA-Z0-9 äß漢✓\n\t]{0,200}") {
            prop_assert_eq!(clean(&text), text);
        }
    }
}

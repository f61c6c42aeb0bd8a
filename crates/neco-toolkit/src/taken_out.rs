//! The mark that stands in the model's own earlier calls where a long value was. A model may take it for the text
//! itself and write it into a file, so it has one form that tools know again.

use crate::counted;

const BEGINS: &str = "[Neco took this out to make room: ";
const ENDS: &str = "]";

/// The mark for a text.
pub fn mark(text: &str) -> String {
    format!(
        "{BEGINS}{}, {}{ENDS}",
        counted(text.lines().count(), "line", "lines"),
        counted(text.len(), "byte", "bytes")
    )
}

/// Whether a text is such a mark and nothing else.
pub fn is_mark(text: &str) -> bool {
    let inner = text.trim().strip_prefix(BEGINS).and_then(|rest| rest.strip_suffix(ENDS));
    inner.is_some_and(|inner| !inner.contains(['\n', ']']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_known_again_and_nothing_else_is() {
        assert_eq!(mark("a line\nanother\n"), "[Neco took this out to make room: 2 lines, 15 bytes]");
        assert_eq!(mark("x"), "[Neco took this out to make room: 1 line, 1 byte]");
        assert!(is_mark(&mark("x")) && is_mark(&format!("\n{}\n", mark("a\nb"))));
        let two = format!("{}\n{}", mark("x"), mark("y"));
        let quoted = format!("it says {}", mark("x"));
        for other in ["", "[Neco took this out to make room: ", "[1 line]", two.as_str(), quoted.as_str()] {
            assert!(!is_mark(other), "{other}");
        }
    }
}

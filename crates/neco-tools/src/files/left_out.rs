//! What a model left out must not be written as if it were there: a placeholder would take the place of the text.

use std::path::Path;

use neco_proto::ErrorCode;
use neco_toolkit::ToolError;

use super::placeholder::{Line, line};

/// Endings of files that are read by people, who may be shown code with something left out.
const PROSE: [&str; 9] = ["md", "markdown", "mdx", "rst", "adoc", "asciidoc", "txt", "text", "org"];

/// A text that takes the place of another one in a file.
#[derive(Clone, Copy, Debug)]
pub struct Written<'a> {
    /// The file.
    pub shown: &'a str,
    /// All that is in it now.
    pub file: &'a str,
    /// What is replaced.
    pub old: &'a str,
    /// What comes in its place.
    pub new: &'a str,
}

/// Refuses text with a line that stands for what was left out, unless the file has that line already.
/// Fails with [`ErrorCode::InvalidArguments`], with the line and what to do instead.
pub fn check(written: &Written<'_>) -> Result<(), ToolError> {
    let Some((number, text)) = placeholder(written) else { return Ok(()) };
    let text: String = text.trim().chars().take(120).collect();
    let shown = written.shown;
    let words = format!(
        "line {number} of the new text, {text:?}, stands for text that you left out; written to {shown} it would take \
         the place of that text. Nothing was changed. Give the whole text, or change only the lines that become \
         others with edit_file"
    );
    Err(ToolError::new(ErrorCode::InvalidArguments, words))
}

/// The first such line and its number.
fn placeholder<'a>(written: &Written<'a>) -> Option<(usize, &'a str)> {
    let is_prose = is_prose(written.shown);
    let is_there = |text: &str| written.file.lines().any(|line| line.trim() == text.trim());
    let mut fenced = false;
    for (at, text) in written.new.lines().enumerate() {
        let trimmed = text.trim_start();
        fenced ^= is_prose && (trimmed.starts_with("```") || trimmed.starts_with("~~~"));
        // In a document signs of comments are headings and lists.
        let is_passed_over = fenced || (is_prose && !trimmed.starts_with(['<', '.', '…', '[', '(']));
        let found = if is_passed_over { Line::Ordinary } else { line(text) };
        let stands = match found {
            Line::Ordinary => false,
            Line::Dots => takes_a_place(written, at) && !is_there(text),
            Line::Placeholder => !is_there(text),
        };
        if stands {
            return Some((at + 1, text));
        }
    }
    None
}

/// Whether a file is read by people, by its name.
pub fn is_prose(shown: &str) -> bool {
    let ending = Path::new(shown).extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    PROSE.iter().any(|prose| ending.eq_ignore_ascii_case(prose))
}

/// Whether lines of the old text are gone where the line of the new one stands: between what is before and after it
/// in both.
fn takes_a_place(written: &Written<'_>, at: usize) -> bool {
    let lines = |text: &'_ str| text.lines().map(|line| line.trim().to_owned()).collect::<Vec<String>>();
    let (old, new) = (lines(written.old), lines(written.new));
    let place = |line: &String| old.iter().position(|other| other == line).filter(|_| !line.is_empty());
    let last_place = |line: &String| old.iter().rposition(|other| other == line).filter(|_| !line.is_empty());
    let from = new.get(..at).and_then(|before| before.iter().rev().find_map(place)).map_or(0, |place| place + 1);
    let to = new.get(at + 1..).and_then(|after| after.iter().find_map(last_place)).unwrap_or(old.len());
    let between = old.get(from..to.max(from)).unwrap_or_default();
    between.iter().any(|line| !line.is_empty() && !new.contains(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(shown: &str, file: &str, old: &str, new: &str) -> bool {
        check(&Written { shown, file, old, new }).is_err()
    }

    #[test]
    fn a_placeholder_is_refused_unless_the_file_has_it() {
        let file = "def a():\n    one()\n    two()\n\ndef b():\n    pass\n";
        assert!(refused("a.py", file, file, "def a():\n    # ... existing code ...\n"));
        assert!(refused("new.py", "", "", "import os\n# ... rest of the code remains unchanged ...\n"));
        let kept = "x\n    # ... existing code ...\ny\n";
        assert!(!refused("a.py", kept, kept, "x\n# ... existing code ...\nz\n"));
        let error = check(&Written { shown: "a.py", file, old: file, new: "x\n# ... unchanged ...\n" }).unwrap_err();
        assert_eq!(error.code, ErrorCode::InvalidArguments);
        assert!(error.message.starts_with("line 2 of the new text, \"# ... unchanged ...\""), "{}", error.message);
    }

    #[test]
    fn dots_alone_count_where_lines_are_gone() {
        let file = "def a():\n    one()\n    two()\n\ndef b():\n    pass\n";
        assert!(refused("a.py", file, file, "def a():\n    # ...\n\ndef b():\n    return 1\n"));
        assert!(refused("a.py", file, "    one()\n    two()", "    # ...\n    three()"));
        assert!(refused("a.html", "<p>\na\nb\n</p>\n", "<p>\na\nb\n</p>\n", "<p>\n<!-- ... -->\n</p>\n"));
        assert!(!refused("a.py", file, file, &format!("{file}# ...\n")), "nothing is gone");
        assert!(!refused("a.py", file, file, &file.replace("    pass", "    # ...\n    pass")), "nothing is gone");
        assert!(!refused("new.py", "", "", "def a():\n    # ...\n    pass\n"), "nothing was there");
        assert!(!refused("a.pyi", file, file, "def a(): ...\ndef b():\n    ...\n"), "stubs");
    }

    #[test]
    fn documents_may_show_code_with_something_left_out() {
        let shown = "# Use\n\n```js\n// ... existing code ...\n```\n\n# ... and more\n";
        assert!(!refused("docs/use.md", "", "", shown));
        assert!(refused("docs/use.md", "a\n", "a\n", "# Use\n\n<!-- ... rest of the document unchanged ... -->\n"));
        assert!(refused("notes.txt", "a\n", "a\n", "Use\n\n... rest of the text unchanged ...\n"));
    }
}

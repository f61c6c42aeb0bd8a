//! A line that begins with `# `: something to remember, not something to ask.

use super::entry::{Category, LONGEST_TITLE, PERSON, one_line};
use super::keep::{Keep, NewEntry};

/// What a message asks to remember: the whole message is one line that begins with `#` and a space.
#[must_use]
pub fn to_remember(message: &str) -> Option<NewEntry> {
    let line = message.trim().strip_prefix("# ")?.trim();
    let one = !line.is_empty() && !line.contains('\n');
    one.then(|| said_by_person(line))
}

/// What a person said in one line, as an entry that holds everywhere.
#[must_use]
pub fn said_by_person(line: &str) -> NewEntry {
    NewEntry {
        title: one_line(line, LONGEST_TITLE),
        summary: line.to_owned(),
        content: line.to_owned(),
        category: Category::Preference,
        tags: Vec::new(),
        source: PERSON.to_owned(),
        keep: Keep::Global,
        replaces: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_whole_line_is_a_note() {
        for (message, note) in [
            ("# use tabs", Some("use tabs")),
            ("  # use tabs \n", Some("use tabs")),
            ("# ", None),
            ("#use tabs", None),
            ("## Heading", None),
            ("# Heading\n\nand a text", None),
            ("fix # this", None),
        ] {
            assert_eq!(to_remember(message).map(|new| new.title).as_deref(), note, "{message:?}");
        }
    }
}

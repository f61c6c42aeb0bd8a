//! Thoughts inside the text: many local models begin their answer with `<think>…</think>`.
//!
//! Only at the very beginning of an answer; later it is text about the tag.

const OPEN: &str = "<think>";
const CLOSE: &str = "</think>";
/// More blanks before a tag than any model writes.
const MOST_BLANKS: usize = 64;

/// Splits the text of one answer.
#[derive(Debug, Default)]
pub(super) struct Think {
    place: Place,
    /// What may be the beginning of a tag.
    held: String,
}

#[derive(Debug, Default, PartialEq)]
enum Place {
    #[default]
    Start,
    /// After the opening tag, before the first line that says something.
    Opened,
    Inside,
    /// After the closing tag, before the first visible character.
    Gap,
    Text,
}

/// A piece of an answer.
#[derive(Debug, PartialEq)]
pub(super) enum Split {
    Thought(String),
    Text(String),
}

impl Think {
    /// For servers that send thoughts apart: a tag is text about a tag.
    pub(super) fn off() -> Self {
        Self { place: Place::Text, held: String::new() }
    }

    pub(super) fn push(&mut self, text: &str, out: &mut Vec<Split>) {
        if self.place == Place::Text {
            return add_text(text, out);
        }
        self.held.push_str(text);
        if self.place == Place::Start {
            self.leave_start(out);
        }
        if self.place == Place::Opened {
            self.leave_opened();
        }
        if self.place == Place::Inside {
            self.leave_inside(out);
        }
        if self.place == Place::Gap {
            self.leave_gap(out);
        }
    }

    /// The answer is over; what was held is what it looks like.
    pub(super) fn end(&mut self, out: &mut Vec<Split>) {
        let held = std::mem::take(&mut self.held);
        match self.place {
            Place::Inside => add_thought(&held, out),
            Place::Start | Place::Text => add_text(&held, out),
            Place::Opened | Place::Gap => {}
        }
        self.place = Place::Text;
    }

    fn leave_start(&mut self, out: &mut Vec<Split>) {
        let visible = self.held.trim_start();
        if let Some(rest) = visible.strip_prefix(OPEN) {
            self.held = rest.to_owned();
            self.place = Place::Opened;
        } else if !OPEN.starts_with(visible) || self.held.len() - visible.len() > MOST_BLANKS {
            add_text(&std::mem::take(&mut self.held), out);
            self.place = Place::Text;
        }
    }

    fn leave_opened(&mut self) {
        self.held = self.held.trim_start_matches('\n').to_owned();
        if !self.held.is_empty() {
            self.place = Place::Inside;
        }
    }

    fn leave_inside(&mut self, out: &mut Vec<Split>) {
        if let Some((thought, rest)) = self.held.split_once(CLOSE) {
            add_thought(thought, out);
            self.held = rest.to_owned();
            self.place = Place::Gap;
            return;
        }
        let keep = longest_end_that_begins(&self.held, CLOSE);
        if let Some((thought, held)) = self.held.split_at_checked(self.held.len() - keep) {
            add_thought(thought, out);
            self.held = held.to_owned();
        }
    }

    fn leave_gap(&mut self, out: &mut Vec<Split>) {
        let visible = self.held.trim_start_matches(['\n', '\r']);
        if !visible.is_empty() {
            add_text(visible, out);
            self.place = Place::Text;
        }
        self.held.clear();
    }
}

/// How many bytes at the end of `text` may be the beginning of `tag`.
fn longest_end_that_begins(text: &str, tag: &str) -> usize {
    (1..tag.len()).rev().find(|length| tag.get(..*length).is_some_and(|begin| text.ends_with(begin))).unwrap_or(0)
}

fn add_text(text: &str, out: &mut Vec<Split>) {
    if !text.is_empty() {
        out.push(Split::Text(text.to_owned()));
    }
}

fn add_thought(text: &str, out: &mut Vec<Split>) {
    if !text.is_empty() {
        out.push(Split::Thought(text.to_owned()));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn split(pieces: &[&str]) -> (String, String) {
        let mut think = Think::default();
        let mut out = Vec::new();
        for piece in pieces {
            think.push(piece, &mut out);
        }
        think.end(&mut out);
        let (mut thought, mut text) = (String::new(), String::new());
        for piece in out {
            match piece {
                Split::Thought(piece) => thought.push_str(&piece),
                Split::Text(piece) => text.push_str(&piece),
            }
        }
        (thought, text)
    }

    fn pair(thought: &str, text: &str) -> (String, String) {
        (thought.to_owned(), text.to_owned())
    }

    #[test]
    fn tags_at_the_beginning_are_thoughts() {
        assert_eq!(split(&["<think>\nmuse\n</think>\n\nAnswer"]), pair("muse\n", "Answer"));
        assert_eq!(split(&["\n<think>", "</think>", "\n", "\nA\n"]), pair("", "A\n"));
    }

    #[test]
    fn tags_elsewhere_and_half_tags_are_text() {
        assert_eq!(split(&["a <think>b</think>"]), pair("", "a <think>b</think>"));
        assert_eq!(split(&["<thi"]), pair("", "<thi"));
        assert_eq!(split(&["<thin", "g>"]), pair("", "<thing>"));
        assert_eq!(split(&["  "]), pair("", "  "));
        let blanks = " ".repeat(MOST_BLANKS + 1);
        assert_eq!(split(&[&blanks, "<think>a</think>"]), pair("", &format!("{blanks}<think>a</think>")));
        let (mut off, mut out) = (Think::off(), Vec::new());
        off.push("<think>a", &mut out);
        assert_eq!(out, [Split::Text("<think>a".to_owned())]);
    }

    #[test]
    fn a_thought_without_end_is_kept() {
        assert_eq!(split(&["<think>half </thi"]), pair("half </thi", ""));
    }

    proptest! {
        #[test]
        fn any_split_gives_the_same(text in "(<think>)?[a<>/thinké\n]{0,20}(</think>)?[a\n<]{0,5}") {
            let single: Vec<String> = text.chars().map(String::from).collect();
            let single: Vec<&str> = single.iter().map(String::as_str).collect();
            prop_assert_eq!(split(&single), split(&[&text]));
        }
    }
}

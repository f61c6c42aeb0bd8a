//! Titles as texts: one line, short.

use neco_proto::EventBody;
use neco_proto::event::{SessionTitle, TitleSource};

use crate::memory::one_line;

/// Characters of a title.
const MOST: usize = 60;

/// Characters of a title that a person gives.
const MOST_GIVEN: usize = 120;

/// The first words of a message, in one line.
pub fn first_words(text: &str) -> String {
    // What is piped in stands in a fence behind what was said.
    let said = text.split_once("\n```").map_or(text, |(said, _)| if said.trim().is_empty() { text } else { said });
    one_line(said, MOST)
}

/// A title as a person gives it, in one line.
pub fn tidy(title: &str) -> String {
    one_line(title, MOST_GIVEN)
}

/// A title as a model gives it: the first line that says something, without what models put around it.
pub(super) fn of_answer(answer: &str) -> Option<String> {
    let line = answer.lines().map(str::trim).find(|line| !line.is_empty())?;
    let line = line.trim_start_matches('#').trim();
    let around = |char: char| char.is_whitespace() || matches!(char, '"' | '\'' | '`' | '“' | '”' | '*' | '.');
    let bare = one_line(line.trim_start_matches("Title:").trim_matches(around), usize::MAX);
    // Whole sentences are an answer to something else.
    (!bare.is_empty() && bare.chars().count() <= 2 * MOST).then(|| one_line(&bare, MOST))
}

pub fn title_event(title: &str, by: TitleSource) -> EventBody {
    EventBody::Title(SessionTitle { title: title.to_owned(), by })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_are_one_short_line() {
        assert_eq!(first_words("  fix\nthe\tbuild "), "fix the build");
        assert_eq!(first_words("review this\n```\nfn main() {}\n```"), "review this");
        assert_eq!(first_words("\n```\nall there is\n```"), "``` all there is ```");
        assert_eq!(first_words(&"word ".repeat(40)).chars().count(), 60);
        assert_eq!(tidy("a\u{1b}[31m b\0"), "a [31m b");
    }

    #[test]
    fn what_models_put_around_a_title_goes() {
        for (answer, title) in [
            ("\"Fix the login test\"", Some("Fix the login test")),
            ("Title: **Fix the login test**.", Some("Fix the login test")),
            ("\n# Anmeldung reparieren\nmore", Some("Anmeldung reparieren")),
            ("", None),
            ("...", None),
        ] {
            assert_eq!(of_answer(answer).as_deref(), title, "{answer}");
        }
        assert_eq!(of_answer(&"I can not do that because ".repeat(9)), None);
    }
}

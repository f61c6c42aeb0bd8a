//! The question whether a folder is trusted, asked before anything of it is switched on.

use super::tty::{Said, Tty};
use crate::line::signals::Signal;
use neco_proto::app::trust::TrustAnswer;
use neco_proto::visible::visible_line;
use neco_view::paint::wrap::wrap;

/// Columns when the terminal does not say how many it has.
const USUAL_WIDTH: usize = 80;

/// How often it is asked for an answer that is one.
const TRIES: usize = 3;

/// What a person says to what a folder would switch on, of which `parts` can be taken or left one by one; `kept` is
/// where their answer is. What is no answer, such as a message that was being typed when the question came, decides nothing,
/// and neither does a terminal that can't be read. Esc is a no.
///
/// # Errors
/// When they want to leave instead.
pub fn answer(tty: &Tty, described: &str, parts: &[String], kept: &str) -> Result<Option<TrustAnswer>, Signal> {
    let width = tty.size().map_or(USUAL_WIDTH, |(_, columns)| columns);
    let chooses = parts.len() > 1;
    let again = if chooses { "y, n or c" } else { "y or n" };
    let again = format!("Trust this folder and switch it on? {again} ");
    Ok(match one(tty, &question(described, chooses, kept, width), &again, chooses)? {
        Some(Word::Yes) => Some(TrustAnswer::All),
        Some(Word::No) => Some(TrustAnswer::Nothing),
        Some(Word::Choose) => choose(tty, parts, width)?.map(TrustAnswer::Only),
        None => None,
    })
}

/// The parts that a person takes; nothing where one of them got no answer.
fn choose(tty: &Tty, parts: &[String], width: usize) -> Result<Option<Vec<usize>>, Signal> {
    let mut taken = Vec::new();
    for (place, part) in parts.iter().enumerate() {
        let asked = format!("{}\nSwitch this on? [y/N] ", wrap(&format!("  {part}"), width));
        match one(tty, &asked, "Switch this on? y or n ", false)? {
            Some(Word::Yes) => taken.push(place),
            Some(Word::No | Word::Choose) => {}
            None => return Ok(None),
        }
    }
    Ok(Some(taken))
}

/// The answer to one question, which is asked `again` when a line is none.
fn one(tty: &Tty, asked: &str, again: &str, chooses: bool) -> Result<Option<Word>, Signal> {
    let width = tty.size().map_or(USUAL_WIDTH, |(_, columns)| columns);
    let mut asked = asked.to_owned();
    for _ in 0..TRIES {
        let line = match tty.ask_or_leave(&asked) {
            Some(Said::Interrupt) => return Err(Signal::Interrupt),
            Some(Said::Escape) => return Ok(Some(Word::No)),
            Some(Said::Line(line)) if !line.is_empty() => line,
            Some(Said::Line(_)) | None => return Ok(None),
        };
        if let Some(word) = read(&line).filter(|word| chooses || *word != Word::Choose) {
            return Ok(Some(word));
        }
        let words = format!("“{}” is not an answer, and is not sent to the agent.", visible_line(line.trim()));
        asked = format!("{}\n{again}", wrap(&words, width));
    }
    Ok(None)
}

/// What a line says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Word {
    Yes,
    No,
    /// Part by part.
    Choose,
}

/// Which answer a line is. Enter alone is a no.
fn read(line: &str) -> Option<Word> {
    match line.trim().to_lowercase().as_str() {
        "y" | "yes" => Some(Word::Yes),
        "" | "n" | "no" => Some(Word::No),
        "c" | "choose" => Some(Word::Choose),
        _ => None,
    }
}

/// What is asked; the file that keeps the answer stands on a line of its own, as its name may be long.
fn question(described: &str, chooses: bool, kept: &str, width: usize) -> String {
    let kept = format!("Your answer is saved in {kept}.");
    let lines: Vec<String> = described.lines().chain([kept.as_str()]).map(|line| wrap(line, width)).collect();
    let choice = if chooses { " c chooses part by part." } else { "" };
    format!("{}\nTrust this and switch it on?{choice} [y/N] ", lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_that_was_being_typed_is_no_answer() {
        let words = [read("y\n"), read("YES"), read("\n"), read("n"), read("No"), read("c\n")];
        assert_eq!(words.map(Option::unwrap), [Word::Yes, Word::Yes, Word::No, Word::No, Word::No, Word::Choose]);
        assert_eq!((read("fix the tests\n"), read("yes please")), (None, None));
    }

    #[test]
    fn no_word_is_broken_where_the_terminal_ends() {
        let described = "/home/me/project would switch on:\n  hook PostToolUse Edit: ./scripts/format.sh --all --quiet \
                         --with-many-options  (/home/me/project/.claude/settings.json)\n";
        let asked = question(described, false, "~/.config/neco/trusted-folders.json", 60);
        assert!(asked.lines().all(|line| line.chars().count() <= 60), "{asked}");
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        assert!(words(&asked).starts_with(&words(described)), "{asked}");
        assert!(asked.ends_with("Trust this and switch it on? [y/N] "));
        assert!(question(described, true, "x", 60).ends_with("switch it on? c chooses part by part. [y/N] "));
    }
}

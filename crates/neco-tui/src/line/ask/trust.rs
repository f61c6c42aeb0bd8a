//! The question whether a folder is trusted, asked before anything of it is switched on.

use super::screens::{Shown, USUAL_SIZE, in_screens, rows};
use super::tty::{Said, Tty};
use crate::line::signals::Signal;
use neco_proto::app::trust::{FolderTrust, TrustAnswer};
use neco_proto::visible::visible_line;
use neco_view::paint::wrap::wrap;

/// How often it is asked for an answer that is one.
const TRIES: usize = 3;

/// What a person says to what a folder would switch on, of which the parts can be taken or left one by one; `kept` is
/// where their answer is. They see the name of every thing first, a screenful at a time, and on demand all that it says
/// and runs. What is no answer, such as a message that was being typed when the question came, decides nothing, and
/// neither does a terminal that can't be read. Esc is a no.
///
/// # Errors
/// When they want to leave instead.
pub fn answer(tty: &Tty, told: &FolderTrust, kept: &str) -> Result<Option<TrustAnswer>, Signal> {
    let (height, width) = tty.size().unwrap_or(USUAL_SIZE);
    let chooses = told.parts.len() > 1;
    let again = if chooses { "y, n, c or d" } else { "y, n or d" };
    let again = format!("Trust this folder and switch it on? {again} ");
    let names = rows(&format!("{}\nYour answer is saved in {kept}.", told.names.trim_end()), width);
    let mut asked = match in_screens(tty, &names, height, "says no")? {
        Shown::Rest(rest) => format!("{rest}\n{}", question(chooses, width)),
        Shown::Left => return Ok(Some(TrustAnswer::Nothing)),
        Shown::Nobody => return Ok(None),
    };
    loop {
        return Ok(match one(tty, &asked, &again, |word| chooses || word != Word::Choose)? {
            Some(Word::Yes) => Some(TrustAnswer::All),
            Some(Word::No) => Some(TrustAnswer::Nothing),
            Some(Word::Choose) => choose(tty, &told.parts, width)?.map(TrustAnswer::Only),
            Some(Word::Details) => {
                asked = match in_screens(tty, &rows(told.described.trim_end(), width), height, "goes back")? {
                    Shown::Rest(rest) => format!("{rest}\n{again}"),
                    Shown::Left => again.clone(),
                    Shown::Nobody => return Ok(None),
                };
                continue;
            }
            None => None,
        });
    }
}

/// The parts that a person takes; nothing where one of them got no answer.
fn choose(tty: &Tty, parts: &[String], width: usize) -> Result<Option<Vec<usize>>, Signal> {
    let mut taken = Vec::new();
    for (place, part) in parts.iter().enumerate() {
        let asked = format!("{}\nSwitch this on? [y/N] ", wrap(&format!("  {part}"), width));
        match one(tty, &asked, "Switch this on? y or n ", |word| matches!(word, Word::Yes | Word::No))? {
            Some(Word::Yes) => taken.push(place),
            Some(Word::No | Word::Choose | Word::Details) => {}
            None => return Ok(None),
        }
    }
    Ok(Some(taken))
}

/// The answer to one question, which `takes` it; it is asked `again` when a line is none.
fn one(tty: &Tty, asked: &str, again: &str, takes: impl Fn(Word) -> bool) -> Result<Option<Word>, Signal> {
    let width = tty.size().unwrap_or(USUAL_SIZE).1;
    let mut asked = asked.to_owned();
    for _ in 0..TRIES {
        let line = match tty.ask_or_leave(&asked) {
            Some(Said::Interrupt) => return Err(Signal::Interrupt),
            Some(Said::Escape) => return Ok(Some(Word::No)),
            Some(Said::Line(line)) if !line.is_empty() => line,
            Some(Said::Line(_)) | None => return Ok(None),
        };
        if let Some(word) = read(&line).filter(|word| takes(*word)) {
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
    /// All that is said and run is to be seen first.
    Details,
}

/// Which answer a line is. Enter alone is a no.
fn read(line: &str) -> Option<Word> {
    match line.trim().to_lowercase().as_str() {
        "y" | "yes" => Some(Word::Yes),
        "" | "n" | "no" => Some(Word::No),
        "c" | "choose" => Some(Word::Choose),
        "d" | "details" => Some(Word::Details),
        _ => None,
    }
}

/// What is asked.
fn question(chooses: bool, width: usize) -> String {
    let choice = if chooses { ", c chooses part by part" } else { "" };
    wrap(&format!("Trust this and switch it on? d shows what it says and runs{choice}. [y/N] "), width)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_that_was_being_typed_is_no_answer() {
        let words = [read("y\n"), read("YES"), read("\n"), read("n"), read("No"), read("c\n"), read("d\n")];
        let read_as = [Word::Yes, Word::Yes, Word::No, Word::No, Word::No, Word::Choose, Word::Details];
        assert_eq!(words.map(Option::unwrap), read_as);
        assert_eq!((read("fix the tests\n"), read("yes please")), (None, None));
    }

    #[test]
    fn no_word_is_broken_where_the_terminal_ends() {
        let described = "/home/me/project would switch on:\n  hook PostToolUse Edit: ./scripts/format.sh --all --quiet \
                         --with-many-options  (/home/me/project/.claude/settings.json)\n";
        let rows = rows(described, 60);
        assert!(rows.len() > 2 && rows.iter().all(|row| row.chars().count() <= 60), "{rows:?}");
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(words(&rows.join("\n")), words(described));
        assert!(
            question(false, 80).ends_with("runs. [y/N] ") && question(true, 200).contains("c chooses part by part")
        );
    }
}

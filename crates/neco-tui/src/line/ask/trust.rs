//! The question whether a folder is trusted, asked before anything of it is switched on.

use super::tty::{Said, Tty};
use crate::line::signals::Signal;
use neco_proto::visible::visible_line;
use neco_view::paint::wrap::wrap;

/// Columns when the terminal does not say how many it has.
const USUAL_WIDTH: usize = 80;

/// How often it is asked for an answer that is one.
const TRIES: usize = 3;

/// What a person says to what a folder would switch on; `kept` is where their answer is. What is no answer, such as a
/// message that was being typed when the question came, decides nothing, and neither does a terminal that can't be read.
/// Esc is a no.
///
/// # Errors
/// When they want to leave instead.
pub fn answer(tty: &Tty, described: &str, kept: &str) -> Result<Option<bool>, Signal> {
    let width = tty.size().map_or(USUAL_WIDTH, |(_, columns)| columns);
    let mut asked = question(described, kept, width);
    for _ in 0..TRIES {
        let line = match tty.ask_or_leave(&asked) {
            Some(Said::Interrupt) => return Err(Signal::Interrupt),
            Some(Said::Escape) => return Ok(Some(false)),
            Some(Said::Line(line)) if !line.is_empty() => line,
            Some(Said::Line(_)) | None => return Ok(None),
        };
        if let Some(decided) = read(&line) {
            return Ok(Some(decided));
        }
        let words = format!("“{}” is not an answer, and is not sent to the agent.", visible_line(line.trim()));
        asked = format!("{}\nTrust this folder and switch it on? y or n ", wrap(&words, width));
    }
    Ok(None)
}

/// Whether a line says yes or no. Enter alone is a no.
fn read(line: &str) -> Option<bool> {
    match line.trim().to_lowercase().as_str() {
        "y" | "yes" => Some(true),
        "" | "n" | "no" => Some(false),
        _ => None,
    }
}

/// What is asked; the file that keeps the answer stands on a line of its own, as its name may be long.
fn question(described: &str, kept: &str, width: usize) -> String {
    let lines = described.lines().chain(["Hooks run commands with your rights, outside the sandbox."]);
    let kept = format!("Your answer is saved in {kept}.");
    let lines: Vec<String> = lines.chain([kept.as_str()]).map(|line| wrap(line, width)).collect();
    format!("{}\nTrust this and switch it on? [y/N] ", lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_that_was_being_typed_is_no_answer() {
        assert_eq!(
            [read("y\n"), read("YES"), read("\n"), read("n"), read("No")].map(Option::unwrap),
            [true, true, false, false, false]
        );
        assert_eq!((read("fix the tests\n"), read("yes please")), (None, None));
    }

    #[test]
    fn no_word_is_broken_where_the_terminal_ends() {
        let described = "/home/me/project would switch on:\n  hook PostToolUse Edit: ./scripts/format.sh --all --quiet \
                         --with-many-options  (/home/me/project/.claude/settings.json)\n";
        let asked = question(described, "~/.config/neco/trusted-folders.json", 60);
        assert!(asked.lines().all(|line| line.chars().count() <= 60), "{asked}");
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        assert!(words(&asked).starts_with(&words(described)), "{asked}");
        assert!(asked.ends_with("Trust this and switch it on? [y/N] "));
    }
}

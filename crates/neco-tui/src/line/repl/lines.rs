//! Where lines come from: an editor with a history at a terminal that can do that, keys that are written as they come at
//! one that can't, and plain lines of a program.

use std::borrow::Cow;
use std::sync::Arc;

use neco_proto::clean::clean_line;
use neco_view::slash::{Custom, TABLE};
use rustix::termios::{QueueSelector, tcflush};
use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::{Hint, Hinter};
use rustyline::history::MemHistory;
use rustyline::validate::Validator;
use rustyline::{CompletionType, Config, Context, Editor, Helper};

use super::keyboard::{Keyboard, Read};
use super::process::Streams;
use crate::line::ask::{PipedLines, tty};
use crate::line::say::out;

/// What stands before a line, and before one that goes on.
const PROMPT: &str = "> ";
const GOES_ON: &str = "… ";

/// Lines of the history.
const MOST: usize = 1000;

/// Where lines come from.
pub(super) enum Lines {
    /// A terminal with an editor of lines.
    Edited(Box<Editor<Names, MemHistory>>),
    /// A terminal that only knows characters.
    Keys(Keyboard),
    /// A program, or a terminal that sends whole lines.
    Plain(Arc<PipedLines>),
}

impl Lines {
    /// What this terminal can do, or `piped` where there is none; `history` is what was written before, oldest first.
    pub fn of(streams: Streams, piped: &Arc<PipedLines>, history: Vec<String>) -> Self {
        let plain = || Self::Plain(Arc::clone(piped));
        if !streams.interactive {
            return plain();
        }
        // For ends that drop nothing, such as a signal while a line is being edited.
        tty::remember_found();
        match streams.capable.then(|| editor(&history)).flatten() {
            Some(editor) => Self::Edited(Box::new(editor)),
            None => Keyboard::of_terminal(history).map_or_else(plain, Self::Keys),
        }
    }

    /// What takes back what the editor told the terminal, when the process ends in the middle of a line.
    pub fn undone(&self) -> &'static str {
        match self {
            // It no longer marks what is pasted.
            Self::Edited(_) => "\x1b[?2004l",
            Self::Keys(_) | Self::Plain(_) => "",
        }
    }

    /// Lines that can be brought back from now on.
    pub fn remember(&mut self, line: &str) {
        match self {
            // A history that is full forgets the oldest by itself.
            Self::Edited(editor) => drop(editor.add_history_entry(line)),
            Self::Keys(keyboard) => keyboard.remember(line),
            Self::Plain(_) => {}
        }
    }

    /// Commands and skills that are completed with Tab, besides those that are always there.
    pub fn set_names(&mut self, custom: Vec<Custom>) {
        if let Self::Edited(editor) = self
            && let Some(names) = editor.helper_mut()
        {
            names.0 = custom;
        }
    }

    /// The next line, with those that it goes on in.
    pub fn next(&mut self) -> Read {
        let mut whole = String::new();
        loop {
            let prompt = if whole.is_empty() { PROMPT } else { GOES_ON };
            let line = match self.read(prompt) {
                Read::Line(line) => line,
                Read::Dropped => return Read::Dropped,
                Read::End if whole.is_empty() => return Read::End,
                Read::End => return Read::Line(whole),
            };
            match line.strip_suffix('\\') {
                Some(begun) => {
                    whole.push_str(begun);
                    whole.push('\n');
                }
                None => {
                    whole.push_str(&line);
                    return Read::Line(whole);
                }
            }
        }
    }

    /// The answer to a question that is asked now.
    pub fn answer(&mut self, question: &str) -> Option<String> {
        self.forget_typed();
        match self.read(question) {
            Read::Line(line) => Some(line.trim().to_owned()),
            Read::Dropped | Read::End => None,
        }
    }

    /// What was typed before a question is no answer to it; what a program sends is.
    fn forget_typed(&mut self) {
        match self {
            Self::Plain(_) => return,
            Self::Edited(_) => {}
            Self::Keys(keyboard) => keyboard.forget_typed(),
        }
        // A terminal that is gone is noticed when it is read.
        let _ = tcflush(rustix::stdio::stdin(), QueueSelector::IFlush);
    }

    fn read(&mut self, prompt: &str) -> Read {
        match self {
            Self::Edited(editor) => match editor.readline(prompt) {
                Ok(line) => Read::Line(line),
                Err(ReadlineError::Interrupted) => Read::Dropped,
                Err(_) => Read::End,
            },
            Self::Keys(keyboard) => keyboard.line(prompt),
            Self::Plain(lines) => match out(prompt) {
                Ok(()) => lines.next_line().map_or(Read::End, Read::Line),
                Err(_) => Read::End,
            },
        }
    }
}

fn editor(history: &[String]) -> Option<Editor<Names, MemHistory>> {
    let config = Config::builder()
        .max_history_size(MOST)
        .ok()?
        .auto_add_history(false)
        .completion_type(CompletionType::List)
        // Where a screen reader looks on, a line is not to be drawn more often than it changes.
        .check_cursor_position(false)
        .build();
    let history_of_lines = MemHistory::with_config(&config);
    let mut editor = Editor::with_history(config, history_of_lines).ok()?;
    for line in history.iter().skip(history.len().saturating_sub(MOST)) {
        let _ = editor.add_history_entry(line.as_str());
    }
    editor.set_helper(Some(Names::default()));
    Some(editor)
}

/// The commands and skills that a person or a folder brings along, for Tab.
#[derive(Default)]
pub(super) struct Names(Vec<Custom>);

impl Names {
    /// All names that may follow a sign: `/` is for commands and skills, `$` for skills.
    fn after(&self, sign: char) -> impl Iterator<Item = &str> {
        let of_table = TABLE.iter().map(|row| row.name).filter(move |_| sign == '/');
        of_table.chain(self.0.iter().filter(move |own| sign == '/' || own.is_skill).map(|own| own.name.as_str()))
    }
}

/// The word that ends a text, where it begins, and the sign of a command or a skill that it begins with.
fn named(written: &str) -> Option<(usize, char, &str)> {
    let from = written.rfind(char::is_whitespace).map_or(0, |at| written.ceil_char_boundary(at + 1));
    let word = written.get(from..)?;
    let sign = word.chars().next().filter(|sign| *sign == '$' || *sign == '/' && from == 0)?;
    Some((from, sign, word.get(1..)?))
}

impl Completer for Names {
    type Candidate = String;

    fn complete(&self, line: &str, pos: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<String>)> {
        let Some((from, sign, begun)) = named(line.get(..pos).unwrap_or(line)) else { return Ok((pos, Vec::new())) };
        let fitting = self.after(sign).filter(|name| name.starts_with(begun)).map(|name| format!("{sign}{name} "));
        Ok((from, fitting.collect()))
    }
}

/// What may follow a command: it is shown, and never taken into the line.
pub(super) struct ArgumentHint(String);

impl Hint for ArgumentHint {
    fn display(&self) -> &str {
        &self.0
    }

    fn completion(&self) -> Option<&str> {
        None
    }
}

impl Hinter for Names {
    type Hint = ArgumentHint;

    fn hint(&self, line: &str, pos: usize, _: &Context<'_>) -> Option<ArgumentHint> {
        let (_, sign, name) = named(line.strip_suffix(' ').filter(|_| pos == line.len())?)?;
        let own = self.0.iter().find(|own| own.is_called(name) && (sign == '/' || own.is_skill))?;
        Some(ArgumentHint(clean_line(&own.argument))).filter(|hint| !hint.0.is_empty())
    }
}

impl Highlighter for Names {
    fn highlight_candidate<'c>(&self, candidate: &'c str, _: CompletionType) -> Cow<'c, str> {
        Cow::Borrowed(candidate.trim_end())
    }

    fn highlight_hint<'h>(&self, hint: &'h str) -> Cow<'h, str> {
        Cow::Owned(format!("\x1b[2m{hint}\x1b[22m"))
    }
}

impl Validator for Names {}

impl Helper for Names {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tab_knows_skills_and_what_may_follow_is_shown_until_it_does() {
        let own =
            |name: &str, is_skill| Custom { name: name.into(), argument: "FILE".into(), is_skill, ..Custom::default() };
        let (names, history) = (Names(vec![own("pdf-forms", true), own("publish", false)]), MemHistory::new());
        let context = Context::new(&history);
        let completed = |line: &str| names.complete(line, line.len(), &context).unwrap();
        assert_eq!(completed("/p").1.iter().filter(|name| name.starts_with("/pdf") || *name == "/publish ").count(), 2);
        assert_eq!(completed("fill it with $p"), (13, vec!["$pdf-forms ".to_owned()]));
        assert_eq!(completed("see /p").1, Vec::<String>::new());
        let hint = |line: &str| names.hint(line, line.len(), &context).map(|hint| hint.0);
        assert_eq!(hint("/publish ").as_deref(), Some("FILE"));
        assert_eq!(hint("use $pdf-forms ").as_deref(), Some("FILE"));
        assert_eq!((hint("/publish"), hint("/publish a"), hint("use $publish ")), (None, None, None));
    }
}

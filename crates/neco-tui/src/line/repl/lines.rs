//! Where lines come from: an editor with a history at a terminal that can do that, keys that are written as they come at
//! one that can't, and plain lines of a program.

use std::borrow::Cow;
use std::sync::Arc;

use neco_view::slash::TABLE;
use rustix::termios::{QueueSelector, tcflush};
use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
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

    /// Commands that are completed with Tab.
    pub fn set_names(&mut self, custom: impl Iterator<Item = String>) {
        if let Self::Edited(editor) = self
            && let Some(names) = editor.helper_mut()
        {
            names.0 = TABLE.iter().map(|row| row.name.to_owned()).chain(custom).collect();
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

/// The names of commands, for Tab.
#[derive(Default)]
pub(super) struct Names(Vec<String>);

impl Completer for Names {
    type Candidate = String;

    fn complete(&self, line: &str, pos: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<String>)> {
        let written = line.get(..pos).unwrap_or(line);
        let Some(begun) = written.strip_prefix('/').filter(|begun| !begun.contains(char::is_whitespace)) else {
            return Ok((pos, Vec::new()));
        };
        let fitting = self.0.iter().filter(|name| name.starts_with(begun)).map(|name| format!("/{name} "));
        Ok((0, fitting.collect()))
    }
}

impl Hinter for Names {
    type Hint = String;
}

impl Highlighter for Names {
    fn highlight_candidate<'c>(&self, candidate: &'c str, _: CompletionType) -> Cow<'c, str> {
        Cow::Borrowed(candidate.trim_end())
    }
}

impl Validator for Names {}

impl Helper for Names {}

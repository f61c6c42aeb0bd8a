//! Two streams that may be one terminal: what is written to one never lands in a line of the other.

use std::io::{self, Write};

use neco_view::paint::colour::Paint;
use neco_view::paint::wrap::{columns, fitting, wrap};

/// Columns that are left free behind a mark: terminals do not agree on how wide some characters are.
const SPARE: usize = 4;
const WIDEST_TAB: usize = 8;

/// What stands in the line that is not finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Open {
    /// Nothing: the line is finished.
    Nothing,
    /// The model's words, on stdout.
    Words,
    /// The model's thoughts, on stderr.
    Thoughts,
    /// A line that the next one replaces, on stderr.
    Passing,
}

/// How the streams are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Look {
    /// Whether stderr takes colours.
    pub colour: bool,
    /// Whether stderr is a terminal on which a line can be written over.
    pub overwrites: bool,
    /// Whether stdout is a terminal: the model's words are written as they come. Elsewhere only what
    /// is final is.
    pub streams: bool,
    /// Columns of the terminal.
    pub width: usize,
}

/// Stdout and stderr. Writing fails once nobody reads the model's words any more.
pub struct Screen {
    out: Box<dyn Write>,
    err: Box<dyn Write>,
    look: Look,
    open: Open,
    /// Whether a line for the person stands above.
    told: bool,
    /// Columns of the words or thoughts that are open.
    column: usize,
    /// Columns of the mark behind them.
    marked: usize,
}

impl Screen {
    /// A screen on two streams.
    pub fn new(out: Box<dyn Write>, err: Box<dyn Write>, look: Look) -> Self {
        Self { out, err, look, open: Open::Nothing, told: false, column: 0, marked: 0 }
    }

    /// Colours for stderr.
    pub fn paint(&self) -> Paint {
        Paint::new(self.look.colour)
    }

    /// Whether a line can be written over.
    pub fn overwrites(&self) -> bool {
        self.look.overwrites
    }

    /// Whether the model's words are written as they come.
    pub fn streams(&self) -> bool {
        self.look.streams
    }

    /// Whether a line that is replaced can be written now without tearing another one apart.
    pub fn is_free(&self) -> bool {
        self.look.overwrites && matches!(self.open, Open::Nothing | Open::Passing)
    }

    /// Whether a line of the model's words is not whole.
    pub fn is_speaking(&self) -> bool {
        self.open == Open::Words
    }

    /// The next of the model's words.
    pub fn words(&mut self, text: &str) -> io::Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        if self.open != Open::Words {
            self.settle()?;
            // Air between cards and words, where both are on one screen.
            if std::mem::take(&mut self.told) && self.look.overwrites {
                self.tell("\n");
            }
        }
        self.unmark();
        self.out.write_all(text.as_bytes())?;
        self.goes_on(text);
        self.open = if text.ends_with('\n') { Open::Nothing } else { Open::Words };
        self.out.flush()
    }

    /// The next of the model's thoughts.
    pub fn thoughts(&mut self, text: &str) -> io::Result<()> {
        if self.open != Open::Thoughts {
            self.settle()?;
        }
        self.unmark();
        self.goes_on(text);
        let painted: Vec<String> = text.split('\n').map(|line| self.paint().dim(line)).collect();
        self.tell(&painted.join("\n"));
        self.open = if text.ends_with('\n') { Open::Nothing } else { Open::Thoughts };
        Ok(())
    }

    /// A line of our own for the person, broken between words where it is too wide.
    pub fn line(&mut self, line: &str) -> io::Result<()> {
        match self.look.overwrites {
            true => self.verbatim(&wrap(line, self.look.width)),
            false => self.verbatim(line),
        }
    }

    /// A line of somebody else's, such as output of a command: as it is.
    pub fn verbatim(&mut self, line: &str) -> io::Result<()> {
        self.settle()?;
        self.told = true;
        self.tell(&format!("{line}\n"));
        Ok(())
    }

    /// A line that the next one replaces, cut so that `end` fits behind it; nothing where that can't
    /// be done.
    pub fn passing(&mut self, line: &str, end: &str) -> io::Result<()> {
        self.settle()?;
        if self.look.overwrites {
            // One column is left free: some terminals wrap when the last one is written.
            let line = fitting(line, self.look.width.saturating_sub(1 + columns(end)));
            self.tell(&self.paint().dim(&format!("{line}{end}")));
            self.open = Open::Passing;
        }
        Ok(())
    }

    /// Marks the line of the model that is open, until it goes on; not where the mark would not fit,
    /// since a line that is broken can't be put right again.
    pub fn mark(&mut self, words: &str) {
        self.unmark();
        let on_screen = match self.open {
            Open::Words => self.look.streams,
            Open::Thoughts => true,
            Open::Nothing | Open::Passing => false,
        };
        let mark = format!(" … {words}");
        let left = self.look.width.saturating_sub(self.column % self.look.width.max(1));
        if on_screen && self.look.overwrites && columns(&mark) + SPARE < left {
            self.tell(&self.paint().dim(&mark));
            self.marked = columns(&mark);
        }
    }

    fn unmark(&mut self) {
        if self.marked > 0 {
            self.tell(&format!("\u{1b}[{}D\u{1b}[K", self.marked));
            self.marked = 0;
        }
    }

    /// Keeps count of where the line that is open stands.
    fn goes_on(&mut self, text: &str) {
        let before = if text.contains('\n') { 0 } else { self.column };
        let last = text.rsplit('\n').next().unwrap_or_default();
        self.column = before + columns(last) + WIDEST_TAB * last.matches('\t').count();
    }

    /// Finishes the line that is open.
    pub fn settle(&mut self) -> io::Result<()> {
        self.unmark();
        self.column = 0;
        match std::mem::replace(&mut self.open, Open::Nothing) {
            Open::Nothing => {}
            Open::Words => {
                self.out.write_all(b"\n")?;
                self.out.flush()?;
            }
            Open::Thoughts => self.tell("\n"),
            Open::Passing => self.tell("\r\u{1b}[2K"),
        }
        Ok(())
    }

    /// A closed stderr is no reason to stop the work.
    fn tell(&mut self, text: &str) {
        let _ = self.err.write_all(text.as_bytes()).and_then(|()| self.err.flush());
    }
}

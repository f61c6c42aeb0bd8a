//! Two streams that may be one terminal: what is written to one never lands in a line of the other.

use std::io::{self, Write};

use super::paint::Paint;

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
    /// Columns of the terminal.
    pub width: usize,
}

/// Stdout and stderr.
pub struct Screen {
    out: Box<dyn Write>,
    err: Box<dyn Write>,
    look: Look,
    open: Open,
    /// Whether a line for the person stands above.
    told: bool,
}

impl Screen {
    /// A screen on two streams.
    #[must_use]
    pub fn new(out: Box<dyn Write>, err: Box<dyn Write>, look: Look) -> Self {
        Self { out, err, look, open: Open::Nothing, told: false }
    }

    /// Colours for stderr.
    #[must_use]
    pub fn paint(&self) -> Paint {
        Paint::new(self.look.colour)
    }

    /// Whether a line can be written over.
    #[must_use]
    pub fn overwrites(&self) -> bool {
        self.look.overwrites
    }

    /// The next of the model's words.
    ///
    /// # Errors
    /// When nobody reads them any more.
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
        self.out.write_all(text.as_bytes())?;
        self.open = if text.ends_with('\n') { Open::Nothing } else { Open::Words };
        self.out.flush()
    }

    /// The next of the model's thoughts.
    ///
    /// # Errors
    /// See [`Screen::settle`].
    pub fn thoughts(&mut self, text: &str) -> io::Result<()> {
        if self.open != Open::Thoughts {
            self.settle()?;
        }
        let painted: Vec<String> = text.split('\n').map(|line| self.paint().dim(line)).collect();
        self.tell(&painted.join("\n"));
        self.open = if text.ends_with('\n') { Open::Nothing } else { Open::Thoughts };
        Ok(())
    }

    /// A line, or several, for the person.
    ///
    /// # Errors
    /// See [`Screen::settle`].
    pub fn line(&mut self, line: &str) -> io::Result<()> {
        self.settle()?;
        self.told = true;
        self.tell(&format!("{line}\n"));
        Ok(())
    }

    /// A line that the next one replaces; nothing where that can't be done.
    ///
    /// # Errors
    /// See [`Screen::settle`].
    pub fn passing(&mut self, line: &str) -> io::Result<()> {
        self.settle()?;
        if self.look.overwrites {
            let line = self.fitting(line);
            self.tell(&self.paint().dim(&line));
            self.open = Open::Passing;
        }
        Ok(())
    }

    /// Finishes the line that is open.
    ///
    /// # Errors
    /// When nobody reads the model's words any more.
    pub fn settle(&mut self) -> io::Result<()> {
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

    /// The start of `line` that fits into one line of the terminal.
    #[must_use]
    pub fn fitting(&self, line: &str) -> String {
        if !self.look.overwrites || line.chars().count() < self.look.width {
            return line.to_owned();
        }
        // Some characters are two columns wide; a line that is broken is worse than one that is short.
        let columns = |char: char| if char.is_ascii() { 1 } else { 2 };
        let mut left = self.look.width.saturating_sub(2);
        let fits = |char: &char| {
            let wide = columns(*char);
            let fits = wide <= left;
            left = left.saturating_sub(wide);
            fits
        };
        let cut: String = line.chars().take_while(fits).collect();
        format!("{cut}…")
    }

    /// A closed stderr is no reason to stop the work.
    fn tell(&mut self, text: &str) {
        let _ = self.err.write_all(text.as_bytes()).and_then(|()| self.err.flush());
    }
}

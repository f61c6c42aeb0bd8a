//! What this process's streams are, and whether a person sits behind them.

use std::io::{self, IsTerminal};
use std::os::fd::BorrowedFd;

use neco_view::paint::colour::Paint;

use super::print::Look;

/// Columns and rows when nobody says how many there are.
const USUAL_SIZE: (usize, usize) = (80, 24);

/// What this process's streams are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terminal {
    /// Whether stdin is a terminal.
    pub stdin: bool,
    /// Whether stdout is a terminal.
    pub stdout: bool,
    /// Whether stderr is a terminal.
    pub stderr: bool,
    /// Whether the terminal takes colours and they are wanted.
    colourful: bool,
    /// Whether the terminal understands how to write over a line.
    capable: bool,
    /// Columns.
    pub width: usize,
    /// Rows.
    pub rows: usize,
}

impl Terminal {
    /// Looks at the streams; `var` gives the variables of the environment.
    pub fn look_at<'a>(var: impl Fn(&str) -> Option<&'a str>) -> Self {
        let capable = var("TERM") != Some("dumb");
        Self {
            stdin: io::stdin().is_terminal(),
            stdout: io::stdout().is_terminal(),
            stderr: io::stderr().is_terminal(),
            colourful: capable && var("NO_COLOR").is_none_or(str::is_empty),
            capable,
            width: size().0,
            rows: size().1,
        }
    }

    /// How a run is drawn on stderr.
    pub fn look(&self) -> Look {
        Look {
            colour: self.stderr && self.colourful,
            overwrites: self.stderr && self.capable,
            streams: self.stdout,
            width: self.width,
        }
    }

    /// Whether a window can be drawn on it: it writes over what is there.
    pub fn is_capable(&self) -> bool {
        self.capable
    }

    /// Colours for what is asked on the terminal itself.
    pub fn paint(&self) -> Paint {
        Paint::new(self.colourful)
    }

    /// Colours for stdout.
    pub fn stdout_paint(&self) -> Paint {
        Paint::new(self.stdout && self.colourful)
    }

    /// Columns for what is printed; unlimited when a program reads it.
    pub fn stdout_width(&self) -> usize {
        if self.stdout { stdout_width() } else { usize::MAX }
    }
}

/// Columns and rows of the terminal that stderr is.
pub fn size() -> (usize, usize) {
    size_of(rustix::stdio::stderr()).unwrap_or(USUAL_SIZE)
}

/// Columns of the terminal that stdout is.
pub fn stdout_width() -> usize {
    size_of(rustix::stdio::stdout()).unwrap_or(USUAL_SIZE).0
}

fn size_of(stream: BorrowedFd<'_>) -> Option<(usize, usize)> {
    let size = rustix::termios::tcgetwinsize(stream).ok()?;
    let size = (usize::from(size.ws_col), usize::from(size.ws_row));
    Some(size).filter(|(columns, rows)| *columns > 0 && *rows > 0)
}

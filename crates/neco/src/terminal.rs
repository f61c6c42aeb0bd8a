//! What this process's streams are, and whether a person sits behind them.

use std::io::{self, IsTerminal};
use std::os::fd::BorrowedFd;

use neco_agent::CapabilityLevel;
use neco_config::Env;
use neco_tui::line::print::{ClaudePrinter, JsonPrinter, Look, Printer, Screen, TextPrinter};

use crate::args::OutputFormat;
use crate::print::paint::Paint;
use crate::say;

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
    /// Looks at the streams.
    pub fn look_at(env: &Env) -> Self {
        let capable = env.var("TERM") != Some("dumb");
        Self {
            stdin: io::stdin().is_terminal(),
            stdout: io::stdout().is_terminal(),
            stderr: io::stderr().is_terminal(),
            colourful: capable && !env.is_set("NO_COLOR"),
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

    /// What prints a run to this process's streams.
    pub fn printer(&self, format: OutputFormat) -> Printer {
        let out = Box::new(io::stdout());
        match format {
            OutputFormat::Text => {
                let screen = Screen::new(out, Box::new(io::stderr()), self.look());
                Printer::Text(Box::new(TextPrinter::new(screen, CapabilityLevel::highest().number())))
            }
            OutputFormat::Json => Printer::Json(JsonPrinter::new(out, say::note)),
            OutputFormat::StreamJson => Printer::StreamJson(JsonPrinter::new(out, say::note)),
            OutputFormat::ClaudeStreamJson => {
                Printer::Claude(Box::new(ClaudePrinter::new(JsonPrinter::new(out, say::note))))
            }
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
}

/// Whether the surroundings say that nobody is there, terminal or not.
pub fn is_unattended(env: &Env) -> bool {
    env.var("CI").is_some_and(|value| !matches!(value, "" | "0" | "false"))
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

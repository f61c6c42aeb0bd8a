//! What stands around lines: the program, the process that takes them, and its streams.

use std::io::{self, Write};
use std::sync::Arc;

use neco_proto::app::App;
use tokio::runtime::Handle;

use crate::host::Host;
use crate::line::Person;
use crate::line::print::Printer;
use crate::line::signals::{InterruptMask, Signal};

/// What lines are taken with.
pub struct Surroundings {
    /// What only a terminal has.
    pub host: Arc<dyn Host>,
    /// The whole program.
    pub app: Arc<dyn App>,
    /// The process.
    pub process: Arc<dyn Process>,
    /// Where tasks run.
    pub runtime: Handle,
    /// Whose an interrupt is.
    pub mask: InterruptMask,
    /// How its streams are.
    pub streams: Streams,
}

/// The process that takes lines.
pub trait Process: Send + Sync {
    /// What prints a run as text, for streams as they are now.
    fn printer(&self) -> Printer;

    /// Who can be asked about what is done in `folder`, if anybody can.
    fn person(&self, folder: String) -> Option<Person>;

    /// Tells the person a line that is no event.
    fn note(&self, line: &str);

    /// Ends the process at once.
    fn quit(&self, signal: Signal);
}

/// How the streams of a process are.
#[derive(Clone, Copy, Debug)]
pub struct Streams {
    /// Whether both stdin and stdout are a terminal.
    pub interactive: bool,
    /// Whether stdout is a terminal that understands more than characters.
    pub capable: bool,
    /// Whether tmux stands between.
    pub tmux: bool,
}

/// Writes what a person asked for. A reader that has had enough (`| head`) is no error.
///
/// # Errors
/// When it can't be written for another reason.
pub fn out(text: &str) -> io::Result<()> {
    let written = io::stdout().write_all(text.as_bytes()).and_then(|()| io::stdout().flush());
    written.or_else(|error| if error.kind() == io::ErrorKind::BrokenPipe { Ok(()) } else { Err(error) })
}

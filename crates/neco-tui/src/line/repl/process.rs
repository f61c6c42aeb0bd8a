//! What stands around lines: the program, the process that takes them, and its streams.

use std::sync::Arc;

use neco_proto::app::App;
use tokio::runtime::Handle;

use crate::host::Host;
use crate::line::Person;
use crate::line::ask::PipedLines;
use crate::line::print::Printer;
use crate::line::signals::{InterruptMask, Signal};

/// What lines are taken with.
pub struct Surroundings {
    /// What only a terminal has.
    pub host: Arc<dyn Host>,
    /// The whole program.
    pub app: Arc<dyn App>,
    /// What a run in a folder is printed with, for streams as they are now, and who can be asked about it.
    pub seat: Box<dyn Fn(String) -> (Printer, Option<Person>)>,
    /// Ends the process at once.
    pub quit: fn(Signal),
    /// Where tasks run.
    pub runtime: Handle,
    /// Whose an interrupt is.
    pub mask: InterruptMask,
    /// How its streams are.
    pub streams: Streams,
    /// Its lines, where they come from no terminal.
    pub piped: Arc<PipedLines>,
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

//! A process to start: what it is, what a person allowed it, and why it could not be started.

use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;

use neco_proto::ErrorCode;

use crate::command::Opened;

/// Where a process reads from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stdin {
    /// Nothing: reading ends at once.
    Closed,
    /// What is written to [`super::Process::take_input`].
    Piped,
}

/// A process to start.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The program: an absolute path, or a name to be found in the children's `PATH`.
    pub program: OsString,
    /// Its arguments, without its own name.
    pub arguments: Vec<OsString>,
    /// The folder it starts in, absolute.
    pub folder: PathBuf,
    /// Where it reads from; a process on a terminal always reads from that.
    pub stdin: Stdin,
    /// Gives it a terminal of 120 columns and 40 lines instead of pipes.
    pub terminal: bool,
    /// What becomes of processes that it leaves behind.
    pub leftovers: Leftovers,
    /// Variables that only it gets, whatever they hold.
    pub variables: Vec<(OsString, OsString)>,
    /// Where its standard error goes, if not to its output; only with an open input.
    pub errors: Option<Arc<OwnedFd>>,
}

/// What becomes of processes that outlive the one that was started, in its group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leftovers {
    /// Their output is read for a moment more, then they are killed.
    End,
    /// The same, and what left the group is killed too.
    EndAll,
    /// The end is waited for until they too have closed the output; then what is left is killed.
    WaitFor,
}

/// How much more than its settings one command gets, because a person said so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Freedom {
    /// Nothing more.
    #[default]
    AsConfigured,
    /// The network.
    Network,
    /// No box at all.
    Unboxed,
}

/// What a person allowed one command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Allowance {
    /// How much more than its settings it gets.
    pub freedom: Freedom,
    /// Files that are closed to commands otherwise: those that the question told of.
    pub opens: Vec<Opened>,
}

impl From<Freedom> for Allowance {
    fn from(freedom: Freedom) -> Self {
        Self { freedom, opens: Vec::new() }
    }
}

/// Why a process could not be started.
#[derive(Debug, thiserror::Error)]
pub enum SpawnError {
    /// There is no such program.
    #[error("there is no program {0:?} in the PATH of commands")]
    NoProgram(OsString),
    /// The folder is gone or no folder.
    #[error("can't start in {0}: {1}")]
    Folder(PathBuf, io::Error),
    /// The program, an argument or the folder has a zero byte in it.
    #[error("a command line can't hold a zero byte")]
    ZeroByte,
    /// The box can't be built.
    #[error("the sandbox can't be built, so nothing was started: {0}")]
    Sandbox(io::Error),
    /// The system refused.
    #[error("can't start {0:?}: {1}")]
    System(OsString, io::Error),
}

impl SpawnError {
    /// The stable code.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::NoProgram(_) | Self::Sandbox(_) | Self::System(..) => ErrorCode::ToolFailed,
            Self::Folder(..) => ErrorCode::FileNotFound,
            Self::ZeroByte => ErrorCode::InvalidArguments,
        }
    }
}

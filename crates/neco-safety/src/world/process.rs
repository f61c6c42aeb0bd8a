//! Processes as tools are handed them, whoever runs them.

use std::ffi::OsStr;
use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use std::{fmt, io};

use super::denial::Closed;
use super::launch::{Allowance, Freedom, Launch, SpawnError};

/// A future of which nothing is known but what it gives.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// What starts processes. What says nothing of itself is an editor's terminal: there is no box, and nothing is known of
/// its machine.
pub trait Processes: fmt::Debug + Send + Sync {
    /// Runs a program that may do as much as a person said.
    /// Fails when there is no such program or folder, or it is refused; in the future that is given.
    fn run(&self, launch: Launch, allowance: Allowance) -> BoxFuture<'_, Result<Box<dyn Process>, SpawnError>>;

    /// The program of a name in the `PATH` of what is run, or the path itself if it is one and is a program.
    fn find_program(&self, name: &OsStr) -> Option<PathBuf>;

    /// A folder for temporary files that this process and what is run know by the same path.
    fn temporary_folder(&self) -> PathBuf;

    /// Whether what is run is in a box.
    fn is_boxed(&self) -> bool {
        false
    }

    /// Whether what is run in a box has a `/tmp` of its own.
    fn has_own_tmp(&self) -> bool {
        false
    }

    /// What a box closes, to recognise that it stopped a command; nothing without a box.
    fn closed(&self, _freedom: Freedom) -> Option<Closed> {
        None
    }

    /// What is seen of a variable by what is run.
    fn variable(&self, _name: &str) -> Option<&OsStr> {
        None
    }
}

/// A running process. Dropping it kills the process and everything it started.
///
/// ```
/// use std::sync::Arc;
///
/// use neco_safety::world::{BoxFuture, Ending, Exit, Process, Progress, Stop, Stops};
///
/// /// A terminal of an editor, which says everything at once.
/// #[derive(Debug)]
/// struct Terminal {
///     output: Option<String>,
///     shown: String,
/// }
///
/// #[derive(Debug)]
/// struct NoMore;
///
/// impl Stops for NoMore {
///     fn stop(&self, _: Stop) {}
/// }
///
/// impl Process for Terminal {
///     fn next<'a>(&'a mut self) -> BoxFuture<'a, Progress<'a>> {
///         let ended = Progress::Ended(Ending { exit: Exit::Code(0), left_others: false });
///         self.shown = self.output.take().unwrap_or_default();
///         let progress = if self.shown.is_empty() { ended } else { Progress::Output(self.shown.as_bytes()) };
///         Box::pin(std::future::ready(progress))
///     }
///     fn handle(&self) -> Arc<dyn Stops> {
///         Arc::new(NoMore)
///     }
/// }
///
/// # tokio::runtime::Runtime::new().unwrap().block_on(async {
/// let mut process: Box<dyn Process> = Box::new(Terminal { output: Some("done".to_owned()), shown: String::new() });
/// assert_eq!(process.next().await, Progress::Output(b"done"));
/// assert!(matches!(process.next().await, Progress::Ended(_)));
/// # });
/// ```
pub trait Process: fmt::Debug + Send {
    /// What it did next. Safe to cancel.
    fn next<'a>(&'a mut self) -> BoxFuture<'a, Progress<'a>>;

    /// What stops it and everything it started, from anywhere.
    fn handle(&self) -> Arc<dyn Stops>;

    /// Stops it and everything it started.
    fn stop(&self, how: Stop) {
        self.handle().stop(how);
    }

    /// What it reads, to be had once; nothing when that is closed.
    fn take_input(&mut self) -> Option<Box<dyn ProcessInput>> {
        None
    }

    /// Hosts that it wanted to reach and that its box does not let through.
    fn refused_hosts(&self) -> Vec<String> {
        Vec::new()
    }

    /// What it made and its box does not let be there, once it is over: it was taken away or put aside.
    fn taken_away(&self) -> &[PathBuf] {
        &[]
    }

    /// What it made and its box does not let be there, and what could not be taken away: no other command runs in the
    /// session until it is gone.
    fn left_behind(&self) -> &[PathBuf] {
        &[]
    }

    /// Files of the workspace that it changed and that act later without being called, once it is over.
    fn changed_later(&self) -> &[PathBuf] {
        &[]
    }

    /// Asks it to end, waits so long at most, then kills it. What it still prints is lost.
    fn terminate<'a>(&'a mut self, grace: Duration) -> BoxFuture<'a, Ending> {
        Box::pin(async move {
            self.stop(Stop::Terminate);
            if let Ok(ending) = tokio::time::timeout(grace, end_of(self)).await {
                return ending;
            }
            self.stop(Stop::Kill);
            end_of(self).await
        })
    }
}

async fn end_of(process: &mut (impl Process + ?Sized)) -> Ending {
    loop {
        if let Progress::Ended(ending) = process.next().await {
            return ending;
        }
    }
}

/// What stops a process and everything it started.
pub trait Stops: fmt::Debug + Send + Sync {
    /// Asks or makes it end. Does nothing when it is over.
    fn stop(&self, how: Stop);
}

/// What a process reads. Dropping it closes a pipe; on a terminal, use [`ProcessInput::end`].
pub trait ProcessInput: fmt::Debug + Send {
    /// Writes all of it; waits while the process does not read.
    /// Fails when the process no longer reads.
    fn write_all<'a>(&'a mut self, bytes: &'a [u8]) -> BoxFuture<'a, io::Result<()>>;

    /// Tells the process that nothing more comes.
    /// Fails when the process no longer reads.
    fn end(self: Box<Self>) -> BoxFuture<'static, io::Result<()>>;
}

/// How a process and everything it started is asked or made to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// As Ctrl-C does.
    Interrupt,
    /// The terminal is gone.
    HangUp,
    /// Please end.
    Terminate,
    /// It can't refuse.
    Kill,
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// By itself, with this code.
    Code(i32),
    /// By this signal.
    Signal(i32),
    /// Someone else took the answer.
    Unknown,
}

/// The end of a process and its group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ending {
    /// How the process ended.
    pub exit: Exit,
    /// Whether other processes were still in its group and had to be killed.
    pub left_others: bool,
}

/// What a process did next.
#[derive(Debug, PartialEq, Eq)]
pub enum Progress<'a> {
    /// It printed this.
    Output(&'a [u8]),
    /// It is over; nothing more comes.
    Ended(Ending),
}

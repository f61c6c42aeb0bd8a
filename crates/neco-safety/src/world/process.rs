//! Processes as tools are handed them, whoever runs them.

use std::ffi::OsStr;
use std::fmt;
use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use super::spawn::{Ending, Group, Launch, ProcessInput, Progress, Running, SpawnError, Spawner, Stop};
use crate::sandbox::denial::Closed;
use crate::sandbox::{Allowance, Freedom};

/// A future of which nothing is known but what it gives.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// What starts processes. What says nothing of itself is an editor's terminal: there is no box, and nothing is known of
/// its machine.
pub trait Processes: fmt::Debug + Send + Sync {
    /// Runs a program that may do as much as a person said.
    ///
    /// # Errors
    /// When there is no such program or folder, or it is refused; in the future that is given.
    fn run(&self, launch: Launch, allowance: Allowance) -> BoxFuture<'_, Result<Box<dyn Process>, SpawnError>>;

    /// The program of a name in the `PATH` of what is run, or the path itself if it is one and is a program.
    fn find_program(&self, name: &OsStr) -> Option<PathBuf>;

    /// A folder for temporary files that this process and what is run know by the same path.
    fn temporary_folder(&self) -> PathBuf;

    /// Whether what is run is in a box.
    fn is_boxed(&self) -> bool {
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
    fn take_input(&mut self) -> Option<ProcessInput> {
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

impl Stops for Group {
    fn stop(&self, how: Stop) {
        Self::stop(self, how);
    }
}

impl Processes for Spawner {
    fn run(&self, launch: Launch, allowance: Allowance) -> BoxFuture<'_, Result<Box<dyn Process>, SpawnError>> {
        Box::pin(async move {
            let running = self.start_freed(launch, allowance).await?;
            Ok(Box::new(running) as Box<dyn Process>)
        })
    }

    fn find_program(&self, name: &OsStr) -> Option<PathBuf> {
        Self::find_program(self, name)
    }

    fn temporary_folder(&self) -> PathBuf {
        Self::temporary_folder(self)
    }

    fn is_boxed(&self) -> bool {
        Self::is_boxed(self)
    }

    fn closed(&self, freedom: Freedom) -> Option<Closed> {
        Self::closed(self, freedom)
    }

    fn variable(&self, name: &str) -> Option<&OsStr> {
        Self::variable(self, name)
    }
}

impl Process for Running {
    fn next<'a>(&'a mut self) -> BoxFuture<'a, Progress<'a>> {
        Box::pin(Self::next(self))
    }

    fn handle(&self) -> Arc<dyn Stops> {
        Arc::new(self.group().clone())
    }

    fn stop(&self, how: Stop) {
        self.group().stop(how);
    }

    fn take_input(&mut self) -> Option<ProcessInput> {
        Self::take_input(self)
    }

    fn refused_hosts(&self) -> Vec<String> {
        Self::refused_hosts(self)
    }

    fn taken_away(&self) -> &[PathBuf] {
        Self::taken_away(self)
    }

    fn left_behind(&self) -> &[PathBuf] {
        Self::left_behind(self)
    }

    fn changed_later(&self) -> &[PathBuf] {
        Self::changed_later(self)
    }
}

//! One run of a hook: a process that reads JSON, may print, and ends in its time or is killed.
//!
//! A hook is the user's own command, or one that they trust: it runs with their rights, outside the
//! box that the model's commands run in, with the environment those get. Its group dies with it.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use neco_safety::world::{
    self, Allowance, Exit, Launch, Leftovers, ProcessInput, Processes, Progress, SpawnError, Stdin,
};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use tempfile::TempDir;
use tokio::net::unix::pipe;
use tokio_util::sync::CancellationToken;

use super::output::Printed;

/// Bytes of each output that are kept; what comes after them is read and thrown away, so that a
/// hook that floods neither fills memory nor waits for ever.
const KEPT: usize = 1 << 20;

/// Standard error has a pipe of its own, the folder has its names, then the hook's shell takes the
/// place of this one.
const WRAPPER: &str = r#"exec 2>"$1"; CLAUDE_PROJECT_DIR=$4 NECO_PROJECT_DIR=$4; export CLAUDE_PROJECT_DIR NECO_PROJECT_DIR; exec "$2" -c "$3""#;

/// What hooks are run with.
#[derive(Clone)]
pub(super) struct Runner {
    pub processes: Arc<dyn Processes>,
    pub shell: OsString,
}

/// What is to be run.
#[derive(Clone, Copy)]
pub(super) struct Order<'a> {
    pub command: &'a str,
    /// Where it runs; hooks know it as the folder of the project.
    pub folder: &'a Path,
}

/// How a run ended.
pub(super) enum Ran {
    Ended(Exit, Printed),
    TimedOut,
    Cancelled,
    NotStarted(StartError),
}

/// Why a command does not run.
#[derive(Debug, thiserror::Error)]
pub(super) enum StartError {
    #[error("no pipe can be made for it: {0}")]
    Pipe(io::Error),
    #[error(transparent)]
    Spawn(#[from] SpawnError),
}

impl Runner {
    /// Runs a command to its end, its time or the cancel, whatever comes first.
    pub(super) async fn run(&self, order: Order<'_>, input: &[u8], limit: Duration, cancel: &CancellationToken) -> Ran {
        let run = async {
            let mut process = match self.start(order).await {
                Ok(process) => process,
                Err(error) => return Ran::NotStarted(error),
            };
            let (exit, printed) = process.follow(input).await;
            Ran::Ended(exit, printed)
        };
        // Dropping the future drops the process, which kills its group.
        tokio::select! {
            biased;
            () = cancel.cancelled() => Ran::Cancelled,
            ran = run => ran,
            () = tokio::time::sleep(limit) => Ran::TimedOut,
        }
    }

    async fn start(&self, order: Order<'_>) -> Result<Process, StartError> {
        let folder = self.processes.temporary_folder();
        let made = tokio::task::spawn_blocking(move || Errors::make(&folder)).await;
        let errors = made.map_err(io::Error::other).and_then(|made| made).map_err(StartError::Pipe)?;
        let arguments: [OsString; 7] = [
            "-c".into(),
            WRAPPER.into(),
            "neco-hook".into(),
            errors.path.clone().into_os_string(),
            self.shell.clone(),
            order.command.into(),
            order.folder.into(),
        ];
        let launch = Launch {
            program: "sh".into(),
            arguments: arguments.into(),
            folder: order.folder.to_owned(),
            stdin: Stdin::Piped,
            terminal: false,
            leftovers: Leftovers::End,
            variables: Vec::new(),
            errors: None,
        };
        let mut running = self.processes.run(launch, Allowance::default()).await?;
        let input = running.take_input();
        Ok(Process { running, input, errors })
    }
}

struct Process {
    running: Box<dyn world::Process>,
    input: Option<Box<dyn ProcessInput>>,
    errors: Errors,
}

impl Process {
    /// Feeds and reads until it ends.
    async fn follow(&mut self, input: &[u8]) -> (Exit, Printed) {
        let mut printed = Printed::default();
        let mut chunk = vec![0; 16 * 1024];
        let Self { running, input: pipe, errors } = self;
        let feed = feed(pipe.take(), input);
        tokio::pin!(feed);
        let mut fed = false;
        let exit = loop {
            tokio::select! {
                progress = running.next() => match progress {
                    Progress::Output(bytes) => printed.cut |= keep(&mut printed.stdout, bytes),
                    Progress::Ended(ending) => break ending.exit,
                },
                read = errors.read(&mut chunk) => {
                    keep(&mut printed.stderr, chunk.get(..read).unwrap_or_default());
                }
                () = &mut feed, if !fed => fed = true,
            }
        };
        // What was printed before the end is in the pipe by now.
        while let Some(read) = errors.read_now(&mut chunk).filter(|_| printed.stderr.len() < KEPT) {
            keep(&mut printed.stderr, chunk.get(..read).unwrap_or_default());
        }
        (exit, printed)
    }
}

/// A hook need not read what it is told.
async fn feed(pipe: Option<Box<dyn ProcessInput>>, input: &[u8]) {
    if let Some(mut pipe) = pipe
        && pipe.write_all(input).await.is_ok()
    {
        let _ = pipe.end().await;
    }
}

/// Keeps what there is room for; says whether there was not enough.
fn keep(kept: &mut Vec<u8>, bytes: &[u8]) -> bool {
    let room = KEPT.saturating_sub(kept.len());
    kept.extend(bytes.iter().take(room));
    bytes.len() > room
}

/// The pipe that standard error goes to, in a folder that only we can see.
struct Errors {
    path: PathBuf,
    pipe: pipe::Receiver,
    _folder: TempDir,
}

impl Errors {
    fn make(folder: &Path) -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix("neco-hook-").tempdir_in(folder)?;
        let path = folder.path().join("errors");
        mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)?;
        // Open for writing too: a pipe that nobody writes to yet is not at its end.
        let pipe = pipe::OpenOptions::new().read_write(true).open_receiver(&path)?;
        Ok(Self { path, pipe, _folder: folder })
    }

    /// The next piece. Safe to cancel.
    async fn read(&self, chunk: &mut [u8]) -> usize {
        loop {
            if self.pipe.readable().await.is_err() {
                // Only when the runtime ends.
                std::future::pending::<()>().await;
            }
            match self.pipe.try_read(chunk) {
                Ok(read) => return read,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(_) => std::future::pending::<()>().await,
            }
        }
    }

    /// The next piece if it is there.
    fn read_now(&self, chunk: &mut [u8]) -> Option<usize> {
        self.pipe.try_read(chunk).ok().filter(|read| *read > 0)
    }
}

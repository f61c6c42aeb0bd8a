//! A running process: its output piece by piece, and its end.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use rustix::process::{Signal, WaitStatus};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::group::{Finished, Group, GroupGuard};
use super::spawner::Started;
use super::stream::{ExitWatch, Input, ProcessOutput};
use crate::after::keep::Aftermath;
use crate::boxed::proxy::{Hosts, Proxy};
use neco_safety::world::{BoxFuture, Ending, Exit, Leftovers, Process, ProcessInput, Progress, Stops};

/// How long processes that a command left behind may still print into its output.
const LINGER: Duration = Duration::from_millis(150);

/// What was printed before the exit is read whatever the clock says, but not more than any pipe
/// holds: what leftovers print on top of it has no end.
const UNREAD: usize = 1024 * 1024;

const CHUNK: usize = 64 * 1024;

/// A running process. Dropping it kills the process and its whole group.
#[derive(Debug)]
pub struct Running {
    guard: GroupGuard,
    output: Option<ProcessOutput>,
    input: Option<Input>,
    exit: ExitWatch,
    stage: Stage,
    leftovers: Leftovers,
    chunk: Box<[u8]>,
    proxy: Option<Proxy>,
    finishing: Option<JoinHandle<(Ending, Aftermath)>>,
    aftermath: Aftermath,
}

#[derive(Clone, Copy, Debug)]
enum Stage {
    Alive,
    /// The process has exited and is not yet reaped; what it printed is read without waiting.
    Exited {
        read: usize,
    },
    /// Leftovers may still print.
    Lingering {
        since: Instant,
    },
    /// What is left is killed and the process reaped, which takes a moment.
    Finishing,
    Over(Ending),
}

/// What comes after the exit.
enum Rest {
    Output(usize),
    End,
    /// The leftovers that were waited for are not any more.
    Killed,
}

impl Running {
    pub(super) fn new(started: Started) -> io::Result<Self> {
        let exit = match started.line {
            Some(line) => ExitWatch::of_line(line)?,
            None => ExitWatch::new(started.guard.leader())?,
        };
        let proxy = started.way_out.map(|(listener, hosts)| Proxy::start(listener, Hosts::new(hosts))).transpose()?;
        Ok(Self {
            output: Some(ProcessOutput::new(started.output)?),
            input: started.input.map(Input::new).transpose()?,
            exit,
            stage: Stage::Alive,
            leftovers: started.leftovers,
            chunk: vec![0; CHUNK].into_boxed_slice(),
            proxy,
            finishing: None,
            aftermath: Aftermath::default(),
            guard: started.guard,
        })
    }

    /// A handle to signal the process and everything it started.
    pub fn group(&self) -> &Group {
        self.guard.group()
    }

    /// What was printed before the exit, as far as it is there.
    fn unread(&mut self, read: usize) -> Option<usize> {
        let output = self.output.as_ref().filter(|_| read < UNREAD)?;
        output.read_now(&mut self.chunk)
    }

    /// Output that comes while leftovers may print.
    async fn rest(&mut self, since: Instant) -> Rest {
        let Some(output) = self.output.as_ref() else { return Rest::End };
        let read = output.read(&mut self.chunk);
        let length = match self.leftovers {
            Leftovers::WaitFor => tokio::select! {
                biased;
                // Who left the group may hold the output for ever.
                () = self.guard.group().killed() => return Rest::Killed,
                length = read => length,
            },
            // The deadline is looked at first: who prints without end would never let a timeout happen.
            Leftovers::End | Leftovers::EndAll if since.elapsed() >= LINGER => None,
            Leftovers::End | Leftovers::EndAll => tokio::time::timeout_at(since + LINGER, read).await.ok().flatten(),
        };
        length.map_or(Rest::End, Rest::Output)
    }

    fn piece(&self, length: usize) -> &[u8] {
        self.chunk.get(..length).unwrap_or_default()
    }

    /// Not on a thread of the runtime: it waits for processes to be gone, and touches the disk.
    async fn finish(&mut self) -> Ending {
        self.output = None;
        let finishing = match &mut self.finishing {
            Some(finishing) => finishing,
            none => {
                let (said, group) = (self.exit.last_word(), self.guard.group().clone());
                let ends_all = self.leftovers == Leftovers::EndAll;
                none.insert(tokio::task::spawn_blocking(move || {
                    // Before what was made is looked at: what still runs could make more.
                    if ends_all {
                        group.kill_strays();
                    }
                    end(&group, said)
                }))
            }
        };
        let (ending, aftermath) = finishing.await.unwrap_or_else(|_| unknown());
        self.aftermath = aftermath;
        ending
    }
}

impl Process for Running {
    fn next<'a>(&'a mut self) -> BoxFuture<'a, Progress<'a>> {
        Box::pin(async move {
            loop {
                match self.stage {
                    Stage::Over(ending) => return Progress::Ended(ending),
                    Stage::Alive => {
                        let Some(output) = &self.output else {
                            self.exit.exited().await;
                            self.stage = Stage::Exited { read: 0 };
                            continue;
                        };
                        tokio::select! {
                            read = output.read(&mut self.chunk) => match read {
                                Some(length) => return Progress::Output(self.piece(length)),
                                None => self.output = None,
                            },
                            () = self.exit.exited() => self.stage = Stage::Exited { read: 0 },
                        }
                    }
                    Stage::Exited { read } => match self.unread(read) {
                        Some(length) => {
                            self.stage = Stage::Exited { read: read + length };
                            return Progress::Output(self.piece(length));
                        }
                        None => self.stage = Stage::Lingering { since: Instant::now() },
                    },
                    Stage::Finishing => self.stage = Stage::Over(self.finish().await),
                    Stage::Lingering { since } => match self.rest(since).await {
                        Rest::Output(length) => return Progress::Output(self.piece(length)),
                        Rest::End => self.stage = Stage::Finishing,
                        Rest::Killed => {
                            self.leftovers = Leftovers::End;
                            self.stage = Stage::Lingering { since: Instant::now() };
                        }
                    },
                }
            }
        })
    }

    fn handle(&self) -> Arc<dyn Stops> {
        Arc::new(self.group().clone())
    }

    fn take_input(&mut self) -> Option<Box<dyn ProcessInput>> {
        self.input.take().map(|input| Box::new(input) as Box<dyn ProcessInput>)
    }

    fn refused_hosts(&self) -> Vec<String> {
        self.proxy.as_ref().map(Proxy::refused).unwrap_or_default()
    }

    fn taken_away(&self) -> &[PathBuf] {
        &self.aftermath.taken
    }

    fn left_behind(&self) -> &[PathBuf] {
        &self.aftermath.left
    }

    fn changed_later(&self) -> &[PathBuf] {
        &self.aftermath.acting
    }
}

/// Ends a group; `said` is what the launcher of a box said about the command.
fn end(group: &Group, said: Option<(i32, bool)>) -> (Ending, Aftermath) {
    let killed = group.was_killed();
    let Some(Finished { status, others, aftermath }) = group.finish() else { return unknown() };
    let ending = match said {
        Some((status, left_others)) => Ending { exit: exit_of_number(status), left_others },
        // A box that is ended ends orderly, and what was in it did not.
        None if killed => Ending { exit: Exit::Signal(Signal::KILL.as_raw()), left_others: false },
        None => Ending { exit: exit_of(status), left_others: others },
    };
    (ending, aftermath)
}

fn unknown() -> (Ending, Aftermath) {
    (Ending { exit: Exit::Unknown, left_others: false }, Aftermath::default())
}

/// From what `waitpid` gave someone else.
fn exit_of_number(status: i32) -> Exit {
    match status & 0x7f {
        0 => Exit::Code((status >> 8) & 0xff),
        signal => Exit::Signal(signal),
    }
}

fn exit_of(status: io::Result<WaitStatus>) -> Exit {
    let Ok(status) = status else { return Exit::Unknown };
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => Exit::Code(code),
        (None, Some(signal)) => Exit::Signal(signal),
        (None, None) => Exit::Unknown,
    }
}

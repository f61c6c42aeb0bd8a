//! Kills the groups that are left when this process dies, however it dies.
//!
//! A parent-death signal would reach the direct child only, would fire when the *thread* that
//! started it ends, and would cost a `fork`. Instead a small shell process waits on a pipe that
//! only this process holds open: when it closes, everything that is still registered is killed.
//! It starts before the first command and costs one write a command after that.

use std::collections::BTreeSet;
use std::ffi::CString;
use std::io::{self, PipeReader, PipeWriter, Write};
use std::os::fd::AsFd;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, WaitOptions, kill_process, waitid, waitpid};

use super::strays::Mark;
use crate::linux::session_leader::{self, Program, Streams};

const SCRIPT: &str = include_str!("watchdog.sh");

/// Knows the living groups.
#[derive(Debug, Default)]
pub(super) struct Watchdog {
    state: Mutex<State>,
    /// A program that puts right what the groups left, and its arguments.
    afterwards: OnceLock<Vec<CString>>,
}

#[derive(Debug, Default)]
struct State {
    shell: Option<Shell>,
    living: BTreeSet<i32>,
    /// The marks of commands that are being started: their processes have no number yet that is known here.
    beginning: BTreeSet<String>,
}

/// A command that is being started; over when it is dropped.
#[derive(Debug)]
pub(super) struct Beginning<'a> {
    watchdog: &'a Watchdog,
    mark: String,
}

impl Drop for Beginning<'_> {
    fn drop(&mut self) {
        let mut state = self.watchdog.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.beginning.remove(&self.mark);
        state.tell(&format!("!{}\n", self.mark), self.watchdog.afterwards());
    }
}

/// The process that waits.
#[derive(Debug)]
struct Shell {
    pipe: PipeWriter,
    /// Nothing once it is reaped and its number may be someone else's.
    pid: Arc<Mutex<Option<Pid>>>,
}

impl Watchdog {
    /// What is run when this process was killed and everything it started with it. The first one stays.
    pub(super) fn run_afterwards(&self, words: Vec<CString>) {
        let _ = self.afterwards.set(words);
    }

    fn afterwards(&self) -> &[CString] {
        self.afterwards.get().map(Vec::as_slice).unwrap_or_default()
    }

    /// From now on what has the mark dies with this process, and what was made for it is put right, until it is
    /// known as a group or could not be started.
    pub(super) fn begin(&self, mark: &Mark) -> Beginning<'_> {
        let mark = mark.entry().to_owned();
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.shell.is_none() {
            state.shell = Shell::start(self.afterwards()).map_err(warn).ok();
        }
        state.beginning.insert(mark.clone());
        state.tell(&format!("?{mark}\n"), self.afterwards());
        Beginning { watchdog: self, mark }
    }

    /// From now on the group dies with this process.
    pub(super) fn watch(&self, leader: Pid) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let group = leader.as_raw_nonzero().get();
        state.living.insert(group);
        state.tell(&format!("+{group}\n"), self.afterwards());
    }

    /// The group is over.
    pub(super) fn forget(&self, leader: Pid) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let group = leader.as_raw_nonzero().get();
        state.living.remove(&group);
        state.tell(&format!("-{group}\n"), self.afterwards());
    }
}

impl State {
    fn tell(&mut self, line: &str, afterwards: &[CString]) {
        // One write of a short line into a pipe is all or nothing.
        let told = self.shell.as_mut().is_some_and(|shell| shell.pipe.write(line.as_bytes()).is_ok());
        if told {
            return;
        }
        // Also when nothing lives: what the old one knows is out of date.
        if let Some(old) = self.shell.take() {
            old.put_down();
        }
        if !self.living.is_empty() || !self.beginning.is_empty() {
            self.shell = Shell::start(afterwards).and_then(|shell| self.brief(shell)).map_err(warn).ok();
        }
    }

    /// Tells a new watchdog all there is.
    fn brief(&self, mut shell: Shell) -> io::Result<Shell> {
        for group in &self.living {
            shell.pipe.write_all(format!("+{group}\n").as_bytes())?;
        }
        for mark in &self.beginning {
            shell.pipe.write_all(format!("?{mark}\n").as_bytes())?;
        }
        Ok(shell)
    }
}

impl Shell {
    fn start(afterwards: &[CString]) -> io::Result<Self> {
        let (reader, pipe) = io::pipe()?;
        // Nobody waits for a watchdog that was stopped: a full pipe counts as a dead one.
        rustix::io::ioctl_fionbio(&pipe, true)?;
        let started = spawn(reader, afterwards)?;
        let pid = Arc::new(Mutex::new(Some(started)));
        let known = Arc::clone(&pid);
        let thread = std::thread::Builder::new().name("neco-watchdog".to_owned());
        if let Err(error) = thread.spawn(move || reap(started, &known)) {
            // It works all the same; it only stays a zombie when it ends before this process does.
            warn(error);
        }
        Ok(Self { pipe, pid })
    }

    /// Ends it before its pipe closes: that would make it kill what it knows of, which lives on.
    fn put_down(self) {
        let pid = self.pid.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(pid) = *pid {
            let _ = kill_process(pid, Signal::KILL);
        }
    }
}

fn spawn(reader: PipeReader, afterwards: &[CString]) -> io::Result<Pid> {
    let silence = std::fs::OpenOptions::new().write(true).open("/dev/null")?;
    // The reader is dropped at the end: a reader here would hide the watchdog's death from writers.
    session_leader::start(&Program {
        path: c"/bin/sh",
        arguments: &[&[c"sh".into(), c"-c".into(), CString::new(SCRIPT)?, c"neco-watchdog".into()], afterwards]
            .concat(),
        environment: &[],
        folder: c"/",
        streams: Streams::Piped(reader.as_fd(), silence.as_fd()),
        boxed: None,
    })
}

/// Reaps a watchdog that has ended. Its number is forgotten first, while it can't be anyone else's.
fn reap(watchdog: Pid, known: &Mutex<Option<Pid>>) {
    let look = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    while let Err(Errno::INTR) = waitid(WaitId::Pid(watchdog), look) {}
    *known.lock().unwrap_or_else(PoisonError::into_inner) = None;
    while let Err(Errno::INTR) = waitpid(Some(watchdog), WaitOptions::empty()) {}
}

fn warn(error: io::Error) {
    tracing::warn!(%error, "no watchdog: processes may outlive a killed neco");
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    /// A process whose number nobody was told of yet, because we were killed right after it was started.
    #[test]
    fn what_was_just_being_started_goes_too() {
        let (watchdog, mark) = (Watchdog::default(), Mark::fresh());
        std::mem::forget(watchdog.begin(&mark));
        let mut child = std::process::Command::new("sleep");
        let (name, value) = mark.entry().split_once('=').unwrap();
        std::os::unix::process::CommandExt::process_group(&mut child, 0);
        let mut child = child.arg("600").env(name, value).spawn().unwrap();
        drop(watchdog);
        assert_eq!(std::os::unix::process::ExitStatusExt::signal(&child.wait().unwrap()), Some(9));
    }

    #[test]
    fn what_could_not_be_started_is_forgotten() {
        let (watchdog, mark) = (Watchdog::default(), Mark::fresh());
        drop(watchdog.begin(&mark));
        assert!(watchdog.state.lock().unwrap().beginning.is_empty());
    }

    /// A stopped watchdog whose pipe is full is replaced, and what it knew of lives on.
    #[test]
    fn a_watchdog_that_does_not_listen_is_put_down_and_kills_nobody() {
        let mut child = std::process::Command::new("sleep");
        std::os::unix::process::CommandExt::process_group(&mut child, 0);
        let mut child = child.arg("600").spawn().unwrap();
        let watchdog = Watchdog::default();
        watchdog.watch(Pid::from_child(&child));
        let pid_of =
            |watchdog: &Watchdog| watchdog.state.lock().unwrap().shell.as_ref().map(|shell| Arc::clone(&shell.pid));
        let old = pid_of(&watchdog).unwrap();
        let first = old.lock().unwrap().unwrap();
        kill_process(first, Signal::STOP).unwrap();
        let start = Instant::now();
        let stranger = Pid::from_raw(i32::MAX).unwrap();
        while pid_of(&watchdog).is_some_and(|pid| Arc::ptr_eq(&pid, &old)) {
            watchdog.watch(stranger);
            watchdog.forget(stranger);
            assert!(start.elapsed() < Duration::from_secs(20), "the pipe never filled");
        }
        while old.lock().unwrap().is_some() {
            assert!(start.elapsed() < Duration::from_secs(20), "the old one lives");
            std::thread::sleep(Duration::from_millis(2));
        }
        assert!(child.try_wait().unwrap().is_none(), "the group was killed");
        drop(watchdog);
        child.wait().unwrap();
    }
}

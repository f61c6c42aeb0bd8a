//! Kills the groups that are left when this process dies, however it dies.
//!
//! A parent-death signal would reach the direct child only, would fire when the *thread* that
//! started it ends, and would cost a `fork`. Instead a small shell process waits on a pipe that
//! only this process holds open: when it closes, everything that is still registered is killed.
//! It starts with the first command, beside it, and costs one write a command after that.

use std::collections::BTreeSet;
use std::ffi::CString;
use std::io::{self, PipeReader, PipeWriter, Write};
use std::os::fd::AsFd;
use std::sync::{Mutex, PoisonError};

use rustix::process::{Pid, WaitOptions, waitpid};

use crate::sandbox::linux::session_leader::{self, Program, Streams};

const SCRIPT: &str = include_str!("watchdog.sh");

/// Knows the living groups.
#[derive(Debug, Default)]
pub(super) struct Watchdog {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    pipe: Option<PipeWriter>,
    living: BTreeSet<i32>,
}

impl Watchdog {
    /// From now on the group dies with this process.
    pub(super) fn watch(&self, leader: Pid) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let group = leader.as_raw_nonzero().get();
        state.living.insert(group);
        state.tell(&format!("+{group}\n"));
    }

    /// The group is over.
    pub(super) fn forget(&self, leader: Pid) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let group = leader.as_raw_nonzero().get();
        state.living.remove(&group);
        state.tell(&format!("-{group}\n"));
    }
}

impl State {
    fn tell(&mut self, line: &str) {
        // One write of a short line into a pipe is all or nothing.
        let told = self.pipe.as_mut().is_some_and(|pipe| pipe.write(line.as_bytes()).is_ok());
        if !told && !self.living.is_empty() {
            self.pipe = start().and_then(|pipe| self.brief(pipe)).map_err(warn).ok();
        }
    }

    /// Tells a new watchdog all there is.
    fn brief(&self, mut pipe: PipeWriter) -> io::Result<PipeWriter> {
        for group in &self.living {
            pipe.write_all(format!("+{group}\n").as_bytes())?;
        }
        Ok(pipe)
    }
}

fn start() -> io::Result<PipeWriter> {
    let (reader, writer) = io::pipe()?;
    // Nobody waits for a watchdog that was stopped: a full pipe counts as a dead one.
    rustix::io::ioctl_fionbio(&writer, true)?;
    let thread = std::thread::Builder::new().name("neco-watchdog".to_owned());
    thread.spawn(move || {
        if let Err(error) = keep(reader) {
            warn(error)
        }
    })?;
    Ok(writer)
}

/// Runs the watchdog and reaps it when it ends.
fn keep(reader: PipeReader) -> io::Result<()> {
    let silence = std::fs::OpenOptions::new().write(true).open("/dev/null")?;
    let watchdog = session_leader::start(&Program {
        path: c"/bin/sh",
        arguments: &[c"sh".into(), c"-c".into(), CString::new(SCRIPT)?, c"neco-watchdog".into()],
        environment: &[],
        folder: c"/",
        streams: Streams::Piped(reader.as_fd(), silence.as_fd()),
    })?;
    // The watchdog's copy must be the only one: a reader here would hide its death from writers.
    drop(reader);
    while let Err(rustix::io::Errno::INTR) = waitpid(Some(watchdog), WaitOptions::empty()) {}
    Ok(())
}

fn warn(error: io::Error) {
    tracing::warn!(%error, "no watchdog: processes may outlive a killed neco");
}

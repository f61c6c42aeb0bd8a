//! A process group: signalled as a whole, never after its number could be someone else's.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, WaitOptions, WaitStatus, kill_process_group, pidfd_open,
    test_kill_process_group, waitid, waitpid,
};
use tokio_util::sync::CancellationToken;

use super::strays::{self, Mark};
use super::watchdog::Watchdog;
use crate::after::keep::{Aftermath, Keep};
use crate::linux::descriptor::wait_until_readable;
use neco_safety::world::{Stop, Stops};

/// A handle on a process and everything it started. Clones stand for the same group.
#[derive(Clone, Debug)]
pub struct Group {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    leader: Pid,
    /// What everything that it started has in its environment.
    mark: Mark,
    /// Set when it was told to end without a choice.
    killed: CancellationToken,
    watchdog: Arc<Watchdog>,
    /// Set before the leader is reaped and held while a signal is sent, so that the two can't cross.
    over: Mutex<bool>,
    /// Whether the leader builds a box around everything else.
    in_box: bool,
    /// What stays until the group is over.
    keep: Mutex<Option<Keep>>,
}

impl Group {
    /// The process id of the leader, which is the group's number.
    pub fn id(&self) -> i32 {
        self.inner.leader.as_raw_nonzero().get()
    }

    /// Waits until the group is killed. Safe to cancel.
    pub(super) async fn killed(&self) {
        self.inner.killed.cancelled().await;
    }

    /// Kills what left the group, where it can be found. It may block.
    pub(super) fn kill_strays(&self) {
        strays::kill(&self.inner.mark);
    }

    /// Kills what is left of the group, then reaps the leader, waiting for its end if need be.
    /// Says how it ended. Nothing when that was done before.
    pub(super) fn finish(&self) -> Option<Finished> {
        self.finish_with(Keep::end)
    }

    /// The same where nobody waits for it.
    fn finish_unheard(&self) {
        drop(self.finish_with(|keep| {
            keep.end_unheard();
            Aftermath::default()
        }));
    }

    fn finish_with(&self, end: impl FnOnce(Keep) -> Aftermath) -> Option<Finished> {
        {
            let mut over = self.inner.over.lock().unwrap_or_else(PoisonError::into_inner);
            if std::mem::replace(&mut *over, true) {
                return None;
            }
            // The unreaped leader holds the number: this can only reach the group's own processes.
            self.signal(Stop::Kill);
        }
        let status = self.reap();
        let keep = self.inner.keep.lock().unwrap_or_else(PoisonError::into_inner).take();
        let aftermath = keep.map(end).unwrap_or_default();
        // Looks, and signals nobody. Right behind the reaping: what was killed above is not gone yet.
        // Without a leader of ours the number says nothing.
        let others = status.is_ok() && test_kill_process_group(self.inner.leader).is_ok();
        self.inner.watchdog.forget(self.inner.leader);
        Some(Finished { status, others, aftermath })
    }
}

impl Stops for Group {
    /// Signals every process in the group. Does nothing when the group is over. What left the group
    /// (`setsid`) is killed with it where it can be found.
    fn stop(&self, how: Stop) {
        {
            let over = self.inner.over.lock().unwrap_or_else(PoisonError::into_inner);
            if *over {
                return;
            }
            self.signal(how);
        }
        if how == Stop::Kill && !self.inner.killed.is_cancelled() {
            self.inner.killed.cancel();
            strays::kill_soon(self.inner.mark.clone());
        }
    }
}

/// How a group ended.
pub(super) struct Finished {
    pub(super) status: io::Result<WaitStatus>,
    /// Whether others than the leader were left.
    pub(super) others: bool,
    /// What became of what was made in a box and must not be there.
    pub(super) aftermath: Aftermath,
}

impl Group {
    /// Whether it was told to end without a choice.
    pub(super) fn was_killed(&self) -> bool {
        self.inner.killed.is_cancelled()
    }

    fn signal(&self, how: Stop) {
        let leader = self.inner.leader;
        if !is_our_child(leader) {
            return;
        }
        let signal = match how {
            Stop::Interrupt => Signal::INT,
            Stop::HangUp => Signal::HUP,
            Stop::Terminate => Signal::TERM,
            // The first process in a box goes, and the kernel ends all others before it is gone.
            Stop::Kill if self.inner.in_box => END_OF_BOX,
            Stop::Kill => Signal::KILL,
        };
        // The only failures are that nobody is left and that what is left may not be signalled by us.
        let _ = kill_process_group(leader, signal);
    }

    /// Waits for the leader. One that builds a box ends when the box is empty; if that takes too long
    /// it is killed, and the box with it.
    fn reap(&self) -> io::Result<WaitStatus> {
        let leader = self.inner.leader;
        if self.inner.in_box {
            let begun = Instant::now();
            let mut told = begun;
            let exit = pidfd_open(leader, PidfdFlags::empty()).ok();
            while begun.elapsed() < BOX_PATIENCE {
                match waitpid(Some(leader), WaitOptions::NOHANG) {
                    Ok(Some((_, status))) => return Ok(status),
                    // A box that was only being built may not have heard it.
                    Ok(None) if told.elapsed() > TELL_AGAIN => {
                        told = Instant::now();
                        let _ = kill_process_group(leader, END_OF_BOX);
                    }
                    Ok(None) => match &exit {
                        Some(exit) => wait_until_readable(exit, TELL_AGAIN),
                        None => std::thread::sleep(LOOK_AGAIN),
                    },
                    Err(Errno::INTR) => {}
                    Err(error) => return Err(error.into()),
                }
            }
            let _ = kill_process_group(leader, Signal::KILL);
        }
        reap(leader)
    }
}

/// Tells the first process of a box to end it. Whatever else is in the group holds it back.
pub(super) const END_OF_BOX: Signal = Signal::POWER;

/// How long a box may take to be empty.
const BOX_PATIENCE: Duration = Duration::from_secs(2);
const LOOK_AGAIN: Duration = Duration::from_micros(200);
const TELL_AGAIN: Duration = Duration::from_millis(20);

/// Kills the group when it is dropped before its end was seen.
#[derive(Debug)]
pub(super) struct GroupGuard(Group);

impl GroupGuard {
    /// Takes over a group whose leader was just started.
    pub(super) fn new(leader: Pid, mark: Mark, watchdog: Arc<Watchdog>, confinement: (bool, Option<Keep>)) -> Self {
        watchdog.watch(leader);
        let killed = CancellationToken::new();
        let (in_box, keep) = (confinement.0, Mutex::new(confinement.1));
        Self(Group { inner: Arc::new(Inner { leader, mark, killed, watchdog, over: Mutex::new(false), in_box, keep }) })
    }

    pub(super) fn group(&self) -> &Group {
        &self.0
    }

    pub(super) fn leader(&self) -> Pid {
        self.0.inner.leader
    }
}

impl Drop for GroupGuard {
    fn drop(&mut self) {
        if *self.0.inner.over.lock().unwrap_or_else(PoisonError::into_inner) {
            return;
        }
        self.0.stop(Stop::Kill);
        // A killed process needs a moment to go, and a drop must not wait for it.
        let group = self.0.clone();
        let reaper = std::thread::Builder::new().name("neco-reaper".to_owned());
        if let Err(error) = reaper.spawn(move || group.finish_unheard()) {
            tracing::warn!(%error, "a killed process could not be reaped");
        }
    }
}

/// Someone else may have reaped it; then its number may be anybody's.
fn is_our_child(leader: Pid) -> bool {
    let look = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    !matches!(waitid(WaitId::Pid(leader), look), Err(Errno::CHILD | Errno::SRCH))
}

fn reap(leader: Pid) -> io::Result<WaitStatus> {
    loop {
        match waitpid(Some(leader), WaitOptions::empty()) {
            Ok(Some((_, status))) => return Ok(status),
            Ok(None) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

//! Signals that end the window or put it away for a while: the terminal is given back first.

#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};

/// What a signal asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// The process is to end.
    End,
    /// It is to stop until somebody lets it go on.
    Stop,
    /// It was stopped, and goes on: the shell may have had the terminal meanwhile.
    GoOn,
    /// The terminal has another size.
    Look,
}

/// Hears the signals that ask the process to end, to stop and to go on.
#[cfg(unix)]
pub(super) struct Signals {
    terminate: Option<Signal>,
    hang_up: Option<Signal>,
    quit: Option<Signal>,
    interrupt: Option<Signal>,
    stop: Option<Signal>,
    go_on: Option<Signal>,
    size: Option<Signal>,
}

#[cfg(unix)]
impl Signals {
    /// Begins to listen.
    pub(super) fn listen() -> Self {
        use rustix::process::Signal as Number;
        let hear = |kind| signal(kind).ok();
        Self {
            terminate: hear(SignalKind::terminate()),
            hang_up: hear(SignalKind::hangup()),
            quit: hear(SignalKind::quit()),
            interrupt: hear(SignalKind::interrupt()),
            stop: hear(SignalKind::from_raw(Number::TSTP.as_raw())),
            go_on: hear(SignalKind::from_raw(Number::CONT.as_raw())),
            size: hear(SignalKind::window_change()),
        }
    }

    /// Ready when one came. While an editor has the terminal, Ctrl-C and Ctrl-\ are meant for it.
    pub(super) async fn next(&mut self, editing: bool) -> Asked {
        loop {
            tokio::select! {
                () = heard(&mut self.terminate) => return Asked::End,
                () = heard(&mut self.hang_up) => return Asked::End,
                () = async { tokio::select! {
                    () = heard(&mut self.quit) => {}
                    () = heard(&mut self.interrupt) => {}
                } } => {
                    if !editing {
                        return Asked::End;
                    }
                }
                () = heard(&mut self.stop) => return Asked::Stop,
                () = heard(&mut self.go_on) => return Asked::GoOn,
                () = heard(&mut self.size) => return Asked::Look,
            }
        }
    }
}

#[cfg(unix)]
async fn heard(signal: &mut Option<Signal>) {
    match signal {
        Some(signal) => drop(signal.recv().await),
        None => std::future::pending().await,
    }
}

/// Stops this process, and those that it was started through, until the shell goes on with them; whether it could.
///
/// Without a shell that looks after its jobs nobody would ever let it go on: the group is then that of whoever began
/// the session, such as the only program of a container.
#[cfg(unix)]
pub(super) fn suspend() -> bool {
    use rustix::process::{Signal, getpgrp, getsid, kill_current_process_group};
    if getsid(None).is_ok_and(|session| session == getpgrp()) {
        return false;
    }
    // Not TSTP: that is heard by this process itself.
    kill_current_process_group(Signal::STOP).is_ok()
}

/// Where there are no such signals, none comes.
#[cfg(not(unix))]
pub(super) struct Signals;

#[cfg(not(unix))]
impl Signals {
    /// Nothing to listen to.
    pub(super) fn listen() -> Self {
        Self
    }

    /// Never ready.
    pub(super) async fn next(&mut self, _editing: bool) -> Asked {
        std::future::pending().await
    }
}

/// There is no shell that could go on with it.
#[cfg(not(unix))]
pub(super) fn suspend() -> bool {
    false
}

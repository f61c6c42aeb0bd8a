//! Signals that end the window: the terminal is given back first.

#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Hears the signals that ask the process to end.
#[cfg(unix)]
pub(super) struct Signals {
    terminate: Option<Signal>,
    hang_up: Option<Signal>,
    interrupt: Option<Signal>,
}

#[cfg(unix)]
impl Signals {
    /// Begins to listen.
    pub(super) fn listen() -> Self {
        let hear = |kind| signal(kind).ok();
        Self {
            terminate: hear(SignalKind::terminate()),
            hang_up: hear(SignalKind::hangup()),
            interrupt: hear(SignalKind::interrupt()),
        }
    }

    /// Ready when one came. While an editor has the terminal, Ctrl-C is meant for it.
    pub(super) async fn ended(&mut self, editing: bool) {
        loop {
            tokio::select! {
                () = heard(&mut self.terminate) => return,
                () = heard(&mut self.hang_up) => return,
                () = heard(&mut self.interrupt) => {
                    if !editing {
                        return;
                    }
                }
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

/// Stops this process until the shell goes on with it.
#[cfg(unix)]
pub(super) fn suspend() {
    use rustix::process::{Signal, getpid, kill_process};
    // Nothing is lost when the system does not let us.
    let _ = kill_process(getpid(), Signal::TSTP);
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
    pub(super) async fn ended(&mut self, _editing: bool) {
        std::future::pending().await
    }
}

/// There is no shell that could go on with it.
#[cfg(not(unix))]
pub(super) fn suspend() {}

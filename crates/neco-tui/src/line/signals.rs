//! Signals that stop a run.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::signal::unix::{Signal as Listener, SignalKind, signal};

/// A signal that stops a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// Ctrl-C.
    Interrupt,
    /// The terminal is gone.
    HangUp,
    /// Somebody wants the process to end.
    Terminate,
}

impl Signal {
    /// Its number.
    #[must_use]
    pub fn number(self) -> u8 {
        match self {
            Self::HangUp => 1,
            Self::Interrupt => 2,
            Self::Terminate => 15,
        }
    }
}

/// Hears the signals from the moment it is made. What whoever started us chose to ignore (`nohup`,
/// a job in the background) stays ignored.
pub struct Signals {
    interrupt: Option<Listener>,
    hang_up: Option<Listener>,
    terminate: Option<Listener>,
    mask: InterruptMask,
}

/// Whether Ctrl-C is meant for somebody else, such as an editor in the foreground.
#[derive(Clone, Debug, Default)]
pub struct InterruptMask(Arc<AtomicBool>);

impl InterruptMask {
    /// Runs `work` while Ctrl-C is left to it.
    pub fn during<T>(&self, work: impl FnOnce() -> T) -> T {
        self.0.store(true, Ordering::SeqCst);
        let result = work();
        self.0.store(false, Ordering::SeqCst);
        result
    }
}

impl Signals {
    /// Begins to listen; needs a runtime.
    ///
    /// # Errors
    /// When the system does not let us.
    pub fn listen(mask: InterruptMask) -> std::io::Result<Self> {
        let ignored = ignored_signals();
        let hear = |kind: SignalKind, number: Signal| {
            let is_ignored = ignored & (1 << (number.number() - 1)) != 0;
            if is_ignored { Ok(None) } else { signal(kind).map(Some) }
        };
        Ok(Self {
            interrupt: hear(SignalKind::interrupt(), Signal::Interrupt)?,
            hang_up: hear(SignalKind::hangup(), Signal::HangUp)?,
            terminate: hear(SignalKind::terminate(), Signal::Terminate)?,
            mask,
        })
    }

    /// The next signal.
    pub async fn next(&mut self) -> Signal {
        loop {
            tokio::select! {
                () = heard(&mut self.interrupt) => {
                    if !self.mask.0.load(Ordering::SeqCst) {
                        return Signal::Interrupt;
                    }
                }
                () = heard(&mut self.hang_up) => return Signal::HangUp,
                () = heard(&mut self.terminate) => return Signal::Terminate,
            }
        }
    }
}

async fn heard(listener: &mut Option<Listener>) {
    let heard = match listener {
        Some(listener) => listener.recv().await,
        None => None,
    };
    if heard.is_none() {
        std::future::pending().await
    }
}

/// The signals that were ignored when we were started, a bit each; none where the system does not say.
fn ignored_signals() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or_default()
}

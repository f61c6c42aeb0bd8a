//! Signals that stop a run.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;

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
    heard: Vec<(Listener, Signal)>,
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
    pub fn listen(mask: InterruptMask) -> std::io::Result<Self> {
        let ignored = ignored_signals();
        let kinds = [
            (SignalKind::interrupt(), Signal::Interrupt),
            (SignalKind::hangup(), Signal::HangUp),
            (SignalKind::terminate(), Signal::Terminate),
        ];
        let wanted = kinds.into_iter().filter(|(_, number)| ignored & (1 << (number.number() - 1)) == 0);
        let heard = wanted.map(|(kind, number)| Ok((signal(kind)?, number))).collect::<std::io::Result<_>>()?;
        Ok(Self { heard, mask })
    }

    /// The next signal.
    pub async fn next(&mut self) -> Signal {
        poll_fn(|context| {
            for (listener, signal) in &mut self.heard {
                while listener.poll_recv(context) == Poll::Ready(Some(())) {
                    if *signal != Signal::Interrupt || !self.mask.0.load(Ordering::SeqCst) {
                        return Poll::Ready(*signal);
                    }
                }
            }
            Poll::Pending
        })
        .await
    }
}

/// The signals that were ignored when we were started, a bit each; none where the system does not say.
fn ignored_signals() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or_default()
}

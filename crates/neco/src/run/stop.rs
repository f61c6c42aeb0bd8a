//! Signals that stop a run.

use std::sync::Arc;
use std::time::Duration;

use neco_proto::{Client, Command};
use neco_tui::line::LoopEvent;
pub use neco_tui::line::run::Stopped;
use tokio::sync::mpsc::Sender;

use crate::ask::tty::restore_terminal;
use crate::exit::Exit;
use crate::log;
use crate::signals::{Signal, Signals};

/// How long the work may take to end after somebody else than the person ended it.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// How long the store may take to write what waits when the process ends at once.
const LAST_WRITE: Duration = Duration::from_millis(200);

/// Hears signals: the first one stops everything that the session does, the second one ends the process; `write_all`
/// has a moment then.
///
/// Nothing here waits for the session or the main thread, so that the second one always works.
pub async fn hear_signals(
    mut signals: Signals,
    client: Arc<dyn Client>,
    sender: Sender<LoopEvent>,
    stopped: Stopped,
    write_all: impl Future<Output = ()>,
) {
    let first = signals.next().await;
    // Before the session knows: the end of its work may be drawn before the happening below is.
    let _ = stopped.set(first);
    tokio::spawn(async move {
        // The session is told first. One that is gone has stopped its work.
        let _ = tokio::join!(client.send(Command::StopAll), sender.send(LoopEvent::Stopped(first)));
    });
    match first {
        Signal::Interrupt => {
            signals.next().await;
        }
        Signal::HangUp | Signal::Terminate => {
            let _ = tokio::time::timeout(LAST_WORDS, signals.next()).await;
        }
    }
    let _ = tokio::time::timeout(LAST_WRITE, write_all).await;
    quit(first);
}

/// Ends the process at once. What commands still run is killed by the watchdog.
pub fn quit(signal: Signal) {
    restore_terminal();
    tracing::warn!(?signal, "stopped at once");
    log::finish();
    std::process::exit(i32::from(Exit::Stopped(signal).number()));
}

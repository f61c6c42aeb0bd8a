//! Signals that stop a run.

use std::sync::Arc;
use std::time::Duration;

use neco_proto::{Client, Command};
use tokio::sync::mpsc::Sender;

use super::drive::Stopped;
use crate::line::LoopEvent;
use crate::line::signals::{Signal, Signals};

/// How long the work may take to end after somebody else than the person ended it.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// How long the store may take to write what waits when the process ends at once.
const LAST_WRITE: Duration = Duration::from_millis(200);

/// Hears signals: the first one stops everything that the session does, the second one quits; `write_all` has a moment
/// then.
///
/// Nothing here waits for the session or the main thread, so that the second one always works.
pub(super) async fn hear_signals(
    mut signals: Signals,
    (client, sender, stopped): (Arc<dyn Client>, Sender<LoopEvent>, Stopped),
    write_all: impl Future<Output = ()>,
    quit: fn(Signal),
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

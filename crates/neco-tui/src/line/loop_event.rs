//! What the main thread waits for, and the tasks that bring it.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use futures::StreamExt;
use neco_proto::{Client, ClientError, Command, Event, Seq};
use tokio::sync::mpsc::Sender;

use crate::ask::question::Typed;
use crate::ask::tty::{Number, restore_terminal};
use crate::exit::Exit;
use crate::log;
use crate::signals::{Signal, Signals};

/// Happenings that may wait for the main thread.
pub const QUEUE: usize = 256;

/// How long the work may take to end after somebody else than the person ended it.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// How long the store may take to write what waits when the process ends at once.
const LAST_WRITE: Duration = Duration::from_millis(200);

/// How often the main thread is told that time goes by.
const TICK: Duration = Duration::from_secs(1);

/// The signal that stopped a run, if one did.
pub type Stopped = Arc<OnceLock<Signal>>;

/// What the main thread waits for.
#[derive(Debug)]
pub enum LoopEvent {
    /// Something happened in the session.
    Event(Box<Event>),
    /// The session can't go on.
    Lost(ClientError),
    /// The session has ended.
    Over,
    /// The person typed something, for the want of this number.
    Typed(Number, Typed),
    /// Time goes by.
    Tick,
    /// Somebody stops the run; a session of this process knows already.
    Stopped(Signal),
    /// Somebody leaves a session of another process.
    Leave {
        /// Whether its work was told to stop.
        cancelled: bool,
        /// How they said so.
        signal: Signal,
    },
}

/// Brings the events of a session after `since`, until nobody takes them or there are no more.
pub async fn bring_events(client: Arc<dyn Client>, since: Seq, sender: Sender<LoopEvent>) {
    let mut events = client.events(since);
    loop {
        let happening = match events.next().await {
            Some(Ok(event)) => LoopEvent::Event(Box::new(event)),
            Some(Err(error)) => LoopEvent::Lost(error),
            None => LoopEvent::Over,
        };
        let over = matches!(happening, LoopEvent::Lost(_) | LoopEvent::Over);
        if sender.send(happening).await.is_err() || over {
            return;
        }
    }
}

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

/// Tells the main thread that time goes by, as long as it listens.
pub async fn tell_time(sender: Sender<LoopEvent>) {
    let mut clock = tokio::time::interval(TICK);
    clock.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Skip);
    loop {
        clock.tick().await;
        if sender.send(LoopEvent::Tick).await.is_err() {
            return;
        }
    }
}

/// Ends the process at once. What commands still run is killed by the watchdog.
pub fn quit(signal: Signal) {
    restore_terminal();
    tracing::warn!(?signal, "ended at once");
    log::finish();
    std::process::exit(i32::from(Exit::Stopped(signal).number()));
}

//! What the main thread waits for, and the tasks that bring it.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use neco_proto::{Client, ClientError, Event, Seq};
use tokio::sync::mpsc::Sender;

use super::ask::question::Typed;
use super::ask::tty::Number;
use super::signals::Signal;

/// Happenings that may wait for the main thread.
pub const QUEUE: usize = 256;

/// How often the main thread is told that time goes by.
const TICK: Duration = Duration::from_secs(1);

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

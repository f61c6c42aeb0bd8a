//! Messages as lines: read as they come, written as fast as the editor takes them.
//!
//! The protocol crate's own queue has no bound, so updates wait for room before they are put into it.

use std::io;
use std::pin::pin;
use std::sync::Arc;

use agent_client_protocol::{RawJsonRpcMessage, TransportFrame};
use futures::channel::mpsc::{UnboundedReceiver, UnboundedSender};
use futures::{FutureExt, StreamExt};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::{Semaphore, TryAcquireError};

/// Updates that may wait for an editor that reads slowly.
const MOST_WAITING: usize = 512;

/// Bytes that are written at once.
const PIECE: usize = 64 * 1024;

/// The room for updates on their way to the editor.
#[derive(Clone, Debug)]
pub(crate) struct Room(Arc<Semaphore>);

impl Default for Room {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(MOST_WAITING)))
    }
}

impl Room {
    /// Takes the room of one update, if there is some.
    pub fn try_take(&self) -> bool {
        match self.0.try_acquire() {
            Ok(permit) => {
                permit.forget();
                true
            }
            Err(error) => error == TryAcquireError::Closed,
        }
    }

    /// Takes the room of one update as soon as there is some.
    pub async fn take(&self) {
        if let Ok(permit) = self.0.acquire().await {
            permit.forget();
        }
    }

    /// The editor is gone: nobody waits for room, and no update is sent.
    pub fn close(&self) {
        self.0.close();
    }

    pub fn is_closed(&self) -> bool {
        self.0.is_closed()
    }

    /// An update has left, or never will.
    pub fn give_back(&self, updates: usize) {
        self.0.add_permits(updates);
    }
}

/// Reads messages until the input ends.
pub(crate) async fn read(input: impl AsyncRead, messages: UnboundedSender<TransportFrame>) -> io::Result<()> {
    let mut input = pin!(BufReader::new(input));
    let mut line = Vec::new();
    while input.read_until(b'\n', &mut line).await? > 0 {
        let text = String::from_utf8_lossy(&line);
        if !text.trim().is_empty() && messages.unbounded_send(TransportFrame::parse_json(text.trim())).is_err() {
            break;
        }
        line = Vec::new();
    }
    Ok(())
}

/// Writes messages until no more come: those that wait at once, so that a slow editor costs no more than a few.
pub(crate) async fn write(
    mut messages: UnboundedReceiver<TransportFrame>,
    output: impl AsyncWrite,
    room: Room,
) -> io::Result<()> {
    let mut output = pin!(output);
    while let Some(first) = messages.next().await {
        let (mut lines, mut updates) = (String::new(), 0);
        let mut next = Some(first);
        while let Some(message) = next {
            updates += usize::from(is_update(&message));
            match message.to_json() {
                Ok(line) => lines.extend([line.as_str(), "\n"]),
                Err(error) => tracing::error!(%error, "a message can't be written"),
            }
            let is_enough = lines.len() >= PIECE;
            next = if is_enough { None } else { messages.next().now_or_never().flatten() };
        }
        output.write_all(lines.as_bytes()).await?;
        output.flush().await?;
        room.give_back(updates);
    }
    Ok(())
}

/// Whether it is one that took room.
fn is_update(message: &TransportFrame) -> bool {
    matches!(message, TransportFrame::Single(RawJsonRpcMessage::Notification(told)) if &*told.method == "session/update")
}

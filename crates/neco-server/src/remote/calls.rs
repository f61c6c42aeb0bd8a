//! The connection for commands and questions: each waits for its own answer.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use neco_proto::ClientError;
use tokio::sync::{mpsc, oneshot};

use super::client::{Address, Connection, not_understood};
use super::lines::{OUTBOX, Read, write_lines};
use super::words::{Numbered, Reply, Request, line};

/// Commands and questions to one session.
pub(super) struct Calls {
    address: Arc<Address>,
    wire: tokio::sync::Mutex<Wire>,
}

/// One connection.
struct Wire {
    outbox: mpsc::Sender<Vec<u8>>,
    waiting: Waiting,
    last_id: u64,
}

/// Who waits for which answer; nothing when no answer will come any more.
type Waiting = Arc<Mutex<Option<HashMap<u64, oneshot::Sender<Reply>>>>>;

impl Calls {
    /// Calls over `connection`, and over another one when that breaks.
    pub fn new(address: Arc<Address>, connection: Connection) -> Self {
        Self { address, wire: tokio::sync::Mutex::new(Wire::over(connection)) }
    }

    /// Asks for something and waits for the answer. What was asked on a connection that breaks is not
    /// asked again: it may have been done.
    pub async fn call(&self, request: &Request) -> Result<Reply, ClientError> {
        let (said, answer) = self.number(request).await?;
        let outbox = self.wire.lock().await.outbox.clone();
        outbox.send(said).await.map_err(|_| ClientError::Gone)?;
        answer.await.map_err(|_| ClientError::Gone)
    }

    async fn number(&self, request: &Request) -> Result<(Vec<u8>, oneshot::Receiver<Reply>), ClientError> {
        let mut wire = self.wire.lock().await;
        if wire.is_broken() {
            *wire = Wire::over(self.address.connect().await.map_err(|_| ClientError::Gone)?);
        }
        wire.last_id += 1;
        let id = wire.last_id;
        let said = line(id, request).map_err(|error| not_understood(&error.to_string()))?;
        let (sender, answer) = oneshot::channel();
        match locked(&wire.waiting).as_mut() {
            Some(waiting) => waiting.insert(id, sender),
            None => return Err(ClientError::Gone),
        };
        Ok((said, answer))
    }
}

impl Wire {
    fn over(connection: Connection) -> Self {
        let waiting: Waiting = Arc::new(Mutex::new(Some(HashMap::new())));
        let (outbox, lines) = mpsc::channel(OUTBOX);
        tokio::spawn(hear(connection, lines, Arc::clone(&waiting)));
        Self { outbox, waiting, last_id: 0 }
    }

    fn is_broken(&self) -> bool {
        locked(&self.waiting).is_none()
    }
}

/// Writes what is asked and hands answers to those who wait, until the connection breaks or nobody
/// asks any more.
async fn hear(connection: Connection, outbox: mpsc::Receiver<Vec<u8>>, waiting: Waiting) {
    let Connection { mut lines, write, .. } = connection;
    let hearing = async {
        while let Ok(Read::Line(line)) = lines.next().await {
            let Ok(Numbered { id, says }) = serde_json::from_slice(&line) else { return };
            let waits = locked(&waiting).as_mut().and_then(|waiting| waiting.remove(&id));
            if let Some(waits) = waits {
                // Whoever asked may have given up.
                let _ = waits.send(says);
            }
        }
    };
    tokio::select! {
        () = hearing => {}
        _ = write_lines(write, outbox) => {}
    }
    *locked(&waiting) = None;
}

fn locked(waiting: &Waiting) -> std::sync::MutexGuard<'_, Option<HashMap<u64, oneshot::Sender<Reply>>>> {
    waiting.lock().unwrap_or_else(PoisonError::into_inner)
}

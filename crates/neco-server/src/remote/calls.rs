//! The connection for commands and questions: each waits for its own answer.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use neco_proto::ClientError;
use tokio::sync::{mpsc, oneshot};

use super::address::{Address, Connection};
use super::client::not_understood;
use super::frames::{Numbered, Reply, Request, id_of, line};
use super::lines::{OUTBOX, Read};

/// Commands and questions to one session.
pub(super) struct Calls {
    address: Arc<Address>,
    wire: tokio::sync::Mutex<Wire>,
    /// Counts all that is asked, whatever connection it goes over: no answer fits two questions.
    last_id: AtomicU64,
}

/// One connection.
struct Wire {
    outbox: mpsc::Sender<Said>,
    waiting: Waiting,
}

/// A line, and whether all of it reached the other side's end of the connection.
struct Said {
    line: Vec<u8>,
    written: Arc<AtomicBool>,
}

/// Why there is no answer.
#[derive(Debug)]
pub(super) enum Unanswered {
    /// It was never said.
    Unsaid(ClientError),
    /// It was said, and the connection broke: it may have been done.
    Lost,
}

/// Who waits for which answer; nothing when no answer will come any more.
type Waiting = Arc<Mutex<Option<HashMap<u64, oneshot::Sender<Reply>>>>>;

impl Calls {
    /// Calls over `connection`, and over another one when that breaks.
    pub fn new(address: Arc<Address>, connection: Connection) -> Self {
        Self { address, wire: tokio::sync::Mutex::new(Wire::over(connection)), last_id: AtomicU64::new(0) }
    }

    /// Asks for something and waits for the answer. A server that does nothing any more is asked again, for as long as
    /// another one may take that goes on in its place.
    pub async fn call(&self, request: &Request) -> Result<Reply, Unanswered> {
        let mut told = self.call_once(request).await;
        let (mut left, pause) = self.address.patience();
        while left > 0 && told.as_ref().is_ok_and(Reply::is_of_ending) {
            tokio::time::sleep(pause).await;
            left -= 1;
            told = match self.call_once(request).await {
                // It was not said: the old one is gone, and the new one does not listen yet.
                Err(Unanswered::Unsaid(ClientError::Gone)) if left > 0 => told,
                told => told,
            };
        }
        told
    }

    /// What was asked on a connection that breaks is not asked again: it may have been done.
    async fn call_once(&self, request: &Request) -> Result<Reply, Unanswered> {
        let (line, wait, answer) = self.number(request).await.map_err(Unanswered::Unsaid)?;
        let written = Arc::new(AtomicBool::new(false));
        let said = Said { line, written: Arc::clone(&written) };
        wait.outbox.send(said).await.map_err(|_| Unanswered::Unsaid(ClientError::Gone))?;
        answer.await.map_err(|_| match written.load(Ordering::SeqCst) {
            true => Unanswered::Lost,
            false => Unanswered::Unsaid(ClientError::Gone),
        })
    }

    /// What is said, who waits on which connection, and where the answer comes.
    async fn number(&self, request: &Request) -> Result<Numbering, ClientError> {
        let mut wire = self.wire.lock().await;
        if wire.is_broken() {
            *wire = Wire::over(self.address.connect().await?);
        }
        let id = self.last_id.fetch_add(1, Ordering::Relaxed) + 1;
        let said = line(id, request).map_err(|error| not_understood(&error.to_string()))?;
        let (sender, answer) = oneshot::channel();
        match locked(&wire.waiting).as_mut() {
            Some(waiting) => waiting.insert(id, sender),
            None => return Err(ClientError::Gone),
        };
        let wait = Wait { id, outbox: wire.outbox.clone(), waiting: Arc::clone(&wire.waiting) };
        Ok((said, wait, answer))
    }
}

type Numbering = (Vec<u8>, Wait, oneshot::Receiver<Reply>);

/// Somebody who waits for an answer; the other side is told when they stop before it comes.
struct Wait {
    id: u64,
    outbox: mpsc::Sender<Said>,
    waiting: Waiting,
}

impl Drop for Wait {
    fn drop(&mut self) {
        let unanswered = locked(&self.waiting).as_mut().and_then(|waiting| waiting.remove(&self.id));
        if let (Some(_), Ok(line)) = (unanswered, line(self.id, Request::Cancel)) {
            // Where there is no room for it, the answer comes and nobody hears it.
            let _ = self.outbox.try_send(Said { line, written: Arc::default() });
        }
    }
}

impl Wire {
    fn over(connection: Connection) -> Self {
        let waiting: Waiting = Arc::new(Mutex::new(Some(HashMap::new())));
        let (outbox, lines) = mpsc::channel(OUTBOX);
        tokio::spawn(hear(connection, lines, Arc::clone(&waiting)));
        Self { outbox, waiting }
    }

    fn is_broken(&self) -> bool {
        locked(&self.waiting).is_none()
    }
}

/// Writes what is asked and hands answers to those who wait, until the connection breaks or nobody
/// asks any more.
async fn hear(connection: Connection, mut outbox: mpsc::Receiver<Said>, waiting: Waiting) {
    let Connection { mut lines, mut write, .. } = connection;
    let saying = async {
        while let Some(Said { line, written }) = outbox.recv().await {
            if write.say(&line).await.is_err() {
                return;
            }
            written.store(true, Ordering::SeqCst);
        }
    };
    let hearing = async {
        while let Ok(Read::Line(line)) = lines.next().await {
            let (id, says) = match (serde_json::from_slice(&line), id_of(&line)) {
                (Ok(Numbered { id, says, .. }), _) => (id, says),
                // A newer version answers what this one does not know.
                (Err(error), Some(id)) => (id, Reply::Error(not_understood(&error.to_string()).into())),
                (Err(_), None) => return,
            };
            let waits = locked(&waiting).as_mut().and_then(|waiting| waiting.remove(&id));
            if let Some(waits) = waits {
                // Whoever asked may have given up.
                let _ = waits.send(says);
            }
        }
    };
    tokio::select! {
        () = hearing => {}
        () = saying => {}
    }
    *locked(&waiting) = None;
}

fn locked(waiting: &Waiting) -> std::sync::MutexGuard<'_, Option<HashMap<u64, oneshot::Sender<Reply>>>> {
    waiting.lock().unwrap_or_else(PoisonError::into_inner)
}

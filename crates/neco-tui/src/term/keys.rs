//! What comes from the terminal: keys, and how long it took to answer.
//!
//! How far behind a terminal is nobody can ask the system, only the terminal itself: it says where its cursor is when it
//! has come to the question. It is asked at the beginning only, before anybody listens to the keys: those that are pressed
//! meanwhile are kept by crossterm, and come afterwards. Later would be too late: crossterm may miss a key while one that
//! listens makes room for one that asks.

use std::future::poll_fn;
use std::io;
use std::task::Poll;
use std::time::{Duration, Instant};

use crossterm::cursor;
use crossterm::event::{Event, EventStream};
use futures::StreamExt;
use tokio::sync::oneshot;

/// What came.
#[derive(Debug)]
pub enum Came {
    /// A key, a paste, a size, a focus.
    Event(Event),
    /// An answer, and how long it took; none from a terminal that does not answer.
    Answer(Option<Duration>),
}

/// Listens to the terminal, or waits for its answer, until it is dropped.
#[derive(Debug)]
pub enum Keys {
    /// What is pressed comes at once.
    Listening(EventStream),
    /// What is pressed comes later: an answer is still to come.
    Asking(oneshot::Receiver<Option<Duration>>),
    /// What is pressed comes later: there is one more question.
    Waiting,
}

impl Keys {
    /// Begins to listen.
    pub fn new() -> Self {
        Self::Listening(EventStream::new())
    }

    /// Asks the terminal something, only to see how long it takes. Everything must be written that comes before it.
    pub fn ask() -> Self {
        let (tell, answer) = oneshot::channel();
        // Not on the runtime, whose end would wait for the answer. Without a thread there is none.
        let _ = std::thread::Builder::new().name("question".to_owned()).spawn(move || {
            let asked = Instant::now();
            // Whoever asked may be gone.
            let _ = tell.send(cursor::position().ok().map(|_| asked.elapsed()));
        });
        Self::Asking(answer)
    }

    /// Whether an answer is still to come.
    pub fn is_asking(&self) -> bool {
        matches!(self, Self::Asking(_))
    }

    /// Whether nobody listens and nobody asks.
    pub fn is_waiting(&self) -> bool {
        matches!(self, Self::Waiting)
    }

    /// What comes next; nothing more comes after an answer.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub async fn next(&mut self) -> io::Result<Came> {
        match self {
            Self::Listening(stream) => {
                let gone = || io::Error::new(io::ErrorKind::UnexpectedEof, "nobody is at the keys");
                stream.next().await.unwrap_or_else(|| Err(gone())).map(Came::Event)
            }
            Self::Asking(answer) => {
                let answer = answer.await.unwrap_or_default();
                *self = Self::Waiting;
                Ok(Came::Answer(answer))
            }
            Self::Waiting => std::future::pending().await,
        }
    }

    /// A key that is there already.
    pub async fn ready(&mut self) -> Option<io::Result<Event>> {
        let Self::Listening(stream) = self else { return None };
        // With the waker of this task: the stream wakes only the first that found it empty.
        match poll_fn(|context| Poll::Ready(stream.poll_next_unpin(context))).await {
            Poll::Ready(next) => next,
            Poll::Pending => None,
        }
    }
}

impl Default for Keys {
    fn default() -> Self {
        Self::new()
    }
}

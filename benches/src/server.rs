//! The scripted model as a local HTTP server: reads a request, answers at once, stamps the times.
//!
//! Plain threads and blocking sockets on purpose: whatever the server costs is in every figure, and
//! this is the least that a server can cost.

use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::clock::Moment;

const NOT_FOUND: &[u8] = b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n";
const NOTHING_LEFT: &[u8] = b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n";
const BUFFER: usize = 1024 * 1024;

/// One request and its answer.
#[derive(Clone, Debug)]
pub struct Exchange {
    /// Which connection it came on, from 0.
    pub connection: usize,
    /// Its first bytes were there.
    pub arrived: Moment,
    /// Its whole body was there.
    pub complete: Moment,
    /// The answer is about to be written, in one piece.
    pub answered: Moment,
    /// Bytes of its body.
    pub size: usize,
}

/// A server that answers one run.
pub struct Server {
    address: SocketAddr,
    shared: Arc<Shared>,
    accepting: Option<JoinHandle<()>>,
}

struct Shared {
    answers: Vec<Vec<u8>>,
    next: AtomicUsize,
    stopping: AtomicBool,
    exchanges: Mutex<Vec<Exchange>>,
    first: Mutex<Vec<u8>>,
    problems: Mutex<Vec<String>>,
}

impl Server {
    /// Starts to listen on a free local port. `answers` are given in order, one a request.
    pub fn start(answers: Vec<Vec<u8>>) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            exchanges: Mutex::new(Vec::with_capacity(answers.len())),
            answers,
            next: AtomicUsize::default(),
            stopping: AtomicBool::default(),
            first: Mutex::default(),
            problems: Mutex::default(),
        });
        let accepting = thread::spawn({
            let shared = Arc::clone(&shared);
            move || accept(&listener, &shared)
        });
        Ok(Self { address, shared, accepting: Some(accepting) })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The body of the first request.
    pub fn first_request(&self) -> Vec<u8> {
        lock(&self.shared.first).clone()
    }

    /// All exchanges, when the run is over.
    ///
    /// # Errors
    /// When what was asked is not what the script expects.
    pub fn finish(self) -> anyhow::Result<Vec<Exchange>> {
        let problems = std::mem::take(&mut *lock(&self.shared.problems));
        anyhow::ensure!(problems.is_empty(), "the scripted model was asked wrongly: {}", problems.join("; "));
        let exchanges = std::mem::take(&mut *lock(&self.shared.exchanges));
        let expected = self.shared.answers.len();
        anyhow::ensure!(exchanges.len() == expected, "{} requests instead of {expected}", exchanges.len());
        Ok(exchanges)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.stopping.store(true, Ordering::SeqCst);
        // Accepting blocks until somebody comes.
        let _ = TcpStream::connect_timeout(&self.address, Duration::from_secs(1));
        if let Some(accepting) = self.accepting.take() {
            let _ = accepting.join();
        }
    }
}

/// From each answer to the next complete request: what the client did in between.
pub fn gaps(exchanges: &[Exchange]) -> Vec<Duration> {
    exchanges.windows(2).map(|pair| pair[1].complete.since(pair[0].answered)).collect()
}

/// The same up to the first bytes of the next request: without the time its body takes.
pub fn gaps_to_first_bytes(exchanges: &[Exchange]) -> Vec<Duration> {
    exchanges.windows(2).map(|pair| pair[1].arrived.since(pair[0].answered)).collect()
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    for (number, stream) in listener.incoming().enumerate() {
        if shared.stopping.load(Ordering::SeqCst) {
            return;
        }
        let Ok(stream) = stream else { continue };
        let shared = Arc::clone(shared);
        thread::spawn(move || {
            // A client that went away is not a problem of the script.
            let _ = Connection { number, stream, bytes: vec![0; BUFFER], filled: 0, shared }.serve();
        });
    }
}

struct Connection {
    number: usize,
    stream: TcpStream,
    bytes: Vec<u8>,
    filled: usize,
    shared: Arc<Shared>,
}

/// What the first line and the headers say.
struct Head {
    line: String,
    /// Where the body begins.
    end: usize,
    content_length: usize,
}

impl Connection {
    fn serve(&mut self) -> io::Result<()> {
        self.stream.set_nodelay(true)?;
        loop {
            let Some((head, arrived)) = self.head()? else { return Ok(()) };
            let end = head.end + head.content_length;
            while self.filled < end {
                self.read_more(end)?;
            }
            let complete = Moment::now();
            self.answer(&head, arrived, complete)?;
            self.bytes.copy_within(end..self.filled, 0);
            self.filled -= end;
        }
    }

    fn answer(&mut self, head: &Head, arrived: Moment, complete: Moment) -> io::Result<()> {
        // A server on this machine is asked what it is; this one is as most are.
        if head.line.starts_with("GET ") {
            return self.stream.write_all(NOT_FOUND);
        }
        let is_question =
            ["/chat/completions", "/responses", ":streamGenerateContent"].iter().any(|path| head.line.contains(path));
        if !head.line.starts_with("POST ") || !is_question {
            lock(&self.shared.problems).push(format!("{:?} is no question", head.line));
            return self.stream.write_all(NOTHING_LEFT);
        }
        let next = self.shared.next.fetch_add(1, Ordering::SeqCst);
        let Some(answer) = self.shared.answers.get(next) else {
            lock(&self.shared.problems).push("it was asked again after its last answer".to_owned());
            return self.stream.write_all(NOTHING_LEFT);
        };
        if next == 0 {
            let body = self.bytes.get(head.end..head.end + head.content_length).unwrap_or_default();
            lock(&self.shared.first).extend_from_slice(body);
        }
        // Stamped before the write: the client may be at work before the call returns. And noted
        // before it: a run may be over as soon as its last answer is out.
        let size = head.content_length;
        let mut exchanges = lock(&self.shared.exchanges);
        let answered = Moment::now();
        exchanges.push(Exchange { connection: self.number, arrived, complete, answered, size });
        drop(exchanges);
        self.stream.write_all(answer)
    }

    /// The next head, and when its first bytes came; `None` when the client is done.
    fn head(&mut self) -> io::Result<Option<(Head, Moment)>> {
        let mut arrived = (self.filled > 0).then(Moment::now);
        loop {
            let filled = self.bytes.get(..self.filled).unwrap_or_default();
            if let Some(at) = filled.windows(4).position(|window| window == b"\r\n\r\n") {
                let head = parse(&filled[..at], at + 4)?;
                return Ok(Some((head, arrived.unwrap_or_else(Moment::now))));
            }
            if self.read_more(self.filled + 1)? == 0 {
                return Ok(None);
            }
            arrived.get_or_insert_with(Moment::now);
        }
    }

    /// Reads at least one byte, with room for `wanted` in all.
    fn read_more(&mut self, wanted: usize) -> io::Result<usize> {
        if self.bytes.len() < wanted {
            self.bytes.resize(wanted.next_power_of_two(), 0);
        }
        let read = self.stream.read(self.bytes.get_mut(self.filled..).unwrap_or_default())?;
        if read == 0 && self.filled > 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.filled += read;
        Ok(read)
    }
}

fn parse(head: &[u8], end: usize) -> io::Result<Head> {
    let text = String::from_utf8_lossy(head);
    let mut lines = text.split("\r\n");
    let line = lines.next().unwrap_or_default().to_owned();
    let length = lines
        .filter_map(|line| line.split_once(':'))
        .find(|(name, _)| name.eq_ignore_ascii_case("content-length"))
        .map(|(_, value)| value.trim().parse().map_err(io::Error::other))
        .transpose()?;
    Ok(Head { line, end, content_length: length.unwrap_or(0) })
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference;

    #[test]
    fn every_request_gets_the_next_answer_and_is_stamped() {
        let answers =
            crate::answer::encode(&[crate::answer::Turn::Text("one two"), crate::answer::Turn::Text("three")]);
        let exchanges = reference::run(answers, &[10, 3_000_000]).unwrap();
        assert_eq!(exchanges.iter().map(|exchange| exchange.size).collect::<Vec<_>>(), [10, 3_000_000]);
        assert!(exchanges.iter().all(|exchange| exchange.connection == 0));
        assert_eq!(gaps(&exchanges).len(), 1);
        for exchange in &exchanges {
            assert!(exchange.arrived <= exchange.complete && exchange.complete <= exchange.answered);
        }
    }

    #[test]
    fn responses_are_asked_for_too_and_the_first_request_is_kept() {
        let answers = crate::answer::encode_for(crate::answer::Wire::Responses, &[crate::answer::Turn::Text("one")]);
        let server = Server::start(answers).unwrap();
        let mut stream = TcpStream::connect(server.address()).unwrap();
        stream.write_all(b"POST /v1/responses HTTP/1.1\r\nContent-Length: 12\r\n\r\n{\"tools\":[]}").unwrap();
        let mut answer = [0; 12];
        stream.read_exact(&mut answer).unwrap();
        assert_eq!(&answer, b"HTTP/1.1 200");
        assert_eq!(server.first_request(), b"{\"tools\":[]}");
        assert_eq!(server.finish().unwrap().len(), 1);
    }

    #[test]
    fn a_question_too_many_is_a_problem() {
        let server = Server::start(Vec::new()).unwrap();
        let mut stream = TcpStream::connect(server.address()).unwrap();
        stream.write_all(b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}").unwrap();
        let mut answer = [0; 12];
        stream.read_exact(&mut answer).unwrap();
        assert_eq!(&answer, b"HTTP/1.1 400");
        assert!(server.finish().unwrap_err().to_string().contains("after its last answer"));
    }
}

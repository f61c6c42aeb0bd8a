//! A model that says a word when it is told to: every word is the moment at which it was said, so that whoever hears it
//! knows how long it took.

use std::collections::HashMap;
use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use serde_json::{Value, json};

use crate::clock::Moment;

/// What stands around a moment in what is said.
const EDGE: char = '~';

/// What a request has to say so that it is held, with a number behind it.
const WHO: &str = "speaker-";

const HEAD: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";

/// The connections of those that wait for its next word, by the number that each said.
type Held = Arc<Mutex<HashMap<usize, TcpStream>>>;

/// The model. Its threads end with the process.
pub struct Speaker {
    address: SocketAddr,
    held: Held,
}

/// What to say to an agent so that its model is this one's conversation `number`.
pub fn request(number: usize) -> String {
    format!("{WHO}{number}.")
}

impl Speaker {
    /// Listens on a free local port.
    pub fn start() -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let (address, held) = (listener.local_addr()?, Held::default());
        let into = Arc::clone(&held);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let held = Arc::clone(&into);
                // Whoever went away wants nothing.
                thread::spawn(move || hear(stream, &held));
            }
        });
        Ok(Self { address, held })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// How many wait for its words.
    pub fn waiting(&self) -> usize {
        self.held.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Says the moment in a conversation.
    pub fn say(&self, number: usize) -> io::Result<()> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let stream = held.get_mut(&number).ok_or_else(|| io::Error::other("nobody waits for this word"))?;
        let word = format!("{EDGE}{}{EDGE} ", Moment::now().nanoseconds());
        stream.write_all(chunk(json!({ "content": word }), Value::Null).as_bytes())
    }

    /// Ends all answers.
    pub fn end(&self) {
        for (_, mut stream) in self.held.lock().unwrap_or_else(PoisonError::into_inner).drain() {
            let _ = stream.write_all(last().as_bytes());
        }
    }
}

/// Holds a request that has a number; others, such as the question for a title, get an answer at once.
fn hear(mut stream: TcpStream, held: &Held) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let body = read(&mut stream)?;
    let number = body.rsplit_once(WHO).and_then(|(_, rest)| rest.split_once('.')?.0.parse().ok());
    stream.write_all(HEAD.as_bytes())?;
    stream.write_all(chunk(json!({ "role": "assistant", "content": "" }), Value::Null).as_bytes())?;
    match number {
        Some(number) => {
            held.lock().unwrap_or_else(PoisonError::into_inner).insert(number, stream);
            Ok(())
        }
        None => stream.write_all(last().as_bytes()),
    }
}

fn chunk(delta: Value, finish: Value) -> String {
    let choices = [json!({ "index": 0, "delta": delta, "finish_reason": finish })];
    let chunk = json!({ "id": "a", "object": "chat.completion.chunk", "model": "scripted", "choices": choices });
    format!("data: {chunk}\n\n")
}

fn last() -> String {
    format!("{}data: [DONE]\n\n", chunk(json!({ "content": "Done." }), "stop".into()))
}

/// The body of a request.
fn read(stream: &mut TcpStream) -> io::Result<String> {
    let (mut bytes, mut piece) = (Vec::new(), [0; 16 * 1024]);
    let mut wanted = None;
    while wanted.is_none_or(|wanted| bytes.len() < wanted) {
        let count = stream.read(&mut piece)?;
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        bytes.extend_from_slice(piece.get(..count).unwrap_or_default());
        if wanted.is_none()
            && let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n")
        {
            let head = String::from_utf8_lossy(bytes.get(..end).unwrap_or_default()).to_ascii_lowercase();
            let length = head.lines().find_map(|line| line.strip_prefix("content-length:"));
            wanted = Some(end + 4 + length.and_then(|length| length.trim().parse().ok()).unwrap_or(0));
        }
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The moments in what was heard, in the order in which they were said.
pub fn moments(text: &str) -> Vec<Moment> {
    let parts: Vec<&str> = text.split(EDGE).collect();
    // Every other one stands between two edges; what comes after the last edge does not.
    let within = parts.len().saturating_sub(1);
    let words = parts.into_iter().take(within).skip(1).step_by(2);
    words.filter_map(|word| word.parse().ok()).map(Moment::at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_hears_a_word_knows_when_it_was_said() {
        let speaker = Speaker::start().unwrap();
        let mut stream = TcpStream::connect(speaker.address()).unwrap();
        let body = format!("{{\"content\":\"{}\"}}", request(7));
        write!(stream, "POST /v1/chat/completions HTTP/1.1\r\nContent-Length: {}\r\n\r\n{body}", body.len()).unwrap();
        while speaker.waiting() == 0 {
            thread::yield_now();
        }
        let before = Moment::now();
        speaker.say(7).unwrap();
        assert!(speaker.say(8).is_err());
        speaker.end();
        let mut told = String::new();
        stream.read_to_string(&mut told).unwrap();
        let said = moments(&told);
        assert!(matches!(said.as_slice(), [said] if *said >= before && *said <= Moment::now()), "{told}");
    }
}

//! A server on loopback that plays one plan for each key and breaks where it is told to, at any byte.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use crate::served::Reply;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::AbortHandle;

/// What one attempt is answered with.
#[derive(Clone, Debug)]
pub struct Played {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    /// As much of the body as is sent.
    pub body: Vec<u8>,
    pub end: End,
    /// Bytes that are written at once.
    pub write: usize,
}

/// What comes after the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Whole,
    /// The connection is closed in the middle.
    Cut,
    /// Nothing more, and the connection stays open.
    Stall,
    /// The same, without even the head of an answer.
    Deaf,
}

impl Played {
    pub fn of(reply: &Reply, write: usize) -> Self {
        let body = reply.pieces.concat();
        Self { status: reply.status, headers: reply.headers.clone(), body, end: End::Whole, write }
    }
}

/// Plans by key, and who asked.
#[derive(Default)]
struct State {
    plans: HashMap<String, Vec<Played>>,
    asked: Mutex<Asked>,
}

/// The keys in the order in which they asked, and how often each did.
#[derive(Default)]
struct Asked {
    order: Vec<String>,
    times: HashMap<String, usize>,
}

pub struct Server {
    pub base: String,
    state: Arc<State>,
    accepting: AbortHandle,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

impl Server {
    pub async fn start(plans: HashMap<String, Vec<Played>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}/v1", listener.local_addr().unwrap());
        let state = Arc::new(State { plans, asked: Mutex::default() });
        let shared = state.clone();
        let accepting = tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                // Small pieces are not held back for one another.
                socket.set_nodelay(true).unwrap();
                tokio::spawn(serve(socket, shared.clone()));
            }
        });
        Self { base, state, accepting: accepting.abort_handle() }
    }

    /// The keys in the order in which they asked.
    pub fn asked(&self) -> Vec<String> {
        self.state.asked.lock().unwrap().order.clone()
    }

    /// How often anyone asked.
    pub fn times(&self) -> usize {
        self.state.asked.lock().unwrap().order.len()
    }
}

impl State {
    /// The next answer for `key`; the last one goes on.
    fn next(&self, key: &str) -> Option<Played> {
        let plan = self.plans.get(key)?;
        let mut asked = self.asked.lock().unwrap();
        asked.order.push(key.to_owned());
        let times = asked.times.entry(key.to_owned()).or_default();
        *times += 1;
        plan.get(*times - 1).or(plan.last()).cloned()
    }
}

async fn serve(mut socket: TcpStream, state: Arc<State>) {
    while let Some(head) = read_request(&mut socket).await {
        let Some(played) = key(&head).and_then(|key| state.next(&key)) else { return };
        if write(&mut socket, &played).await.is_err() {
            return;
        }
        match played.end {
            End::Whole => {}
            End::Cut => return,
            End::Stall | End::Deaf => {
                // Until the client has enough of it.
                let _ = socket.read(&mut [0; 16]).await;
                return;
            }
        }
    }
}

/// Under whichever header a format shows it.
fn key(head: &str) -> Option<String> {
    head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        let shown =
            ["authorization", "x-api-key", "x-goog-api-key"].iter().any(|known| name.eq_ignore_ascii_case(known));
        shown.then(|| value.trim().trim_start_matches("Bearer ").to_owned())
    })
}

async fn read_request(socket: &mut TcpStream) -> Option<String> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
            let length =
                head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length:")?.trim().parse().ok());
            if bytes.len() >= end + 4 + length.unwrap_or(0) {
                return Some(head);
            }
        }
        let count = socket.read(&mut buffer).await.ok().filter(|count| *count > 0)?;
        bytes.extend_from_slice(&buffer[..count]);
    }
}

async fn write(socket: &mut TcpStream, played: &Played) -> std::io::Result<()> {
    if played.end == End::Deaf {
        return Ok(());
    }
    let mut bytes = format!("HTTP/1.1 {} X\r\ntransfer-encoding: chunked\r\n", played.status).into_bytes();
    for (name, value) in &played.headers {
        bytes.extend(format!("{name}: {value}\r\n").into_bytes());
    }
    bytes.extend(b"\r\n");
    socket.write_all(&bytes).await?;
    for part in played.body.chunks(played.write) {
        let chunk = [format!("{:x}\r\n", part.len()).as_bytes(), part, b"\r\n"].concat();
        socket.write_all(&chunk).await?;
    }
    if played.end == End::Whole {
        socket.write_all(b"0\r\n\r\n").await?;
    }
    Ok(())
}

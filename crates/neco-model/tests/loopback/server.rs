//! A tiny HTTP server on loopback that answers as it is told, one answer for each request.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::served::{Reply, ReplyEnd};
use neco_model::scripted::{Player, Script};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;

/// A request as it arrived.
#[derive(Clone, Debug)]
pub struct Seen {
    pub head: String,
    pub body: Value,
}

impl Seen {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (found, value) = line.split_once(':')?;
            found.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }
}

pub struct Server {
    pub base: String,
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    replies: Mutex<VecDeque<Reply>>,
    seen: Mutex<Vec<Seen>>,
    connections: AtomicUsize,
    closed: Notify,
    /// What `/props` answers; nothing when there is no such address.
    props: Option<Value>,
    props_asked: AtomicUsize,
    /// How many times `/props` answers that the model is being loaded, before it says anything else.
    loading: AtomicUsize,
    /// Bytes of a body that are written at once; 0 writes every piece whole.
    write: usize,
}

impl Server {
    pub async fn start(script: Script) -> Self {
        Self::writing(script, 0).await
    }

    pub async fn writing(script: Script, write: usize) -> Self {
        let player = Player::new(Arc::new(script), "m");
        let replies = std::iter::from_fn(|| Reply::next(&player).ok()).collect();
        Self::answering(replies, write).await
    }

    /// A server that says `props` of itself.
    pub async fn describing(script: Script, props: Value) -> Self {
        Self::loading(script, props, 0).await
    }

    /// A server that says `props` of itself once its model is loaded, which it is not the first `loading` times.
    pub async fn loading(script: Script, props: Value, loading: usize) -> Self {
        let player = Player::new(Arc::new(script), "m");
        let replies = std::iter::from_fn(|| Reply::next(&player).ok()).collect();
        let (replies, loading) = (Mutex::new(replies), AtomicUsize::new(loading));
        Self::serving(State { replies, loading, props: Some(props), ..State::default() }).await
    }

    pub async fn answering(replies: VecDeque<Reply>, write: usize) -> Self {
        Self::serving(State { replies: Mutex::new(replies), write, ..State::default() }).await
    }

    async fn serving(state: State) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}/v1", listener.local_addr().unwrap());
        let state = Arc::new(state);
        let accepting = state.clone();
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                accepting.connections.fetch_add(1, Ordering::SeqCst);
                tokio::spawn(serve(socket, accepting.clone()));
            }
        });
        Self { base, state }
    }

    pub fn seen(&self) -> Vec<Seen> {
        self.state.seen.lock().unwrap().clone()
    }

    pub fn props_asked(&self) -> usize {
        self.state.props_asked.load(Ordering::SeqCst)
    }

    pub fn connections(&self) -> usize {
        self.state.connections.load(Ordering::SeqCst)
    }

    /// Waits until a client closed its connection in the middle of an answer.
    pub async fn client_closed(&self) {
        tokio::time::timeout(Duration::from_secs(20), self.state.closed.notified()).await.unwrap();
    }
}

async fn serve(mut socket: TcpStream, state: Arc<State>) {
    while let Some(seen) = read_request(&mut socket).await {
        if seen.head.starts_with("GET /props ") {
            state.props_asked.fetch_add(1, Ordering::SeqCst);
            if write_props(&mut socket, &state).await.is_err() {
                return;
            }
            continue;
        }
        state.seen.lock().unwrap().push(seen);
        let Some(reply) = state.replies.lock().unwrap().pop_front() else { return };
        if write_reply(&mut socket, &reply, state.write).await.is_err() {
            state.closed.notify_one();
            return;
        }
        match reply.end {
            ReplyEnd::Whole => {}
            ReplyEnd::Cut => return,
            ReplyEnd::Stall => {
                let _ = socket.read(&mut [0; 16]).await;
                state.closed.notify_one();
                return;
            }
        }
    }
}

async fn read_request(socket: &mut TcpStream) -> Option<Seen> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
            let mut seen = Seen { head, body: Value::Null };
            let length: usize = seen.header("content-length").map_or(0, |length| length.parse().unwrap());
            while bytes.len() < end + 4 + length {
                let count = socket.read(&mut buffer).await.ok().filter(|count| *count > 0)?;
                bytes.extend_from_slice(&buffer[..count]);
            }
            if length > 0 {
                seen.body = serde_json::from_slice(&bytes[end + 4..]).unwrap();
            }
            return Some(seen);
        }
        let count = socket.read(&mut buffer).await.ok().filter(|count| *count > 0)?;
        bytes.extend_from_slice(&buffer[..count]);
    }
}

async fn write_props(socket: &mut TcpStream, state: &State) -> std::io::Result<()> {
    let loads = state.loading.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_ok();
    let (status, body) = match &state.props {
        _ if loads => (503, "{\"error\":{\"code\":503,\"message\":\"Loading model\"}}".to_owned()),
        Some(props) => (200, props.to_string()),
        None => (404, String::new()),
    };
    let head = format!("HTTP/1.1 {status} X\r\ncontent-length: {}\r\n\r\n", body.len());
    socket.write_all(format!("{head}{body}").as_bytes()).await
}

async fn write_reply(socket: &mut TcpStream, reply: &Reply, write: usize) -> std::io::Result<()> {
    if reply.end == ReplyEnd::Stall && reply.pieces.is_empty() {
        return Ok(());
    }
    let mut head = format!("HTTP/1.1 {} X\r\ntransfer-encoding: chunked\r\n", reply.status);
    for (name, value) in &reply.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("\r\n");
    socket.write_all(head.as_bytes()).await?;
    for piece in &reply.pieces {
        for part in piece.chunks(if write == 0 { piece.len().max(1) } else { write }) {
            socket.write_all(format!("{:x}\r\n", part.len()).as_bytes()).await?;
            socket.write_all(part).await?;
            socket.write_all(b"\r\n").await?;
        }
    }
    if reply.end == ReplyEnd::Whole {
        socket.write_all(b"0\r\n\r\n").await?;
    }
    Ok(())
}

//! Messages of a client, a line each, read within bounds: what is no message is answered, and never an end.

use std::future::Future;
use std::io;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{ErrorData, JsonRpcMessage, RequestId};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, BufReader};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::remote::lines::{OUTBOX, write_lines};

/// Bytes of a line that is read.
const LONGEST: usize = 8 * 1024 * 1024;

/// Bytes at the beginning of a line that is too long, in which its id is looked for.
const BEGINNING: usize = 4096;

/// How long a client may take to read the last answers.
const LAST_WORDS: Duration = Duration::from_secs(2);

type Received = RxJsonRpcMessage<RoleServer>;
type Sent = TxJsonRpcMessage<RoleServer>;

/// The lines of a client.
pub(super) struct ClientLines<R> {
    source: BufReader<R>,
    partial: Partial,
    outbox: Option<mpsc::Sender<Vec<u8>>>,
    writer: Option<JoinHandle<io::Result<()>>>,
    /// Set when nobody reads what is written.
    unread: CancellationToken,
    /// Set when the client is gone.
    gone: CancellationToken,
}

impl<R: AsyncRead + Send + Unpin> ClientLines<R> {
    /// Reads and writes; `gone` is set with the end of what is read.
    pub fn new(input: R, output: impl AsyncWrite + Send + Unpin + 'static, gone: CancellationToken) -> Self {
        let (outbox, lines) = mpsc::channel(OUTBOX);
        let unread = CancellationToken::new();
        let ends = unread.clone().drop_guard();
        let writer = tokio::spawn(async move {
            let _ends = ends;
            write_lines(output, lines).await
        });
        Self {
            source: BufReader::new(input),
            partial: Partial::default(),
            outbox: Some(outbox),
            writer: Some(writer),
            unread,
            gone,
        }
    }

    /// The next line; nothing when the client is gone. Dropping this loses nothing.
    async fn line(&mut self) -> Option<Line> {
        loop {
            let bytes = tokio::select! {
                bytes = self.source.fill_buf() => bytes.ok().filter(|bytes| !bytes.is_empty())?,
                () = self.unread.cancelled() => return None,
            };
            let (piece, is_whole) = match bytes.iter().position(|byte| *byte == b'\n') {
                Some(at) => (bytes.get(..at).unwrap_or_default(), true),
                None => (bytes, false),
            };
            let used = piece.len() + usize::from(is_whole);
            self.partial.extend(piece);
            self.source.consume(used);
            if is_whole {
                return Some(self.partial.take());
            }
        }
    }
}

impl<R: AsyncRead + Send + Unpin> Transport<RoleServer> for ClientLines<R> {
    type Error = io::Error;

    fn send(&mut self, item: Sent) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let outbox = self.outbox.clone();
        async move {
            let mut line = serde_json::to_vec(&item)?;
            line.push(b'\n');
            let outbox = outbox.ok_or(io::ErrorKind::NotConnected)?;
            outbox.send(line).await.map_err(|_| io::ErrorKind::BrokenPipe.into())
        }
    }

    async fn receive(&mut self) -> Option<Received> {
        loop {
            let Some(line) = self.line().await else {
                self.gone.cancel();
                return None;
            };
            match read(&line) {
                Read::Message(message) => return Some(*message),
                Read::Nothing => {}
                // Whoever writes what is no message and reads no answer is kept waiting.
                Read::Wrong(error, id) => {
                    let _ = self.send(JsonRpcMessage::error(error, id)).await;
                }
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.outbox = None;
        if let Some(writer) = self.writer.take() {
            // A client that is gone reads nothing more.
            let _ = tokio::time::timeout(LAST_WORDS, writer).await;
        }
        Ok(())
    }
}

/// A line that is not whole yet, as far as it is kept.
#[derive(Default)]
struct Partial {
    bytes: Vec<u8>,
    is_too_long: bool,
}

enum Line {
    Whole(Vec<u8>),
    /// How it begins.
    TooLong(Vec<u8>),
}

impl Partial {
    fn extend(&mut self, piece: &[u8]) {
        if self.is_too_long {
            return;
        }
        self.bytes.extend_from_slice(piece);
        if self.bytes.len() > LONGEST {
            self.is_too_long = true;
            self.bytes.truncate(BEGINNING);
            self.bytes.shrink_to_fit();
        }
    }

    fn take(&mut self) -> Line {
        let Self { bytes, is_too_long } = std::mem::take(self);
        if is_too_long { Line::TooLong(bytes) } else { Line::Whole(bytes) }
    }
}

enum Read {
    Message(Box<Received>),
    /// It says nothing, or nothing that wants an answer.
    Nothing,
    /// It is no message, and this is the answer.
    Wrong(ErrorData, Option<RequestId>),
}

fn read(line: &Line) -> Read {
    let line = match line {
        Line::Whole(line) => line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line).trim_ascii(),
        Line::TooLong(begins) => {
            let words = format!("a message has at most {} MB", LONGEST / 1024 / 1024);
            return Read::Wrong(ErrorData::invalid_request(words, None), id_in(begins));
        }
    };
    if line.is_empty() {
        return Read::Nothing;
    }
    let value: Value = match serde_json::from_slice(line) {
        Ok(value) => value,
        Err(error) => return Read::Wrong(ErrorData::parse_error(format!("this is no JSON: {error}"), None), None),
    };
    let id = value.get("id").and_then(id_of);
    let wants_answer = value.get("method").is_some() && id.is_some() || !value.is_object();
    match serde_json::from_value(value) {
        Ok(message) => Read::Message(Box::new(message)),
        Err(_) if wants_answer => {
            Read::Wrong(ErrorData::invalid_request("this is no message of JSON-RPC 2.0", None), id)
        }
        Err(_) => Read::Nothing,
    }
}

fn id_of(value: &Value) -> Option<RequestId> {
    serde_json::from_value(value.clone()).ok()
}

/// The id in the beginning of a message.
fn id_in(begins: &[u8]) -> Option<RequestId> {
    let text = String::from_utf8_lossy(begins);
    let (_, rest) = text.split_once("\"id\"")?;
    let rest = rest.trim_start().strip_prefix(':')?.trim_start();
    let end = rest.find([',', '}'])?;
    id_of(&serde_json::from_str(rest.get(..end)?.trim_end()).ok()?)
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncWriteExt;

    use super::*;

    async fn taken(written: &[u8]) -> (Vec<Received>, String) {
        let (mut client, input) = tokio::io::duplex(1024);
        let (output, mut answers) = tokio::io::duplex(64 * 1024);
        let written = written.to_vec();
        tokio::spawn(async move { client.write_all(&written).await });
        let gone = CancellationToken::new();
        let mut lines = ClientLines::new(input, output, gone.clone());
        let mut messages = Vec::new();
        while let Some(message) = lines.receive().await {
            messages.push(message);
        }
        assert!(gone.is_cancelled());
        lines.close().await.unwrap();
        let mut text = String::new();
        tokio::io::AsyncReadExt::read_to_string(&mut answers, &mut text).await.unwrap();
        (messages, text)
    }

    #[tokio::test]
    async fn what_is_no_message_is_answered_and_what_follows_is_read() {
        let ping = r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#;
        let long = format!(r#"{{"jsonrpc":"2.0","id":"big","method":"{}"}}"#, "x".repeat(LONGEST));
        let deep = "[".repeat(100_000);
        let text =
            format!("\u{feff}\n junk \n{deep}\n[1]\n{long}\n{{\"id\":5,\"method\":3}}\n{{\"id\":1}}\n{ping}\n{ping}");
        let (messages, answers) = taken(text.as_bytes()).await;
        assert_eq!(messages.len(), 1, "a line without an end was never said: {messages:?}");
        let answers: Vec<Value> = answers.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let told: Vec<_> =
            answers.iter().map(|answer| (answer["id"].clone(), answer["error"]["code"].clone())).collect();
        let expected = [
            (Value::Null, -32700),
            (Value::Null, -32700),
            (Value::Null, -32600),
            ("big".into(), -32600),
            (5.into(), -32600),
        ];
        assert_eq!(told, expected.map(|(id, code)| (id, Value::from(code))));
    }
}

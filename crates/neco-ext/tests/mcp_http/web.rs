//! A small HTTP server on this machine that answers as it is told, and remembers what it was asked.

use std::sync::{Arc, Mutex};

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::task::AbortOnDropHandle;
use url::Url;
use url::form_urlencoded::parse;

/// A request as it arrived.
#[derive(Clone, Debug)]
pub struct Asked {
    pub method: String,
    /// The path with what stands behind its question mark.
    pub target: String,
    pub headers: Vec<(String, String)>,
    pub body: String,
}

impl Asked {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    pub fn path(&self) -> &str {
        self.target.split('?').next().unwrap()
    }

    pub fn query(&self, name: &str) -> Option<String> {
        let url = Url::parse("http://localhost").unwrap().join(&self.target).unwrap();
        url.query_pairs().find(|(known, _)| known == name).map(|(_, value)| value.into_owned())
    }

    /// A field of the form that was sent.
    pub fn field(&self, name: &str) -> Option<String> {
        parse(self.body.as_bytes()).find(|(known, _)| known == name).map(|(_, value)| value.into_owned())
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_default()
    }

    /// The method of the message that was sent.
    pub fn message(&self) -> String {
        self.json()["method"].as_str().unwrap_or_default().to_owned()
    }
}

/// An answer.
#[derive(Clone, Debug)]
pub struct Reply {
    status: u16,
    headers: Vec<(String, String)>,
    body: String,
}

impl Reply {
    pub fn new(status: u16, kind: &str, body: impl Into<String>) -> Self {
        Self { status, headers: vec![("content-type".to_owned(), kind.to_owned())], body: body.into() }
    }

    pub fn json(status: u16, body: &Value) -> Self {
        Self::new(status, "application/json", body.to_string())
    }

    /// Each of these as an event.
    pub fn events(messages: &[&Value]) -> Self {
        let events: String = messages.iter().map(|message| format!("event: message\ndata: {message}\n\n")).collect();
        Self::new(200, "text/event-stream", events)
    }

    pub fn bare(status: u16) -> Self {
        Self { status, headers: Vec::new(), body: String::new() }
    }

    pub fn moved(status: u16, to: &str) -> Self {
        Self::bare(status).with("location", to)
    }

    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }
}

/// The server; it is gone when it is dropped.
pub struct Web {
    pub base: String,
    asked: Arc<Mutex<Vec<Asked>>>,
    _serving: AbortOnDropHandle<()>,
}

impl Web {
    pub async fn start(answer: impl Fn(&Asked) -> Reply + Send + Sync + 'static) -> Self {
        Self::knowing_itself(|_| answer).await
    }

    /// The same where the answers name the address of the server.
    pub async fn knowing_itself<A>(make: impl FnOnce(&str) -> A) -> Self
    where
        A: Fn(&Asked) -> Reply + Send + Sync + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let (answer, asked) = (Arc::new(make(&base)), Arc::new(Mutex::new(Vec::new())));
        let seen = Arc::clone(&asked);
        let serving = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, Arc::clone(&answer), Arc::clone(&seen)));
            }
        });
        Self { base, asked, _serving: AbortOnDropHandle::new(serving) }
    }

    /// The address of the MCP server.
    pub fn mcp(&self) -> String {
        format!("{}/mcp", self.base)
    }

    pub fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }

    /// The methods of the messages that were sent.
    pub fn messages(&self) -> Vec<String> {
        self.asked().iter().map(Asked::message).filter(|message| !message.is_empty()).collect()
    }

    /// What was asked at this path.
    pub fn at(&self, path: &str) -> Vec<Asked> {
        self.asked().into_iter().filter(|asked| asked.path() == path).collect()
    }
}

async fn serve<A>(mut stream: TcpStream, answer: Arc<A>, seen: Arc<Mutex<Vec<Asked>>>)
where
    A: Fn(&Asked) -> Reply + Send + Sync,
{
    let Some(asked) = read(&mut stream).await else { return };
    let Reply { status, headers, body } = answer(&asked);
    seen.lock().unwrap().push(asked);
    let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let head = format!("HTTP/1.1 {status} X\r\n{headers}content-length: {}\r\nconnection: close\r\n\r\n", body.len());
    // Who has read enough goes away.
    let _ = stream.write_all(head.as_bytes()).await;
    let _ = stream.write_all(body.as_bytes()).await;
}

async fn read(stream: &mut TcpStream) -> Option<Asked> {
    let (mut bytes, mut piece) = (Vec::new(), [0; 4096]);
    let mut more = async |bytes: &mut Vec<u8>| {
        let length = stream.read(&mut piece).await.ok().filter(|length| *length > 0)?;
        bytes.extend_from_slice(&piece[..length]);
        Some(())
    };
    let end = loop {
        match bytes.windows(4).position(|end| end == b"\r\n\r\n") {
            Some(end) => break end,
            None => more(&mut bytes).await?,
        }
    };
    let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
    let mut lines = head.lines();
    let mut words = lines.next()?.split(' ').map(str::to_owned);
    let (method, target) = (words.next()?, words.next()?);
    let headers = lines.filter_map(|line| line.split_once(':'));
    let headers = headers.map(|(name, value)| (name.to_owned(), value.trim().to_owned())).collect();
    let mut asked = Asked { method, target, headers, body: String::new() };
    let length: usize = asked.header("content-length").map_or(0, |length| length.parse().unwrap());
    while bytes.len() < end + 4 + length {
        more(&mut bytes).await?;
    }
    asked.body = String::from_utf8(bytes[end + 4..].to_vec()).unwrap();
    Some(asked)
}

//! A tiny HTTP server on loopback for whatever a test wants to answer.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;

/// A request as it arrived.
pub struct Asked {
    pub path: String,
    headers: Vec<(String, String)>,
    pub body: String,
}

impl Asked {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }
}

/// Starts a server that answers with the status and body of `answer`; gives its address.
pub fn start(answer: impl Fn(&Asked) -> (u16, String) + Send + Sync + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let base = format!("http://{}/v1", listener.local_addr().unwrap());
    let answer = Arc::new(answer);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let answer = Arc::clone(&answer);
            std::thread::spawn(move || serve(stream, &*answer));
        }
    });
    base
}

/// A client that hangs up is its own business.
fn serve(mut stream: TcpStream, answer: &dyn Fn(&Asked) -> (u16, String)) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut asked =
        Asked { path: line.split_whitespace().nth(1)?.to_owned(), headers: Vec::new(), body: String::new() };
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        let Some((name, value)) = header.split_once(':') else { break };
        asked.headers.push((name.to_owned(), value.trim().to_owned()));
    }
    let length = asked.header("content-length").map_or(Some(0), |length| length.parse().ok())?;
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    asked.body = String::from_utf8(body).ok()?;
    let (status, body) = answer(&asked);
    let kind = if body.starts_with("data:") { "text/event-stream" } else { "application/json" };
    let head =
        format!("HTTP/1.1 {status} X\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nconnection: close", body.len());
    write!(stream, "{head}\r\n\r\n{body}").ok()
}

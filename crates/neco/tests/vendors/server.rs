//! A model server on loopback that says what a test wants, in any of the four formats, for ever if need be.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What a server does with the request of this number, counted from 0: writes its answer, head and all.
pub type Answer = dyn Fn(usize, &str, &mut dyn Write) -> std::io::Result<()> + Send + Sync;

/// A server; it ends with the test.
pub struct Server {
    pub base: String,
    asked: Arc<AtomicUsize>,
}

impl Server {
    pub fn start(answer: impl Fn(usize, &str, &mut dyn Write) -> std::io::Result<()> + Send + Sync + 'static) -> Self {
        Self::on(TcpListener::bind("127.0.0.1:0").unwrap(), answer)
    }

    pub fn on(
        listener: TcpListener,
        answer: impl Fn(usize, &str, &mut dyn Write) -> std::io::Result<()> + Send + Sync + 'static,
    ) -> Self {
        let base = format!("http://{}/v1", listener.local_addr().unwrap());
        let (answer, asked): (Arc<Answer>, _) = (Arc::new(answer), Arc::new(AtomicUsize::new(0)));
        let counted = Arc::clone(&asked);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (answer, asked) = (Arc::clone(&answer), Arc::clone(&counted));
                // A client that hangs up is its own business.
                std::thread::spawn(move || serve(&stream, &*answer, &asked));
            }
        });
        Self { base, asked }
    }

    /// How many questions came.
    pub fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

fn serve(mut stream: &TcpStream, answer: &Answer, asked: &AtomicUsize) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut length = 0;
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        if header.trim().is_empty() {
            break;
        }
        if let Some(value) = header.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    if !line.starts_with("POST") {
        return write!(stream, "HTTP/1.1 404 X\r\ncontent-length: 0\r\nconnection: close\r\n\r\n").ok();
    }
    let number = asked.fetch_add(1, Ordering::SeqCst);
    let _ = answer(number, &String::from_utf8_lossy(&body), &mut stream);
    stream.shutdown(std::net::Shutdown::Both).ok()
}

/// The head of an answer that ends with the connection.
pub fn head(out: &mut dyn Write, status: u16, kind: &str) -> std::io::Result<()> {
    write!(out, "HTTP/1.1 {status} X\r\ncontent-type: {kind}\r\nconnection: close\r\n\r\n")
}

/// An answer that is no success.
pub fn refuse(out: &mut dyn Write, status: u16, body: &str) -> std::io::Result<()> {
    head(out, status, "application/json")?;
    out.write_all(body.as_bytes())
}

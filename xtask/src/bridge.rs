//! A server of MCP that speaks on its standard input and output, put at an address: streamable HTTP, as little of it as
//! the conformance suite needs.
//!
//! Every session has a process of its own; messages without a session, as newer clients send them, share one. An answer
//! is one JSON document. What a server asks of its client is not passed on.

use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use anyhow::{Context, Result};
use serde_json::Value;

/// The longest message that is taken.
const LONGEST: usize = 16 * 1024 * 1024;

/// An address at which a server is reached. It is there until this program ends.
pub struct Bridge {
    address: SocketAddr,
}

impl Bridge {
    /// Puts what `program` with `arguments` starts, in `folder`, at an address of this machine.
    pub fn open(program: &Path, arguments: &[&str], folder: &Path) -> Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("no port can be had")?;
        let address = listener.local_addr()?;
        let arguments = arguments.iter().map(|argument| (*argument).to_owned()).collect();
        let start = Start { program: program.to_owned(), arguments, folder: folder.to_owned() };
        let shared = Arc::new(Shared { start, sessions: Mutex::default(), begun: AtomicUsize::new(0) });
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = Arc::clone(&shared);
                thread::spawn(move || shared.answer(&stream));
            }
        });
        Ok(Self { address })
    }

    /// Where it is.
    pub fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }
}

/// How a process of the server is started.
struct Start {
    program: PathBuf,
    arguments: Vec<String>,
    folder: PathBuf,
}

struct Shared {
    start: Start,
    /// By their ids; the one without an id is for messages without a session.
    sessions: Mutex<HashMap<String, Arc<Mutex<Session>>>>,
    begun: AtomicUsize,
}

/// One process of the server.
struct Session {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Drop for Session {
    fn drop(&mut self) {
        // It may be gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A request, as far as it matters here.
struct Request {
    method: String,
    session: Option<String>,
    body: Vec<u8>,
}

/// What is answered: the status, the session that it is about, and JSON.
struct Answer(&'static str, Option<String>, Option<Value>);

impl Shared {
    fn answer(&self, stream: &TcpStream) {
        let Answer(status, session, body) = match read(stream) {
            Ok(request) => self.act(&request).unwrap_or(Answer("500 Internal Server Error", None, None)),
            Err(_) => Answer("400 Bad Request", None, None),
        };
        let body = body.map(|body| body.to_string()).unwrap_or_default();
        let kind = if body.is_empty() { "" } else { "Content-Type: application/json\r\n" };
        let session = session.map(|id| format!("Mcp-Session-Id: {id}\r\n")).unwrap_or_default();
        let head = format!("HTTP/1.1 {status}\r\n{kind}{session}Content-Length: {}\r\nConnection: close", body.len());
        let mut stream = stream;
        // Who asked may be gone.
        let _ = write!(stream, "{head}\r\n\r\n{body}");
    }

    fn act(&self, request: &Request) -> Result<Answer> {
        match request.method.as_str() {
            "POST" => self.pass_on(request),
            "DELETE" => {
                let id = request.session.as_deref().unwrap_or_default();
                let ended = self.sessions().remove(id);
                Ok(Answer(if ended.is_some() { "200 OK" } else { "404 Not Found" }, None, None))
            }
            _ => Ok(Answer("405 Method Not Allowed", None, None)),
        }
    }

    fn pass_on(&self, request: &Request) -> Result<Answer> {
        let Ok(message) = serde_json::from_slice::<Value>(&request.body) else {
            return Ok(Answer("400 Bad Request", None, None));
        };
        let begins = message["method"] == "initialize";
        let id = match &request.session {
            None if begins => Some(format!("session-{}", self.begun.fetch_add(1, Ordering::Relaxed))),
            id => id.clone(),
        };
        let known = self.sessions().get(id.as_deref().unwrap_or_default()).cloned();
        let session = match known {
            Some(session) => session,
            None if begins || id.is_none() => {
                let session = Arc::new(Mutex::new(self.start.session()?));
                self.sessions().insert(id.clone().unwrap_or_default(), Arc::clone(&session));
                session
            }
            None => return Ok(Answer("404 Not Found", None, None)),
        };
        let answer = session.lock().unwrap_or_else(PoisonError::into_inner).ask(&message)?;
        Ok(Answer(status(answer.as_ref(), id.is_some()), id.filter(|_| begins), answer))
    }

    fn sessions(&self) -> MutexGuard<'_, HashMap<String, Arc<Mutex<Session>>>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The status of an answer. Without a session, as newer clients ask, an error shows in it.
fn status(answer: Option<&Value>, in_session: bool) -> &'static str {
    let Some(answer) = answer else { return "202 Accepted" };
    match answer.pointer("/error/code").and_then(Value::as_i64) {
        Some(-32601) if !in_session => "404 Not Found",
        Some(_) if !in_session => "400 Bad Request",
        Some(_) | None => "200 OK",
    }
}

impl Start {
    fn session(&self) -> Result<Session> {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).current_dir(&self.folder).env("NECO_HOME", self.folder.join("home"));
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let input = child.stdin.take().context("it has no input")?;
        let output = BufReader::new(child.stdout.take().context("it has no output")?);
        Ok(Session { child, input, output })
    }
}

impl Session {
    /// Passes a message on; gives the answer if it wants one.
    fn ask(&mut self, message: &Value) -> Result<Option<Value>> {
        writeln!(self.input, "{message}")?;
        let Some(id) = message.get("id").filter(|_| message.get("method").is_some()) else { return Ok(None) };
        let mut line = String::new();
        loop {
            line.clear();
            if self.output.read_line(&mut line)? == 0 {
                return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
            }
            let Ok(said) = serde_json::from_str::<Value>(&line) else { continue };
            if said.get("id") == Some(id) && said.get("method").is_none() {
                return Ok(Some(said));
            }
        }
    }
}

fn read(stream: &TcpStream) -> Result<Request> {
    let mut lines = BufReader::new(stream);
    let mut line = String::new();
    lines.read_line(&mut line)?;
    let method = line.split(' ').next().unwrap_or_default().to_owned();
    let (mut session, mut length) = (None, 0);
    loop {
        line.clear();
        lines.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        match name.to_ascii_lowercase().as_str() {
            "mcp-session-id" => session = Some(value.trim().to_owned()),
            "content-length" => length = value.trim().parse::<usize>()?.min(LONGEST),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    lines.read_exact(&mut body)?;
    Ok(Request { method, session, body })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A server that answers everything with the number of its process, and one question with an error.
    const SERVER: &str = r#"while read -r line; do case "$line" in
        *notification*) ;;
        *no/such*) echo '{"jsonrpc":"2.0","id":7,"error":{"code":-32601,"message":"no"}}' ;;
        *) echo junk; echo '{"jsonrpc":"2.0","id":7,"result":{"process":'$$'}}' ;;
    esac; done"#;

    /// Sends one request; gives the whole answer.
    fn send(bridge: &Bridge, method: &str, session: &str, body: &str) -> String {
        let mut stream = TcpStream::connect(bridge.address).unwrap();
        let length = body.len();
        write!(stream, "{method} /mcp HTTP/1.1\r\n{session}Content-Length: {length}\r\n\r\n{body}").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    #[test]
    fn every_session_has_its_process_and_those_without_one_share_theirs() {
        let folder = tempfile::tempdir().unwrap();
        let bridge = Bridge::open(Path::new("sh"), &["-c", SERVER], folder.path()).unwrap();
        let ask = |method: &str| format!(r#"{{"jsonrpc":"2.0","id":7,"method":"{method}"}}"#);
        let process = |answer: &str| answer.rsplit_once("process").unwrap().1.to_owned();
        let begun = send(&bridge, "POST", "", &ask("initialize"));
        assert!(begun.starts_with("HTTP/1.1 200") && begun.contains("Mcp-Session-Id: session-0\r\n"), "{begun}");
        let id = "Mcp-Session-Id: session-0\r\n";
        let in_session = send(&bridge, "POST", id, &ask("tools/list"));
        assert_eq!(process(&in_session), process(&begun));
        let alone = send(&bridge, "POST", "", &ask("tools/list"));
        assert_ne!(process(&alone), process(&begun));
        assert_eq!(process(&send(&bridge, "POST", "", &ask("tools/list"))), process(&alone));
        let told = send(&bridge, "POST", id, r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        assert!(told.starts_with("HTTP/1.1 202"), "{told}");
        for (method, session, body, status) in [
            ("POST", "", ask("no/such"), "404"),
            ("POST", id, ask("no/such"), "200"),
            ("POST", "", "junk".to_owned(), "400"),
            ("GET", "", String::new(), "405"),
            ("DELETE", id, String::new(), "200"),
            ("POST", id, ask("tools/list"), "404"),
        ] {
            let answer = send(&bridge, method, session, &body);
            assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{method} {body}: {answer}");
        }
    }
}

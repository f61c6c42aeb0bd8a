//! An editor at the other end of two streams: it holds every message against the schema.

use std::sync::Arc;
use std::time::Duration;

use neco_acp::{AcpSetup, CheckPictures, serve};
use neco_proto::Event;
use neco_proto::app::opening::OpenSession;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf, split};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::program::{Gate, Log, Recorded};
use crate::protocol::{Side, check};

/// An editor that has opened the connection.
pub struct Editor {
    name: String,
    input: WriteHalf<DuplexStream>,
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    served: JoinHandle<()>,
    id: u64,
    asked: Vec<(Value, String)>,
    asked_of: Vec<(Value, String)>,
    updates: Vec<Value>,
    /// What else was wanted of it.
    pub wanted: Vec<String>,
    session: String,
}

impl Editor {
    /// An editor of the session that a log tells of.
    pub async fn of(name: &str, events: Vec<Event>) -> Self {
        Self::with(name, events, json!({}), |_| Ok(Vec::new())).await
    }

    /// One that can do these things, with pictures that are checked so.
    pub async fn with(name: &str, events: Vec<Event>, capabilities: Value, pictures: CheckPictures) -> Self {
        Self::of_log(name, Log { events, gate: None }, capabilities, pictures).await
    }

    /// One of a session that is not over.
    pub async fn at_gate(name: &str, events: Vec<Event>, gate: &Arc<Gate>) -> Self {
        let log = Log { events, gate: Some(Arc::clone(gate)) };
        Self::of_log(name, log, json!({}), |_| Ok(Vec::new())).await
    }

    async fn of_log(name: &str, log: Log, capabilities: Value, pictures: CheckPictures) -> Self {
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        let (output, input) = split(ours);
        let (from, to) = split(theirs);
        let session = log.events[0].session_id.to_string();
        let app = Arc::new(Recorded(Arc::new(log)));
        let setup = AcpSetup { app, wanted: OpenSession::default(), pictures, version: "1" };
        let served = tokio::spawn(async move { serve(setup, from, to, CancellationToken::new()).await.unwrap() });
        let lines = BufReader::new(output).lines();
        let (asked, asked_of, updates, wanted) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let name = name.to_owned();
        let mut editor = Self { name, input, lines, served, id: 0, asked, asked_of, updates, wanted, session };
        editor.ask("initialize", json!({ "protocolVersion": 1, "clientCapabilities": capabilities })).await;
        editor
    }

    /// A message that has no answer.
    pub async fn notify(&mut self, method: &str, params: Value) {
        self.write(json!({ "jsonrpc": "2.0", "method": method, "params": params })).await;
    }

    /// Everything that was told since this was asked last.
    pub fn told(&mut self) -> Vec<Value> {
        std::mem::take(&mut self.updates)
    }

    async fn write(&mut self, message: Value) {
        check(Side::Agent, &message, &self.asked_of);
        self.input.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }

    /// A request and its result.
    async fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params).await;
        let answer = self.answer(id).await;
        assert!(answer.get("error").is_none(), "{}: {answer}", self.name);
        answer["result"].clone()
    }

    /// A request that nobody waits for yet.
    pub async fn begin(&mut self, method: &str, params: Value) -> u64 {
        self.id += 1;
        self.asked.push((json!(self.id), method.to_owned()));
        self.write(json!({ "jsonrpc": "2.0", "id": self.id, "method": method, "params": params })).await;
        self.id
    }

    /// The answer to a request; what comes meanwhile is kept, and what is asked is refused.
    pub async fn answer(&mut self, id: u64) -> Value {
        let method =
            self.asked.iter().find(|(asked, _)| *asked == json!(id)).map(|(_, method)| method.clone()).unwrap();
        loop {
            let line = tokio::time::timeout(Duration::from_secs(20), self.lines.next_line()).await;
            let line = line.unwrap_or_else(|_| panic!("{}: {method} is not answered", self.name));
            let message: Value = serde_json::from_str(&line.unwrap().unwrap()).unwrap();
            check(Side::Client, &message, &self.asked);
            match message["method"].as_str() {
                Some("session/update") => self.updates.push(message["params"]["update"].clone()),
                Some("session/request_permission") => {
                    let asked = message["id"].clone();
                    self.asked_of.push((asked.clone(), "session/request_permission".to_owned()));
                    let answer = json!({ "outcome": { "outcome": "cancelled" } });
                    self.write(json!({ "jsonrpc": "2.0", "id": asked, "result": answer })).await;
                }
                Some(method) => self.wanted.push(method.to_owned()),
                None if message["id"] == id => return message,
                None => {}
            }
        }
    }

    /// Makes a session.
    pub async fn new_session(&mut self) -> String {
        let answer = self.ask("session/new", json!({ "cwd": "/project", "mcpServers": [] })).await;
        answer["sessionId"].as_str().unwrap().to_owned()
    }

    /// Everything that happens until a prompt is answered.
    pub async fn follow(&mut self, session: &str) -> Vec<Value> {
        let prompt = json!([{ "type": "text", "text": "and then?" }]);
        self.ask("session/prompt", json!({ "sessionId": session, "prompt": prompt })).await;
        std::mem::take(&mut self.updates)
    }

    /// Loads the session; everything that is told before the answer.
    pub async fn load(&mut self) -> Vec<Value> {
        let params = json!({ "sessionId": self.session, "cwd": "/project", "mcpServers": [] });
        self.ask("session/load", params).await;
        std::mem::take(&mut self.updates)
    }

    /// The editor goes.
    pub async fn leave(self) {
        drop((self.input, self.lines));
        tokio::time::timeout(Duration::from_secs(20), self.served).await.unwrap().unwrap();
    }
}

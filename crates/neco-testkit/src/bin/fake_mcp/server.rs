//! The connection: lines in, lines out, and who answers what.

use std::collections::{HashMap, HashSet};
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, Write};
use std::path::PathBuf;
use std::sync::mpsc::{self, RecvTimeoutError, SyncSender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use std::{process, thread};

use serde_json::{Value, json};

use crate::options::{Era, Fault, Options};
use crate::protocol::{
    CLIENT_CAPABILITIES, CLIENT_INFO, Failure, PROTOCOL_VERSION, Reply, Request, SERVER_INFO, SUBSCRIPTION_ID, error,
    error_with, invalid_params, string,
};
use crate::{faults, offers, tools};

/// How often a wait looks whether it was cancelled.
const TICK: Duration = Duration::from_millis(10);

/// An id that no client reaches.
const NEVER_ASKED: i64 = 999_999_999;

const INSTRUCTIONS: &str = "Instructions of the fake server.";

/// Methods whose results say how long they stay fresh.
const CACHEABLE: &[&str] =
    &["server/discover", "tools/list", "resources/list", "resources/templates/list", "resources/read", "prompts/list"];

/// What answers a method.
type Handler = fn(&Server, &Request) -> Reply;

/// A running server.
pub struct Server {
    pub options: Options,
    record: Option<Mutex<File>>,
    state: Mutex<State>,
}

/// What changes while a server runs.
#[derive(Default)]
pub struct State {
    /// What the client can do, once it has sent `initialize`.
    pub client: Option<Value>,
    /// Whether there is a tool that was not there at first.
    pub grown: bool,
    /// Whether `echo` has got another description.
    pub changed: bool,
    /// Every `requestState` that was given out and has not come back.
    pub open: HashSet<String>,
    cancelled: HashSet<String>,
    waiting: HashMap<String, SyncSender<Value>>,
    listeners: Vec<Value>,
    names_given: u64,
}

impl Server {
    /// Opens the record and writes the start into it.
    pub fn open(options: Options) -> Result<Self, String> {
        let open = |path: &PathBuf| OpenOptions::new().create(true).append(true).open(path);
        let record = options.record.as_ref().map(open).transpose().map_err(|error| format!("--record: {error}"))?;
        let server = Self { options, record: record.map(Mutex::new), state: Mutex::default() };
        server.record(&format!("started {}", process::id()));
        Ok(server)
    }

    /// Answers what comes in until there is no more.
    pub fn run(self: &Arc<Self>) {
        for line in io::stdin().lock().lines() {
            let Ok(line) = line else { break };
            self.record(&line);
            match serde_json::from_str::<Value>(&line) {
                Ok(message) => self.receive(&message),
                Err(error) => {
                    let error = json!({ "code": -32700, "message": error.to_string() });
                    self.send(&json!({ "jsonrpc": "2.0", "id": null, "error": error }));
                }
            }
        }
        self.record("end of input");
    }

    /// Adds a line to the record, when there is one.
    pub fn record(&self, line: &str) {
        let Some(file) = &self.record else { return };
        if let Err(error) = locked(file).write_all(format!("{line}\n").as_bytes()) {
            faults::die(2, &format!("--record: {error}"));
        }
    }

    pub fn state(&self) -> MutexGuard<'_, State> {
        locked(&self.state)
    }

    /// A name that was not given before.
    pub fn new_name(&self, start: &str) -> String {
        let mut state = self.state();
        state.names_given += 1;
        format!("{start}-{}", state.names_given)
    }

    /// Writes bytes in one piece; without a client the server ends.
    pub fn write(&self, bytes: &[u8]) {
        let mut out = io::stdout().lock();
        let written = out.write_all(bytes).and_then(|()| out.flush());
        if written.is_err() && !self.options.has(Fault::IgnoreTerm) {
            process::exit(0);
        }
    }

    /// Sends one message.
    pub fn send(&self, message: &Value) {
        self.write(&faults::line(&self.options, message.to_string()));
    }

    /// Sends a notification.
    pub fn notify(&self, method: &str, params: &Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// Tells the client that there are other tools now: always in the legacy era, to those who listen in the modern one.
    pub fn announce_tools(&self) {
        let method = "notifications/tools/list_changed";
        let listeners = self.state().listeners.clone();
        if self.state().client.is_some() {
            self.notify(method, &json!({}));
        }
        for id in listeners {
            self.notify(method, &json!({ "_meta": { SUBSCRIPTION_ID: id } }));
        }
    }

    /// Asks the client something while `request` waits for it, and gives back the whole message of the answer.
    pub fn ask_client(&self, request: &Request, method: &str, params: &Value) -> Reply {
        let id = self.new_name("ask");
        let (sender, receiver) = mpsc::sync_channel(1);
        self.state().waiting.insert(id.clone(), sender);
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        loop {
            match receiver.recv_timeout(TICK) {
                Ok(message) => return Ok(message),
                Err(RecvTimeoutError::Disconnected) => return Err(Failure::Silence),
                Err(RecvTimeoutError::Timeout) => {}
            }
            if let Err(failure) = self.go_on(request) {
                self.state().waiting.remove(&id);
                self.notify("notifications/cancelled", &json!({ "requestId": id }));
                return Err(failure);
            }
        }
    }

    /// Waits, unless the request is cancelled in the meantime.
    pub fn pause(&self, request: &Request, time: Duration) -> Result<(), Failure> {
        let end = Instant::now() + time;
        loop {
            self.go_on(request)?;
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(());
            }
            thread::sleep(left.min(TICK));
        }
    }

    /// Stops a request that was cancelled, and records that.
    fn go_on(&self, request: &Request) -> Result<(), Failure> {
        if self.state().cancelled.remove(&request.id.to_string()) {
            self.record("cancelled");
            return Err(Failure::Silence);
        }
        Ok(())
    }

    fn receive(self: &Arc<Self>, message: &Value) {
        let params = &message["params"];
        match (message["method"].as_str(), message.get("id")) {
            (Some(method), Some(id)) => self.requested(id, method, params),
            (Some("notifications/cancelled"), None) => self.cancelled(&params["requestId"]),
            (None, Some(id)) => self.answered(id, message),
            (_, None) => {}
        }
    }

    fn cancelled(&self, id: &Value) {
        let mut state = self.state();
        state.cancelled.insert(id.to_string());
        state.listeners.retain(|listener| listener != id);
    }

    fn answered(&self, id: &Value, message: &Value) {
        let waiting = id.as_str().and_then(|id| self.state().waiting.remove(id));
        if let Some(waiting) = waiting {
            // Who no longer waits was cancelled.
            let _ = waiting.try_send(message.clone());
        }
    }

    fn requested(self: &Arc<Self>, id: &Value, method: &str, params: &Value) {
        if self.options.has(Fault::HangStart) && matches!(method, "initialize" | "server/discover") {
            return;
        }
        let mut request = Request {
            id: id.clone(),
            method: method.to_owned(),
            params: params.clone(),
            era: self.era_of(method),
            capabilities: Value::Null,
        };
        match self.admit(&request) {
            Err(failure) => self.answer(&request, Err(failure)),
            Ok((handler, capabilities)) => {
                request.capabilities = capabilities;
                let server = Arc::clone(self);
                let work = move || server.answer(&request, handler(&server, &request));
                // A call may take long and wait for what comes in next.
                if method == "tools/call" {
                    thread::spawn(work);
                } else {
                    work();
                }
            }
        }
    }

    fn era_of(&self, method: &str) -> Era {
        let modern = self.options.eras.contains(&Era::Modern);
        if modern && method != "initialize" && self.state().client.is_none() { Era::Modern } else { Era::Legacy }
    }

    /// Finds who answers a request and what its client can do, or refuses it.
    fn admit(&self, request: &Request) -> Result<(Handler, Value), Failure> {
        let method = request.method.as_str();
        let client = self.state().client.clone();
        let handler = handler(request.era, method).filter(|_| self.options.eras.contains(&request.era));
        if handler.is_none() && client.is_none() && self.options.has(Fault::DiesOnUnknown) {
            faults::die(1, &format!("unknown method: {method}"));
        }
        if handler.is_none() && self.options.has(Fault::SilentOnUnknown) {
            return Err(Failure::Silence);
        }
        if handler.is_none() && self.options.has(Fault::NothingOnUnknown) {
            return Ok((|_, _| Ok(json!({})), Value::Null));
        }
        if request.era == Era::Legacy && client.is_none() && !matches!(method, "initialize" | "ping") {
            return Err(error(-32600, "initialize comes first"));
        }
        let handler = handler.ok_or_else(|| error(-32601, &format!("Method not found: {method}")))?;
        let capabilities = match request.era {
            Era::Legacy => client.unwrap_or_default(),
            Era::Modern => self.capabilities_of(request)?,
        };
        Ok((handler, capabilities))
    }

    /// What a modern request says of its client; it must say all of it, and speak a version that the server speaks.
    fn capabilities_of(&self, request: &Request) -> Reply {
        let required = [PROTOCOL_VERSION, CLIENT_INFO, CLIENT_CAPABILITIES];
        let missing: Vec<&str> = required.into_iter().filter(|key| request.meta(key).is_none()).collect();
        if !missing.is_empty() {
            return Err(invalid_params(&format!("_meta lacks {}", missing.join(", "))));
        }
        let requested = request.meta(PROTOCOL_VERSION).and_then(Value::as_str).unwrap_or_default();
        let supported = self.options.versions();
        if !supported.contains(&requested) {
            let data = json!({ "requested": requested, "supported": supported });
            return Err(error_with(-32022, "Unsupported protocol version", &data));
        }
        Ok(request.meta(CLIENT_CAPABILITIES).cloned().unwrap_or_default())
    }

    fn answer(&self, request: &Request, reply: Reply) {
        let mut message = match reply {
            Ok(result) => json!({ "jsonrpc": "2.0", "id": request.id, "result": self.dressed(request, result) }),
            Err(Failure::Error(error)) => json!({ "jsonrpc": "2.0", "id": request.id, "error": error }),
            Err(Failure::Silence) => return,
        };
        let wrong = |fault| request.method == "tools/call" && self.options.has(fault);
        if wrong(Fault::ExtraId) {
            let mut extra = message.clone();
            extra["id"] = json!(NEVER_ASKED);
            self.send(&extra);
        }
        if wrong(Fault::WrongId) {
            message["id"] = json!(NEVER_ASKED);
        }
        self.send(&message);
        if wrong(Fault::Twice) {
            self.send(&message);
        }
    }

    /// Adds what every result of the modern era carries.
    fn dressed(&self, request: &Request, mut result: Value) -> Value {
        if request.era == Era::Modern {
            let complete = result.get("resultType").is_none();
            if complete {
                result["resultType"] = json!("complete");
            }
            if complete && CACHEABLE.contains(&request.method.as_str()) {
                result["ttlMs"] = json!(self.options.ttl);
                result["cacheScope"] = json!("private");
            }
            result["_meta"] = json!({ SERVER_INFO: server_info() });
        }
        result
    }

    fn initialize(&self, request: &Request) -> Reply {
        let params = &request.params;
        let requested = string(params, "protocolVersion")?;
        if !params["capabilities"].is_object() || !params["clientInfo"].is_object() {
            return Err(invalid_params("initialize needs capabilities and clientInfo"));
        }
        self.state().client = Some(params["capabilities"].clone());
        Ok(json!({
            "protocolVersion": self.options.handshake_version(requested),
            "capabilities": capabilities(),
            "serverInfo": server_info(),
            "instructions": INSTRUCTIONS,
        }))
    }

    fn discover(&self, _: &Request) -> Reply {
        Ok(json!({
            "supportedVersions": self.options.versions(),
            "capabilities": capabilities(),
            "instructions": INSTRUCTIONS,
        }))
    }

    /// Acknowledges a subscription, which stays open until it is cancelled; only changes of the tools can be listened to.
    fn listen(&self, request: &Request) -> Reply {
        let wanted = &request.params["notifications"];
        if !wanted.is_object() {
            return Err(invalid_params("notifications must be an object"));
        }
        let listens = wanted["toolsListChanged"] == true;
        let accepted = if listens { json!({ "toolsListChanged": true }) } else { json!({}) };
        let params = json!({ "_meta": { SUBSCRIPTION_ID: request.id }, "notifications": accepted });
        self.notify("notifications/subscriptions/acknowledged", &params);
        if listens {
            self.state().listeners.push(request.id.clone());
        }
        Err(Failure::Silence)
    }
}

/// Who answers a method in an era.
fn handler(era: Era, method: &str) -> Option<Handler> {
    let handler: Handler = match (era, method) {
        (Era::Legacy, "initialize") => Server::initialize,
        (Era::Legacy, "ping" | "logging/setLevel") => nothing,
        (Era::Modern, "server/discover") => Server::discover,
        (Era::Modern, "subscriptions/listen") => Server::listen,
        (_, "tools/list") => tools::list,
        (_, "tools/call") => tools::call,
        (_, "resources/list") => offers::resources,
        (_, "resources/templates/list") => offers::templates,
        (_, "resources/read") => offers::read,
        (_, "prompts/list") => offers::prompts,
        (_, "prompts/get") => offers::prompt,
        _ => return None,
    };
    Some(handler)
}

fn nothing(_: &Server, _: &Request) -> Reply {
    Ok(json!({}))
}

fn capabilities() -> Value {
    json!({ "tools": { "listChanged": true }, "resources": {}, "prompts": {}, "logging": {} })
}

fn server_info() -> Value {
    json!({ "name": "fake-mcp", "version": "1.0.0" })
}

/// A thread that panicked leaves nothing half done here.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

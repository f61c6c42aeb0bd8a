//! An MCP server over HTTP, of either era.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use crate::web::{Asked, Reply};

/// The newer era, and the older one.
pub const MODERN: &str = "2026-07-28";
pub const LEGACY: &str = "2025-11-25";

/// The server.
#[derive(Default)]
pub struct Fake {
    /// Whether it is of the newer era.
    pub modern: bool,
    /// Whether its answers come as events.
    pub events: bool,
    /// The tokens that it takes; everybody is let in where there are none.
    pub tokens: Mutex<Vec<String>>,
    /// What it says to those who have no token.
    pub challenge: String,
    /// The number of the session.
    pub sessions: AtomicUsize,
}

impl Fake {
    /// Forgets the session.
    pub fn forget(&self) {
        self.sessions.fetch_add(1000, Ordering::SeqCst);
    }

    /// Takes only this token from now on.
    pub fn take(&self, token: &str) {
        *self.tokens.lock().unwrap() = vec![token.to_owned()];
    }

    pub fn answer(&self, asked: &Asked) -> Reply {
        let shown = asked.header("authorization").and_then(|value| value.strip_prefix("Bearer ")).unwrap_or_default();
        let tokens = self.tokens.lock().unwrap().clone();
        if !tokens.is_empty() && !tokens.iter().any(|token| token == shown) {
            return Reply::bare(401).with("www-authenticate", &self.challenge);
        }
        match asked.method.as_str() {
            "POST" => self.posted(asked),
            "DELETE" => Reply::bare(200),
            _ => Reply::bare(405),
        }
    }

    fn posted(&self, asked: &Asked) -> Reply {
        let message = asked.json();
        let (id, method) = (&message["id"], message["method"].as_str().unwrap_or_default());
        if method == "initialize" && !self.modern {
            let session = format!("s{}", self.sessions.fetch_add(1, Ordering::SeqCst) + 1);
            return self.said(id, initialized()).with("mcp-session-id", &session);
        }
        let session = format!("s{}", self.sessions.load(Ordering::SeqCst));
        if !self.modern && method != "server/discover" && asked.header("mcp-session-id") != Some(&session) {
            return Reply::bare(404);
        }
        if id.is_null() {
            return Reply::bare(202);
        }
        match self.result(method, &message["params"]) {
            Some(result) => self.said(id, result),
            // It does not read what it does not know.
            None if method == "server/discover" => {
                let error = json!({ "code": -32600, "message": "no session" });
                Reply::json(400, &json!({ "jsonrpc": "2.0", "id": "server-error", "error": error }))
            }
            None => {
                let error = json!({ "code": -32601, "message": "unknown" });
                Reply::json(200, &json!({ "jsonrpc": "2.0", "id": id, "error": error }))
            }
        }
    }

    fn result(&self, method: &str, params: &Value) -> Option<Value> {
        let mut result = match method {
            "server/discover" if self.modern => {
                json!({ "supportedVersions": [MODERN], "capabilities": { "tools": {}, "prompts": {} } })
            }
            "tools/list" => {
                let schema = json!({ "type": "object" });
                json!({ "tools": [{ "name": "echo", "description": "Says it again.", "inputSchema": schema }] })
            }
            "prompts/list" => json!({ "prompts": [{ "name": "greet", "arguments": [{ "name": "who" }] }] }),
            "prompts/get" => {
                let size = params["arguments"]["size"].as_str().map_or(0, |size| size.parse().unwrap());
                let words = format!("hello {}{}", params["arguments"]["who"].as_str()?, "x".repeat(size));
                json!({ "messages": [{ "role": "user", "content": { "type": "text", "text": words } }] })
            }
            _ => return None,
        };
        if self.modern {
            result["resultType"] = json!("complete");
            (result["ttlMs"], result["cacheScope"]) = (json!(0), json!("private"));
            result["_meta"] = json!({ "io.modelcontextprotocol/serverInfo": { "name": "fake", "version": "1" } });
        }
        Some(result)
    }

    fn said(&self, id: &Value, result: Value) -> Reply {
        let answer = json!({ "jsonrpc": "2.0", "id": id, "result": result });
        if !self.events {
            return Reply::json(200, &answer);
        }
        let note =
            json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": { "level": "info", "data": 1 } });
        Reply::events(&[&note, &answer])
    }
}

fn initialized() -> Value {
    let (capabilities, about) = (json!({ "tools": {}, "prompts": {} }), json!({ "name": "fake", "version": "1" }));
    json!({ "protocolVersion": LEGACY, "capabilities": capabilities, "serverInfo": about })
}

//! Shapes on the wire: what a request is, how it fails, and what a tool gives back.

use serde_json::{Value, json};

use crate::options::Era;

/// The key in `_meta` of the version that a modern request speaks.
pub const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";

/// The key in `_meta` of the program that makes a modern request.
pub const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";

/// The key in `_meta` of what the maker of a modern request can do.
pub const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// The key in `_meta` of the least log level that a modern request wants to hear of.
pub const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";

/// The key in `_meta` of the program that gives a modern result.
pub const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";

/// The key in `_meta` of the `subscriptions/listen` that a notification belongs to.
pub const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";

/// A request of the client.
pub struct Request {
    pub id: Value,
    pub method: String,
    pub params: Value,
    /// The era in which it is made.
    pub era: Era,
    /// What the client that makes it can do.
    pub capabilities: Value,
}

impl Request {
    /// A field of the request's `_meta`.
    pub fn meta(&self, key: &str) -> Option<&Value> {
        self.params["_meta"].get(key)
    }
}

/// What becomes of a request: its result, or none.
pub type Reply = Result<Value, Failure>;

/// Why a request has no result.
pub enum Failure {
    /// The request is answered with this error.
    Error(Value),
    /// The request is not answered at all.
    Silence,
}

/// An error of JSON-RPC.
pub fn error(code: i32, message: &str) -> Failure {
    Failure::Error(json!({ "code": code, "message": message }))
}

/// An error of JSON-RPC that says more in its data.
pub fn error_with(code: i32, message: &str, data: &Value) -> Failure {
    Failure::Error(json!({ "code": code, "message": message, "data": data }))
}

/// The error for parameters that are not as they must be.
pub fn invalid_params(message: &str) -> Failure {
    error(-32602, message)
}

/// A text that must be there.
pub fn string<'a>(object: &'a Value, key: &str) -> Result<&'a str, Failure> {
    object[key].as_str().ok_or_else(|| invalid_params(&format!("{key} must be a string")))
}

/// The result of a tool that gives text.
pub fn text(text: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": text }] })
}

/// The result of a tool that failed.
pub fn failed(text: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": text }], "isError": true })
}

//! Serves sessions to windows in other processes and the whole program over HTTP, and Neco's tools to MCP clients.
//!
//! Knows words and wires, nothing of how a session works: what it serves is any `Client` and any `App`, and what
//! a window gets is a `Client` again.
//!
//! Reading order: [`remote`], [`http`], [`mcp`].

pub mod http;
pub mod mcp;
pub mod remote;

pub use remote::{AttachError, RemoteClient, Server, SocketPlaces};

//! Neco's tools and tasks for MCP clients, in both eras of the protocol: with `initialize`, and with `server/discover`
//! and what every request says of its client.
//!
//! Invariants: a call goes the way of a model's calls, in a session; what its rules ask about is asked by way of the
//! client or refused; the client's end stops everything that was begun, and closes every session; whatever a client
//! writes, the next line is read.
//!
//! Reading order: [`lines`] (messages, a line each), [`ask`] (what a person is asked), [`call_sessions`] (where single
//! calls are made), [`work`] (a call or a task under way), [`talk`] (the client behind a request), [`server`], [`http`] (clients that come over HTTP).

mod ask;
mod call_sessions;
pub(crate) mod http;
mod lines;
mod server;
mod talk;
mod work;

pub(crate) use server::Says;
pub use server::{McpSetup, serve};

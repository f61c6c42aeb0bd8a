//! Serves sessions to windows in other processes.
//!
//! Knows words and sockets, nothing of how a session works: what it serves is any `Client`, and what
//! a window gets is a `Client` again.
//!
//! Reading order: [`remote`].

pub mod remote;

pub use remote::{AttachError, RemoteClient, Server, SocketPlaces};

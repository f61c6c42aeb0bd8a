//! A session's `Client` over a Unix socket, for windows of the same person on the same machine.
//!
//! Invariants: only processes of the same user are served, and no command that the session itself
//! runs, as far as [`peer`] can tell; a window that reads slowly, floods or lies harms its own connection and nothing else;
//! whatever stands between two windows and the session has a bound; a socket with its final name
//! always has somebody who listens, or had until a crash.
//!
//! Reading order: [`frames`] (what is said, line by line), [`lines`] (reading and writing them within
//! bounds), [`transport`] (the same over WebSockets), [`place`] (where sockets are), [`desk`] (what is said on one
//! connection, whatever it goes over), [`server`] with [`peer`] (the session's side), [`address`], [`client`] with
//! [`calls`], [`follow`] and [`watch`] (the window's side).

pub(crate) mod address;
mod calls;
mod client;
pub(crate) mod desk;
mod follow;
pub(crate) mod frames;
pub(crate) mod lines;
pub(crate) mod peer;
pub(crate) mod place;
mod server;
pub(crate) mod transport;
mod watch;

pub use client::{AttachError, Owner, RemoteClient};
pub use place::SocketPlaces;
pub use server::Server;

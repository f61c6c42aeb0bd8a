//! A session's `Client` over a Unix socket, for windows of the same person on the same machine.
//!
//! Invariants: only processes of the same user are served, and no command that the session itself
//! runs, as far as [`peer`] can tell; a window that reads slowly, floods or lies harms its own connection and nothing else;
//! whatever stands between two windows and the session has a bound; a socket with its final name
//! always has somebody who listens, or had until a crash.
//!
//! Reading order: [`frames`] (what is said, line by line), [`lines`] (reading and writing them within
//! bounds), [`place`] (where sockets are), [`server`] with [`connection`] and [`peer`] (the session's
//! side), [`client`] with [`calls`], [`follow`] and [`watch`] (the window's side).

mod calls;
mod client;
mod connection;
mod follow;
mod frames;
pub(crate) mod lines;
mod peer;
mod place;
mod server;
mod watch;

pub use client::{AttachError, Owner, RemoteClient};
pub use place::SocketPlaces;
pub use server::Server;

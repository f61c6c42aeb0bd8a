//! Calls over HTTP: one client for each endpoint, built when it is first needed.
//!
//! Invariants: a request body is a list of shared pieces with a known length; a key is never in
//! an error or a log; a redirect is never followed, so a key never reaches another host; dropping
//! a call closes its connection.
//!
//! Reading order: `model` (one model behind one key), `logged_in` (one behind a login), `call` (one call), `client`,
//! `explain` (what vendors ask to wait, what a person is told), `props` (what a local server
//! says of itself).

mod call;
mod client;
mod explain;
mod logged_in;
mod model;
mod props;

pub(crate) use logged_in::LoggedIn;
pub(crate) use model::HttpModel;

pub(crate) use call::read as read_answer;
pub use client::{BuildError, build as build_client, is_loopback};
pub(crate) use explain::{Asked, of_answer};
pub(crate) use props::Props;

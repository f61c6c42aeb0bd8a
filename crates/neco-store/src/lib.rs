//! Keeps the event log and the catalogue of sessions.
//!
//! An append-only log per session is the truth; everything else is a fold of it. Two small traits,
//! [`EventLog`] and [`Catalog`], are what the rest of the product knows; one conformance suite runs
//! on every backend.
//!
//! Reading order: [`log`], [`catalog`], [`error`].

pub mod catalog;
pub mod error;
pub mod log;

pub use catalog::{Catalog, SessionRecord};
pub use error::StoreError;
pub use log::{Durability, EventLog};

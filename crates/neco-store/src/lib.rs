//! Keeps the event log and the catalogue of sessions.
//!
//! An append-only log per session is the truth; everything else is a fold of it. Two small traits,
//! [`EventLog`] and [`Catalog`], are what the rest of the product knows; one conformance suite runs
//! on every backend.
//!
//! Reading order: [`log`], [`catalog`], [`error`], then the backends [`memory`] and [`sqlite`], then
//! [`lock`], which keeps two processes from writing one session, and [`recall`], the index of the memory.

pub mod catalog;
#[cfg(any(test, feature = "conformance"))]
pub mod conformance;
pub mod error;
pub mod lock;
pub mod log;
pub mod memory;
mod prefix;
mod private;
pub mod recall;
pub mod sqlite;

pub use catalog::{Catalog, SessionRecord};
pub use error::StoreError;
pub use lock::SessionLock;
pub use log::{Durability, EventLog};
pub use memory::MemoryStore;
pub use recall::MemoryIndex;
pub use sqlite::SqliteStore;

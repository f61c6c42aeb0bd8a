//! Keeps the event log and the catalogue of sessions.
//!
//! An append-only log per session is the truth; everything else is a fold of it. Two small traits,
//! [`EventLog`] and [`Catalog`], are what the rest of the product knows; one conformance suite runs
//! on every backend.
//!
//! Reading order: [`log`], [`catalog`] with [`search`] and [`size`], [`error`], then `lineage` (whose events a
//! fork's log is made of), `said` (what a person said, counted), `live` (following one), the backends [`memory`] and
//! [`sqlite`], then [`lock`], which keeps two processes from writing one session, and [`recall`], the index of the
//! memory; `sql` is what they write SQL with.

#[macro_use]
mod sql;

pub mod catalog;
#[cfg(any(test, feature = "conformance"))]
pub mod conformance;
pub mod error;
mod lineage;
mod live;
pub mod lock;
pub mod log;
pub mod memory;
mod private;
pub mod recall;
mod said;
pub mod search;
pub mod size;
pub mod sqlite;

pub use catalog::{Catalog, SessionRecord};
pub use error::StoreError;
pub use lock::{SessionLock, lock_folder};
pub use log::Lease;
pub use log::{Durability, EventLog, lease_and_append};
pub use memory::MemoryStore;
pub use recall::MemoryIndex;
pub use search::{SearchCursor, SearchHit, SearchQuery, Snippet};
pub use size::{Prune, Pruned, StoreSizes};
pub use sqlite::{SetAside, SqliteStore};

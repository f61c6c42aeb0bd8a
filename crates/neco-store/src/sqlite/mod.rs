//! The store as one SQLite file, shared by all processes of a person.
//!
//! Invariants: one thread writes, in transactions that hold everything that waits; what was answered
//! is on the disk; `last_seq` of a session is the `seq` of its last event, always, as both change in
//! one transaction; an event is turned into JSON once.
//!
//! When a write fails the transaction rolls back as a whole. What was appended with
//! [`Durability::Now`](crate::Durability::Now) is refused and not in the log. What was appended with
//! [`Durability::Soon`](crate::Durability::Soon) is kept in memory, still readable, and tried again
//! together with whatever comes next: at the next append, the next flush, when the store is closed,
//! and once a second. Until that succeeds every append is refused with the error of its own
//! attempt; once it has succeeded the log goes on as if nothing had happened, without a gap.
//!
//! A session belongs to one writer (see [`SessionLock`](crate::SessionLock)). Should two write it all
//! the same, the database takes the events of whoever comes first and refuses the other's: a log is
//! never mixed. Events that were already taken for written are then reported by the next append to
//! that session, or by the next flush.
//!
//! Reading order: `store` (the face), `open`, `aside`, `pages`, `cells`, `collect`,
//! `contents`, `salvage` (a damaged file), `reserve` (room for a full disk), `tails` (where each log ends), `job`,
//! `writer` (the thread), `transaction` and `remove` (its SQL), `blob` (big strings,
//! once), `reader`, `events` and `sizes`, `search` (the search index), `failure`.

mod aside;
mod blob;
mod cells;
mod collect;
mod contents;
mod events;
pub(crate) mod failure;
mod job;
pub(crate) mod open;
mod pages;
mod reader;
mod remove;
mod reserve;
mod salvage;
mod search;
mod sizes;
mod store;
mod tails;
mod transaction;
mod writer;

pub use aside::SetAside;
pub use store::SqliteStore;

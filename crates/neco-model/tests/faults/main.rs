//! Random schedules of faults: whatever goes wrong and in whatever order, an answer is whole and given
//! once, or the call ends with a proper error.
//!
//! Reading order: `schedule` (what may go wrong), `policy` (what must come of it, attempt by attempt),
//! `reading` (what an answer must look like while it comes), `memory` (a thousand schedules through the
//! real group), `outage` (many callers at once), `wires` with `server` (the same over real connections
//! in every wire format).

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used)]

mod memory;
mod outage;
mod policy;
mod reading;
mod schedule;
mod server;
mod wires;

#[path = "../served/mod.rs"]
mod served;

//! A loss of power: everything that a program does to files is recorded, and the disk is built as it may be after a
//! loss of power at many moments.
//!
//! Invariants: nothing is certain that was not synced; of what is not, any part may be there.
//!
//! Reading order: [`record`] (what a program did), [`disk`] (what is left of it), [`cuts`] (the moments).

mod cuts;
mod disk;
mod record;

pub use cuts::lose_power;
pub use disk::{Disk, Left};
pub use record::{Record, watch};

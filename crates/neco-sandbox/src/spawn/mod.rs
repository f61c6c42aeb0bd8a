//! Processes: started in a group of their own, ended with everything they started.
//!
//! Invariants:
//! - a process leads its own session and group; the guard in [`Running`] kills the whole group on
//!   every path: the end, a cancelled future, a panic, a forgotten handle;
//! - a group is signalled only while its leader is not reaped, so its number can't belong to someone else;
//! - when this process dies, by `kill -9` too, the watchdog kills the groups that are left;
//! - standard output and error share one pipe, so their order is the order of writing;
//! - a process gets no descriptor but its three, and no variable that looks like a secret.
//!
//! A process that left its group on purpose (`setsid`) outlives a command that ends by itself. It is
//! killed with a command that is killed, unless it emptied its environment too: catching that takes
//! a pid namespace.
//!
//! Reading order: [`spawner`], [`running`], [`group`], [`strays`], [`stream`], [`watchdog`].

mod group;
mod running;
mod spawner;
mod strays;
mod stream;
mod watchdog;

pub use group::Group;
pub use running::Running;
pub use spawner::Spawner;

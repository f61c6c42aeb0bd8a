//! States of the workspace, kept so that whatever an agent did can be undone, and the undoing too.
//!
//! Invariants: the person's repository, index, branch and stash are never touched, and nothing of ours
//! lies in their tree; what is left out of a state is named, and never touched by a restore; a restore
//! keeps the present first; nothing is overwritten that others changed unless a person agreed; whoever is
//! killed at any moment leaves a store that can be used.
//!
//! A state is a git tree, a point is a commit of one, and points form a line. An exchange of a session is a commit too, on
//! the branch of its session. All backends share
//! everything but where objects and points are kept.
//!
//! Reading order: [`checkpoints`] (the face), [`error`]; [`leave_out`] (what is no part of a state),
//! [`cache`] (what is known of files), [`scan`] (a look at the workspace) with [`ahead`] and [`system`], [`tree`],
//! [`details`], [`point`] (what is written), [`shelf`] (points by name), [`keeper`] (how it goes together), [`others`]
//! and [`turn_work`] (whose work it is), [`plan`], [`restore`] and [`beside`] (the way back), [`pieces`] (the way back of some files), [`diff`];
//! [`exchange`] and [`exchanges`] (what was said, beside the files);
//! [`vault`] (what a backend does), [`objects`], [`jj`] with [`branches`], [`pruned`] (what a prune leaves),
//! [`written`], [`settling`] and [`operations`], [`git`]; [`lock`], [`leftovers`], [`mod@open`].

mod ahead;
mod beside;
mod branches;
mod cache;
mod checkpoints;
mod details;
mod diff;
mod error;
mod exchange;
mod exchanges;
mod git;
mod jj;
mod keeper;
mod leave_out;
mod leftovers;
mod lock;
mod objects;
mod open;
mod operations;
mod others;
mod pieces;
mod plan;
mod point;
mod pruned;
mod restore;
mod scan;
mod settling;
mod shelf;
mod system;
mod tree;
mod turn_work;
mod vault;
mod written;

pub use checkpoints::{
    Agreed, BeforeRestore, Change, ChangeKind, Checkpoints, Decides, FileDiff, FileSides, Kept, LeftOut, Note,
    PlannedChange, Point, Preview, Progress, Pruned, PutBack, RestoreOptions, Restored, Side, Snapshot, Unfinished,
};
pub use error::CheckpointError;
pub use exchange::{KeptExchange, NewExchange};
pub use exchanges::{Exchanges, SessionExchanges, forget_sessions};
pub use keeper::{Keeper, Place, Typed, Unsaved, bytes_on_disk};
pub use leave_out::LeaveOutSettings;
pub use open::{
    Backend, GitCheckpoints, JjCheckpoints, MemoryCheckpoints, open, open_store, store_folder, stores_in, workspace_of,
};
pub use plan::is_newer;
pub use turn_work::{TurnWork, Written};

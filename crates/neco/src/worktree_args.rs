//! The worktree of a session, as it is written on the command line.

use clap::{Args, ValueEnum};
use neco_workspace::worktree::BringBack;

/// Whether a session works in a worktree of its own.
#[derive(Clone, Debug, Default, PartialEq, Args)]
pub struct WorktreeArgs {
    /// Works in a git worktree of its own and brings the result back as a branch, or as a patch; your
    /// working tree stays as it is
    #[arg(long, value_enum, value_name = "AS", num_args = 0..=1, require_equals = true,
        default_missing_value = "branch", conflicts_with_all = ["session", "continue_latest"])]
    pub worktree: Option<BringBackArg>,
}

/// [`BringBack`] as a flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum BringBackArg {
    /// As commits on a branch.
    Branch,
    /// As a file for `git apply`.
    Patch,
}

impl From<BringBackArg> for BringBack {
    fn from(how: BringBackArg) -> Self {
        match how {
            BringBackArg::Branch => Self::Branch,
            BringBackArg::Patch => Self::Patch,
        }
    }
}

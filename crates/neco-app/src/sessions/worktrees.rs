//! The worktrees that sessions work in.

use std::path::Path;
use std::time::Duration;

use neco_proto::app::sessions::{WorktreeRow, WorktreeState};
use neco_session::hub::worktree_folder;
use neco_workspace::worktree::{Worktree, all, tidy};

/// Worktrees that nobody touched for so long are removed when a new one is made or sessions are pruned; their branches
/// stay.
const UNUSED: Duration = Duration::from_secs(30 * 24 * 3600);

/// Removes worktrees that nobody needs any more, and says which.
#[must_use]
pub fn tidy_worktrees(data_dir: &Path) -> Vec<WorktreeRow> {
    let removed = tidy(&worktree_folder(data_dir), UNUSED);
    removed.iter().map(|tree| row(tree, WorktreeState::Removed)).collect()
}

/// The worktrees that are there.
pub(super) fn worktrees(data_dir: &Path) -> Vec<WorktreeRow> {
    let there = all(&worktree_folder(data_dir)).into_iter().filter(|tree| tree.path.is_dir());
    let state = |tree: &Worktree| match (tree.is_held(), tree.is_merged()) {
        (true, _) => WorktreeState::InUse,
        (false, true) => WorktreeState::Merged,
        (false, false) => WorktreeState::Left,
    };
    there.map(|tree| row(&tree, state(&tree))).collect()
}

fn row(tree: &Worktree, state: WorktreeState) -> WorktreeRow {
    WorktreeRow { path: tree.path.display().to_string(), branch: tree.branch.clone(), state }
}

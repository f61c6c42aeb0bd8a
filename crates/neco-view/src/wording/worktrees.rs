//! What a person is told of the worktrees that sessions work in.

use neco_proto::app::sessions::{WorktreeRow, WorktreeState};

/// That a worktree was removed.
#[must_use]
pub fn removed(tree: &WorktreeRow) -> String {
    let WorktreeRow { path, branch, .. } = tree;
    format!(
        "The worktree {path} was removed: no session needs it any more; `git branch -d {branch}` deletes its branch if it is merged"
    )
}

/// A worktree in a line: where, on which branch, and what is to be done with it.
#[must_use]
pub fn listed(tree: &WorktreeRow) -> String {
    let WorktreeRow { path, branch, state } = tree;
    let state = match state {
        WorktreeState::InUse => "in use".to_owned(),
        WorktreeState::Merged => "merged".to_owned(),
        WorktreeState::Left => format!("git worktree remove {path} removes it"),
        WorktreeState::Removed => "removed".to_owned(),
        WorktreeState::Other => String::new(),
    };
    format!("{path}  {branch}  {state}")
}

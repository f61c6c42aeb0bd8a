//! The worktrees that sessions work in: made before one, and what came of it brought back after it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use neco_proto::SessionId;
use neco_proto::app::sessions::{WorktreeRow, WorktreeState};
use neco_proto::app::{AppError, Trouble};
use neco_session::hub::worktree_folder;
use neco_view::wording::worktrees::removed;
use neco_workspace::worktree::{BringBack, Brought, Held, Worktree, WorktreeError, all, tidy};

/// Worktrees that nobody touched for so long are removed when a new one is made or sessions are pruned; their branches
/// stay.
const UNUSED: Duration = Duration::from_secs(30 * 24 * 3600);

/// Makes a worktree of the repository that `folder` lies in, named after what is asked. Gives the folder to work in, and
/// what the person should know.
///
/// # Errors
/// When there is no repository, or git fails.
pub fn begin_worktree(
    folder: &Path,
    how: BringBack,
    message: &str,
    data_dir: &Path,
) -> Result<(PathBuf, Vec<String>), AppError> {
    let mut notes: Vec<String> = tidy_worktrees(data_dir).iter().map(removed).collect();
    let made = Worktree::create(folder, &worktree_folder(data_dir), &name_of(message), how);
    let (tree, inside) = made.map_err(failed)?;
    let branch = match how {
        BringBack::Branch => format!(", on branch {}", tree.branch),
        BringBack::Patch => String::new(),
    };
    notes.push(format!("The session works in a worktree of its own, {}{branch}", tree.path.display()));
    if tree.leaves_changes_behind().unwrap_or(false) {
        notes.push("What is not committed in your working tree is not in it".to_owned());
    }
    Ok((inside.canonicalize().unwrap_or(inside), notes))
}

/// Says that somebody works in `folder`, should that be in a worktree.
pub(crate) fn hold(folder: &Path, data_dir: &Path) -> Option<Held> {
    Worktree::around(folder, &worktree_folder(data_dir))?.hold().ok()
}

/// The branch of the worktree that `folder` lies in, should it lie in one that has a branch.
pub(super) fn branch_of(folder: &Path, data_dir: &Path) -> Option<String> {
    let tree = Worktree::around(folder, &worktree_folder(data_dir))?;
    (tree.bring_back == BringBack::Branch).then_some(tree.branch)
}

/// Brings back what came of the work in `folder`, should that be in a worktree where nobody else works, and says
/// what to do next.
pub fn end_worktree(folder: &Path, title: &str, session: &str, data_dir: &Path) -> Option<String> {
    let tree = Worktree::around(folder, &worktree_folder(data_dir))?;
    let path = tree.path.display();
    if tree.is_held() {
        return Some(format!("Another session works in {path}; the changes of this one come back with it"));
    }
    Some(match tree.bring_back(title) {
        Ok(brought) => words(&tree, &brought, session),
        Err(error) => format!("The work stays in {path}: {error}"),
    })
}

/// Removes worktrees that nobody needs any more, and says which.
pub(super) fn tidy_worktrees(data_dir: &Path) -> Vec<WorktreeRow> {
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

fn words(tree: &Worktree, brought: &Brought, session: &str) -> String {
    let files = |count: &usize| if *count == 1 { "1 file".to_owned() } else { format!("{count} files") };
    let more = format!("Resume it with  neco resume {session} -m \"…\"");
    match brought {
        Brought::Nothing => match tree.remove() {
            Ok(()) => format!("Nothing was changed; the worktree was removed. {more}"),
            Err(error) => format!("Nothing was changed; the worktree stays, as {error}. {more}"),
        },
        Brought::Branch { .. } if tree.is_merged() => {
            format!("Nothing new: branch {} is already merged. {more}", tree.branch)
        }
        Brought::Branch { files: count, .. } => {
            let branch = &tree.branch;
            let files = files(count);
            format!(
                "{files} changed on branch {branch}. Look: git diff HEAD...{branch}; merge: git merge {branch}. {more}"
            )
        }
        Brought::Patch { file, files: count } => {
            format!("{} changed. Apply them: git apply {}. {more}", files(count), file.display())
        }
    }
}

/// The first words of what is asked, and a few letters that tell it from others with the same.
fn name_of(message: &str) -> String {
    let words = message.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let words: Vec<String> = words.take(4).map(|word| word.chars().take(12).collect::<String>()).collect();
    let words = if words.is_empty() { "work".to_owned() } else { words.join("-").to_ascii_lowercase() };
    let id = SessionId::new().to_string();
    let letters: String = id.chars().rev().take(5).collect();
    format!("{words}-{letters}")
}

fn failed(error: WorktreeError) -> AppError {
    let is_invalid = matches!(error, WorktreeError::NoRepository(_) | WorktreeError::NoCommit(_));
    AppError::new(if is_invalid { Trouble::Invalid } else { Trouble::Failed }, error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worktree_is_named_after_what_is_asked() {
        let named = |message: &str| name_of(message).rsplit_once('-').unwrap().0.to_owned();
        assert_eq!(named("Rename main to run, everywhere!"), "rename-main-to-run");
        assert_eq!(named("../../etc/passwd"), "etc-passwd");
        assert_eq!(named("修复错误"), "work");
        assert_ne!(name_of("x"), name_of("x"));
    }
}

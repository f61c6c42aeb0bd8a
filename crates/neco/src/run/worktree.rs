//! A session in a worktree of its own: made before it, and what came of it brought back after it.

use std::path::{Path, PathBuf};

use neco_app::sessions::tidy_worktrees;
use neco_config::Env;
use neco_proto::SessionId;
use neco_proto::app::sessions::{WorktreeRow, WorktreeState};
use neco_session::hub::worktree_folder;
use neco_workspace::worktree::{BringBack, Brought, Held, Worktree, WorktreeError};

use crate::exit::Exit;
use crate::failure::Failure;
use crate::say;

/// The folder of all worktrees.
#[must_use]
pub fn worktrees(env: &Env) -> PathBuf {
    worktree_folder(env.data_dir())
}

/// Makes a worktree of the repository that `folder` lies in, and gives the folder to work in.
///
/// # Errors
/// When there is no repository, or git fails.
pub fn begin(folder: &Path, how: BringBack, message: &str, env: &Env) -> Result<PathBuf, Failure> {
    let worktrees = worktrees(env);
    tidy_up(env);
    let (tree, inside) = Worktree::create(folder, &worktrees, &name_of(message), how).map_err(failed)?;
    let inside = inside.canonicalize().unwrap_or(inside);
    let branch = match how {
        BringBack::Branch => format!(", on branch {}", tree.branch),
        BringBack::Patch => String::new(),
    };
    say::note(&format!("works in a worktree of its own, {}{branch}", tree.path.display()));
    if tree.leaves_changes_behind().unwrap_or(false) {
        say::note("what is not committed in your working tree is not in it");
    }
    Ok(inside)
}

/// Removes worktrees that nobody needs any more, and says so.
fn tidy_up(env: &Env) {
    tidy_worktrees(env.data_dir()).iter().for_each(|tree| say::note(&removed(tree)));
}

/// That a worktree was removed.
#[must_use]
pub fn removed(tree: &WorktreeRow) -> String {
    let WorktreeRow { path, branch, .. } = tree;
    format!(
        "the worktree {path} was removed: nobody needs it any more; `git branch -d {branch}` removes its branch, if that is merged"
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
    };
    format!("{path}  {branch}  {state}")
}

/// Says that somebody works in `folder`, should that be in a worktree.
#[must_use]
pub fn hold(folder: &Path, env: &Env) -> Option<Held> {
    Worktree::around(folder, &worktrees(env))?.hold().ok()
}

/// Brings back what came of the work in `folder`, should that be in a worktree where nobody else works, and says
/// what to do next.
pub fn end(folder: &Path, held: Option<Held>, title: &str, session: &str, env: &Env) {
    let Some(tree) = Worktree::around(folder, &worktrees(env)) else { return };
    drop(held);
    if tree.is_held() {
        say::note(&format!(
            "another session works in {}; what came of this one is brought back with it",
            tree.path.display()
        ));
        return;
    }
    match tree.bring_back(title) {
        Ok(brought) => say::note(&words(&tree, &brought, session)),
        Err(error) => say::note(&format!("the work stays in {}: {error}", tree.path.display())),
    }
}

fn words(tree: &Worktree, brought: &Brought, session: &str) -> String {
    let files = |count: &usize| if *count == 1 { "1 file".to_owned() } else { format!("{count} files") };
    let more = format!("go on with it: neco --session {session} -m …");
    match brought {
        Brought::Nothing => match tree.remove() {
            Ok(()) => {
                format!("nothing was changed; the worktree is removed and made again for whoever goes on: {more}")
            }
            Err(error) => format!("nothing was changed; the worktree stays, as {error}; {more}"),
        },
        Brought::Branch { .. } if tree.is_merged() => {
            format!("nothing new: branch {} is merged already; {more}", tree.branch)
        }
        Brought::Branch { files: count, .. } => {
            let branch = &tree.branch;
            let files = files(count);
            format!(
                "{files} changed on branch {branch}; look: git diff HEAD...{branch}; take it: git merge {branch}; {more}"
            )
        }
        Brought::Patch { file, files: count } => {
            format!("{} changed; take it: git apply {}; {more}", files(count), file.display())
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

fn failed(error: WorktreeError) -> Failure {
    let exit = match error {
        WorktreeError::NoRepository(_) | WorktreeError::NoCommit(_) => Exit::Usage,
        WorktreeError::Git { .. }
        | WorktreeError::InUse
        | WorktreeError::HoldsIgnored(_)
        | WorktreeError::Io { .. } => Exit::Failed,
    };
    Failure::new(exit, error.to_string())
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

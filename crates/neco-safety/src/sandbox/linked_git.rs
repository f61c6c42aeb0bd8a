//! Git folders that lie elsewhere: those of worktrees and submodules.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::path::open_without_links;

/// What git's own small files have at most.
const MOST_BYTES: u64 = 4096;

/// The most modules of a repository that are told apart: each is some mounts.
const MOST_MODULES: usize = 100;

/// The same for worktrees.
const MOST_WORKTREES: usize = 100;

/// How far down modules may lie in folders of their own.
const MOST_DEPTH: usize = 8;

/// The folders of a worktree.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Linked {
    /// Its own.
    pub(super) own: PathBuf,
    /// The one it shares with the repository that it belongs to.
    pub(super) shared: PathBuf,
}

/// Where a `.git` file leads, if that folder says that it belongs to it: a repository from someone
/// else could name any folder, but not make that one name it back.
pub(super) fn folders_of(git_file: &Path) -> Option<Linked> {
    let own = gitdir_of(git_file)?;
    let named_back = fs::canonicalize(own.join(small(&own.join("gitdir"))?.trim())).ok()?;
    let shared = shared_by(&own)?;
    let is_its = named_back == fs::canonicalize(git_file).ok()?;
    let is_git = shared.join("HEAD").is_file() && shared.join("objects").is_dir() && own.starts_with(&shared);
    (is_its && is_git).then_some(Linked { own, shared })
}

/// Where a `.git` file leads, whatever that folder says.
pub(super) fn gitdir_of(git_file: &Path) -> Option<PathBuf> {
    fs::canonicalize(git_file.parent()?.join(small(git_file)?.strip_prefix("gitdir:")?.trim())).ok()
}

/// The folder that a git folder shares with others, if it does.
pub(super) fn shared_by(git: &Path) -> Option<PathBuf> {
    fs::canonicalize(git.join(small(&git.join("commondir"))?.trim())).ok()
}

/// The git folders of a repository's submodules; nothing if there are too many.
pub(super) fn modules_of(git: &Path) -> Option<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut looked_at = 0;
    let mut waiting = vec![(git.join("modules"), 0)];
    while let Some((folder, depth)) = waiting.pop() {
        for path in folders_in(&folder) {
            looked_at += 1;
            if found.len() >= MOST_MODULES || looked_at > MOST_MODULES * 4 || depth > MOST_DEPTH {
                return None;
            }
            if path.join("HEAD").is_file() || path.join("config").is_file() {
                waiting.push((path.join("modules"), depth + 1));
                found.push(path);
            } else {
                waiting.push((path, depth + 1));
            }
        }
    }
    Some(found)
}

/// The folders that a repository has for its worktrees; nothing if there are too many.
pub(super) fn worktrees_of(git: &Path) -> Option<Vec<PathBuf>> {
    let found: Vec<PathBuf> = folders_in(&git.join("worktrees")).take(MOST_WORKTREES + 1).collect();
    (found.len() <= MOST_WORKTREES).then_some(found)
}

fn folders_in(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())).map(|entry| entry.path())
}

fn small(path: &Path) -> Option<String> {
    // Never waits for a pipe, and reads no more than was measured.
    let file = open_without_links(path).ok()?;
    file.metadata().ok().filter(|file| file.is_file() && file.len() <= MOST_BYTES)?;
    let mut text = String::new();
    file.take(MOST_BYTES).read_to_string(&mut text).ok()?;
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worktree_leads_to_its_repository_only_if_that_knows_it() {
        let folder = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(folder.path()).unwrap();
        let git = root.join("main/.git");
        let own = git.join("worktrees/w");
        fs::create_dir_all(own.join("x")).unwrap();
        fs::create_dir_all(git.join("objects")).unwrap();
        fs::write(git.join("HEAD"), "ref: x").unwrap();
        fs::create_dir(root.join("w")).unwrap();
        let file = root.join("w/.git");
        fs::write(&file, format!("gitdir: {}\n", own.display())).unwrap();
        fs::write(own.join("commondir"), "../..\n").unwrap();
        assert_eq!(folders_of(&file), None, "it does not name the worktree");
        fs::write(own.join("gitdir"), format!("{}\n", file.display())).unwrap();
        assert_eq!(folders_of(&file), Some(Linked { own: own.clone(), shared: git.clone() }));
        fs::write(&file, format!("gitdir: {}\n", root.display())).unwrap();
        assert_eq!(folders_of(&file), None);
    }

    #[test]
    fn submodules_are_found_also_those_of_submodules() {
        let folder = tempfile::tempdir().unwrap();
        for path in ["modules/a", "modules/group/b", "modules/a/modules/c"] {
            fs::create_dir_all(folder.path().join(path)).unwrap();
            fs::write(folder.path().join(path).join("HEAD"), "").unwrap();
        }
        let mut found = modules_of(folder.path()).unwrap();
        found.sort();
        let expected = ["modules/a", "modules/a/modules/c", "modules/group/b"].map(|path| folder.path().join(path));
        assert_eq!(found, expected);
        for number in 0..MOST_MODULES {
            fs::create_dir_all(folder.path().join(format!("modules/{number}"))).unwrap();
            fs::write(folder.path().join(format!("modules/{number}/HEAD")), "").unwrap();
        }
        assert_eq!(modules_of(folder.path()), None, "none is left out silently");
    }

    #[test]
    fn worktrees_are_all_told_apart_or_none() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(worktrees_of(folder.path()), Some(Vec::new()));
        fs::create_dir_all(folder.path().join("worktrees/w")).unwrap();
        assert_eq!(worktrees_of(folder.path()), Some(vec![folder.path().join("worktrees/w")]));
        for number in 0..MOST_WORKTREES {
            fs::create_dir_all(folder.path().join(format!("worktrees/{number}"))).unwrap();
        }
        assert_eq!(worktrees_of(folder.path()), None);
    }
}

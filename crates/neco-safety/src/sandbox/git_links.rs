//! Links in git folders. Git makes none there, and goes through those that it finds: what it notes of a commit is then
//! added to whatever file the link leads to, such as one that a shell reads when it starts.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

use super::known::{Stamp, stamp, unsettled_for};
use super::linked_git::is_git_name;

/// What is looked after otherwise: settings, and git folders of their own.
const APART: &[&str] = &["config", "config.worktree", "commondir", "hooks", "modules"];

/// Folders that are not looked into: those of worktrees are git folders of their own, the others belong to programs
/// that keep content there.
const NOT_ENTERED: &[&str] = &["worktrees", "lfs", "annex"];

/// What git has in a folder that is a repository by itself: other things may lie beside it.
const OF_GIT: &[&str] = &[
    "HEAD",
    "index",
    "objects",
    "refs",
    "logs",
    "info",
    "worktrees",
    "rebase-merge",
    "rebase-apply",
    "sequencer",
    "rr-cache",
    "packed-refs",
    "FETCH_HEAD",
    "ORIG_HEAD",
    "MERGE_HEAD",
    "MERGE_MSG",
    "SQUASH_MSG",
    "COMMIT_EDITMSG",
    "TAG_EDITMSG",
    "NOTES_EDITMSG",
    "BISECT_LOG",
    "description",
];

/// The links in git folders, as long as nothing of them changes.
#[derive(Debug, Default)]
pub(super) struct Links {
    read: HashMap<PathBuf, Level>,
}

/// One folder.
#[derive(Debug)]
struct Level {
    /// Nothing where a later change could look the same.
    stamp: Option<Stamp>,
    links: Vec<OsString>,
    folders: Vec<OsString>,
}

impl Links {
    /// All links in a git folder, but those in the place of its settings and of content.
    pub(super) fn below(&mut self, git: &Path) -> Vec<PathBuf> {
        let by_itself = !git.iter().any(is_git_name);
        let is_named = |names: &[&str], name: &OsStr| names.iter().any(|own| name == *own);
        let counts = |name: &OsStr| !is_named(APART, name) && (!by_itself || is_named(OF_GIT, name));
        let objects = git.join("objects");
        let mut found = Vec::new();
        let mut waiting = vec![git.to_path_buf()];
        while let Some(folder) = waiting.pop() {
            let at_the_top = folder == git;
            let in_objects = folder == objects;
            let level = self.level(&folder);
            let links = level.links.iter().filter(|name| !at_the_top || counts(name));
            found.extend(links.map(|name| folder.join(name)));
            // Of objects there are many, and nothing is ever added to one.
            let is_entered = |name: &&OsString| match (at_the_top, in_objects) {
                (true, _) => counts(name) && !is_named(NOT_ENTERED, name),
                (false, true) => is_named(&["info", "pack"], name),
                (false, false) => true,
            };
            waiting.extend(level.folders.iter().filter(is_entered).map(|name| folder.join(name)));
        }
        found
    }

    fn level(&mut self, folder: &Path) -> &Level {
        let now = stamp(folder);
        let level = match self.read.remove(folder) {
            Some(level) if level.stamp.is_some() && level.stamp == now => level,
            Some(_) | None => Level::read(folder, now),
        };
        self.read.entry(folder.to_path_buf()).insert_entry(level).into_mut()
    }
}

impl Level {
    fn read(folder: &Path, now: Option<Stamp>) -> Self {
        let mut level =
            Self { stamp: now.filter(|stamp| unsettled_for(*stamp).is_none()), links: Vec::new(), folders: Vec::new() };
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_symlink() => level.links.push(entry.file_name()),
                Ok(kind) if kind.is_dir() => level.folders.push(entry.file_name()),
                Ok(_) | Err(_) => {}
            }
        }
        level
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn links_are_found_where_git_writes_and_not_where_others_keep_things() {
        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| folder.path().join(path);
        for path in ["a/.git/logs/refs/heads", "a/.git/objects/ab", "a/.git/lfs", "b/refs/heads", "b/node_modules"] {
            fs::create_dir_all(at(path)).unwrap();
        }
        let link = |path: &str| symlink("/elsewhere", at(path)).unwrap();
        let mut links = Links::default();
        assert!(links.below(&at("a/.git")).is_empty());
        for path in [
            "a/.git/logs/HEAD",
            "a/.git/logs/refs/heads/x",
            "a/.git/COMMIT_EDITMSG",
            "a/.git/objects/info",
            "a/.git/objects/ab/c",
            "a/.git/lfs/x",
            "a/.git/hooks",
            "b/HEAD",
            "b/refs/heads/x",
            "b/node_modules/x",
            "b/readme",
        ] {
            link(path);
        }
        let mut found = links.below(&at("a/.git"));
        found.sort();
        let expected =
            ["a/.git/COMMIT_EDITMSG", "a/.git/logs/HEAD", "a/.git/logs/refs/heads/x", "a/.git/objects/info"].map(at);
        assert_eq!(found, expected);
        let mut found = links.below(&at("b"));
        found.sort();
        assert_eq!(found, [at("b/HEAD"), at("b/refs/heads/x")]);
    }
}

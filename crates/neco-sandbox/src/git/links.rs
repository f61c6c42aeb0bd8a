//! Links in git folders. Git makes none there, and goes through those that it finds: what it notes of a commit is then
//! added to whatever file the link leads to, such as one that a shell reads when it starts.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::after::known::{Stamp, unsettled_for};
use crate::git::linked::is_git_name;
use crate::survey::facts::Facts;
use crate::survey::unreadable;

/// What is looked after otherwise: settings, and git folders of their own.
const APART: &str = "config config.worktree commondir hooks modules";

/// Folders that are not looked into: those of worktrees are git folders of their own, the others belong to programs
/// that keep content there.
const NOT_ENTERED: &str = "worktrees lfs annex";

/// What git has in a folder that is a repository by itself: other things may lie beside it.
const OF_GIT: &str = "HEAD index objects refs logs info worktrees rebase-merge rebase-apply sequencer rr-cache \
    packed-refs FETCH_HEAD ORIG_HEAD MERGE_HEAD MERGE_MSG SQUASH_MSG COMMIT_EDITMSG TAG_EDITMSG NOTES_EDITMSG \
    BISECT_LOG description";

/// The links in git folders, as long as nothing of them changes.
#[derive(Debug, Default)]
pub(crate) struct Links {
    read: HashMap<PathBuf, Level>,
}

/// What there is in a git folder.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Below {
    /// All links, but those in the place of its settings and of content.
    pub(crate) links: Vec<PathBuf>,
    /// Folders that can't be read: nobody can say whether there are links in them.
    pub(crate) unread: Vec<PathBuf>,
}

/// One folder.
#[derive(Debug, Default)]
struct Level {
    /// Nothing where a later change could look the same.
    stamp: Option<Stamp>,
    links: Vec<OsString>,
    folders: Vec<OsString>,
    /// Whether it can't be read.
    unread: bool,
}

impl Links {
    /// Looks for links in a git folder.
    pub(crate) fn below(&mut self, git: &Path, facts: &Facts) -> Below {
        let by_itself = !git.iter().any(is_git_name);
        let is_named = |names: &str, name: &OsStr| names.split_whitespace().any(|own| name == own);
        let counts = |name: &OsStr| !is_named(APART, name) && (!by_itself || is_named(OF_GIT, name));
        let objects = git.join("objects");
        let mut found = Below::default();
        let mut waiting = vec![git.to_path_buf()];
        while let Some(folder) = waiting.pop() {
            let at_the_top = folder == git;
            let in_objects = folder == objects;
            let level = self.level(&folder, facts);
            let links = level.links.iter().filter(|name| !at_the_top || counts(name));
            found.links.extend(links.map(|name| folder.join(name)));
            found.unread.extend(level.unread.then(|| folder.clone()));
            // Of objects there are many, and nothing is ever added to one.
            let is_entered = |name: &&OsString| match (at_the_top, in_objects) {
                (true, _) => counts(name) && !is_named(NOT_ENTERED, name),
                (false, true) => is_named("info pack", name),
                (false, false) => true,
            };
            waiting.extend(level.folders.iter().filter(is_entered).map(|name| folder.join(name)));
        }
        found
    }

    fn level(&mut self, folder: &Path, facts: &Facts) -> &Level {
        let now = facts.stamp(folder);
        let level = match self.read.remove(folder) {
            Some(level) if level.stamp.is_some() && level.stamp == now => level,
            Some(_) | None => Level::read(folder, now),
        };
        self.read.entry(folder.to_path_buf()).insert_entry(level).into_mut()
    }
}

impl Level {
    fn read(folder: &Path, now: Option<Stamp>) -> Self {
        let stamp = now.filter(|stamp| unsettled_for(*stamp).is_none());
        let Ok(entries) = unreadable::entries(folder) else {
            return Self { unread: true, ..Self::default() };
        };
        let mut level = Self { stamp, ..Self::default() };
        for unreadable::Entry { name, kind } in entries {
            if kind.is_symlink() {
                level.links.push(name);
            } else if kind.is_dir() {
                level.folders.push(name);
            }
        }
        level
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

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
        assert_eq!(links.below(&at("a/.git"), &Facts::default()), Below::default());
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
        let mut found = links.below(&at("a/.git"), &Facts::default()).links;
        found.sort();
        let expected =
            ["a/.git/COMMIT_EDITMSG", "a/.git/logs/HEAD", "a/.git/logs/refs/heads/x", "a/.git/objects/info"].map(at);
        assert_eq!(found, expected);
        let mut found = links.below(&at("b"), &Facts::default()).links;
        found.sort();
        assert_eq!(found, [at("b/HEAD"), at("b/refs/heads/x")]);
    }

    #[test]
    fn a_folder_that_its_owner_may_not_read_hides_no_link() {
        let folder = tempfile::tempdir().unwrap();
        let git = folder.path().join(".git");
        let heads = git.join("logs/refs/heads");
        fs::create_dir_all(&heads).unwrap();
        symlink("/elsewhere", heads.join("x")).unwrap();
        let look = |closed: &Path, mode: u32| {
            fs::set_permissions(closed, fs::Permissions::from_mode(mode)).unwrap();
            let found = Links::default().below(&git, &Facts::default());
            fs::set_permissions(closed, fs::Permissions::from_mode(0o755)).unwrap();
            found
        };
        let expected = Below { links: vec![heads.join("x")], unread: Vec::new() };
        assert_eq!(look(&heads, 0o311), expected);
        assert_eq!(look(&heads, 0o000), expected);
        // Below what can't be entered nobody gets but root.
        let unread = match rustix::process::geteuid().is_root() {
            true => expected,
            false => Below { links: Vec::new(), unread: vec![heads.clone()] },
        };
        assert_eq!(look(&git.join("logs/refs"), 0o000), unread);
    }
}

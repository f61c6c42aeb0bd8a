//! Walking the workspace: the one set of rules that all tools share.
//!
//! What git ignores is left out, in a repository and outside of one; so are `.ignore` files' entries
//! and hidden names. `.git` is never entered and links are never followed. The user's global ignore
//! file plays no part: the same folder gives the same answer on every machine.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use ignore::{DirEntry, WalkBuilder};

use crate::git;

/// How much of a folder is walked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// What a person working on the project would see.
    Visible,
    /// Hidden and ignored names too; only `.git` is left out.
    Everything,
}

/// A walk of `root`, a folder or file in the `workspace` or elsewhere. The root itself is given
/// whatever its name is and whoever ignores it: it was asked for.
#[must_use]
pub fn walker(workspace: &Path, root: &Path, scope: Scope) -> WalkBuilder {
    let visible = scope == Scope::Visible;
    // Inside a repository its rules end at its root. Outside of one they would go up to the root of
    // the file system, where a folder of someone's dotfiles may ignore everything.
    let in_repository = visible && git::repository_of(root).is_some();
    let mut builder = WalkBuilder::new(root);
    builder
        .follow_links(false)
        .hidden(visible)
        .ignore(visible)
        .git_ignore(visible)
        .git_exclude(visible)
        .git_global(false)
        .parents(in_repository)
        .require_git(in_repository);
    let above = if visible && !in_repository { rules_above(workspace, root) } else { Vec::new() };
    builder.filter_entry(move |entry| entry.depth() == 0 || is_wanted(entry, &above));
    builder
}

fn is_wanted(entry: &DirEntry, above: &[Gitignore]) -> bool {
    if entry.file_name() == OsStr::new(".git") {
        return false;
    }
    let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
    // The nearest file that has something to say decides.
    let verdict = above.iter().map(|rules| rules.matched(entry.path(), is_folder)).find(|found| !found.is_none());
    !verdict.is_some_and(|found| found.is_ignore())
}

/// Ignore files between the workspace and a root below it, nearest first.
fn rules_above(workspace: &Path, root: &Path) -> Vec<Gitignore> {
    if root == workspace || !root.starts_with(workspace) {
        return Vec::new();
    }
    let folders = root.ancestors().skip(1).take_while(|folder| folder.starts_with(workspace));
    folders.flat_map(|folder| [".ignore", ".gitignore"].map(|name| folder.join(name))).filter_map(rules_of).collect()
}

fn rules_of(file: PathBuf) -> Option<Gitignore> {
    if !file.is_file() {
        return None;
    }
    let mut builder = GitignoreBuilder::new(file.parent()?);
    // A file with a line that is no pattern still counts with its other lines.
    let _ = builder.add(&file);
    builder.build().ok()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn found(workspace: &Path, root: &str, scope: Scope) -> Vec<String> {
        let root = workspace.join(root);
        let root = root.components().collect::<PathBuf>();
        let mut names: Vec<String> = walker(workspace, &root, scope)
            .build()
            .map(|entry| entry.unwrap())
            .filter(|entry| entry.file_type().is_some_and(|kind| !kind.is_dir()))
            .map(|entry| entry.path().strip_prefix(workspace).unwrap().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    fn folder(repository: bool) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("work");
        for name in ["src/deep", "target", ".git", ".hidden"] {
            fs::create_dir_all(path.join(name)).unwrap();
        }
        let files = [
            "src/a.rs",
            "src/a.log",
            "src/keep.log",
            "src/deep/b.tmp",
            "src/deep/c.rs",
            "target/x",
            ".hidden/h",
            ".git/config",
            "notes.private",
        ];
        for name in files {
            fs::write(path.join(name), name).unwrap();
        }
        fs::write(path.join(".gitignore"), "*.log\n!keep.log\n/target/\n*.tmp\n").unwrap();
        fs::write(path.join(".ignore"), "*.private\n").unwrap();
        fs::write(folder.path().join(".gitignore"), "*\n").unwrap();
        if repository {
            fs::write(path.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        }
        folder
    }

    #[test]
    fn what_git_ignores_is_left_out_with_and_without_a_repository() {
        for repository in [true, false] {
            let folder = folder(repository);
            let work = folder.path().join("work");
            assert_eq!(found(&work, "", Scope::Visible), ["src/a.rs", "src/deep/c.rs", "src/keep.log"], "{repository}");
            assert_eq!(found(&work, "src", Scope::Visible), ["src/a.rs", "src/deep/c.rs", "src/keep.log"]);
            assert_eq!(found(&work, "src/deep", Scope::Visible), ["src/deep/c.rs"]);
            assert_eq!(found(&work, "target", Scope::Visible), ["target/x"], "it was asked for");
        }
    }

    #[test]
    fn everything_is_everything_but_git() {
        let folder = folder(true);
        let names = found(&folder.path().join("work"), "", Scope::Everything);
        assert_eq!(names.len(), 10, "{names:?}");
        assert!(!names.iter().any(|name| name.starts_with(".git/")), "{names:?}");
    }

    #[test]
    fn links_are_not_followed() {
        let folder = folder(true);
        let work = folder.path().join("work");
        std::os::unix::fs::symlink(folder.path(), work.join("src/out")).unwrap();
        let names = found(&work, "src", Scope::Visible);
        assert_eq!(names, ["src/a.rs", "src/deep/c.rs", "src/keep.log", "src/out"]);
    }
}

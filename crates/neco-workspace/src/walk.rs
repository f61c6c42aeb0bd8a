//! Walking the workspace: the one set of rules that all tools share.
//!
//! What git ignores is left out, in a repository and outside of one; so are `.ignore` files' entries
//! and hidden names. `.git` is never entered and links are never followed. The user's global ignore
//! file plays no part: the same folder gives the same answer on every machine.
//!
//! A walk goes by paths. A folder that is swapped for a link while it is walked is followed, so a
//! walk may give names from elsewhere: whoever opens what a walk gave does so beneath the handle of
//! its root, where no link is followed.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

use ignore::{DirEntry, WalkBuilder};

use crate::rules::{Rules, Verdict};

/// How much of a folder is walked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// What a person working on the project would see.
    Visible,
    /// Hidden names too, but nothing that is ignored.
    Hidden,
    /// Hidden and ignored names too; only `.git` is left out.
    Everything,
}

/// A walk of `root`, a folder or file in the `workspace` or elsewhere. The root itself is given
/// whatever its name is and whoever ignores it: it was asked for.
pub fn walker(workspace: &Path, root: &Path, scope: Scope) -> WalkBuilder {
    let rules = match scope {
        Scope::Visible | Scope::Hidden => Some(Arc::new(Rules::of(workspace, root))),
        Scope::Everything => None,
    };
    walker_by(root, rules, scope)
}

/// Whether git or an `.ignore` file leaves out a folder of the workspace, or one above it there.
pub fn is_ignored(workspace: &Path, folder: &Path) -> bool {
    let rules = Rules::of(workspace, workspace);
    let below = folder.ancestors().take_while(|above| *above != workspace && above.starts_with(workspace));
    let mut below: Vec<&Path> = below.collect();
    below.reverse();
    below.into_iter().any(|folder| rules.judge(folder, true) == Verdict::Ignored)
}

/// A walk by rules that others have too.
pub(crate) fn walker_by(root: &Path, rules: Option<Arc<Rules>>, scope: Scope) -> WalkBuilder {
    let mut builder = WalkBuilder::new(root);
    // The library's own rules are all off: see `rules` for why.
    builder.follow_links(false).standard_filters(false);
    builder.filter_entry(move |entry| entry.depth() == 0 || is_wanted_entry(entry, rules.as_deref(), scope));
    builder
}

fn is_wanted_entry(entry: &DirEntry, rules: Option<&Rules>, scope: Scope) -> bool {
    is_wanted(entry.path(), entry.file_type().is_some_and(|kind| kind.is_dir()), rules, scope)
}

/// Whether a walk gives something that lies in a folder which it enters.
pub(crate) fn is_wanted(path: &Path, is_folder: bool, rules: Option<&Rules>, scope: Scope) -> bool {
    let name = path.file_name().unwrap_or_default();
    if name == OsStr::new(".git") {
        return false;
    }
    match rules.map_or(Verdict::Silent, |rules| rules.judge(path, is_folder)) {
        Verdict::Ignored => false,
        Verdict::Wanted => true,
        Verdict::Silent => scope != Scope::Visible || !name.as_bytes().starts_with(b"."),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

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

    #[test]
    fn rules_from_a_device_or_a_pipe_are_not_waited_for() {
        for repository in [true, false] {
            let folder = folder(repository);
            let work = folder.path().join("work");
            fs::remove_file(work.join(".ignore")).unwrap();
            std::os::unix::fs::symlink("/dev/zero", work.join(".ignore")).unwrap();
            let mode = rustix::fs::Mode::from_raw_mode(0o600);
            for pipe in ["src/.gitignore", ".git/info"] {
                rustix::fs::mknodat(rustix::fs::CWD, work.join(pipe), rustix::fs::FileType::Fifo, mode, 0).unwrap();
            }
            let expected = ["notes.private", "src/a.rs", "src/deep/c.rs", "src/keep.log"];
            assert_eq!(found(&work, "", Scope::Visible), expected, "{repository}");
            assert_eq!(found(&work, "src/deep", Scope::Visible), ["src/deep/c.rs"]);
        }
    }

    #[test]
    fn hidden_names_come_with_their_scope_or_a_rule_that_wants_them() {
        let folder = folder(true);
        let work = folder.path().join("work");
        let hidden = found(&work, "", Scope::Hidden);
        assert!(hidden.contains(&".hidden/h".to_owned()) && !hidden.contains(&"target/x".to_owned()), "{hidden:?}");
        fs::write(work.join(".ignore"), "!.hidden\n").unwrap();
        let visible = found(&work, "", Scope::Visible);
        assert!(visible.contains(&".hidden/h".to_owned()) && !visible.contains(&".ignore".to_owned()), "{visible:?}");
    }
}

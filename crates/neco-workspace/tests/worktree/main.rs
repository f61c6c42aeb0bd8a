//! Worktrees of sessions, with real git.

#![allow(missing_docs, clippy::unwrap_used, clippy::string_slice)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use neco_workspace::worktree::{BringBack, Brought, Worktree, WorktreeError, all, tidy};

fn git(folder: &Path, arguments: &[&str]) -> String {
    let done = Command::new("git")
        .args(["-c", "user.name=t", "-c", "user.email=t@t", "-C"])
        .arg(folder)
        .args(arguments)
        .output()
        .unwrap();
    assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8_lossy(&done.stdout).trim().to_owned()
}

struct Desk {
    _folder: tempfile::TempDir,
    repository: PathBuf,
    worktrees: PathBuf,
}

fn desk() -> Desk {
    let folder = tempfile::tempdir().unwrap();
    let top = folder.path().canonicalize().unwrap();
    let (repository, worktrees) = (top.join("my project"), top.join("data/worktrees"));
    fs::create_dir_all(repository.join("sub")).unwrap();
    git(&repository, &["init", "-q", "-b", "main"]);
    fs::write(repository.join("a.txt"), "one\n").unwrap();
    fs::write(repository.join("sub/b.txt"), "one\n").unwrap();
    // A hook that would fail everything, were it run.
    for name in ["pre-commit", "post-checkout", "commit-msg"] {
        let hook = repository.join(".git/hooks").join(name);
        fs::write(&hook, "#!/bin/sh\nexit 1\n").unwrap();
        fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    }
    git(&repository, &["add", "."]);
    git(&repository, &["commit", "-qnm", "one"]);
    Desk { _folder: folder, repository, worktrees }
}

impl Desk {
    fn create(&self, id: &str, how: BringBack) -> (Worktree, PathBuf) {
        Worktree::create(&self.repository.join("sub"), &self.worktrees, id, how).unwrap()
    }
}

#[test]
fn work_comes_back_as_a_branch_and_the_persons_tree_stays_as_it_is() {
    let desk = desk();
    fs::write(desk.repository.join("a.txt"), "not committed\n").unwrap();
    let before = (
        git(&desk.repository, &["status", "--porcelain=v2", "--branch"]),
        fs::read(desk.repository.join(".git/index")).unwrap(),
    );
    let (tree, inside) = desk.create("1234", BringBack::Branch);
    assert!(tree.path.ends_with("my-project-1234") && inside == tree.path.join("sub"), "{tree:?}");
    assert!(tree.leaves_changes_behind().unwrap());
    assert_eq!(fs::read_to_string(tree.path.join("a.txt")).unwrap(), "one\n");
    assert_eq!(Worktree::around(&inside, &desk.worktrees).as_ref(), Some(&tree), "a session finds it again");
    assert_eq!(Worktree::around(&desk.repository, &desk.worktrees), None);
    assert_eq!(tree.bring_back("x").unwrap(), Brought::Nothing);
    fs::write(inside.join("b.txt"), "two\n").unwrap();
    fs::write(inside.join("new.txt"), "two\n").unwrap();
    assert_eq!(tree.bring_back("add a thing").unwrap(), Brought::Branch { commits: 1, files: 2 });
    assert_eq!(git(&desk.repository, &["log", "-1", "--format=%s", "neco/1234"]), "add a thing");
    assert_eq!(git(&desk.repository, &["show", "neco/1234:sub/b.txt"]), "two");
    fs::write(inside.join("b.txt"), "three\n").unwrap();
    assert_eq!(tree.bring_back("more").unwrap(), Brought::Branch { commits: 2, files: 2 });
    assert_eq!(tree.bring_back("no more").unwrap(), Brought::Branch { commits: 2, files: 2 });
    let after = (
        git(&desk.repository, &["status", "--porcelain=v2", "--branch"]),
        fs::read(desk.repository.join(".git/index")).unwrap(),
    );
    assert_eq!(after, before);
}

#[test]
fn work_comes_back_as_a_patch_that_git_applies() {
    let desk = desk();
    let (tree, inside) = desk.create("1234", BringBack::Patch);
    fs::write(inside.join("b.txt"), "two\n").unwrap();
    fs::write(tree.path.join("picture"), b"\0\x01\x02").unwrap();
    let Brought::Patch { file, files } = tree.bring_back("x").unwrap() else { panic!("no patch") };
    assert_eq!(files, 2);
    git(&desk.repository, &["apply", file.to_str().unwrap()]);
    assert_eq!(fs::read_to_string(desk.repository.join("sub/b.txt")).unwrap(), "two\n");
    assert_eq!(fs::read(desk.repository.join("picture")).unwrap(), b"\0\x01\x02");
}

#[test]
fn what_nobody_needs_is_removed_and_what_is_not_committed_stays() {
    let desk = desk();
    let (empty, _) = desk.create("empty", BringBack::Branch);
    empty.remove().unwrap();
    assert!(!empty.path.exists());
    assert_eq!(git(&desk.repository, &["branch", "--list", "neco/*"]), "", "an empty branch goes too");
    assert_eq!(all(&desk.worktrees), std::slice::from_ref(&empty), "what it was stays known");
    empty.make_again().unwrap();
    assert_eq!(fs::read_to_string(empty.path.join("a.txt")).unwrap(), "one\n");
    assert_eq!(git(&empty.path, &["branch", "--show-current"]), "neco/empty");
    empty.remove().unwrap();
    let (merged, inside) = desk.create("merged", BringBack::Branch);
    fs::write(inside.join("b.txt"), "two\n").unwrap();
    merged.bring_back("x").unwrap();
    let (open, inside) = desk.create("open", BringBack::Branch);
    fs::write(inside.join("b.txt"), "not committed\n").unwrap();
    assert_eq!(tidy(&desk.worktrees, Duration::from_secs(3600)), []);
    git(&desk.repository, &["merge", "-q", "--no-verify", "neco/merged"]);
    assert_eq!(tidy(&desk.worktrees, Duration::from_secs(3600)), [merged]);
    assert_eq!(tidy(&desk.worktrees, Duration::ZERO), [], "{open:?}");
    assert!(open.path.exists());
    open.bring_back("y").unwrap();
    std::thread::sleep(Duration::from_millis(5));
    assert_eq!(tidy(&desk.worktrees, Duration::ZERO), [open]);
    assert_eq!(git(&desk.repository, &["branch", "--list", "neco/open"]).trim(), "neco/open", "the work stays");
}

#[test]
fn without_a_repository_or_a_commit_that_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let create = || Worktree::create(folder.path(), &folder.path().join("trees"), "1", BringBack::Branch);
    assert!(matches!(create(), Err(WorktreeError::NoRepository(_))));
    git(folder.path(), &["init", "-q"]);
    assert!(matches!(create(), Err(WorktreeError::NoCommit(_))));
}

#[test]
fn a_worktree_in_which_somebody_works_is_not_removed() {
    let desk = desk();
    let (tree, inside) = desk.create("1234", BringBack::Branch);
    let held = tree.hold().unwrap();
    assert!(tree.is_held());
    assert!(matches!(tree.remove(), Err(WorktreeError::InUse)));
    fs::write(inside.join("b.txt"), "two\n").unwrap();
    tree.bring_back("x").unwrap();
    git(&desk.repository, &["merge", "-q", "--no-verify", "neco/1234"]);
    assert_eq!(tidy(&desk.worktrees, Duration::ZERO), [], "neither when it is merged nor when it is old");
    assert!(tree.path.exists());
    drop(held);
    assert_eq!(tidy(&desk.worktrees, Duration::from_secs(3600)), [tree]);
}

#[test]
fn files_that_git_ignores_keep_their_worktree() {
    let desk = desk();
    fs::write(desk.repository.join(".gitignore"), "*.db\n").unwrap();
    git(&desk.repository, &["add", "."]);
    git(&desk.repository, &["commit", "-qnm", "two"]);
    let (tree, inside) = desk.create("1234", BringBack::Branch);
    fs::write(inside.join("mine.db"), "nowhere else").unwrap();
    assert_eq!(tree.bring_back("x").unwrap(), Brought::Nothing);
    let refused = tree.remove().unwrap_err();
    assert!(refused.to_string().contains("mine.db"), "{refused}");
    assert!(inside.join("mine.db").exists());
}

#[test]
fn a_patch_applies_whatever_the_person_has_set_and_commits_of_its_worktree_stay() {
    let desk = desk();
    for (name, value) in [("diff.noprefix", "true"), ("diff.mnemonicPrefix", "true"), ("color.ui", "always")] {
        git(&desk.repository, &["config", name, value]);
    }
    let (tree, inside) = desk.create("1234", BringBack::Patch);
    fs::write(inside.join("b.txt"), "two\n").unwrap();
    git(&tree.path, &["commit", "-qnam", "by the model"]);
    let Brought::Patch { file, .. } = tree.bring_back("x").unwrap() else { panic!("no patch") };
    git(&desk.repository, &["config", "--unset", "diff.noprefix"]);
    git(&desk.repository, &["apply", file.to_str().unwrap()]);
    assert_eq!(fs::read_to_string(desk.repository.join("sub/b.txt")).unwrap(), "two\n");
    tree.remove().unwrap();
    assert_eq!(git(&desk.repository, &["show", "refs/neco/worktrees/1234:sub/b.txt"]), "two");
}

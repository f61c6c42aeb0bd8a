//! Workspaces as people have them: repositories of all kinds, which are never touched.

use std::fs;
use std::path::PathBuf;

use neco_proto::event::LeftOutWhy;

use super::desk::{Desk, Kind, everything, git};

/// A repository in every state at once: commits, a branch, staged, stashed and unstaged changes.
fn busy_repository() -> Desk {
    let desk = Desk::new(Kind::Jj);
    git(&desk.root, &["init", "-q"]);
    desk.write("a.txt", "committed\n");
    desk.write("b.txt", "committed\n");
    git(&desk.root, &["add", "."]);
    git(&desk.root, &["commit", "-qm", "one"]);
    desk.write("a.txt", "stashed\n");
    git(&desk.root, &["stash", "-q"]);
    git(&desk.root, &["switch", "-qc", "side"]);
    desk.write("b.txt", "staged\n");
    git(&desk.root, &["add", "b.txt"]);
    desk.write("b.txt", "not staged\n");
    desk.write("untracked.txt", "x");
    desk
}

#[test]
fn a_repository_is_the_same_byte_for_byte_and_nothing_of_ours_is_in_the_tree() {
    let desk = busy_repository();
    let before = everything(&desk.path(".git"));
    let first = desk.before();
    desk.write("a.txt", "by an agent\n");
    desk.remove("untracked.txt");
    desk.after();
    desk.back(&first.rev);
    assert_eq!(desk.read("untracked.txt"), "x");
    assert_eq!(desk.read("b.txt"), "not staged\n");
    assert_eq!(everything(&desk.path(".git")), before);
    let names: Vec<_> = fs::read_dir(&desk.root).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names.len(), 4, "{names:?}");
}

#[test]
fn the_git_backend_adds_objects_and_names_and_nothing_else() {
    let jj = busy_repository();
    let root = &jj.root;
    let points = super::desk::open(Kind::Git, root, &jj.store, Default::default());
    let seen = |desk: &Desk| {
        let mut all = everything(&desk.path(".git"));
        all.retain(|path, _| {
            !path.starts_with(desk.path(".git/objects")) && !path.starts_with(desk.path(".git/refs/neco"))
        });
        all
    };
    let (before, status) = (seen(&jj), git(root, &["status", "--porcelain=v2", "--branch"]));
    let note = |when| super::desk::note(when, "s");
    let first = points.snapshot(&note(neco_proto::event::CheckpointWhen::Before)).unwrap();
    jj.write("a.txt", "by an agent\n");
    let second = points.snapshot(&note(neco_proto::event::CheckpointWhen::After)).unwrap();
    // Status itself may refresh the index: what we changed goes back first.
    jj.write("a.txt", "committed\n");
    assert_eq!(seen(&jj), before);
    assert_eq!(git(root, &["status", "--porcelain=v2", "--branch"]), status);
    let names = git(root, &["for-each-ref", "--format=%(refname)", "refs/neco/checkpoints"]);
    assert_eq!(names.trim(), "refs/neco/checkpoints/one");
    let log = git(root, &["log", "--format=%H", "refs/neco/checkpoints/one"]);
    assert_eq!(log.lines().collect::<Vec<_>>(), [&second.rev, &first.rev]);
    assert_eq!(git(root, &["show", &format!("{}:a.txt", second.rev)]), "by an agent\n");
    git(root, &["gc", "-q", "--prune=now"]);
    git(root, &["fsck", "--strict"]);
    let again = super::desk::open(Kind::Git, root, &jj.store, Default::default());
    assert_eq!(again.list().unwrap().len(), 2, "names that git packed are found");
    assert_eq!(again.diff(&first.rev, Some(&second.rev)).unwrap().len(), 1, "and objects too");
}

#[test]
fn plain_git_reads_the_store_of_jj() {
    let desk = busy_repository();
    let first = desk.before();
    desk.write("a.txt", "two\n");
    let second = desk.after();
    let store = desk.store.join("git");
    assert_eq!(git(&store, &["show", &format!("{}:a.txt", second.rev)]), "two\n");
    assert_eq!(git(&store, &["log", "--format=%H", &second.rev]).lines().count(), 2);
    assert_eq!(git(&store, &["diff", "--name-only", &first.rev, &second.rev]), "a.txt\n");
    git(&store, &["fsck", "--strict"]);
}

#[test]
fn what_git_tracks_is_kept_whatever_the_rules_say() {
    let desk = Desk::new(Kind::Jj);
    git(&desk.root, &["init", "-q"]);
    desk.write(".gitignore", "vendor/\n*.gen\n");
    for name in ["vendor/tracked.c", "vendor/other.c", "a.gen", "b.gen", "build.excluded"] {
        desk.write(name, "x");
    }
    desk.write(".git/info/exclude", "*.excluded\n");
    git(&desk.root, &["add", "-f", "vendor/tracked.c", "a.gen", ".gitignore"]);
    let first = desk.before();
    let left: Vec<_> = first.left_out.iter().map(|left| left.path.clone()).collect();
    assert_eq!(left, ["b.gen", "build.excluded", "vendor/other.c"].map(PathBuf::from));
    desk.write("vendor/tracked.c", "y");
    desk.write("a.gen", "y");
    assert_eq!(desk.after().changed.len(), 2);
}

#[test]
fn a_subfolder_of_a_repository_follows_the_rules_above_it() {
    let desk = Desk::new(Kind::Jj);
    git(&desk.root, &["init", "-q"]);
    desk.write(".gitignore", "*.log\n/sub/out/\n");
    for name in ["sub/a.log", "sub/a.rs", "sub/out/x", "other/b.rs"] {
        desk.write(name, "x");
    }
    let points = super::desk::open(Kind::Jj, &desk.path("sub"), &desk.store, Default::default());
    let kept = points.snapshot(&super::desk::note(neco_proto::event::CheckpointWhen::Before, "s")).unwrap();
    let left: Vec<_> = kept.left_out.iter().map(|left| (left.path.clone(), left.why)).collect();
    assert_eq!(left, ["a.log", "out"].map(|path| (PathBuf::from(path), LeftOutWhy::Ignored)));
}

#[test]
fn linked_worktrees_submodules_and_nested_repositories_are_kept_with_their_files() {
    let desk = Desk::new(Kind::Jj);
    let main = desk.path("main");
    fs::create_dir(&main).unwrap();
    git(&main, &["init", "-q"]);
    desk.write("main/a.txt", "one");
    desk.write("main/.git/info/exclude", "*.no\n");
    git(&main, &["add", "a.txt"]);
    git(&main, &["commit", "-qm", "one"]);
    git(&main, &["worktree", "add", "-q", "../tree"]);
    let module = desk.path("module");
    git(&desk.root, &["clone", "-q", "main", "module"]);
    git(&desk.path("tree"), &["submodule", "--quiet", "add", module.to_str().unwrap(), "sub"]);
    git(&desk.path("tree"), &["init", "-q", "nested"]);
    desk.write("tree/nested/.gitignore", "*.tmp\n");
    for name in ["tree/nested/n.txt", "tree/nested/x.tmp", "tree/sub/s.txt", "tree/x.no", "tree/x.tmp"] {
        desk.write(name, "one");
    }
    let points = super::desk::open(Kind::Jj, &desk.path("tree"), &desk.store, Default::default());
    let gits = [main.join(".git"), desk.path("tree/.git"), desk.path("tree/nested/.git"), desk.path("tree/sub/.git")];
    let all = || gits.iter().filter(|git| git.is_dir()).map(|git| everything(git)).collect::<Vec<_>>();
    let before = all();
    let note = |when| super::desk::note(when, "s");
    let first = points.snapshot(&note(neco_proto::event::CheckpointWhen::Before)).unwrap();
    let left: Vec<_> = first.left_out.iter().map(|left| left.path.clone()).collect();
    assert_eq!(left, ["nested/x.tmp", "x.no"].map(PathBuf::from));
    for name in ["tree/a.txt", "tree/nested/n.txt", "tree/sub/s.txt", "tree/x.tmp"] {
        desk.write(name, "two");
    }
    let second = points.snapshot(&note(neco_proto::event::CheckpointWhen::After)).unwrap();
    assert_eq!(second.changed.len(), 4, "{second:?}");
    let options = neco_workspace::checkpoint::RestoreOptions { session: "s".to_owned(), ..Default::default() };
    points.restore(&first.rev, &options, &mut |_| Ok(())).unwrap();
    for name in ["tree/a.txt", "tree/nested/n.txt", "tree/sub/s.txt", "tree/x.tmp"] {
        assert_eq!(desk.read(name), "one", "{name}");
    }
    assert_eq!(all(), before);
}

//! Permissions come back, also where nothing else changed.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use neco_workspace::checkpoint::ChangeKind;

use super::conformance::on_all;
use super::desk::{change, everything};

fn set(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// Everything but what a repository keeps of its own.
fn tree(root: &Path) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
    let mut all = everything(root);
    all.retain(|path, _| !path.starts_with(root.join(".git")));
    all
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn permissions_alone_are_a_change_and_come_back() {
    on_all(|desk| {
        for (name, mode) in [("private", 0o600), ("public", 0o644), ("sub/read-only", 0o444)] {
            desk.write(name, "x");
            set(&desk.path(name), mode);
        }
        let first = desk.before();
        let then = tree(&desk.root);
        set(&desk.path("private"), 0o644);
        set(&desk.path("public"), 0o600);
        set(&desk.path("sub/read-only"), 0o644);
        let second = desk.after();
        let changed = ["private", "public", "sub/read-only"].map(|name| change(name, ChangeKind::Modified));
        assert_eq!((second.is_new, second.changed.as_slice()), (true, changed.as_slice()));
        let now = tree(&desk.root);
        let diffs = desk.points.diff(&first.rev, Some(&second.rev)).unwrap();
        assert_eq!(diffs[0].text, "diff --git a/private b/private\nold mode 100600\nnew mode 100644\n");
        assert_eq!(desk.points.diff(&first.rev, None).unwrap(), diffs);
        let went = desk.back(&first.rev);
        assert_eq!(went.changes, changed);
        assert_eq!(tree(&desk.root), then);
        desk.back(&went.undo.rev);
        assert_eq!(tree(&desk.root), now);
        assert!(!desk.after().is_new, "nothing is different any more");
    });
}

#[test]
fn a_private_folder_that_is_made_again_is_private() {
    on_all(|desk| {
        desk.write("closed/deep/a", "a");
        desk.write("open/b", "b");
        set(&desk.path("closed"), 0o700);
        let first = desk.before();
        for folder in ["closed", "open"] {
            fs::remove_dir_all(desk.path(folder)).unwrap();
        }
        desk.after();
        desk.back(&first.rev);
        assert_eq!((mode(&desk.path("closed")), desk.read("closed/deep/a").as_str()), (0o700, "a"));
        assert_ne!(mode(&desk.path("open")), 0o700);
    });
}

#[test]
fn many_files_go_back_together() {
    on_all(|desk| {
        for number in 0..60 {
            desk.write(&format!("sub{}/f{number}", number % 3), format!("{number}"));
        }
        let first = desk.before();
        let then = tree(&desk.root);
        for number in 0..60 {
            desk.write(&format!("sub{}/f{number}", number % 3), "another");
        }
        desk.after();
        let went = desk.back(&first.rev);
        assert_eq!((went.changes.len(), went.kept.len()), (60, 0));
        assert_eq!(tree(&desk.root), then);
    });
}

#[test]
fn a_folder_that_became_private_between_two_turns_is_private_again() {
    on_all(|desk| {
        desk.write("closed/a", "a");
        desk.before();
        set(&desk.path("closed"), 0o700);
        let second = desk.before();
        fs::remove_dir_all(desk.path("closed")).unwrap();
        desk.after();
        desk.back(&second.rev);
        assert_eq!(mode(&desk.path("closed")), 0o700);
    });
}

#[test]
fn bits_that_are_not_given_back_are_no_difference() {
    on_all(|desk| {
        desk.write("tool", "x");
        set(&desk.path("tool"), 0o4755);
        desk.write("team/a", "a");
        set(&desk.path("team"), 0o2775);
        let first = desk.before();
        fs::remove_dir_all(desk.path("team")).unwrap();
        desk.remove("tool");
        desk.after();
        desk.back(&first.rev);
        assert_eq!((mode(&desk.path("tool")), desk.points.diff(&first.rev, None).unwrap().len()), (0o755, 0));
    });
}

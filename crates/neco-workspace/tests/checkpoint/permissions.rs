//! Permissions come back, also where nothing else changed.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use neco_workspace::checkpoint::ChangeKind;

use super::conformance::on_all;
use super::desk::{Desk, Kind, change, everything};

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

/// Says that a test is the process of another umask that it started itself.
const UMASK: &str = "NECO_CHECKPOINT_UMASK";

#[test]
fn another_umask_does_not_make_another_state() {
    if std::env::var_os(UMASK).is_none() {
        let exe = std::env::current_exe().unwrap();
        let name = "permissions::another_umask_does_not_make_another_state";
        for umask in ["077", "027", "007"] {
            let mut shell = Command::new("sh");
            shell.args(["-c", &format!("umask {umask}; exec \"$0\" {name} --exact")]).arg(&exe).env(UMASK, umask);
            let done = shell.output().unwrap();
            assert!(done.status.success(), "{umask}: {}", String::from_utf8_lossy(&done.stdout));
        }
        return;
    }
    on_all(|desk| {
        for (name, mode) in [("a.txt", 0o644), ("run.sh", 0o755)] {
            desk.write(name, "one");
            set(&desk.path(name), mode);
        }
        let first = desk.before();
        for name in ["a.txt", "run.sh"] {
            desk.remove(name);
        }
        desk.after();
        desk.back(&first.rev);
        assert_eq!((mode(&desk.path("a.txt")), mode(&desk.path("run.sh"))), (0o644, 0o755));
        assert_eq!(desk.points.diff(&first.rev, None).unwrap(), [], "nothing is different any more");
    });
}

#[test]
fn permissions_of_many_files_are_compared_at_once() {
    let desk = Desk::new(Kind::Jj);
    for number in 0..1500 {
        desk.write(&format!("many/f{number}"), "x");
    }
    let first = desk.before();
    let begun = Instant::now();
    desk.points.diff(&first.rev, None).unwrap();
    let looked = begun.elapsed();
    for number in 0..1500 {
        set(&desk.path(&format!("many/f{number}")), 0o600);
    }
    desk.after();
    let begun = Instant::now();
    assert_eq!(desk.points.diff(&first.rev, None).unwrap().len(), 1500);
    // One tree for each file would be a thousand times as much.
    let most = looked.as_secs_f64() * 60.0 + 2.0;
    assert!(begun.elapsed().as_secs_f64() < most, "{:?}, looked in {looked:?}", begun.elapsed());
}

#[test]
fn a_file_that_gets_its_permissions_back_is_the_same_file() {
    on_all(|desk| {
        desk.write("a.txt", "a");
        fs::hard_link(desk.path("a.txt"), desk.path("b.txt")).unwrap();
        set(&desk.path("a.txt"), 0o600);
        let first = desk.before();
        let was = fs::metadata(desk.path("a.txt")).unwrap().ino();
        set(&desk.path("a.txt"), 0o640);
        desk.after();
        desk.back(&first.rev);
        let now = fs::metadata(desk.path("a.txt")).unwrap();
        assert_eq!((now.ino(), now.nlink(), mode(&desk.path("a.txt"))), (was, 2, 0o600));
    });
}

#[test]
fn permissions_of_what_is_no_part_of_a_state_are_none_of_it() {
    on_all(|desk| {
        desk.write("big.bin", vec![b'x'; 2000]);
        desk.write("a.txt", "a");
        let first = desk.before();
        set(&desk.path("big.bin"), 0o600);
        assert!(!desk.after().is_new, "nothing of the state is different");
        // A folder takes the name of a file that was private.
        desk.write("name", "x");
        set(&desk.path("name"), 0o600);
        let second = desk.before();
        desk.remove("name");
        desk.write("name/in", "y");
        let changed = desk.after().changed;
        let expected = [change("name", ChangeKind::Deleted), change("name/in", ChangeKind::Added)];
        assert_eq!(changed, expected);
        let went = desk.back(&second.rev);
        assert_eq!((went.kept.len(), mode(&desk.path("name"))), (0, 0o600));
        desk.back(&first.rev);
    });
}

/// What the system says of a file besides its content; nothing where nobody can tell.
fn access_of(path: &Path) -> Option<String> {
    let output = Command::new("getfacl").arg("-cpn").arg(path).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn a_file_that_is_put_back_keeps_its_access_list() {
    on_all(|desk| {
        desk.write("a", "one");
        let set = Command::new("setfacl").args(["-m", "u:12345:rw,g::r,m::rw,o::-"]).arg(desk.path("a")).status();
        if !set.is_ok_and(|status| status.success()) {
            println!("skipped: access lists can't be set here (is acl installed?)");
            return;
        }
        let before = access_of(&desk.path("a")).unwrap();
        let first = desk.before();
        desk.write("a", "two");
        desk.after();
        desk.back(&first.rev);
        assert_eq!(fs::read(desk.path("a")).unwrap(), b"one");
        assert_eq!(access_of(&desk.path("a")).unwrap(), before, "nobody may more than before");
    });
}

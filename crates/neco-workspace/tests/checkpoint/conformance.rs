//! What every backend must do.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;

use neco_proto::event::{CheckpointWhen, LeftOutWhy};
use neco_workspace::checkpoint::{Agreed, ChangeKind, CheckpointError, LeaveOutSettings, RestoreOptions, Snapshot};

use super::desk::{ALL, Desk, change, everything};

/// Runs a test on every backend.
pub fn on_all(test: impl Fn(Desk)) {
    ALL.map(Desk::new).into_iter().for_each(test);
}

#[test]
fn a_state_is_kept_and_brought_back_and_the_undo_undone() {
    on_all(|desk| {
        desk.write("a.txt", "one\n");
        desk.write("src/b.rs", "fn b() {}\n");
        let first = desk.before();
        assert!(first.is_new && first.parent.is_none() && first.changed.is_empty(), "{first:?}");
        let same = desk.before();
        assert!(!same.is_new && same.rev == first.rev, "{same:?}");
        desk.write("a.txt", "two\n");
        desk.write("new/deep/c.txt", "new\n");
        desk.remove("src/b.rs");
        let second = desk.after();
        assert_eq!(second.parent.as_ref(), Some(&first.rev));
        let expected = [
            change("a.txt", ChangeKind::Modified),
            change("new/deep/c.txt", ChangeKind::Added),
            change("src/b.rs", ChangeKind::Deleted),
        ];
        assert_eq!(second.changed, expected);
        let restored = desk.back(&first.rev);
        assert_eq!((desk.read("a.txt").as_str(), desk.read("src/b.rs").as_str()), ("one\n", "fn b() {}\n"));
        assert!(!desk.path("new").exists(), "folders that are empty then go too");
        assert_eq!(restored.undo.rev, second.rev);
        assert_eq!(restored.changes.len(), 3, "{restored:?}");
        assert!(restored.kept.is_empty(), "{restored:?}");
        desk.back(&restored.undo.rev);
        assert_eq!(desk.read("a.txt"), "two\n");
        assert_eq!(desk.read("new/deep/c.txt"), "new\n");
        assert!(!desk.path("src").exists());
        let points = desk.points.list().unwrap();
        assert_eq!(points.len(), 4, "{points:?}");
        assert_eq!(points[3].rev, first.rev);
        assert_eq!(points[2].note.when, CheckpointWhen::After);
        assert_eq!(points[0].parent.as_ref(), Some(&points[1].rev));
    });
}

/// The sandbox gives such names, and so can a command.
#[test]
fn a_name_as_of_something_put_aside_hides_no_change() {
    on_all(|desk| {
        desk.write("x.refused-1", "one\n");
        let first = desk.before();
        desk.write("x.refused-1", "two\n");
        desk.write("folder.replaced-2/new", "new\n");
        assert!(desk.after().is_new);
        let restored = desk.back(&first.rev);
        assert_eq!(restored.changes.len(), 2, "{restored:?}");
        assert!(desk.read("x.refused-1") == "one\n" && !desk.path("folder.replaced-2").exists());
    });
}

#[test]
fn what_nobody_kept_yet_is_kept_before_a_restore() {
    on_all(|desk| {
        desk.write("a.txt", "one\n");
        let first = desk.before();
        desk.write("a.txt", "by hand, never kept\n");
        let restored = desk.back(&first.rev);
        assert_eq!(desk.read("a.txt"), "one\n");
        desk.back(&restored.undo.rev);
        assert_eq!(desk.read("a.txt"), "by hand, never kept\n");
    });
}

#[test]
fn the_difference_of_two_states_is_a_unified_diff_and_binary_files_are_named() {
    on_all(|desk| {
        desk.write("a.txt", "one\ntwo\nthree\n");
        desk.write("old.txt", "gone\n");
        desk.write("picture", b"\x89PNG\0\0\x01");
        let first = desk.before();
        desk.write("a.txt", "one\n2\nthree\n");
        desk.write("picture", b"\x89PNG\0\0\x02");
        desk.write("run.sh", "#!/bin/sh\n");
        fs::set_permissions(desk.path("run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
        desk.remove("old.txt");
        let second = desk.after();
        let diffs = desk.points.diff(&first.rev, Some(&second.rev)).unwrap();
        let text: String = diffs.iter().map(|diff| diff.text.as_str()).collect();
        let expected = "\
diff --git a/a.txt b/a.txt
--- a/a.txt
+++ b/a.txt
@@ -1,3 +1,3 @@
 one
-two
+2
 three
diff --git a/old.txt b/old.txt
deleted file mode 100644
--- a/old.txt
+++ /dev/null
@@ -1 +0,0 @@
-gone
diff --git a/picture b/picture
Binary files a/picture and b/picture differ
diff --git a/run.sh b/run.sh
new file mode 100755
--- /dev/null
+++ b/run.sh
@@ -0,0 +1 @@
+#!/bin/sh
";
        assert_eq!(text, expected);
        assert_eq!(desk.points.diff(&first.rev[..8], Some(&second.rev[..8])).unwrap(), diffs, "short names will do");
        let points = desk.points.list().unwrap();
        assert_eq!(desk.points.diff(&first.rev, None).unwrap(), diffs, "and so will the present");
        assert_eq!(desk.points.diff(&second.rev, None).unwrap(), []);
        assert_eq!(desk.points.list().unwrap(), points, "looking is no point of its own");
        assert!(matches!(desk.points.diff("0000", Some(&second.rev)), Err(CheckpointError::Unknown(_))));
    });
}

#[test]
fn what_others_changed_is_marked_and_needs_a_yes() {
    on_all(|desk| {
        desk.write("mine.txt", "0");
        desk.write("theirs.txt", "0");
        desk.write("later.txt", "0");
        let first = desk.before();
        desk.write("mine.txt", "1");
        desk.after();
        // Between two turns, by hand.
        desk.write("theirs.txt", "1");
        desk.before();
        desk.write("mine.txt", "2");
        desk.after();
        // Another session in the same folder.
        desk.keep(CheckpointWhen::Before, "other");
        desk.write("other.txt", "1");
        desk.keep(CheckpointWhen::After, "other");
        // Since the last state.
        desk.write("later.txt", "1");
        let options = RestoreOptions { session: "s".to_owned(), ..RestoreOptions::default() };
        let preview = desk.points.preview(&first.rev, &options).unwrap();
        let marks: Vec<(String, bool)> = preview
            .changes
            .iter()
            .map(|planned| (planned.change.path.display().to_string(), planned.by_others))
            .collect();
        let expected = [("later.txt", true), ("mine.txt", false), ("other.txt", true), ("theirs.txt", true)];
        assert_eq!(marks, expected.map(|(path, others)| (path.to_owned(), others)));
        let nobody = &mut |_: &Snapshot| Ok(());
        let refused = desk.points.restore(&first.rev, &options, nobody).unwrap_err();
        let CheckpointError::ChangedByOthers { paths } = refused else { panic!("{refused:?}") };
        assert_eq!(paths, ["later.txt", "other.txt", "theirs.txt"].map(PathBuf::from));
        assert_eq!(desk.read("mine.txt"), "2", "nothing is done then");
        let seen = Agreed::Files(paths.iter().map(|path| path.display().to_string()).collect());
        desk.write("unseen.txt", "since the question");
        let agreed = RestoreOptions { agreed: seen, ..options };
        let refused = desk.points.restore(&first.rev, &agreed, nobody).unwrap_err();
        let CheckpointError::ChangedByOthers { paths } = refused else { panic!("{refused:?}") };
        assert_eq!(paths, [PathBuf::from("unseen.txt")], "what was not shown is not overwritten");
        desk.remove("unseen.txt");
        desk.points.restore(&first.rev, &agreed, nobody).unwrap();
        assert_eq!((desk.read("later.txt").as_str(), desk.path("other.txt").exists()), ("0", false));
    });
}

#[test]
fn links_programs_and_odd_names_come_back_as_they_were() {
    on_all(|desk| {
        let odd = desk.root.join(OsStr::from_bytes(b"caf\xe9 \xff.txt"));
        fs::write(&odd, "odd").unwrap();
        desk.write("line\nbreak", "x");
        desk.write("dir/inside", "x");
        desk.write("run", "#!/bin/sh\n");
        desk.write("private", "x");
        desk.write("read-only", "x");
        fs::set_permissions(desk.path("run"), fs::Permissions::from_mode(0o755)).unwrap();
        fs::set_permissions(desk.path("private"), fs::Permissions::from_mode(0o600)).unwrap();
        fs::set_permissions(desk.path("read-only"), fs::Permissions::from_mode(0o444)).unwrap();
        symlink("dir", desk.path("to-folder")).unwrap();
        symlink("/nowhere/at all", desk.path("to-nothing")).unwrap();
        symlink(OsStr::from_bytes(b"\xfe\xff"), desk.path("to-odd")).unwrap();
        let before: Vec<_> =
            everything(&desk.root).into_iter().filter(|(path, _)| !path.starts_with(desk.path(".git"))).collect();
        let first = desk.before();
        fs::remove_file(&odd).unwrap();
        for name in ["line\nbreak", "run", "private", "to-folder", "to-nothing", "to-odd"] {
            desk.remove(name);
        }
        fs::remove_dir_all(desk.path("dir")).unwrap();
        desk.write("to-folder/now-a-folder", "x");
        desk.write("dir", "now a file");
        fs::set_permissions(desk.path("read-only"), fs::Permissions::from_mode(0o644)).unwrap();
        fs::write(desk.path("read-only"), "changed").unwrap();
        let restored = desk.back(&first.rev);
        assert!(restored.kept.is_empty(), "{restored:?}");
        let after: Vec<_> =
            everything(&desk.root).into_iter().filter(|(path, _)| !path.starts_with(desk.path(".git"))).collect();
        assert_eq!(after, before);
    });
}

#[test]
fn an_executable_bit_alone_is_a_change() {
    on_all(|desk| {
        desk.write("tool", "x");
        let first = desk.before();
        fs::set_permissions(desk.path("tool"), fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(desk.after().changed, [change("tool", ChangeKind::Modified)]);
        desk.back(&first.rev);
        assert_eq!(fs::metadata(desk.path("tool")).unwrap().permissions().mode() & 0o111, 0);
    });
}

#[test]
fn what_is_ignored_too_big_or_secret_is_left_out_named_and_never_touched() {
    on_all(|desk| {
        desk.write(".gitignore", "/target/\n*.log\n");
        desk.write("target/deep/x", "build");
        desk.write("a.log", "log");
        desk.write(".env", "KEY=1");
        desk.write("big.bin", vec![b'x'; 1001]);
        desk.write("fits.bin", vec![b'x'; 1000]);
        desk.write("src/a.rs", "fn a() {}");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            desk.path("pipe"),
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::from_raw_mode(0o600),
            0,
        )
        .unwrap();
        let first = desk.before();
        let left: Vec<(String, LeftOutWhy)> =
            first.left_out.iter().map(|left| (left.path.display().to_string(), left.why)).collect();
        let expected = [
            (".env", LeftOutWhy::Secret),
            ("a.log", LeftOutWhy::Ignored),
            ("big.bin", LeftOutWhy::TooBig),
            ("pipe", LeftOutWhy::Other),
            ("target", LeftOutWhy::Ignored),
        ];
        assert_eq!(left, expected.map(|(path, why)| (path.to_owned(), why)));
        // All of them change, and even the rules go: what was ignored is a part of the next state.
        for name in ["target/deep/x", "a.log", ".env", "src/a.rs"] {
            desk.write(name, "changed");
        }
        desk.write("big.bin", "small by now");
        desk.write("fits.bin", vec![b'y'; 2000]);
        desk.write("target/more", "more");
        desk.remove(".gitignore");
        let second = desk.after();
        assert!(second.changed.contains(&change("target/deep/x", ChangeKind::Added)), "{second:?}");
        let restored = desk.back(&first.rev);
        for name in ["target/deep/x", "a.log", ".env"] {
            assert_eq!(desk.read(name), "changed", "{name}: what was left out is not touched");
        }
        assert_eq!(desk.read("target/more"), "more");
        assert_eq!(desk.read("big.bin"), "small by now");
        assert_eq!(desk.read("fits.bin").len(), 2000, "it could not be brought back");
        assert_eq!(desk.read("src/a.rs"), "fn a() {}");
        assert_eq!(desk.read(".gitignore"), "/target/\n*.log\n");
        let kept: Vec<String> = restored.kept.iter().map(|kept| kept.path.display().to_string()).collect();
        assert_eq!(kept, ["a.log", "big.bin", "fits.bin", "target/deep/x", "target/more"]);
    });
}

#[test]
fn a_file_that_is_ignored_only_now_still_goes_back() {
    on_all(|desk| {
        desk.write("notes.txt", "one");
        let first = desk.before();
        desk.write(".gitignore", "notes.txt\n");
        desk.write("notes.txt", "two");
        desk.after();
        let restored = desk.back(&first.rev);
        assert_eq!((desk.read("notes.txt").as_str(), desk.path(".gitignore").exists()), ("one", false));
        desk.back(&restored.undo.rev);
        assert_eq!(desk.read("notes.txt"), "two", "it was kept before it went");
    });
}

#[test]
fn patterns_and_the_persons_own_ignore_file_count() {
    for kind in ALL {
        let own = tempfile::NamedTempFile::new().unwrap();
        fs::write(own.path(), "*.swp\n").unwrap();
        let settings = LeaveOutSettings {
            patterns: vec!["/data/".to_owned()],
            excludes_file: Some(own.path().to_owned()),
            ..LeaveOutSettings::default()
        };
        let desk = Desk::with(kind, settings);
        for name in ["data/x", "src/data/x", "a.swp", "keep.swp"] {
            desk.write(name, "x");
        }
        desk.write(".gitignore", "!keep.swp\n");
        let left: Vec<_> = desk.before().left_out.into_iter().map(|left| left.path).collect();
        assert_eq!(left, ["a.swp", "data"].map(PathBuf::from), "{kind:?}");
    }
}

#[test]
fn a_link_in_the_way_of_a_restore_is_not_followed() {
    on_all(|desk| {
        desk.write("dir/a", "one");
        let first = desk.before();
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("a"), "not ours").unwrap();
        fs::remove_dir_all(desk.path("dir")).unwrap();
        symlink(outside.path(), desk.path("dir")).unwrap();
        desk.back(&first.rev);
        assert_eq!(fs::read_to_string(outside.path().join("a")).unwrap(), "not ours");
        assert_eq!(desk.read("dir/a"), "one");
        assert!(!desk.path("dir").is_symlink());
    });
}

#[test]
fn a_change_that_leaves_size_and_time_as_they_were_is_seen() {
    on_all(|desk| {
        desk.write("a", "one");
        let time = fs::metadata(desk.path("a")).unwrap().modified().unwrap();
        desk.before();
        for text in ["two", "six", "ten"] {
            fs::write(desk.path("a"), text).unwrap();
            fs::File::options().write(true).open(desk.path("a")).unwrap().set_modified(time).unwrap();
            assert!(desk.after().is_new, "{text}");
        }
    });
}

#[test]
fn an_empty_workspace_is_a_state_too() {
    on_all(|desk| {
        let first = desk.before();
        desk.write("a", "x");
        desk.after();
        desk.back(&first.rev);
        assert!(!desk.path("a").exists());
    });
}

#[test]
fn another_process_goes_on_where_this_one_stopped() {
    on_all(|desk| {
        if desk.kind == super::desk::Kind::Memory {
            return;
        }
        desk.write("a", "one");
        let first = desk.before();
        let other = desk.again();
        desk.write("a", "two");
        let second = other.snapshot(&super::desk::note(CheckpointWhen::After, "s")).unwrap();
        assert_eq!(second.parent.as_ref(), Some(&first.rev));
        desk.write("a", "three");
        let third = desk.after();
        assert_eq!(third.parent.as_ref(), Some(&second.rev));
        assert_eq!(other.list().unwrap().len(), 3);
    });
}

#[test]
fn too_many_files_are_said_and_nothing_is_kept() {
    for kind in ALL {
        let desk = Desk::with(kind, LeaveOutSettings { max_files: 2, ..LeaveOutSettings::default() });
        for name in ["a", "b", "c"] {
            desk.write(name, "x");
        }
        let refused = desk.points.snapshot(&super::desk::note(CheckpointWhen::Before, "s"));
        assert!(matches!(refused, Err(CheckpointError::TooManyFiles { most: 2, .. })), "{kind:?}: {refused:?}");
        assert_eq!(desk.points.list().unwrap(), []);
    }
}

#[test]
fn what_somebody_writes_during_a_restore_stays() {
    on_all(|desk| {
        for name in ["changed", "written", "gone", "untouched"] {
            desk.write(name, "one");
        }
        desk.remove("written");
        let first = desk.before();
        for name in ["changed", "new", "untouched"] {
            desk.write(name, "two");
        }
        desk.remove("gone");
        desk.after();
        let options = RestoreOptions { session: "s".to_owned(), agreed: Agreed::Anything, ..RestoreOptions::default() };
        // The present is kept by now: what is written from here on is in no state.
        let meanwhile = &mut |_: &Snapshot| {
            for name in ["changed", "new", "gone"] {
                desk.write(name, "somebody's, just now");
            }
            Ok(())
        };
        let restored = desk.points.restore(&first.rev, &options, meanwhile).unwrap();
        for name in ["changed", "new", "gone"] {
            assert_eq!(desk.read(name), "somebody's, just now", "{name}");
        }
        assert_eq!(desk.read("untouched"), "one");
        let kept: Vec<_> = restored.kept.iter().map(|kept| kept.path.display().to_string()).collect();
        assert_eq!(kept, ["new", "changed", "gone"]);
    });
}

#[test]
fn the_state_before_is_on_the_disk_and_told_before_anything_is_touched() {
    on_all(|desk| {
        desk.write("a", "one");
        let first = desk.before();
        desk.write("a", "two");
        let options = RestoreOptions { session: "s".to_owned(), agreed: Agreed::Anything, ..RestoreOptions::default() };
        let mut told = None;
        let refused = desk.points.restore(&first.rev, &options, &mut |undo| {
            told = Some(undo.rev.clone());
            assert_eq!(desk.read("a"), "two");
            Err(CheckpointError::Busy)
        });
        assert!(matches!(refused, Err(CheckpointError::Busy)));
        assert_eq!(desk.read("a"), "two", "who hears of it may refuse");
        desk.back(&first.rev);
        desk.back(&told.unwrap());
        assert_eq!(desk.read("a"), "two");
    });
}

#[test]
fn a_persons_own_files_are_no_leftovers() {
    on_all(|desk| {
        for name in [".neco-restore-notes", ".neco-restore-1-2-3", ".neco-restore-12-34"] {
            desk.write(name, "mine");
        }
        desk.before();
        desk.after();
        assert_eq!(desk.read(".neco-restore-notes"), "mine");
        assert_eq!(desk.read(".neco-restore-1-2-3"), "mine");
        assert_eq!(desk.read(".neco-restore-12-34"), "mine", "no restore was cut short");
        fs::create_dir_all(&desk.store).unwrap();
        // Where states in git are kept, the mark lies deeper.
        let marks = [desk.store.join("restoring"), desk.store.join("in-git/restoring")];
        for mark in marks.iter().filter(|mark| mark.parent().unwrap().is_dir()) {
            fs::write(mark, "abc").unwrap();
        }
        assert!(desk.before().notices[0].contains("interrupted"));
        assert!(!desk.path(".neco-restore-12-34").exists());
        assert_eq!(desk.read(".neco-restore-notes"), "mine");
        assert!(!desk.after().notices.is_empty(), "until it was told");
        desk.points.told();
        assert!(desk.after().notices.is_empty());
    });
}

//! Some files, or pieces of them, are put back, and nothing else is touched.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use neco_workspace::checkpoint::{CheckpointError, FileSides, PutBack, RestoreOptions, Restored};

use crate::desk::{ALL, Desk};

fn put_back(
    desk: &Desk,
    from: &str,
    files: &[&str],
    mut decides: impl FnMut(&FileSides) -> Result<PutBack, CheckpointError>,
) -> Result<(Restored, Option<String>), CheckpointError> {
    let files: Vec<PathBuf> = files.iter().map(PathBuf::from).collect();
    let options = RestoreOptions { session: "s".to_owned(), ..RestoreOptions::default() };
    let mut heard = None;
    let mut before = |undo: &neco_workspace::checkpoint::Snapshot| {
        heard = Some(undo.rev.clone());
        Ok(())
    };
    let restored = desk.points.put_back(from, &files, &options, &mut decides, &mut before)?;
    Ok((restored, heard))
}

fn whole(_: &FileSides) -> Result<PutBack, CheckpointError> {
    Ok(PutBack::Whole)
}

#[test]
fn what_is_named_is_put_back_and_an_undo_brings_it_again() {
    for kind in ALL {
        let desk = Desk::new(kind);
        desk.write("a.txt", "one\n");
        desk.write("sub/gone.txt", "bye\n");
        desk.write("run.sh", "true\n");
        std::fs::set_permissions(desk.path("run.sh"), std::fs::Permissions::from_mode(0o750)).unwrap();
        let from = desk.before().rev;
        desk.write("a.txt", "two\n");
        desk.write("new/deep.txt", "new\n");
        desk.write("run.sh", "false\n");
        std::fs::set_permissions(desk.path("run.sh"), std::fs::Permissions::from_mode(0o600)).unwrap();
        desk.write("other.txt", "stays\n");
        desk.remove("sub/gone.txt");
        desk.after();
        let files = ["new/deep.txt", "run.sh", "sub/gone.txt"];
        let (restored, heard) = put_back(&desk, &from, &files, whole).unwrap();
        assert_eq!((restored.changes.len(), restored.over_others, restored.kept.len()), (3, false, 0), "{kind:?}");
        assert_eq!(heard.as_ref(), Some(&restored.undo.rev), "{kind:?}");
        assert_eq!((desk.read("sub/gone.txt"), desk.read("run.sh")), ("bye\n".to_owned(), "true\n".to_owned()));
        let mode = std::fs::metadata(desk.path("run.sh")).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode, desk.path("new").exists()), (0o750, false), "{kind:?}");
        assert_eq!((desk.read("a.txt"), desk.read("other.txt")), ("two\n".to_owned(), "stays\n".to_owned()));
        desk.back(&restored.undo.rev);
        assert_eq!((desk.read("new/deep.txt"), desk.read("run.sh")), ("new\n".to_owned(), "false\n".to_owned()));
        assert!(!desk.path("sub/gone.txt").exists(), "{kind:?}");
    }
}

#[test]
fn a_file_can_hold_something_between_then_and_now() {
    for kind in ALL {
        let desk = Desk::new(kind);
        desk.write("a.txt", "one\ntwo\n");
        let from = desk.before().rev;
        desk.write("a.txt", "ONE\nTWO\n");
        std::fs::set_permissions(desk.path("a.txt"), std::fs::Permissions::from_mode(0o600)).unwrap();
        desk.after();
        let half = |sides: &FileSides| {
            let texts = (&sides.before, &sides.after);
            let (Some(before), Some(after)) = texts else { panic!("{sides:?}") };
            assert_eq!((before.content.as_slice(), after.content.as_slice()), (&b"one\ntwo\n"[..], &b"ONE\nTWO\n"[..]));
            Ok(PutBack::Content(b"one\nTWO\n".to_vec()))
        };
        let (restored, _) = put_back(&desk, &from, &["a.txt"], half).unwrap();
        assert_eq!((restored.changes.len(), desk.read("a.txt")), (1, "one\nTWO\n".to_owned()), "{kind:?}");
        let mode = std::fs::metadata(desk.path("a.txt")).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{kind:?}: what is put back is what it holds");
    }
}

#[test]
fn one_that_refuses_or_is_not_different_leaves_all_as_they_are() {
    for kind in ALL {
        let desk = Desk::new(kind);
        desk.write("a.txt", "one\n");
        desk.write("same.txt", "same\n");
        let from = desk.before().rev;
        desk.write("a.txt", "two\n");
        desk.write("b.txt", "new\n");
        desk.after();
        let refuses = |sides: &FileSides| match sides.change.path.ends_with("b.txt") {
            true => Err(CheckpointError::Refused("not b".to_owned())),
            false => Ok(PutBack::Whole),
        };
        let refused = put_back(&desk, &from, &["a.txt", "b.txt"], refuses).unwrap_err();
        assert_eq!(refused.to_string(), "not b", "{kind:?}");
        for strange in ["same.txt", "nothing.txt", "../a.txt"] {
            let refused = put_back(&desk, &from, &["a.txt", strange], whole).unwrap_err().to_string();
            assert!(refused.contains("is as it was then already"), "{kind:?}: {refused}");
        }
        assert_eq!((desk.read("a.txt"), desk.read("b.txt")), ("two\n".to_owned(), "new\n".to_owned()), "{kind:?}");
    }
}

#[test]
fn whoever_changed_it_last_is_told() {
    for kind in ALL {
        let desk = Desk::new(kind);
        desk.write("a.txt", "one\n");
        let from = desk.before().rev;
        desk.write("a.txt", "two\n");
        desk.after();
        desk.write("a.txt", "by hand\n");
        let (restored, _) = put_back(&desk, &from, &["a.txt"], whole).unwrap();
        assert_eq!((restored.over_others, desk.read("a.txt")), (true, "one\n".to_owned()), "{kind:?}");
    }
}

#[test]
fn sides_are_what_files_held_and_hold() {
    for kind in ALL {
        let desk = Desk::new(kind);
        desk.write("a.txt", "one\n");
        desk.write("b.txt", "gone\n");
        let from = desk.before().rev;
        desk.write("a.txt", "two\n");
        desk.remove("b.txt");
        let to = desk.after().rev;
        desk.write("c.txt", "later\n");
        let sides = |to: Option<&str>, only: Option<&str>| {
            let mut found = Vec::new();
            let mut take = |sides: FileSides| {
                let content = |side: Option<neco_workspace::checkpoint::Side>| {
                    side.map(|side| format!("{} {}", side.form, String::from_utf8(side.content).unwrap().trim()))
                };
                found.push((sides.change.path.display().to_string(), content(sides.before), content(sides.after)));
            };
            desk.points.sides(&from, to, only.map(std::path::Path::new), &mut take).unwrap();
            found
        };
        let side = |text: &str| Some(format!("100644 {text}"));
        let (a, b) = (("a.txt".to_owned(), side("one"), side("two")), ("b.txt".to_owned(), side("gone"), None));
        assert_eq!(sides(Some(&to), None), [a.clone(), b.clone()], "{kind:?}");
        assert_eq!(sides(None, None), [a.clone(), b, ("c.txt".to_owned(), None, side("later"))], "{kind:?}");
        assert_eq!((sides(None, Some("a.txt")), sides(None, Some("a"))), (vec![a], vec![]), "{kind:?}");
    }
}

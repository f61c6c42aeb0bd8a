//! A look that knows the last one sees what a look that knows nothing sees, whatever happened in between.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::time::Duration;

use neco_proto::event::CheckpointWhen;
use neco_workspace::checkpoint::{LeaveOutSettings, Snapshot};
use proptest::prelude::*;

use super::desk::{Desk, Kind, git, note, open, settings};

/// Longer than facts need to be relied on: only then is the last look used at all.
const OLD_ENOUGH: Duration = Duration::from_millis(60);

const FOLDERS: [&str; 4] = ["", "a", "a/deep", "b"];
const NAMES: [&str; 7] = ["one.rs", "two.rs", "note.log", ".env", "sub", ".gitignore", "big.bin"];
const RULES: [&str; 4] = ["*.log\n", "two.*\n", "!note.log\n", "/deep/\nsub\n"];

#[derive(Clone, Copy, Debug)]
enum Step {
    Write(usize),
    Remove,
    Rename(usize),
    Chmod(u32),
    Link,
    Folder,
    Track,
    Exclude(usize),
    Nothing,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0usize..9).prop_map(Step::Write),
        2 => Just(Step::Remove),
        2 => (0..NAMES.len()).prop_map(Step::Rename),
        1 => prop_oneof![Just(0o600), Just(0o644), Just(0o755)].prop_map(Step::Chmod),
        1 => Just(Step::Link),
        1 => Just(Step::Folder),
        1 => Just(Step::Track),
        1 => (0..RULES.len()).prop_map(Step::Exclude),
        1 => Just(Step::Nothing),
    ]
}

/// Does it, as far as it can be done as things are.
fn take(root: &Path, folder: &str, name: &str, step: Step) {
    let path = root.join(folder).join(name);
    let other = |at: usize| root.join(folder).join(NAMES[at]);
    match step {
        Step::Write(number) => {
            let _ = fs::create_dir_all(root.join(folder));
            let text = match name {
                ".gitignore" => RULES[number % RULES.len()].to_owned(),
                "big.bin" => "x".repeat(150 * number),
                _ => number.to_string(),
            };
            let _ = fs::write(path, text);
        }
        Step::Remove => drop(fs::remove_dir_all(&path).or_else(|_| fs::remove_file(&path))),
        Step::Rename(at) => drop(fs::rename(path, other(at))),
        Step::Chmod(mode) if !path.is_dir() => {
            let _ = fs::set_permissions(path, fs::Permissions::from_mode(mode));
        }
        Step::Link => drop(symlink("one.rs", path)),
        Step::Folder => {
            let _ = fs::create_dir_all(&path).and_then(|()| fs::write(path.join("within"), "w"));
        }
        Step::Track if path.is_file() => drop(git(root, &["add", "-f", &path.display().to_string()])),
        Step::Exclude(at) => fs::write(root.join(".git/info/exclude"), RULES[at]).unwrap(),
        Step::Chmod(_) | Step::Track | Step::Nothing => {}
    }
}

/// What a snapshot holds: its tree, and what it says was left out.
fn held(store: &Path, kept: &Snapshot) -> (String, String) {
    let tree = git(&store.join("git"), &["rev-parse", &format!("{}^{{tree}}", kept.rev)]);
    (tree, format!("{:?}", kept.left_out))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4))]
    #[test]
    fn the_last_look_hides_nothing(
        steps in prop::collection::vec((0..FOLDERS.len(), 0..NAMES.len(), step()), 24..30)
    ) {
        let desk = Desk::in_memory(Kind::Jj);
        git(&desk.root, &["init", "-q"]);
        for folder in FOLDERS {
            desk.write(&format!("{folder}/one.rs"), "1");
        }
        for pair in steps.chunks(3) {
            std::thread::sleep(OLD_ENOUGH);
            desk.after();
            for (folder, name, step) in pair {
                take(&desk.root, FOLDERS[*folder], NAMES[*name], *step);
            }
            let known = desk.after();
            let elsewhere = tempfile::tempdir().unwrap();
            let fresh = open(Kind::Jj, &desk.root, elsewhere.path(), settings());
            let fresh = fresh.snapshot(&note(CheckpointWhen::After, "s")).unwrap();
            prop_assert_eq!(held(&desk.store, &known), held(elsewhere.path(), &fresh), "after {:?}", pair);
        }
    }
}

#[test]
fn what_is_read_once_more_and_holds_the_same_is_not_written_again() {
    let desk = Desk::new(Kind::Jj);
    desk.write("a/one.rs", "1");
    let first = desk.before();
    desk.points.settle_at_once().unwrap();
    // It was written right before the first look, so that its facts say nothing.
    let second = desk.after();
    assert!(!second.is_new && second.rev == first.rev, "{second:?}");
    assert!(desk.points.is_settled(), "nothing was written that the disk has to be waited for");
    desk.write("a/one.rs", "2");
    assert!(desk.after().is_new && !desk.points.is_settled());
}

/// Rules are no part of a folder's own facts.
#[test]
fn other_rules_hold_where_no_name_changed() {
    let desk = Desk::in_memory(Kind::Jj);
    git(&desk.root, &["init", "-q"]);
    desk.write("a/b/note.log", "1");
    desk.write("a/b/one.rs", "1");
    for _ in 0..2 {
        std::thread::sleep(OLD_ENOUGH);
        desk.after();
    }
    let left_out =
        |kept: &Snapshot| kept.left_out.iter().map(|left| left.path.display().to_string()).collect::<Vec<_>>();
    assert_eq!(left_out(&desk.after()), [""; 0]);
    fs::write(desk.path(".git/info/exclude"), "*.log\n").unwrap();
    assert_eq!(left_out(&desk.after()), ["a/b/note.log"]);
    std::thread::sleep(OLD_ENOUGH);
    fs::write(desk.path(".git/info/exclude"), "").unwrap();
    assert_eq!(left_out(&desk.after()), [""; 0]);
    let settings = LeaveOutSettings { patterns: vec!["one.*".to_owned()], ..LeaveOutSettings::default() };
    let kept = open(Kind::Jj, &desk.root, &desk.store, settings).snapshot(&note(CheckpointWhen::After, "s"));
    assert_eq!(left_out(&kept.unwrap()), ["a/b/one.rs"]);
}

//! An index that follows changes by the kernel's notes tells the same as one that looks at all files.

use std::fs;
use std::os::unix::fs::symlink;
use std::sync::atomic::{AtomicBool, Ordering};

use neco_workspace::index::{Index, IndexError, Patient, Watch};

use crate::desk::{Desk, found};

fn followed(desk: &Desk) -> Index {
    desk.index().followed()
}

/// What a fresh index finds.
fn afresh(desk: &Desk, question: &str) -> Vec<String> {
    found(&desk.index_in(&desk.indexes.with_extension("fresh")), question)
}

#[test]
fn files_that_come_change_move_and_go_are_seen() {
    let desk = Desk::new();
    desk.put("a/one.md", "apples\n");
    desk.put("a/two.md", "apples\n");
    let index = followed(&desk);
    assert_eq!(found(&index, "apples"), ["a/one.md", "a/two.md"]);
    assert_eq!(found(&index, "apples"), ["a/one.md", "a/two.md"]);
    desk.put("a/three.md", "apples\n");
    assert_eq!(found(&index, "apples").len(), 3);
    desk.put("a/one.md", "pears\n");
    assert_eq!((found(&index, "apples").len(), found(&index, "pears").len()), (2, 1));
    fs::rename(desk.workspace.join("a/two.md"), desk.workspace.join("moved.md")).unwrap();
    assert_eq!(found(&index, "apples"), ["a/three.md", "moved.md"]);
    fs::remove_file(desk.workspace.join("moved.md")).unwrap();
    assert_eq!(found(&index, "apples"), ["a/three.md"]);
    fs::write(desk.workspace.join("new"), "apples\n").unwrap();
    fs::rename(desk.workspace.join("new"), desk.workspace.join("a/one.md")).unwrap();
    assert_eq!(found(&index, "apples"), ["a/one.md", "a/three.md"], "as editors save");
}

#[test]
fn folders_that_come_move_and_go_are_seen() {
    let desk = Desk::new();
    desk.put("a/one.md", "apples\n");
    let index = followed(&desk);
    assert_eq!(found(&index, "apples"), ["a/one.md"]);
    desk.put("b/deep/er/two.md", "apples\n");
    assert_eq!(found(&index, "apples").len(), 2);
    desk.put("b/deep/er/two.md", "pears\n");
    assert_eq!(found(&index, "apples"), ["a/one.md"], "a folder that came is followed too");
    fs::rename(desk.workspace.join("b/deep"), desk.workspace.join("c")).unwrap();
    assert_eq!(found(&index, "pears"), ["c/er/two.md"]);
    desk.put("c/er/two.md", "apples\n");
    assert_eq!(found(&index, "apples"), ["a/one.md", "c/er/two.md"], "and where it was moved to");
    fs::remove_dir_all(desk.workspace.join("a")).unwrap();
    assert_eq!(found(&index, "apples"), ["c/er/two.md"]);
    fs::rename(&desk.workspace, desk.workspace.with_extension("old")).unwrap();
    desk.put("other.md", "apples\n");
    assert_eq!(found(&index, "apples"), ["other.md"], "another folder took its place");
}

#[test]
fn what_is_ignored_changes_with_the_rules() {
    let desk = Desk::new();
    desk.put("one.md", "apples\n");
    desk.put("two.txt", "apples\n");
    let index = followed(&desk);
    assert_eq!(found(&index, "apples").len(), 2);
    desk.put(".gitignore", "*.txt\n");
    assert_eq!(found(&index, "apples"), ["one.md"]);
    desk.put("three.txt", "apples\n");
    fs::create_dir(desk.workspace.join("target")).unwrap();
    assert_eq!(found(&index, "apples"), ["one.md"]);
    desk.put(".ignore", "!three.txt\n");
    assert_eq!(found(&index, "apples"), afresh(&desk, "apples"));
    desk.put(".git/info/exclude", "one.*\n");
    desk.put(".git/HEAD", "ref: refs/heads/main\n");
    assert_eq!(found(&index, "apples"), ["three.txt"], "a repository begins");
    desk.put(".git/info/exclude", "nothing\n");
    assert_eq!(found(&index, "apples"), ["one.md", "three.txt"]);
    let above = desk.workspace.parent().unwrap();
    fs::remove_dir_all(desk.workspace.join(".git")).unwrap();
    assert_eq!(found(&index, "apples"), afresh(&desk, "apples"));
    fs::create_dir(above.join(".git")).unwrap();
    fs::write(above.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    fs::write(above.join(".gitignore"), "three.*\none.*\n").unwrap();
    assert_eq!(found(&index, "apples"), afresh(&desk, "apples"), "a repository above");
    fs::write(above.join(".gitignore"), "").unwrap();
    assert_eq!(found(&index, "apples"), afresh(&desk, "apples"), "and its rules");
}

#[test]
fn what_is_not_indexed_stays_out() {
    let desk = Desk::new();
    desk.put("one.md", "apples\n");
    let index = followed(&desk);
    assert_eq!(found(&index, "apples"), ["one.md"]);
    desk.put(".env", "KEY=apples\n");
    desk.put(".hidden.md", "apples\n");
    desk.put("id_rsa", "apples\n");
    symlink("one.md", desk.workspace.join("link.md")).unwrap();
    desk.put("two.md", "apples\n");
    assert_eq!(found(&index, "apples"), ["one.md", "two.md"]);
    fs::remove_file(desk.workspace.join("two.md")).unwrap();
    symlink("one.md", desk.workspace.join("two.md")).unwrap();
    assert_eq!(found(&index, "apples"), ["one.md"], "a link in the place of a file");
}

#[test]
fn a_file_that_is_changed_under_another_name_is_seen() {
    let desk = Desk::new();
    desk.put("one.md", "apples\n");
    let outside = desk.workspace.with_extension("outside");
    fs::hard_link(desk.workspace.join("one.md"), &outside).unwrap();
    let index = followed(&desk);
    assert_eq!(found(&index, "apples"), ["one.md"]);
    fs::write(&outside, "pears\n").unwrap();
    assert_eq!(found(&index, "pears"), ["one.md"]);
}

#[test]
fn a_change_right_after_it_was_read_is_seen() {
    let desk = Desk::new();
    let index = followed(&desk);
    for round in 0..50 {
        desk.put("a.md", format!("round{:02}\n", round));
        assert_eq!(found(&index, &format!("round{round:02}")), ["a.md"], "{round}");
    }
}

#[test]
fn what_other_processes_commit_is_taken_over() {
    let desk = Desk::new();
    desk.put("one.md", "apples\n");
    let (ours, theirs) = (followed(&desk), followed(&desk));
    for round in 0..4 {
        desk.put(&format!("new{round}.md"), "apples\n");
        assert_eq!(found(&theirs, "apples").len(), round + 2);
        assert_eq!(found(&ours, "apples").len(), round + 2);
    }
    fs::remove_dir_all(desk.kept()).unwrap();
    assert_eq!(found(&ours, "apples").len(), 5, "the folder of the index may be removed at any time");
}

/// Cancels once it is told to.
#[derive(Default)]
struct Hasty(AtomicBool);

impl Watch for Hasty {
    fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    fn progress(&self, _: usize, _: usize) {
        self.0.store(true, Ordering::Relaxed);
    }

    fn waiting(&self) {}
}

#[test]
fn what_a_cancelled_call_left_is_done_by_the_next() {
    let desk = Desk::new();
    desk.put("one.md", "apples\n");
    let index = followed(&desk);
    assert_eq!(found(&index, "apples"), ["one.md"]);
    for number in 0..60 {
        desk.put(&format!("new{number}.md"), "apples\n");
    }
    assert!(matches!(index.refresh(&Hasty::default()), Err(IndexError::Cancelled)));
    assert_eq!(found(&index, "apples").len(), 61);
}

#[test]
fn many_threads_get_the_same_answer() {
    let desk = Desk::new();
    desk.put("one.md", "apples\n");
    let index = followed(&desk);
    index.refresh(&Patient).unwrap();
    for round in 1..20 {
        desk.put(&format!("d{}/new{round}.md", round % 3), "apples\n");
        std::thread::scope(|scope| {
            let all: Vec<_> = (0..4).map(|_| scope.spawn(|| found(&index, "apples").len())).collect();
            for one in all {
                assert_eq!(one.join().unwrap(), round + 1);
            }
        });
    }
}

//! A process that is killed at any moment leaves a store that can be used.

use std::fs;
use std::process::{Command, Stdio};
use std::time::Duration;

use neco_proto::event::CheckpointWhen;
use neco_workspace::checkpoint::{Agreed, RestoreOptions};

use super::desk::{Desk, Kind, note, open};

/// Says to the child which workspace and store it works on, and with which backend.
const CHILD: &str = "NECO_CHECKPOINT_CHILD";

/// Not a test by itself: what the killed process does, for ever.
#[test]
fn works_until_it_is_killed() {
    let Ok(orders) = std::env::var(CHILD) else { return };
    let orders: Vec<&str> = orders.split('|').collect();
    let kind = if orders[2] == "git" { Kind::Git } else { Kind::Jj };
    let root = std::path::PathBuf::from(orders[0]);
    let points = open(kind, &root, orders[1].as_ref(), Default::default());
    for step in 0.. {
        for file in 0..20 {
            fs::write(root.join(format!("f{file}")), format!("{step} {file}\n").repeat(50)).unwrap();
        }
        let kept = points.snapshot(&note(CheckpointWhen::After, "child")).unwrap();
        if step % 3 != 0 {
            points.settle().unwrap();
        }
        if step % 2 == 1 {
            let back =
                RestoreOptions { session: "child".to_owned(), agreed: Agreed::Anything, ..RestoreOptions::default() };
            points.restore(&kept.parent.unwrap(), &back, &mut |_| Ok(())).unwrap();
        }
    }
}

#[test]
fn a_kill_at_any_moment_leaves_a_store_that_can_be_used() {
    for (kind, name) in [(Kind::Jj, "jj"), (Kind::Git, "git")] {
        let desk = Desk::with(kind, Default::default());
        desk.write("untouched", "x");
        let first = desk.before();
        for round in 0..12u64 {
            let mut child = Command::new(std::env::current_exe().unwrap())
                .args(["killed::works_until_it_is_killed", "--exact"])
                .env(CHILD, format!("{}|{}|{name}", desk.root.display(), desk.store.display()))
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            std::thread::sleep(Duration::from_millis(15 + round * 13 % 90));
            child.kill().unwrap();
            child.wait().unwrap();
            let points = open(kind, &desk.root, &desk.store, Default::default());
            let kept = points.snapshot(&note(CheckpointWhen::Before, "s")).unwrap();
            assert!(!kept.notices.iter().any(|notice| notice.contains("damaged")), "{name} {round}: {kept:?}");
            points.settle().unwrap();
            let all = points.list().unwrap();
            assert_eq!(all.last().unwrap().rev, first.rev, "{name} {round}: nothing is lost");
            let back =
                RestoreOptions { session: "s".to_owned(), agreed: Agreed::Anything, ..RestoreOptions::default() };
            points.restore(&first.rev, &back, &mut |_| Ok(())).unwrap();
            let names: Vec<_> = fs::read_dir(&desk.root).unwrap().map(|entry| entry.unwrap().file_name()).collect();
            assert_eq!(names.iter().filter(|name| *name != ".git").count(), 1, "{name} {round}: {names:?}");
            points.restore(&kept.rev, &back, &mut |_| Ok(())).unwrap();
        }
    }
}

#[test]
fn locks_that_a_killed_process_left_are_in_nobodys_way() {
    let desk = Desk::new(Kind::Jj);
    desk.write("a", "one");
    desk.before();
    desk.points.settle().unwrap();
    desk.write("a", "two");
    let second = desk.after();
    let git = desk.store.join("git");
    let left = [format!("refs/jj/keep/{}.lock", second.rev), "packed-refs.lock".to_owned(), "HEAD.lock".to_owned()];
    for name in &left {
        fs::write(git.join(name), "").unwrap();
    }
    fs::write(git.join("objects/.tmpAbCdEf"), "half").unwrap();
    let points = desk.again();
    points.settle().unwrap();
    assert!(left.iter().all(|name| !git.join(name).exists()));
    desk.write("a", "three");
    points.snapshot(&note(CheckpointWhen::After, "s")).unwrap();
    points.settle().unwrap();
    assert!(!git.join("objects/.tmpAbCdEf").exists());
    assert!(!desk.store.join("unsettled").exists());
}

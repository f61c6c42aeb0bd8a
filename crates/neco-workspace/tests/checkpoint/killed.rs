//! A process that is killed at any moment leaves a store that can be used.

use std::fs;
use std::process::{Command, Stdio};
use std::time::Duration;

use neco_proto::event::CheckpointWhen;
use neco_workspace::checkpoint::RestoreOptions;

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
        points.settle().unwrap();
        if step % 2 == 1 {
            let back = RestoreOptions { session: "child".to_owned(), others_too: true, only: None };
            points.restore(&kept.parent.unwrap(), &back).unwrap();
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
            let back = RestoreOptions { session: "s".to_owned(), others_too: true, only: None };
            points.restore(&first.rev, &back).unwrap();
            let names: Vec<_> = fs::read_dir(&desk.root).unwrap().map(|entry| entry.unwrap().file_name()).collect();
            assert_eq!(names.iter().filter(|name| *name != ".git").count(), 1, "{name} {round}: {names:?}");
            points.restore(&kept.rev, &back).unwrap();
        }
    }
}

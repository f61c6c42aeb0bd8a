//! A loss of power at any moment leaves a store that can be used, with every state that was said to be on the disk,
//! and a workspace whose files are whole.
//!
//! Everything that a process does to files is recorded, and the disk is built as it may be after a loss of power at
//! many moments. `NECO_POWER_CUTS` sets their number.
#![cfg(target_os = "linux")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use neco_proto::event::CheckpointWhen;
use neco_workspace::checkpoint::{Agreed, Checkpoints, RestoreOptions};

use neco_testkit::power::{Disk, Left, lose_power, watch};

use super::desk::{Kind, note, open};

/// Says to the child where it works.
const CHILD: &str = "NECO_CHECKPOINT_POWER";

/// Where it says what it did.
const ANSWERS: &str = "answers";

/// The files of the workspace at a step.
fn files_at(step: usize) -> BTreeMap<String, String> {
    let mut files: BTreeMap<String, String> =
        (0..4).map(|file| (format!("f{file}"), format!("{step} {file}\n").repeat(20))).collect();
    files.insert("same".to_owned(), "always the same\n".to_owned());
    files.insert(format!("sub/only-{}", step % 2), format!("{step}\n"));
    files
}

fn files_in(root: &Path) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    for folder in [root.to_path_buf(), root.join("sub")] {
        for entry in fs::read_dir(&folder).into_iter().flatten().map(Result::unwrap) {
            if entry.file_type().unwrap().is_file() {
                let name = entry.path().strip_prefix(root).unwrap().display().to_string();
                files.insert(name, fs::read_to_string(entry.path()).unwrap());
            }
        }
    }
    files
}

struct Child {
    root: PathBuf,
    store: PathBuf,
    answers: File,
}

impl Child {
    /// The workspace is somebody else's: it is on the disk.
    fn work(&self, step: usize) {
        for name in files_in(&self.root).keys() {
            fs::remove_file(self.root.join(name)).unwrap();
        }
        fs::create_dir_all(self.root.join("sub")).unwrap();
        for (name, text) in files_at(step) {
            let mut file = File::create(self.root.join(name)).unwrap();
            file.write_all(text.as_bytes()).unwrap();
            file.sync_all().unwrap();
        }
        for folder in [self.root.join("sub"), self.root.clone()] {
            File::open(folder).unwrap().sync_all().unwrap();
        }
    }

    /// In one piece, so that no answer is half there.
    fn answer(&self, words: &str) {
        (&self.answers).write_all(format!("{words}\n").as_bytes()).unwrap();
    }

    fn open(&self) -> Arc<dyn Checkpoints> {
        open(Kind::Jj, &self.root, &self.store, Default::default())
    }

    fn keep(&self, points: &Arc<dyn Checkpoints>, step: usize) -> String {
        self.work(step);
        points.snapshot(&note(CheckpointWhen::After, "child")).unwrap().rev
    }

    fn settle(&self, points: &Arc<dyn Checkpoints>, rev: &str, step: usize) {
        points.settle().unwrap();
        self.answer(&format!("settled {rev} {step}"));
    }
}

/// Not a test by itself: what the process does that is watched.
#[test]
fn works_while_it_is_watched() {
    let Some(scene) = std::env::var_os(CHILD).map(PathBuf::from) else { return };
    let answers = OpenOptions::new().create(true).append(true).open(scene.join(ANSWERS)).unwrap();
    let child = Child { root: scene.join("work"), store: scene.join("stores/one"), answers };
    let points = child.open();
    let zero = child.keep(&points, 0);
    let one = child.keep(&points, 1);
    child.settle(&points, &one, 1);
    child.answer(&format!("settled {zero} 0"));
    child.keep(&points, 2);
    child.keep(&points, 3);
    // Another process comes and goes without having anything on the disk, then one that has.
    child.keep(&child.open(), 4);
    let points = child.open();
    let five = child.keep(&points, 5);
    child.settle(&points, &five, 5);
    child.work(6);
    let back = RestoreOptions { session: "child".to_owned(), agreed: Agreed::Anything, ..RestoreOptions::default() };
    let mut undo = |kept: &neco_workspace::checkpoint::Snapshot| {
        child.answer(&format!("goes {} 6 1", kept.rev));
        Ok(())
    };
    points.restore(&one, &back, &mut undo).unwrap();
    child.answer("went");
    let seven = child.keep(&points, 7);
    child.settle(&points, &seven, 7);
    child.answer(&format!("prunes {seven} 7"));
    points.prune(i64::MAX).unwrap();
    let eight = child.keep(&points, 8);
    child.settle(&points, &eight, 8);
}

/// What must be there after a loss of power, by what was answered before it.
#[derive(Default)]
struct Due {
    /// States and the steps that they are of.
    states: BTreeMap<String, usize>,
    /// The steps that a restore leads from and to while it is under way.
    under_way: Option<(usize, usize)>,
}

impl Due {
    fn of(answers: &str) -> Self {
        let mut due = Self::default();
        for line in answers.lines() {
            let words: Vec<&str> = line.split(' ').collect();
            let step = |at: usize| words[at].parse().unwrap();
            match words[0] {
                "settled" => drop(due.states.insert(words[1].to_owned(), step(2))),
                "goes" => {
                    due.states.insert(words[1].to_owned(), step(2));
                    due.under_way = Some((step(2), step(3)));
                }
                "went" => due.under_way = None,
                // From here on only the newest is wanted.
                "prunes" => due.states = BTreeMap::from([(words[1].to_owned(), step(2))]),
                other => panic!("{other}"),
            }
        }
        due
    }
}

fn check(disk: &Disk, due: &Due, left: Left<'_>, what: &str) {
    // In memory where that is to be had: nothing of this has to be on a disk.
    let scene = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
    disk.build(scene.path(), left);
    let (root, store) = (scene.path().canonicalize().unwrap().join("work"), scene.path().join("stores/one"));
    // It is another start of the machine.
    let mark = store.join("unsettled");
    if let Ok(text) = fs::read_to_string(&mark) {
        fs::write(&mark, format!("another {text}")).unwrap();
    }
    let mut found = files_in(&root);
    // What a restore was writing goes at the next look.
    found.retain(|name, _| !name.contains(".neco-restore-"));
    if let Some((from, to)) = due.under_way {
        let (from, to) = (files_at(from), files_at(to));
        for (name, text) in from.iter().filter(|(name, _)| to.contains_key(*name)) {
            let now = found.get(name);
            assert!(now == Some(text) || now == to.get(name), "{what}: {name} is {now:?}");
        }
    }
    let points = open(Kind::Jj, &root, &store, Default::default());
    let kept = points.snapshot(&note(CheckpointWhen::Before, "after")).unwrap();
    assert!(!kept.notices.iter().any(|notice| notice.contains("put aside")), "{what}: {:?}", kept.notices);
    let all: BTreeSet<String> = points.list().unwrap().into_iter().map(|point| point.rev).collect();
    let back = RestoreOptions { session: "after".to_owned(), agreed: Agreed::Anything, ..RestoreOptions::default() };
    for (rev, step) in &due.states {
        assert!(all.contains(rev), "{what}: the state of step {step} is lost");
        let went = points.restore(rev, &back, &mut |_| Ok(())).unwrap_or_else(|error| panic!("{what}: {error}"));
        assert!(went.kept.is_empty(), "{what}: {:?}", went.kept);
        assert_eq!(files_in(&root), files_at(*step), "{what}: step {step}");
    }
    points.restore(&kept.rev, &back, &mut |_| Ok(())).unwrap_or_else(|error| panic!("{what}: {error}"));
    assert_eq!(files_in(&root), found, "{what}: what was there after the loss");
    points.settle().unwrap_or_else(|error| panic!("{what}: {error}"));
    assert!(points.is_settled(), "{what}");
}

#[test]
fn a_loss_of_power_takes_nothing_that_was_on_the_disk() {
    let folder = tempfile::tempdir().unwrap();
    let scene = folder.path().canonicalize().unwrap().join("scene");
    fs::create_dir_all(scene.join("work")).unwrap();
    let mut disk = Disk::of(&scene);
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["power::works_while_it_is_watched", "--exact", "--nocapture"]).env(CHILD, &scene);
    let records = match watch(&scene, &child) {
        Ok(records) => records,
        Err(reason) if std::env::var_os("CI").is_some() => panic!("{reason}"),
        Err(reason) => return println!("SKIPPED: {reason}"),
    };
    let due = |disk: &Disk| Due::of(&disk.text(&scene.join(ANSWERS)));
    let cuts = std::env::var("NECO_POWER_CUTS").ok().and_then(|number| number.parse().ok()).unwrap_or(40);
    let moments = lose_power(&mut disk, &records, cuts, |disk, left, what| check(disk, &due(disk), left, what));
    assert_eq!(due(&disk).states.into_values().collect::<BTreeSet<_>>(), BTreeSet::from([7, 8]));
    let syncs = records.iter().filter(|record| record.syncs()).count();
    println!("{moments} of {} moments, three disks each, {syncs} syncs: nothing lost", records.len());
}

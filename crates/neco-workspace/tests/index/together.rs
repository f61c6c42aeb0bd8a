//! Damage, cancelled calls, and several processes at once.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use neco_workspace::index::{IndexError, Patient, Watch, remove_abandoned};

use crate::desk::{Desk, anywhere, found};

fn filled(files: usize) -> Desk {
    let desk = Desk::new();
    for number in 0..files {
        desk.put(&format!("d{}/f{number}.rs", number % 7), format!("pub fn item{number}() {{ shared(); }}\n"));
    }
    desk
}

#[test]
fn a_damaged_index_is_built_anew() {
    let desk = filled(60);
    // Another process that has it open all the while.
    let held = desk.index();
    let expected = found(&held, "shared");
    assert_eq!(expected.len(), 60);
    let files: Vec<_> = fs::read_dir(desk.kept()).unwrap().map(|entry| entry.unwrap().path()).collect();
    for file in files.iter().filter(|file| !file.ends_with("lock")) {
        for harm in 0..4 {
            // What was damaged before was built anew under other names.
            let kept = fs::read_dir(desk.kept()).unwrap().map(|entry| entry.unwrap().path());
            let is_manifest = file.ends_with("manifest");
            let same_kind = |path: &PathBuf| path.ends_with("manifest") == is_manifest && !path.ends_with("lock");
            let file = &kept.filter(same_kind).last().unwrap();
            let good = fs::read(file).unwrap();
            let mut bad = good.clone();
            match harm {
                0 => bad.truncate(good.len() / 2),
                1 => bad.clear(),
                2 => bad.iter_mut().step_by(50).for_each(|byte| *byte ^= 0x55),
                _ => {}
            }
            if harm == 3 {
                fs::remove_file(file).unwrap();
            } else {
                fs::write(file, &bad).unwrap();
            }
            assert_eq!(found(&desk.index(), "shared"), expected, "{} {harm}", file.display());
            assert_eq!(found(&held, "shared"), expected, "{} {harm}", file.display());
        }
    }
}

#[test]
fn what_another_process_built_anew_is_not_thrown_away() {
    use std::os::unix::fs::MetadataExt;
    let desk = filled(30);
    let (ours, theirs) = (desk.index(), desk.index());
    assert_eq!(found(&ours, "shared").len(), 30);
    let inodes = || {
        let mut all: Vec<u64> = segments(&desk).iter().map(|path| fs::metadata(path).unwrap().ino()).collect();
        all.sort_unstable();
        all
    };
    let (asked, built) = (AtomicUsize::new(0), std::sync::Mutex::new(Vec::new()));
    let answer = ours.ask(&Patient, |snapshot| {
        if asked.fetch_add(1, Ordering::Relaxed) == 0 {
            // They saw the same damage before us, and mended it.
            fs::remove_file(desk.kept().join("manifest")).unwrap();
            assert_eq!(found(&theirs, "shared").len(), 30);
            *built.lock().unwrap() = inodes();
            return Err(IndexError::Damaged);
        }
        snapshot.search("shared", &anywhere, 0, 100)
    });
    assert_eq!((answer.unwrap().total, asked.load(Ordering::Relaxed)), (30, 2));
    assert_eq!(inodes(), *built.lock().unwrap());
}

/// Holds up the first file until it is told to go on; counts what is told.
#[derive(Default)]
struct Holding {
    begun: AtomicBool,
    go_on: AtomicBool,
    waits: AtomicUsize,
}

impl Watch for Holding {
    fn is_cancelled(&self) -> bool {
        false
    }

    fn progress(&self, _: usize, _: usize) {
        self.begun.store(true, Ordering::SeqCst);
        while !self.go_on.load(Ordering::SeqCst) {
            std::thread::yield_now();
        }
    }

    fn waiting(&self) {
        self.waits.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn only_waiting_for_another_process_is_told() {
    let desk = filled(5);
    let (index, first, second) = (desk.index(), Holding::default(), Holding::default());
    second.go_on.store(true, Ordering::SeqCst);
    std::thread::scope(|scope| {
        scope.spawn(|| index.refresh(&first).unwrap());
        while !first.begun.load(Ordering::SeqCst) {
            std::thread::yield_now();
        }
        scope.spawn(|| index.refresh(&second).unwrap());
        std::thread::sleep(std::time::Duration::from_millis(200));
        first.go_on.store(true, Ordering::SeqCst);
    });
    assert_eq!(second.waits.load(Ordering::SeqCst), 0);
}

fn segments(desk: &Desk) -> Vec<PathBuf> {
    let files = fs::read_dir(desk.kept()).unwrap().map(|entry| entry.unwrap().path());
    files.filter(|path| path.file_name().unwrap().to_str().unwrap().starts_with("segment-")).collect()
}

/// Cancels after some files.
struct Impatient {
    after: usize,
    done: AtomicUsize,
}

impl Watch for Impatient {
    fn is_cancelled(&self) -> bool {
        self.done.load(Ordering::Relaxed) >= self.after
    }

    fn progress(&self, done: usize, _: usize) {
        self.done.fetch_max(done, Ordering::Relaxed);
    }

    fn waiting(&self) {}
}

#[test]
fn a_cancelled_call_keeps_what_is_indexed() {
    let desk = filled(200);
    let index = desk.index();
    let watch = Impatient { after: 50, done: AtomicUsize::new(0) };
    assert!(matches!(index.refresh(&watch), Err(IndexError::Cancelled)));
    let kept: usize = segments(&desk).iter().map(|segment| fs::read(segment).unwrap().len()).sum();
    assert!(kept > 1000, "{kept}");
    let before = segments(&desk);
    let answer = index.ask(&Patient, |snapshot| snapshot.search("shared", &anywhere, 0, 500)).unwrap();
    assert_eq!(answer.total, 200);
    assert!(before.iter().all(|segment| segments(&desk).contains(segment)), "what was indexed is used");
}

#[test]
fn several_at_once_agree() {
    let desk = filled(120);
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let desk = &desk;
        let stop = &stop;
        for _ in 0..3 {
            scope.spawn(move || {
                let index = desk.index();
                while !stop.load(Ordering::Relaxed) {
                    let total =
                        index.ask(&Patient, |snapshot| snapshot.search("shared", &anywhere, 0, 5)).unwrap().total;
                    assert!(total >= 120, "{total}");
                }
            });
        }
        let index = desk.index();
        for number in 0..40 {
            desk.put(&format!("new/n{number}.rs"), format!("pub fn new{number}() {{ shared(); }}\n"));
            assert_eq!(found(&index, &format!("new{number}"))[0], format!("new/n{number}.rs"));
        }
        stop.store(true, Ordering::Relaxed);
    });
    assert_eq!(desk.index().ask(&Patient, |snapshot| snapshot.search("shared", &anywhere, 0, 5)).unwrap().total, 160);
}

#[test]
fn what_a_killed_process_left_is_swept_away() {
    let desk = filled(3);
    let index = desk.index();
    index.refresh(&Patient).unwrap();
    fs::write(desk.kept().join("segment-999"), "half").unwrap();
    fs::write(desk.kept().join("new-abc"), "half").unwrap();
    desk.put("more.rs", "fn more() {}\n");
    index.refresh(&Patient).unwrap();
    assert!(!desk.kept().join("segment-999").exists() && !desk.kept().join("new-abc").exists());
}

#[test]
fn indexes_of_folders_that_are_gone_can_be_removed() {
    let desk = filled(3);
    desk.index().refresh(&Patient).unwrap();
    let kept = desk.kept();
    remove_abandoned(&desk.indexes).unwrap();
    assert!(kept.exists());
    fs::remove_dir_all(&desk.workspace).unwrap();
    remove_abandoned(&desk.indexes).unwrap();
    assert!(!kept.exists());
}

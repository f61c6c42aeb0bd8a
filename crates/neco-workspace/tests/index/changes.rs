//! After any changes the index tells what a fresh one would.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use neco_workspace::index::{Index, Patient};
use proptest::prelude::*;

use crate::desk::{Desk, anywhere, found};

const NAMES: [&str; 6] = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta"];

#[derive(Clone, Debug)]
enum Step {
    Write { file: usize, defines: usize, uses: usize },
    Remove { file: usize },
    Rename { from: usize, to: usize },
    Touch { file: usize },
    Ignore { file: usize },
    Refresh,
}

fn step() -> impl Strategy<Value = Step> {
    let (file, name) = (0_usize..8, 0_usize..NAMES.len());
    prop_oneof![
        4 => (file.clone(), name.clone(), name).prop_map(|(file, defines, uses)| Step::Write { file, defines, uses }),
        1 => file.clone().prop_map(|file| Step::Remove { file }),
        1 => (file.clone(), file.clone()).prop_map(|(from, to)| Step::Rename { from, to }),
        1 => file.clone().prop_map(|file| Step::Touch { file }),
        1 => file.prop_map(|file| Step::Ignore { file }),
        3 => Just(Step::Refresh),
    ]
}

fn path(desk: &Desk, file: usize) -> std::path::PathBuf {
    desk.workspace.join(format!("part{}/file{file}.{}", file % 3, ["rs", "py", "md"][file % 3]))
}

fn take(desk: &Desk, index: &Index, step: &Step) {
    match step {
        Step::Write { file, defines, uses } => {
            let path = path(desk, *file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            let (name, used) = (NAMES[*defines], NAMES[*uses]);
            let text = match file % 3 {
                0 => format!("pub fn {name}() {{\n    {used}();\n}}\n"),
                1 => format!("def {name}():\n    {used}()\n"),
                _ => format!("About {name} and {used}.\n"),
            };
            fs::write(path, text).unwrap();
        }
        Step::Remove { file } => drop(fs::remove_file(path(desk, *file))),
        Step::Rename { from, to } => {
            let to = path(desk, *to);
            fs::create_dir_all(to.parent().unwrap()).unwrap();
            drop(fs::rename(path(desk, *from), to));
        }
        Step::Touch { file } => {
            if let Ok(file) = fs::File::options().write(true).open(path(desk, *file)) {
                file.set_modified(UNIX_EPOCH).unwrap();
            }
        }
        Step::Ignore { file } => fs::write(desk.workspace.join(".gitignore"), format!("file{file}.*\n")).unwrap(),
        Step::Refresh => drop(index.refresh(&Patient).unwrap()),
    }
}

/// All that the index tells.
fn told(index: &Index) -> String {
    index
        .ask(&Patient, |snapshot| {
            let mut told = format!("{} files\n", snapshot.files());
            for name in NAMES {
                told += &format!("{:?}\n", snapshot.search(name, &anywhere, 0, 100)?);
                told += &format!("{:?}\n", snapshot.definitions(name, None, &anywhere)?);
                told += &format!("{:?}\n", snapshot.references(name, &anywhere)?);
            }
            told += &format!("{:?}\n", snapshot.map(500, &anywhere)?);
            Ok(told)
        })
        .unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]
    #[test]
    fn an_index_that_followed_the_changes_tells_what_a_fresh_one_does(
        steps in prop::collection::vec(step(), 1..40),
    ) {
        let desk = Desk::new();
        let index = desk.index_in(&desk.indexes.with_extension("looking"));
        let followed = desk.index().followed();
        for step in &steps {
            take(&desk, &index, step);
            if matches!(step, Step::Refresh) {
                followed.refresh(&Patient).unwrap();
            }
        }
        let fresh = desk.index_in(&desk.indexes.with_extension("fresh"));
        let expected = told(&fresh);
        prop_assert_eq!(told(&index), expected.clone());
        prop_assert_eq!(told(&followed), expected);
    }
}

#[test]
fn many_small_changes_leave_few_files() {
    let desk = Desk::new();
    let index = desk.index();
    for round in 0..100 {
        desk.put(&format!("file{}.rs", round % 40), format!("fn round{round}() {{ common(); }}\n"));
        index.refresh(&Patient).unwrap();
    }
    let files = fs::read_dir(desk.kept()).unwrap().count();
    assert!(files < 24, "{files}");
    assert_eq!(found(&index, "round99"), ["file19.rs"]);
    assert_eq!(found(&index, "round59"), Vec::<String>::new(), "its file was written again");
    let fresh = desk.index_in(&desk.indexes.with_extension("fresh"));
    assert_eq!(found(&index, "common"), found(&fresh, "common"));
}

#[test]
fn a_change_that_keeps_size_and_time_is_seen() {
    let desk = Desk::new();
    let index = desk.index();
    desk.put("a.md", "first words\n");
    assert_eq!(found(&index, "first"), ["a.md"]);
    let time = fs::metadata(desk.workspace.join("a.md")).unwrap().modified().unwrap();
    desk.put("a.md", "other words\n");
    fs::File::options().write(true).open(desk.workspace.join("a.md")).unwrap().set_modified(time).unwrap();
    assert_eq!(found(&index, "other"), ["a.md"]);
    assert_eq!(found(&index, "first"), Vec::<String>::new());
}

#[test]
fn nothing_changed_means_nothing_written() {
    let desk = Desk::new();
    let index = desk.index();
    desk.put("a.md", "words\n");
    let old = SystemTime::now() - Duration::from_secs(60);
    fs::File::options().write(true).open(desk.workspace.join("a.md")).unwrap().set_modified(old).unwrap();
    index.refresh(&Patient).unwrap();
    // The time of the last change can't be set back: the file settles when that is two seconds ago.
    let file = fs::metadata(desk.workspace.join("a.md")).unwrap();
    let changed = Duration::new(file.ctime() as u64, file.ctime_nsec() as u32);
    while UNIX_EPOCH + changed + Duration::from_secs(2) >= SystemTime::now() {
        std::thread::sleep(Duration::from_millis(10));
    }
    index.refresh(&Patient).unwrap();
    let kept = |desk: &Desk| fs::metadata(Path::new(&desk.kept()).join("manifest")).unwrap().modified().unwrap();
    let before = kept(&desk);
    index.refresh(&Patient).unwrap();
    desk.index().refresh(&Patient).unwrap();
    assert_eq!(kept(&desk), before);
}

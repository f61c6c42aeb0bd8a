//! What no state holds is told when it changed, costs nothing when states are kept, and progress is told.

use std::fs;
use std::sync::{Arc, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};

use neco_workspace::checkpoint::{Agreed, Kept, Progress, RestoreOptions};

use super::conformance::on_all;
use super::desk::git;

fn now_ms() -> i64 {
    i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis()).unwrap()
}

fn options(since_ms: i64) -> RestoreOptions {
    let since_ms = Some(since_ms);
    RestoreOptions { session: "s".to_owned(), agreed: Agreed::Anything, since_ms, ..RestoreOptions::default() }
}

fn told(lost: &[Kept]) -> Vec<String> {
    lost.iter().map(|lost| format!("{} {}", lost.path.display(), lost.reason)).collect()
}

#[test]
fn what_is_left_out_and_changed_since_is_told() {
    on_all(|desk| {
        desk.write(".gitignore", "/ign/\n*.log\n");
        desk.write("big.bin", vec![b'x'; 2000]);
        desk.write("untouched.bin", vec![b'x'; 2000]);
        for name in [".env", "ign/x", "ign/y", "a.log", "gone.log", "a.txt"] {
            desk.write(name, "one");
        }
        let first = desk.before();
        // So long that clocks of file systems tell it apart.
        std::thread::sleep(std::time::Duration::from_millis(40));
        let then = now_ms();
        assert_eq!(told(&desk.points.preview(&first.rev, &options(then)).unwrap().lost), Vec::<String>::new());
        desk.write("big.bin", vec![b'y'; 3000]);
        for name in [".env", "ign/x", "ign/new", "a.log", "a.txt"] {
            desk.write(name, "two");
        }
        desk.remove("gone.log");
        desk.after();
        let expected = [
            ".env was changed since and can't come back: it may hold secrets, so no checkpoint has it",
            "a.log was changed since and can't come back: it is ignored, so no checkpoint has it",
            "big.bin was changed since and can't come back: it is too big for checkpoints",
            "gone.log is gone since and can't come back: it is ignored, so no checkpoint has it",
            "ign has 2 files in it that were changed since and can't come back: it is ignored, so no checkpoint has it",
        ];
        assert_eq!(told(&desk.points.preview(&first.rev, &options(then)).unwrap().lost), expected);
        let went = desk.points.restore(&first.rev, &options(then), &mut |_| Ok(())).unwrap();
        assert_eq!((told(&went.lost), desk.read("a.txt").as_str()), (expected.map(str::to_owned).to_vec(), "one"));
        assert_eq!(desk.read(".env"), "two", "it is not touched");
    });
}

#[test]
fn hooks_and_settings_of_git_stay_and_are_told() {
    on_all(|desk| {
        git(&desk.root, &["init", "-q"]);
        desk.write(".git/hooks/old", "one");
        desk.write("a.txt", "one");
        let first = desk.before();
        // So long that clocks of file systems tell it apart.
        std::thread::sleep(std::time::Duration::from_millis(40));
        let then = now_ms();
        assert_eq!(told(&desk.points.preview(&first.rev, &options(then)).unwrap().lost), Vec::<String>::new());
        for name in [".git/hooks/pre-commit", ".git/hooks/any.sample", "a.txt"] {
            desk.write(name, "two");
        }
        git(&desk.root, &["config", "user.name", "Somebody"]);
        desk.after();
        let expected = [".git/config", ".git/hooks/pre-commit"].map(|path| {
            format!("{path} was made or changed since and stays as it is: no checkpoint holds what is in git's folder")
        });
        assert_eq!(told(&desk.points.preview(&first.rev, &options(then)).unwrap().lost), expected);
        let went = desk.points.restore(&first.rev, &options(then), &mut |_| Ok(())).unwrap();
        assert_eq!((told(&went.lost), desk.read("a.txt").as_str()), (expected.to_vec(), "one"));
        assert_eq!(desk.read(".git/hooks/pre-commit"), "two", "it is not touched");
    });
}

#[test]
fn what_is_left_out_makes_no_state_of_its_own() {
    on_all(|desk| {
        desk.write("a.txt", "one");
        desk.write("log.bin", vec![b'x'; 2000]);
        desk.write(".env", "A=1");
        let first = desk.before();
        desk.write("log.bin", vec![b'x'; 3000]);
        desk.write(".env", "A=2");
        let second = desk.before();
        assert_eq!((second.rev, second.is_new), (first.rev, false));
    });
}

#[test]
fn how_far_it_is_is_told_to_the_end() {
    on_all(|desk| {
        for number in 0..30 {
            desk.write(&format!("f{number}"), "one");
        }
        let first = desk.before();
        for number in 0..20 {
            desk.write(&format!("f{number}"), "two");
        }
        fs::remove_file(desk.path("f29")).unwrap();
        desk.write("new", "two");
        desk.after();
        let heard: Arc<Mutex<Vec<(usize, usize)>>> = Arc::default();
        let hears = Arc::clone(&heard);
        let progress = Progress::new(move |done, total| hears.lock().unwrap().push((done, total)));
        let options = RestoreOptions { progress, ..options(0) };
        desk.points.restore(&first.rev, &options, &mut |_| Ok(())).unwrap();
        let heard = heard.lock().unwrap();
        assert!(heard.is_sorted() && heard.len() > 20, "{heard:?}");
        assert_eq!(heard.last(), Some(&(22, 22)));
    });
}

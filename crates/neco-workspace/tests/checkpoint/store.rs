//! The store: damaged, pruned, moved, and where there is none.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use neco_proto::event::CheckpointWhen;
use neco_workspace::checkpoint::{
    Agreed, Backend, CheckpointError, Checkpoints, JjCheckpoints, LeaveOutSettings, Place, RestoreOptions, Typed,
    Unsaved, open, store_folder,
};

use super::desk::{ALL, Desk, Kind, git, note};

#[test]
fn a_damaged_store_is_put_aside_and_a_new_one_begun_with_a_notice() {
    type Damage = fn(&Path);
    let ways: [(&str, Damage); 4] = [
        ("objects are gone", |store| fs::remove_dir_all(store.join("git/objects")).unwrap()),
        ("the newest point has no name", |store| fs::write(store.join("git/refs/heads/checkpoints"), "x").unwrap()),
        ("the newest point is missing", |store| {
            let head = fs::read_to_string(store.join("git/refs/heads/checkpoints")).unwrap();
            fs::remove_file(store.join("git/objects").join(&head[..2]).join(head[2..].trim())).unwrap();
        }),
        ("the newest point is not whole", |store| {
            let head = fs::read_to_string(store.join("git/refs/heads/checkpoints")).unwrap();
            let object = store.join("git/objects").join(&head[..2]).join(head[2..].trim());
            fs::remove_file(&object).unwrap();
            fs::write(object, "").unwrap();
        }),
    ];
    for (name, damage) in ways {
        let desk = Desk::new(Kind::Jj);
        desk.write("a", "one");
        desk.before();
        damage(&desk.store);
        desk.write("a", "two");
        let points = desk.again();
        let kept = points.snapshot(&note(CheckpointWhen::Before, "s")).unwrap();
        assert!(kept.is_new && kept.parent.is_none(), "{name}: {kept:?}");
        assert!(kept.notices.iter().any(|notice| notice.contains("put aside")), "{name}: {kept:?}");
        assert!(desk.store.join("damaged-1").is_dir(), "{name}: what is left is kept");
        desk.write("a", "three");
        points.snapshot(&note(CheckpointWhen::After, "s")).unwrap();
        assert_eq!(points.list().unwrap().len(), 2, "{name}");
    }
}

#[test]
fn a_line_of_commits_that_is_damaged_is_put_aside_too() {
    let desk = Desk::new(Kind::Git);
    desk.write("a", "one");
    desk.before();
    git(&desk.root, &["pack-refs", "--all"]);
    desk.write("a", "two");
    let second = desk.after();
    fs::remove_file(desk.path(".git/objects").join(&second.rev[..2]).join(&second.rev[2..])).unwrap();
    desk.write("a", "three");
    let kept = desk.again().snapshot(&note(CheckpointWhen::Before, "s")).unwrap();
    assert!(kept.parent.is_none() && kept.notices[0].contains("refs/neco/damaged/one-1"), "{kept:?}");
    assert_eq!(desk.again().list().unwrap().len(), 1);
}

#[test]
fn a_state_of_which_nothing_is_whole_is_not_restored_and_nothing_is_touched() {
    let desk = Desk::new(Kind::Jj);
    desk.write("a", "one");
    desk.write("b", "one too");
    let first = desk.before();
    desk.write("a", "two");
    desk.write("b", "two");
    desk.after();
    for name in ["a", "b"] {
        fs::remove_file(content(&desk, &first.rev, name)).unwrap();
    }
    let options = RestoreOptions { session: "s".to_owned(), ..Default::default() };
    let refused = desk.points.restore(&first.rev, &options, &mut |_| Ok(()));
    assert!(matches!(refused, Err(CheckpointError::Damaged(_))), "{refused:?}");
    assert_eq!((desk.read("a").as_str(), desk.read("b").as_str()), ("two", "two"));
}

#[test]
fn one_content_that_is_damaged_keeps_no_other_file_back() {
    let desk = Desk::new(Kind::Jj);
    for name in ["a", "b", "c"] {
        desk.write(name, format!("{name} then"));
    }
    let then = desk.before();
    for name in ["a", "b", "c"] {
        desk.write(name, format!("{name} now"));
    }
    desk.after();
    let object = content(&desk, &then.rev, "b");
    fs::remove_file(&object).unwrap();
    fs::write(&object, "nonsense").unwrap();
    let restored = desk.back(&then.rev);
    assert_eq!([desk.read("a"), desk.read("b"), desk.read("c")], ["a then", "b now", "c then"]);
    let kept = &restored.kept[0];
    assert_eq!((restored.kept.len(), kept.path.to_str()), (1, Some("b")));
    assert!(kept.reason.starts_with("what it held then can't be read any more"), "{}", kept.reason);
}

#[test]
fn a_torn_or_missing_cache_is_no_harm() {
    for text in [Some(""), Some("necofs01 nonsense"), None] {
        let desk = Desk::new(Kind::Jj);
        desk.write("a", "one");
        let first = desk.before();
        match text {
            Some(text) => fs::write(desk.store.join("files"), text).unwrap(),
            None => fs::remove_file(desk.store.join("files")).unwrap(),
        }
        assert_eq!(desk.again().snapshot(&note(CheckpointWhen::Before, "s")).unwrap().rev, first.rev);
    }
}

#[test]
fn old_states_are_pruned_and_the_rest_goes_on() {
    let desk = Desk::new(Kind::Jj);
    let revs: Vec<String> = (0..6)
        .map(|number| {
            desk.write("a", format!("{number}"));
            desk.write(&format!("only-{number}"), format!("content {number}").repeat(50));
            if number > 0 {
                desk.remove(&format!("only-{}", number - 1));
            }
            desk.after().rev
        })
        .collect();
    assert_eq!(desk.points.prune(0).unwrap().points, 0, "nothing is that old");
    assert_eq!(desk.points.list().unwrap().len(), 6);
    let pruned = desk.points.prune(i64::MAX).unwrap();
    assert_eq!(pruned.points, 5, "the newest one stays");
    assert_eq!(desk.points.list().unwrap().len(), 1);
    assert!(matches!(desk.points.diff(&revs[0], Some(&revs[5])), Err(CheckpointError::Unknown(_))));
    desk.write("a", "after it");
    let next = desk.after();
    assert_eq!(next.parent.as_ref(), Some(&revs[5]));
    assert_eq!(desk.again().list().unwrap().len(), 2);
    git(&desk.store.join("git"), &["fsck", "--strict"]);
    assert_eq!(git(&desk.store.join("git"), &["log", "--format=%H", &next.rev]).lines().count(), 2);
    desk.back(&revs[5]);
    assert_eq!(desk.read("a"), "5");
    assert!(!desk.store.join("git.old").exists());
    assert!(desk.points.size().unwrap() > 0);
}

/// What Jujutsu's log of operations says, newest first.
/// Where the content of a file at a point lies.
fn content(desk: &Desk, rev: &str, name: &str) -> PathBuf {
    let id = git(&desk.store.join("git"), &["rev-parse", &format!("{rev}:{name}")]);
    desk.store.join("git/objects").join(&id[..2]).join(id[2..].trim())
}

fn operations(desk: &Desk) -> Vec<String> {
    use futures::TryStreamExt;
    let mut config = jj_lib::config::StackedConfig::with_defaults();
    let text = "user.name='t'\nuser.email='t'\noperation.hostname='t'\noperation.username='t'";
    config.add_layer(jj_lib::config::ConfigLayer::parse(jj_lib::config::ConfigSource::User, text).unwrap());
    let settings = jj_lib::settings::UserSettings::from_config(config).unwrap();
    let stores = jj_lib::default_backend_factories::default_backend_factories();
    let loader = jj_lib::repo::RepoLoader::init_from_file_system(&settings, &desk.store.join("repo"), &stores).unwrap();
    let repo = futures::executor::block_on(loader.load_at_head()).unwrap();
    let head = repo.operation().clone();
    let walk = jj_lib::op_walk::walk_ancestors(&[head]).try_collect::<Vec<_>>();
    let all = futures::executor::block_on(walk).unwrap();
    all.iter().map(|operation| operation.metadata().description.clone()).collect()
}

#[test]
fn every_point_is_an_operation_of_jujutsus_log_and_a_lost_log_is_made_anew() {
    let desk = Desk::new(Kind::Jj);
    desk.write("a", "one");
    desk.before();
    assert!(!desk.store.join("repo").exists(), "nobody waits for it");
    desk.points.settle().unwrap();
    for text in ["two", "three"] {
        desk.write("a", text);
        desk.after();
    }
    // Another process adds what this one did not get to.
    desk.again().settle().unwrap();
    let told = ["checkpoint: after something", "checkpoint: after something", "checkpoint: before something"];
    assert_eq!(operations(&desk)[..3], told);
    let damages: [fn(&Path); 3] = [
        |repo| fs::remove_dir_all(repo.join("op_store")).unwrap(),
        |repo| fs::write(repo.join("store/type"), "nonsense").unwrap(),
        |repo| fs::remove_dir_all(repo).unwrap(),
    ];
    for damage in damages {
        damage(&desk.store.join("repo"));
        let points = desk.again();
        points.settle().unwrap();
        assert_eq!(operations(&desk)[..3], told);
        assert_eq!(points.list().unwrap().len(), 3);
    }
    desk.points.prune(i64::MAX).unwrap();
    desk.points.settle().unwrap();
    assert_eq!(operations(&desk)[0], told[0]);
    assert_eq!(operations(&desk).len(), 2, "{:?}", operations(&desk));
}

#[test]
fn what_a_power_cut_left_half_written_is_written_anew() {
    let desk = Desk::new(Kind::Jj);
    desk.write("a", "one");
    let first = desk.before();
    assert!(desk.store.join("unsettled").exists());
    let object = content(&desk, &first.rev, "a");
    fs::remove_file(&object).unwrap();
    fs::write(&object, "").unwrap();
    fs::write(desk.store.join("unsettled"), "another start of the machine").unwrap();
    desk.write("b", "two");
    let points = desk.again();
    points.snapshot(&note(CheckpointWhen::Before, "s")).unwrap();
    git(&desk.store.join("git"), &["fsck", "--strict"]);
    points.settle().unwrap();
    assert!(!desk.store.join("unsettled").exists());
}

#[test]
fn a_prune_that_was_cut_short_loses_nothing() {
    let desk = Desk::new(Kind::Jj);
    desk.write("a", "one");
    let first = desk.before();
    fs::rename(desk.store.join("git"), desk.store.join("git.old")).unwrap();
    fs::create_dir_all(desk.store.join("git.new/objects")).unwrap();
    let points = desk.again();
    assert_eq!(points.list().unwrap()[0].rev, first.rev);
    desk.write("a", "two");
    assert_eq!(points.snapshot(&note(CheckpointWhen::After, "s")).unwrap().parent, Some(first.rev));
}

#[test]
fn a_workspace_that_was_moved_finds_its_store() {
    let folder = tempfile::tempdir().unwrap();
    let (old, new, stores) = (folder.path().join("old"), folder.path().join("new"), folder.path().join("stores"));
    fs::create_dir(&old).unwrap();
    fs::write(old.join("a"), "one").unwrap();
    let at = |root: &Path| {
        let store = store_folder(&stores, root);
        JjCheckpoints::new(Place {
            root: root.to_owned(),
            store,
            home: None,
            settings: LeaveOutSettings::default(),
            unsaved: Default::default(),
        })
    };
    let first = at(&old).snapshot(&note(CheckpointWhen::Before, "s")).unwrap();
    fs::rename(&old, &new).unwrap();
    assert_eq!(at(&new).list().unwrap()[0].rev, first.rev);
    fs::create_dir(&old).unwrap();
    assert_eq!(at(&old).list().unwrap(), [], "another folder in its place has none");
}

#[test]
fn a_workspace_that_is_at_two_places_has_one_store() {
    let folder = tempfile::tempdir().unwrap();
    let (one, stores) = (folder.path().join("one"), folder.path().join("stores"));
    fs::create_dir(&one).unwrap();
    let first = store_folder(&stores, &one);
    let place = Place {
        root: one.clone(),
        store: first.clone(),
        home: None,
        settings: LeaveOutSettings::default(),
        unsaved: Default::default(),
    };
    JjCheckpoints::new(place).snapshot(&note(CheckpointWhen::Before, "s")).unwrap();
    // As a mount would show it: another path, the same folder.
    let other = folder.path().join("two/../one");
    fs::create_dir(folder.path().join("two")).unwrap();
    assert_eq!(store_folder(&stores, &other), first, "it is not taken from whoever may use it");
    assert!(first.is_dir());
}

#[test]
fn nobodys_home_is_kept_as_a_whole() {
    let desk = Desk::new(Kind::Memory);
    let home = desk.path("people/me");
    for (root, refused) in [(desk.root.clone(), true), (home.clone(), true), (home.join("project"), false)] {
        fs::create_dir_all(&root).unwrap();
        let place = Place {
            root,
            store: desk.store.clone(),
            home: Some(home.clone()),
            settings: Default::default(),
            unsaved: Default::default(),
        };
        let kept = JjCheckpoints::new(place).snapshot(&note(CheckpointWhen::Before, "s"));
        assert_eq!(matches!(kept, Err(CheckpointError::NotAProject { .. })), refused, "{kept:?}");
    }
}

#[test]
fn without_a_repository_that_git_can_use_jj_stands_in() {
    let desk = Desk::new(Kind::Jj);
    let place = Place {
        root: desk.root.clone(),
        store: desk.store.clone(),
        home: None,
        settings: Default::default(),
        unsaved: Default::default(),
    };
    let (points, notice) = open(Backend::Git, place.clone());
    assert_eq!(points.backend(), "jj");
    assert!(notice.unwrap().contains("no git repository"));
    git(&desk.root, &["init", "-q"]);
    let (points, notice) = open(Backend::Git, place.clone());
    assert_eq!((points.backend(), notice), ("git", None));
    git(&desk.root, &["config", "extensions.objectformat", "sha256"]);
    assert_eq!(open(Backend::Git, place).0.backend(), "jj");
}

#[test]
fn a_store_inside_the_workspace_is_no_part_of_it() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a"), "x").unwrap();
    let store = folder.path().join("data/checkpoints/x");
    let place = Place {
        root: folder.path().to_owned(),
        store,
        home: None,
        settings: Default::default(),
        unsaved: Default::default(),
    };
    let points = JjCheckpoints::new(place);
    let first = points.snapshot(&note(CheckpointWhen::Before, "s")).unwrap();
    assert!(!points.snapshot(&note(CheckpointWhen::After, "s")).unwrap().is_new, "{first:?}");
}

#[test]
fn what_neco_keeps_inside_the_workspace_is_no_part_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let own = folder.path().join("data");
    fs::create_dir_all(&own).unwrap();
    fs::write(own.join("neco.db"), "one").unwrap();
    fs::write(folder.path().join("a"), "one").unwrap();
    let settings = LeaveOutSettings { own: Some(own.clone()), ..LeaveOutSettings::default() };
    let place = Place {
        root: folder.path().to_owned(),
        store: own.join("checkpoints/x"),
        home: None,
        settings,
        unsaved: Default::default(),
    };
    let points = JjCheckpoints::new(place);
    let first = points.snapshot(&note(CheckpointWhen::Before, "s")).unwrap();
    fs::write(own.join("neco.db"), "two").unwrap();
    fs::write(folder.path().join("a"), "two").unwrap();
    points.snapshot(&note(CheckpointWhen::After, "s")).unwrap();
    let options = RestoreOptions { session: "s".to_owned(), ..RestoreOptions::default() };
    points.restore(&first.rev, &options, &mut |_| Ok(())).unwrap();
    assert_eq!(fs::read_to_string(own.join("neco.db")).unwrap(), "two");
    assert_eq!(fs::read_to_string(folder.path().join("a")).unwrap(), "one");
}

#[test]
fn several_at_once_do_not_disturb_each_other() {
    for kind in ALL {
        let desk = Desk::new(kind);
        desk.write("a", "start");
        desk.before();
        let all: Vec<Arc<dyn Checkpoints>> = match kind {
            Kind::Memory => vec![Arc::clone(&desk.points); 4],
            Kind::Jj | Kind::Git => (0..4).map(|_| desk.again()).collect(),
        };
        std::thread::scope(|scope| {
            for (number, points) in all.iter().enumerate() {
                let desk = &desk;
                scope.spawn(move || {
                    for step in 0..5 {
                        desk.write(&format!("f{number}"), format!("{step}"));
                        points.snapshot(&note(CheckpointWhen::After, &format!("s{number}"))).unwrap();
                    }
                });
            }
        });
        desk.after();
        let points = desk.points.list().unwrap();
        assert!(points.len() >= 5, "{kind:?}: {}", points.len());
        let diff = desk.points.diff(&points.last().unwrap().rev, Some(&points[0].rev)).unwrap();
        assert_eq!(diff.len(), 4, "{kind:?}");
    }
}

#[test]
fn what_is_typed_and_not_saved_is_part_of_the_states_of_files_that_are_kept() {
    let desk = Desk::new(Kind::Jj);
    desk.write("src/a.txt", "saved");
    desk.write(".env", "KEY=1");
    let typed: Arc<Mutex<Vec<Typed>>> = Arc::default();
    let tells = Arc::clone(&typed);
    let place = Place {
        root: desk.root.clone(),
        store: desk.store.clone(),
        home: None,
        settings: Default::default(),
        unsaved: Unsaved::new(move |_, _| tells.lock().unwrap().clone()),
    };
    let points = JjCheckpoints::new(place);
    let keep = |when| points.snapshot(&note(when, "s")).unwrap();
    keep(CheckpointWhen::Before);
    let of = |path: &str, text: &str| (path.into(), text.as_bytes().to_vec());
    let never_saved = [of("none/b.txt", "new"), of("none/.env", "KEY=3")];
    *typed.lock().unwrap() = [&[of("src/a.txt", "typed"), of(".env", "KEY=2")], &never_saved[..]].concat();
    let before = keep(CheckpointWhen::Before);
    let changed: Vec<_> = before.changed.iter().map(|change| change.path.display().to_string()).collect();
    assert_eq!(changed, ["none/b.txt", "src/a.txt"], "what is left out is part of no state");
    assert!(!keep(CheckpointWhen::After).is_new, "nothing was typed since");
    typed.lock().unwrap().clear();
    desk.write("src/a.txt", "edited");
    desk.write("none/b.txt", "saved");
    keep(CheckpointWhen::After);
    let options = RestoreOptions { session: "s".to_owned(), ..RestoreOptions::default() };
    points.restore(&before.rev, &options, &mut |_| Ok(())).unwrap();
    assert_eq!((desk.read("src/a.txt").as_str(), desk.read(".env").as_str()), ("typed", "KEY=1"));
    assert_eq!(desk.read("none/b.txt"), "new");
}

#[test]
fn what_was_never_saved_stays_with_whoever_types_it() {
    let desk = Desk::new(Kind::Jj);
    desk.write("a.txt", "one");
    let typed: Arc<Mutex<Vec<Typed>>> = Arc::default();
    let tells = Arc::clone(&typed);
    let place = Place {
        root: desk.root.clone(),
        store: desk.store.clone(),
        home: None,
        settings: Default::default(),
        unsaved: Unsaved::new(move |_, _| tells.lock().unwrap().clone()),
    };
    let points = JjCheckpoints::new(place);
    let first = points.snapshot(&note(CheckpointWhen::Before, "s")).unwrap();
    *typed.lock().unwrap() = vec![("new.txt".into(), b"typed".to_vec())];
    desk.write("a.txt", "two");
    let second = points.snapshot(&note(CheckpointWhen::After, "s")).unwrap();
    let options = RestoreOptions { session: "s".to_owned(), ..RestoreOptions::default() };
    // Before it was typed there was no such file, and there is none that could go.
    let restored = points.restore(&first.rev, &options, &mut |_| Ok(())).unwrap();
    assert_eq!((desk.read("a.txt").as_str(), restored.kept.as_slice()), ("one", &[][..]));
    // What is another text in the editor by now comes as the file that it was.
    *typed.lock().unwrap() = vec![("new.txt".into(), b"typed on".to_vec())];
    let options = RestoreOptions { agreed: Agreed::Anything, ..options };
    points.restore(&second.rev, &options, &mut |_| Ok(())).unwrap();
    assert_eq!((desk.read("a.txt").as_str(), desk.read("new.txt").as_str()), ("two", "typed"));
}

#[test]
fn what_is_typed_in_a_file_that_would_go_back_is_somebody_elses() {
    let desk = Desk::new(Kind::Jj);
    desk.write("a.txt", "one");
    // Nobody has come upon it: it is told of when it is asked for, and from then on.
    let known = Arc::new(Mutex::new(false));
    let tells = move |_: &Path, files: &[PathBuf]| -> Vec<Typed> {
        let mut known = known.lock().unwrap();
        *known |= files.iter().any(|file| file == Path::new("a.txt"));
        if *known { vec![("a.txt".into(), b"typed".to_vec())] } else { Vec::new() }
    };
    let place = Place {
        root: desk.root.clone(),
        store: desk.store.clone(),
        home: None,
        settings: Default::default(),
        unsaved: Unsaved::new(tells),
    };
    let points = JjCheckpoints::new(place);
    let before = points.snapshot(&note(CheckpointWhen::Before, "s")).unwrap();
    desk.write("a.txt", "two");
    points.snapshot(&note(CheckpointWhen::After, "s")).unwrap();
    let options = RestoreOptions { session: "s".to_owned(), ..RestoreOptions::default() };
    let preview = points.preview(&before.rev, &options).unwrap();
    assert!(preview.changes[0].by_others, "{preview:?}");
    assert!(points.restore(&before.rev, &options, &mut |_| Ok(())).is_err());
    assert_eq!(desk.read("a.txt"), "two");
    // Who agrees has the file as it was, and what was typed in the state before that.
    let options = RestoreOptions { agreed: Agreed::Anything, ..options };
    let restored = points.restore(&before.rev, &options, &mut |_| Ok(())).unwrap();
    assert_eq!((desk.read("a.txt").as_str(), restored.kept.as_slice()), ("one", &[][..]));
    let kept = points.diff(&before.rev, Some(&restored.undo.rev)).unwrap();
    assert!(kept[0].text.contains("+typed"), "{kept:?}");
}

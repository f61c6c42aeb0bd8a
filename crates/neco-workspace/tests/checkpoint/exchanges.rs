//! What was said is kept with the states of the files, and a session is a branch.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use neco_proto::SessionId;
use neco_proto::event::CheckpointWhen;
use neco_workspace::checkpoint::{
    CheckpointError, Exchanges as _, NewExchange, SessionExchanges, forget_sessions, open_store,
};

use super::desk::{ALL, Desk, Kind, git, note};

fn said(number: u64, words: &str, files: Option<&str>) -> NewExchange {
    NewExchange {
        message: words.to_owned(),
        events: (number * 10 + 1, number * 10 + 10),
        time_ms: 1_700_000_000_000 + i64::try_from(number).unwrap() * 60_000,
        files: files.map(str::to_owned),
        conversation: format!("{{\"number\":{number},\"words\":\"{words}\"}}\n").into_bytes(),
    }
}

fn messages(found: &SessionExchanges) -> (Vec<&str>, Vec<&str>) {
    let present = found.present.iter().map(|one| one.message.as_str()).collect();
    (present, found.rewound.iter().map(|one| one.message.as_str()).collect())
}

#[test]
fn exchanges_go_on_go_back_and_are_forked_in_every_backend() {
    for kind in ALL {
        let desk = Desk::new(kind);
        let (one, two) = (SessionId::new(), SessionId::new());
        assert_eq!(desk.points.newest_exchange(one).unwrap(), None, "{kind:?}");
        assert_eq!(desk.points.exchanges(one).unwrap(), SessionExchanges::default());
        desk.write("a", "one");
        let state = desk.after().rev;
        let first = desk.points.keep_exchanges(one, None, &[said(1, "first", Some(&state))]).unwrap().unwrap();
        let newest = desk.points.newest_exchange(one).unwrap().unwrap();
        assert_eq!((newest.rev.as_str(), newest.number, newest.files.as_ref()), (first.as_str(), 1, Some(&state)));
        let more = [said(2, "second", None), said(3, "third", None)];
        let third = desk.points.keep_exchanges(one, Some(&first), &more).unwrap().unwrap();
        assert_eq!(messages(&desk.points.exchanges(one).unwrap()), (vec!["first", "second", "third"], vec![]));
        assert_eq!(desk.points.conversation(&third).unwrap().1.len(), 3);
        assert_eq!(desk.points.conversation(&third[..8]).unwrap().0.number, 3, "the beginning of a name will do");
        assert!(desk.points.conversation("0000").is_err() && desk.points.conversation("0").is_err());

        // Going back, something else, and back to where it was.
        desk.points.keep_exchanges(one, Some(&first), &[]).unwrap();
        assert_eq!(messages(&desk.points.exchanges(one).unwrap()), (vec!["first"], vec!["second", "third"]));
        let other = desk.points.keep_exchanges(one, Some(&first), &[said(5, "other", None)]).unwrap().unwrap();
        let kept = desk.points.exchanges(one).unwrap();
        assert_eq!(messages(&kept), (vec!["first", "other"], vec!["second", "third"]), "{kind:?}");
        desk.points.keep_exchanges(one, Some(&third), &[said(7, "fourth", None)]).unwrap();
        let kept = desk.points.exchanges(one).unwrap();
        assert_eq!(messages(&kept), (vec!["first", "second", "third", "fourth"], vec!["other"]), "{kind:?}");

        // A fork shares what was before it.
        desk.points.keep_exchanges(two, Some(&other), &[said(8, "of the fork", None)]).unwrap();
        assert_eq!(messages(&desk.points.exchanges(two).unwrap()).0, ["first", "other", "of the fork"]);
        let sessions: Vec<SessionId> = desk.points.sessions().unwrap().into_iter().map(|(id, _)| id).collect();
        assert_eq!(sessions, [one, two]);
        // Everything may be gone back over.
        desk.points.keep_exchanges(two, None, &[]).unwrap();
        assert_eq!(desk.points.newest_exchange(two).unwrap(), None);
        assert_eq!(desk.points.exchanges(two).unwrap().rewound.len(), 3);
    }
}

#[test]
fn jujutsu_reads_sessions_as_bookmarks_and_needs_no_working_copy() {
    let desk = Desk::new(Kind::Jj);
    let session = SessionId::new();
    desk.write("a", "one");
    let state = desk.after().rev;
    let first = desk.points.keep_exchanges(session, None, &[said(1, "first", Some(&state))]).unwrap().unwrap();
    desk.points.settle().unwrap();
    desk.points.keep_exchanges(session, Some(&first), &[said(2, "second", None)]).unwrap();
    desk.points.keep_exchanges(session, Some(&first), &[said(3, "third", None)]).unwrap();
    desk.again().settle().unwrap();

    let mut config = jj_lib::config::StackedConfig::with_defaults();
    let text = "user.name='t'\nuser.email='t'\noperation.hostname='t'\noperation.username='t'";
    config.add_layer(jj_lib::config::ConfigLayer::parse(jj_lib::config::ConfigSource::User, text).unwrap());
    let settings = jj_lib::settings::UserSettings::from_config(config).unwrap();
    let stores = jj_lib::default_backend_factories::default_backend_factories();
    let copies = jj_lib::default_backend_factories::default_working_copy_factories();
    // As `jj -R` does it.
    let workspace = jj_lib::workspace::Workspace::load(&settings, &desk.store, &stores, &copies).unwrap();
    let repo = futures::executor::block_on(workspace.repo_loader().load_at_head()).unwrap();
    use jj_lib::repo::Repo as _;
    let bookmarks: Vec<(String, String)> = repo
        .view()
        .local_bookmarks()
        .map(|(name, target)| {
            let commit = repo.store().get_commit(target.as_normal().unwrap()).unwrap();
            (name.as_str().to_owned(), commit.description().lines().next().unwrap().to_owned())
        })
        .collect();
    let wanted = [(format!("rewound/{session}-1"), "second"), (format!("session/{session}"), "third")];
    assert_eq!(bookmarks, wanted.map(|(name, words)| (name, words.to_owned())));
    assert!(repo.view().get_wc_commit_id(workspace.workspace_name()).is_none(), "there is nothing it could look at");
    assert_eq!(repo.operation().metadata().description.lines().count(), 2, "all that is new is one operation");
}

#[test]
fn pruning_keeps_the_newest_of_each_session_with_all_that_was_said() {
    let desk = Desk::new(Kind::Jj);
    let session = SessionId::new();
    let mut after: Option<String> = None;
    for number in 1..=3 {
        desk.write("a", format!("{number}"));
        let state = desk.after().rev;
        let new = [said(number, &format!("say {number}"), Some(&state))];
        after = desk.points.keep_exchanges(session, after.as_deref(), &new).unwrap();
    }
    desk.points.settle().unwrap();
    desk.points.prune(i64::MAX).unwrap();
    let kept = desk.again().exchanges(session).unwrap();
    assert_eq!(messages(&kept).0, ["say 3"]);
    assert_eq!(desk.points.conversation(&kept.present[0].rev).unwrap().1.len(), 3, "nothing that was said is gone");
    let store = desk.store.join("git");
    git(&store, &["fsck", "--strict"]);
    assert_eq!(git(&store, &["show", &format!("session/{session}:files/a")]), "3");
    desk.points.settle().unwrap();
    desk.points.keep_exchanges(session, after.as_deref(), &[said(4, "say 4", None)]).unwrap();
    assert_eq!(desk.points.newest_exchange(session).unwrap().unwrap().number, 4);
}

#[test]
fn what_is_damaged_was_never_there_and_is_written_again_under_the_same_names() {
    let desk = Desk::new(Kind::Jj);
    let session = SessionId::new();
    let new = [said(1, "first", None), said(2, "second", None)];
    let tip = desk.points.keep_exchanges(session, None, &new).unwrap().unwrap();
    let object = |id: &str| desk.store.join("git/objects").join(&id[..2]).join(&id[2..]);
    fs::remove_file(object(&tip)).unwrap();
    assert_eq!(desk.points.newest_exchange(session).unwrap(), None);
    assert_eq!(desk.points.keep_exchanges(session, None, &new).unwrap(), Some(tip.clone()));
    assert_eq!(messages(&desk.points.exchanges(session).unwrap()), (vec!["first", "second"], vec![]));
    fs::write(desk.store.join("git/refs/heads/session").join(session.to_string()), "nonsense").unwrap();
    assert_eq!(desk.points.newest_exchange(session).unwrap(), None);
    assert_eq!(desk.points.keep_exchanges(session, None, &new).unwrap(), Some(tip));
    // What the machine lost when it went down is found, though the commit is there.
    let blob = git(&desk.store.join("git"), &["rev-parse", &format!("session/{session}:conversation/0001.jsonl")]);
    fs::remove_file(object(blob.trim())).unwrap();
    fs::write(desk.store.join("unsettled"), "another start\n1 1\n").unwrap();
    let again = desk.again();
    assert_eq!(again.newest_exchange(session).unwrap(), None);
    again.keep_exchanges(session, None, &new).unwrap();
    assert_eq!(again.conversation(&again.newest_exchange(session).unwrap().unwrap().rev).unwrap().1.len(), 2);
    git(&desk.store.join("git"), &["fsck", "--strict"]);
}

#[test]
fn a_session_that_is_forgotten_leaves_what_forks_share() {
    let desk = Desk::new(Kind::Jj);
    let (one, fork) = (SessionId::new(), SessionId::new());
    let first = desk.points.keep_exchanges(one, None, &[said(1, "shared", None)]).unwrap().unwrap();
    desk.points.keep_exchanges(one, Some(&first), &[said(2, "alone", None)]).unwrap();
    desk.points.keep_exchanges(one, Some(&first), &[said(3, "instead", None)]).unwrap();
    desk.points.keep_exchanges(fork, Some(&first), &[said(4, "of the fork", None)]).unwrap();
    desk.points.settle().unwrap();
    forget_sessions(desk.store.parent().unwrap(), &[one]).unwrap();
    let store = desk.store.join("git");
    assert_eq!(messages(&desk.points.exchanges(one).unwrap()), (vec![], vec![]));
    assert_eq!(messages(&desk.points.exchanges(fork).unwrap()).0, ["shared", "of the fork"]);
    let objects = git(&store, &["cat-file", "--batch-check", "--batch-all-objects"]);
    for id in objects.lines().map(|line| line.split(' ').next().unwrap()) {
        let text = git(&store, &["cat-file", "-p", id]);
        assert!(!text.contains("alone") && !text.contains("instead"), "{text}");
    }
    git(&store, &["fsck", "--strict"]);
    desk.points.settle().unwrap();
    let named = open_store(&store).unwrap();
    assert_eq!(named.sessions().unwrap().len(), 1, "a store is opened by the name of its repository, too");
}

/// All files below a folder, with what they hold.
fn all_files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        match path.is_dir() {
            true => files.extend(all_files(&path)),
            false => drop(files.insert(path.clone(), fs::read(&path).unwrap())),
        }
    }
    files
}

#[test]
fn a_store_that_is_named_is_only_read() {
    let desk = Desk::new(Kind::Jj);
    let session = SessionId::new();
    let tip = desk.points.keep_exchanges(session, None, &[said(1, "first", None)]).unwrap().unwrap();
    fs::remove_file(desk.store.join("lock")).unwrap();
    fs::write(desk.store.join("git/objects/.tmpUnfinished"), "").unwrap();
    let before = all_files(&desk.store);
    let named = open_store(&desk.store).unwrap();
    assert_eq!(named.sessions().unwrap().len(), 1);
    assert_eq!(named.conversation(&tip[..8]).unwrap().1.len(), 1);
    assert!(matches!(named.begin_anew(session), Err(CheckpointError::OnlyRead(_))));
    assert!(matches!(named.keep_exchanges(session, None, &[]), Err(CheckpointError::OnlyRead(_))));
    assert_eq!(all_files(&desk.store), before);
}

#[test]
fn what_a_session_was_restored_from_is_aside_and_goes_with_it() {
    for kind in [Kind::Jj, Kind::Git] {
        let desk = Desk::new(kind);
        let session = SessionId::new();
        let old = [said(1, "first", None), said(2, "second", None)];
        let tip = desk.points.keep_exchanges(session, None, &old).unwrap().unwrap();
        desk.points.begin_anew(session).unwrap();
        assert_eq!(desk.points.exchanges(session).unwrap(), SessionExchanges::default(), "{kind:?}");
        assert_eq!(desk.points.conversation(&tip).unwrap().1.len(), 2, "nothing that was said is gone");
        desk.points.keep_exchanges(session, None, &[said(3, "anew", None)]).unwrap();
        assert_eq!(messages(&desk.points.exchanges(session).unwrap()), (vec!["anew"], vec![]));
        let store = desk.points.repository();
        assert_eq!(git(&store, &["log", "--format=%s", &format!("rewound/{session}-1-old")]).lines().count(), 2);

        forget_sessions(desk.store.parent().unwrap(), &[session]).unwrap();
        let objects = git(&store, &["cat-file", "--batch-check", "--batch-all-objects"]);
        for object in objects.lines().filter(|line| line.contains(" blob ")) {
            let text = git(&store, &["cat-file", "-p", object.split(' ').next().unwrap()]);
            assert!(!text.contains("first") && !text.contains("second") && !text.contains("anew"), "{text}");
        }
        assert_eq!(git(&store, &["for-each-ref", "refs/heads/session", "refs/heads/rewound"]).trim(), "");
    }
}

#[test]
fn removing_that_was_cut_short_is_done_by_the_next_one_and_nobody_goes_on_from_it() {
    let desk = Desk::new(Kind::Jj);
    let session = SessionId::new();
    let new = [said(1, "first", None), said(2, "second", None)];
    let tip = desk.points.keep_exchanges(session, None, &new).unwrap().unwrap();
    let names = desk.store.join("git/refs/heads/session");
    fs::rename(names.join(session.to_string()), names.join(format!("{session}-1-old"))).unwrap();
    assert_eq!(desk.points.newest_exchange(session).unwrap(), None);
    assert!(desk.points.sessions().unwrap().is_empty());
    assert_eq!(desk.points.keep_exchanges(session, None, &new).unwrap(), Some(tip), "the log still has it");
    forget_sessions(desk.store.parent().unwrap(), &[session]).unwrap();
    assert_eq!(fs::read_dir(names).unwrap().count(), 0);
    let objects = git(&desk.store.join("git"), &["cat-file", "--batch-check", "--batch-all-objects"]);
    assert!(!objects.contains(" commit") && !objects.contains(" blob"), "{objects}");
}

#[test]
fn what_a_loss_of_power_took_from_other_sessions_is_found_before_anything_is_relied_on_again() {
    for kind in [Kind::Jj, Kind::Git] {
        let desk = Desk::new(kind);
        let (one, two) = (SessionId::new(), SessionId::new());
        desk.write("a", "zero");
        desk.after();
        let new = [said(1, "first", None), said(2, "second", None)];
        let tip = desk.points.keep_exchanges(one, None, &new).unwrap().unwrap();
        let other = desk.points.keep_exchanges(two, None, &[said(3, "third", None)]).unwrap().unwrap();
        let store = desk.points.repository();
        let blob = git(&store, &["rev-parse", &format!("session/{one}:conversation/0001.jsonl")]).trim().to_owned();
        let object = store.join("objects").join(&blob[..2]).join(&blob[2..]);
        fs::remove_file(&object).unwrap();
        fs::write(&object, "").unwrap();
        fs::write(store.with_file_name("unsettled"), "another start\n1 1\n").unwrap();
        let again = desk.again();
        // Another session and a checkpoint come first.
        again.keep_exchanges(two, Some(&other), &[said(4, "fourth", None)]).unwrap();
        desk.write("a", "one");
        again.snapshot(&note(CheckpointWhen::After, "s")).unwrap();
        assert_eq!(again.newest_exchange(one).unwrap(), None, "{kind:?}");
        assert_eq!(again.newest_exchange(two).unwrap().unwrap().number, 2, "{kind:?}");
        assert_eq!(again.keep_exchanges(one, None, &new).unwrap(), Some(tip.clone()), "{kind:?}");
        assert_eq!(again.conversation(&tip).unwrap().1.len(), 2, "{kind:?}: what was damaged is written again");
    }
}

#[test]
fn a_beginning_that_several_have_is_told_with_all_of_them() {
    let desk = Desk::new(Kind::Memory);
    let session = SessionId::new();
    let mut all: Vec<String> = Vec::new();
    // Two of so many begin alike.
    for number in 1..=2000 {
        let after = all.last().map(String::as_str);
        let next = desk.points.keep_exchanges(session, after, &[said(number, "say", None)]).unwrap().unwrap();
        let like = all.iter().find(|one| one[..4] == next[..4]).cloned();
        all.push(next.clone());
        if let Some(like) = like {
            let told = desk.points.conversation(&next[..4]).unwrap_err();
            let CheckpointError::Ambiguous { which, matches } = told else { panic!("{told:?}") };
            assert!(which == next[..4] && matches.contains(&next) && matches.contains(&like), "{matches:?}");
            return;
        }
    }
    panic!("no two names begin alike");
}

/// How long this thread was at work.
fn on_cpu() -> Duration {
    let figures = fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    Duration::from_nanos(figures.split(' ').next().unwrap().parse().unwrap())
}

/// What keeping an exchange costs, in the hundredth of a session; run with `--ignored --nocapture`.
#[test]
#[ignore = "it measures"]
fn figures() {
    let desk = Desk::new(Kind::Jj);
    let session = SessionId::new();
    for number in 0..2000 {
        desk.write(&format!("src/{}/{number}.rs", number % 40), format!("fn f{number}() {{}}\n"));
    }
    let mut after: Option<String> = None;
    let (mut keeping, mut settling) = (Vec::new(), Vec::new());
    for number in 1..=100 {
        desk.write("a", format!("{number}"));
        let state = desk.after().rev;
        let mut new = said(number, "say something", Some(&state));
        new.conversation = (0..100)
            .map(|line| format!("{{\"line\":{line},\"of\":{number}}}\n").repeat(8))
            .collect::<String>()
            .into_bytes();
        let begun = (Instant::now(), on_cpu());
        after = desk.points.keep_exchanges(session, after.as_deref(), &[new]).unwrap();
        keeping.push((begun.0.elapsed(), on_cpu() - begun.1));
        let begun = Instant::now();
        desk.points.settle().unwrap();
        settling.push(begun.elapsed());
    }
    keeping.sort();
    settling.sort();
    println!("keeping, and its time on a processor: median {:?}, worst {:?}", keeping[50], keeping[99]);
    println!("settling, with the checkpoint: median {:?}, worst {:?}", settling[50], settling[99]);
}

//! What was said is kept with the states of the files, and a session is a branch.

use std::fs;
use std::time::{Duration, Instant};

use neco_proto::SessionId;
use neco_workspace::checkpoint::{NewExchange, SessionExchanges, forget_sessions, open_store};

use super::desk::{ALL, Desk, Kind, git};

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
    use neco_workspace::checkpoint::Exchanges as _;
    assert_eq!(named.sessions().unwrap().len(), 1, "a store is opened by the name of its repository, too");
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

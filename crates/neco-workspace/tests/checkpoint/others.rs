//! Whose work a restore would overwrite.

use neco_proto::event::CheckpointWhen;
use neco_workspace::checkpoint::{Agreed, CheckpointError, Preview, RestoreOptions, TurnWork, Unfinished, Written};

use super::conformance::on_all;
use super::desk::Desk;

/// The SHA-256 of `one`.
const ONE: &str = "7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed";

/// Far from now.
const LATER: i64 = i64::MAX / 2;

fn options(unfinished: &[(&str, i64)]) -> RestoreOptions {
    let cut = |(rev, until_ms): &(&str, i64)| {
        let (rev, until_ms) = ((*rev).to_owned(), *until_ms);
        Unfinished { rev, to: None, since_ms: 0, until_ms }
    };
    let unfinished = unfinished.iter().map(cut).collect();
    RestoreOptions { session: "s".to_owned(), unfinished, agreed: Agreed::Nothing, ..RestoreOptions::default() }
}

fn by_others(preview: &Preview) -> Vec<String> {
    let theirs = preview.changes.iter().filter(|planned| planned.by_others);
    theirs.map(|planned| planned.change.path.display().to_string()).collect()
}

fn preview(desk: &Desk, rev: &str, unfinished: &[(&str, i64)]) -> Vec<String> {
    by_others(&desk.points.preview(rev, &options(unfinished)).unwrap())
}

#[test]
fn what_was_put_back_is_nobody_elses_any_more() {
    on_all(|desk| {
        desk.write("a.txt", "zero");
        let zero = desk.before();
        desk.write("a.txt", "one");
        let one = desk.after();
        desk.write("a.txt", "by hand");
        assert_eq!(preview(&desk, &zero.rev, &[]), ["a.txt"]);
        desk.back(&one.rev);
        assert_eq!(preview(&desk, &zero.rev, &[]), Vec::<String>::new(), "what they wrote is overwritten already");
        // Going back further than that and then to a later state.
        desk.write("a.txt", "by hand again");
        desk.back(&zero.rev);
        assert_eq!(preview(&desk, &one.rev, &[]), Vec::<String>::new(), "it holds what an earlier state has");
    });
}

#[test]
fn what_came_of_work_that_was_cut_short_is_the_sessions_own() {
    on_all(|desk| {
        desk.write("a.txt", "zero");
        let zero = desk.before();
        desk.write("a.txt", "by a command that was killed");
        assert_eq!(preview(&desk, &zero.rev, &[]), ["a.txt"], "nobody said whose it is");
        assert_eq!(preview(&desk, &zero.rev, &[(&zero.rev, LATER)]), Vec::<String>::new());
        assert_eq!(preview(&desk, &zero.rev, &[(&zero.rev, 0)]), ["a.txt"], "it was written long after the kill");
        // The next turn keeps it as it is.
        desk.before();
        desk.write("b.txt", "one");
        desk.after();
        assert_eq!(preview(&desk, &zero.rev, &[(&zero.rev, LATER)]), Vec::<String>::new());
        desk.write("b.txt", "by hand");
        assert_eq!(preview(&desk, &zero.rev, &[(&zero.rev, LATER)]), ["b.txt"]);
    });
}

#[test]
fn what_another_session_did_after_work_was_cut_short_is_not_the_own() {
    on_all(|desk| {
        desk.write("a.txt", "zero");
        let zero = desk.before();
        // Killed before it changed anything; another session begins from the same state.
        assert_eq!(desk.keep(CheckpointWhen::Before, "other").rev, zero.rev);
        desk.write("a.txt", "by the other session");
        desk.keep(CheckpointWhen::After, "other");
        assert_eq!(preview(&desk, &zero.rev, &[(&zero.rev, LATER)]), ["a.txt"]);
    });
}

#[test]
fn what_was_changed_before_work_that_was_cut_short_is_not_its_own() {
    on_all(|desk| {
        desk.write("a.txt", "zero");
        let zero = desk.before();
        // By hand between two turns; the second one was killed before it changed anything.
        desk.write("a.txt", "by hand");
        let cut = |since_ms| Unfinished { rev: zero.rev.clone(), to: None, since_ms, until_ms: LATER };
        let marked = |since_ms| {
            let options = RestoreOptions { unfinished: vec![cut(since_ms)], ..options(&[]) };
            by_others(&desk.points.preview(&zero.rev, &options).unwrap())
        };
        assert_eq!(marked(LATER - 1), ["a.txt"]);
        assert_eq!(marked(0), Vec::<String>::new());
    });
}

#[test]
fn a_file_with_an_old_date_is_dated_by_when_it_came() {
    on_all(|desk| {
        desk.write("a.txt", "zero");
        let zero = desk.before();
        desk.write("a.txt", "unpacked from an old archive, long after the kill");
        let old = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1);
        std::fs::File::open(desk.path("a.txt")).unwrap().set_modified(old).unwrap();
        assert_eq!(preview(&desk, &zero.rev, &[(&zero.rev, 5_000)]), ["a.txt"]);
    });
}

#[test]
fn what_only_others_changed_is_left_to_them_where_that_is_wanted() {
    on_all(|desk| {
        desk.write("both.txt", "zero");
        let zero = desk.before();
        desk.write("both.txt", "one");
        desk.write("agent.txt", "one");
        let one = desk.after();
        desk.write("other.txt", "by hand");
        desk.write("both.txt", "by hand");
        let mine = RestoreOptions { leave_theirs: true, ..options(&[]) };
        let seen = desk.points.preview(&zero.rev, &mine).unwrap();
        let changes: Vec<String> =
            seen.changes.iter().map(|planned| planned.change.path.display().to_string()).collect();
        assert_eq!((changes, by_others(&seen)), (vec!["agent.txt".into(), "both.txt".into()], vec!["both.txt".into()]));
        assert_eq!(seen.theirs, [std::path::PathBuf::from("other.txt")]);
        // A fork has turns that another session made: its files are no strangers'.
        let fork = RestoreOptions { session: "fork".to_owned(), turns: vec![one.rev.clone()], ..mine.clone() };
        let seen = desk.points.preview(&zero.rev, &fork).unwrap();
        assert_eq!((seen.changes.len(), seen.theirs.len()), (2, 1));
        let agreed = RestoreOptions { agreed: Agreed::Anything, ..mine };
        let restored = desk.points.restore(&zero.rev, &agreed, &mut |_| Ok(())).unwrap();
        assert_eq!(restored.theirs.len(), 1);
        assert_eq!((desk.read("both.txt").as_str(), desk.read("other.txt").as_str()), ("zero", "by hand"));
        assert!(!desk.path("agent.txt").exists());
    });
}

#[test]
fn what_others_put_back_into_an_earlier_state_is_left_to_them_or_asked_about() {
    on_all(|desk| {
        // One branch, then another one on which the session works, then the first one again.
        desk.write("branch.txt", "main");
        desk.write("both.txt", "main");
        desk.before();
        desk.write("branch.txt", "feature");
        desk.write("both.txt", "feature");
        let feature = desk.before();
        desk.write("agent.txt", "one");
        desk.write("both.txt", "one");
        desk.after();
        desk.write("branch.txt", "main");
        desk.write("both.txt", "main");
        let mine = RestoreOptions { leave_theirs: true, ..options(&[]) };
        let seen = desk.points.preview(&feature.rev, &mine).unwrap();
        assert_eq!(by_others(&seen), ["both.txt"]);
        assert_eq!(seen.theirs, [std::path::PathBuf::from("branch.txt")]);
        let refused = desk.points.restore(&feature.rev, &mine, &mut |_| Ok(())).unwrap_err();
        assert!(matches!(refused, CheckpointError::ChangedByOthers { .. }), "{refused}");
        let agreed = RestoreOptions { agreed: Agreed::Anything, ..mine };
        desk.points.restore(&feature.rev, &agreed, &mut |_| Ok(())).unwrap();
        assert_eq!((desk.read("branch.txt").as_str(), desk.read("both.txt").as_str()), ("main", "feature"));
        assert!(!desk.path("agent.txt").exists());
    });
}

#[test]
fn what_an_interrupted_restore_wrote_is_its_own_and_what_others_wrote_meanwhile_is_theirs() {
    on_all(|desk| {
        let names = ["a.txt", "b.txt", "c.txt"];
        names.iter().for_each(|name| desk.write(name, "old"));
        let old = desk.before();
        names.iter().for_each(|name| desk.write(name, "new"));
        let new = desk.after();
        // Killed after the first file; the second one is somebody's.
        desk.write("a.txt", "old");
        desk.write("b.txt", "by hand");
        let cut = Unfinished { rev: new.rev.clone(), to: Some(old.rev.clone()), since_ms: 0, until_ms: 0 };
        let mine = RestoreOptions { unfinished: vec![cut], leave_theirs: true, ..options(&[]) };
        assert_eq!(by_others(&desk.points.preview(&old.rev, &mine).unwrap()), ["b.txt"]);
        desk.write("b.txt", "new");
        // Finished, and then taken back to before both.
        desk.points.restore(&old.rev, &mine, &mut |_| Ok(())).unwrap();
        assert!(names.iter().all(|name| desk.read(name) == "old"));
        let back = desk.points.restore(&new.rev, &mine, &mut |_| Ok(())).unwrap();
        assert_eq!((back.changes.len(), back.theirs.len()), (3, 0));
        assert!(names.iter().all(|name| desk.read(name) == "new"));
    });
}

#[test]
fn what_an_interrupted_restore_was_about_to_write_may_be_forgotten_but_not_damaged() {
    on_all(|desk| {
        desk.write("a.txt", "old");
        let old = desk.before();
        desk.write("a.txt", "by hand");
        let planned = |to: &str| {
            let cut = Unfinished { rev: old.rev.clone(), to: Some(to.to_owned()), since_ms: 0, until_ms: 0 };
            desk.points.preview(&old.rev, &RestoreOptions { unfinished: vec![cut], ..options(&[]) })
        };
        assert_eq!(by_others(&planned(&"0".repeat(40)).unwrap()), ["a.txt"]);
        // The name of the file's content, which is no state.
        let error = planned("489ce0f857e7634a0eb9f328265a3e91fad49f61").unwrap_err();
        assert!(error.is_damage(), "{error}");
    });
}

#[test]
fn what_a_rewind_changed_is_a_forks_own_where_its_state_is_among_the_turns() {
    on_all(|desk| {
        desk.write("a.txt", "zero");
        let zero = desk.before();
        desk.write("agent.txt", "one");
        let one = desk.after();
        let parents = RestoreOptions { leave_theirs: true, agreed: Agreed::Anything, ..options(&[]) };
        let went = desk.points.restore(&zero.rev, &parents, &mut |_| Ok(())).unwrap();
        assert!(!desk.path("agent.txt").exists());
        let turns = vec![one.rev.clone(), went.now.rev.clone()];
        let fork = RestoreOptions { session: "fork".to_owned(), turns, ..parents };
        desk.points.restore(&went.undo.rev, &fork, &mut |_| Ok(())).unwrap();
        assert_eq!(desk.read("agent.txt"), "one");
    });
}

/// A turn in which a tool wrote `tool.txt`, and calls ran until then.
fn turn(rev: &str, sum: &str, ran_until: i64) -> RestoreOptions {
    turn_with(rev, Written::Sum(sum.to_owned()), ran_until)
}

fn turn_with(rev: &str, written: Written, ran_until: i64) -> RestoreOptions {
    let work = TurnWork {
        written: [("tool.txt".to_owned(), written)].into(),
        ran: vec![(0, ran_until)],
        since_ms: 0,
        until_ms: LATER,
    };
    RestoreOptions { work: [(rev.to_owned(), work)].into(), leave_theirs: true, ..options(&[]) }
}

fn names<'a>(paths: impl Iterator<Item = &'a std::path::Path>) -> Vec<String> {
    paths.map(|path| path.display().to_string()).collect()
}

#[test]
fn what_a_person_wrote_during_a_turn_stays_where_no_call_ran_then_and_is_marked_where_one_did() {
    on_all(|desk| {
        desk.write("theirs.txt", "zero");
        let zero = desk.before();
        desk.write("tool.txt", "one");
        desk.write("notes.txt", "by hand, while a question was open");
        desk.write("theirs.txt", "by hand");
        let one = desk.after();
        let seen = |options: &RestoreOptions| desk.points.preview(&zero.rev, options).unwrap();
        let unsure = |seen: &Preview| {
            names(seen.changes.iter().filter(|planned| planned.unsure).map(|planned| planned.change.path.as_path()))
        };
        let nothing = Vec::<String>::new();
        // A command ran all the time: it may have made them.
        let all_the_time = seen(&turn(&one.rev, ONE, LATER));
        assert_eq!(unsure(&all_the_time), ["notes.txt", "theirs.txt"]);
        assert_eq!((by_others(&all_the_time), all_the_time.theirs.len()), (nothing.clone(), 0));
        // Somebody wrote over what the tool wrote.
        let over_it = seen(&turn(&one.rev, &"0".repeat(64), 1));
        assert_eq!((by_others(&over_it), unsure(&over_it)), (vec!["tool.txt".to_owned()], nothing.clone()));
        // Calls were over when they were written.
        let mine = turn(&one.rev, ONE, 1);
        let over = seen(&mine);
        assert_eq!(names(over.theirs.iter().map(|path| path.as_path())), ["notes.txt", "theirs.txt"]);
        assert_eq!((over.changes.len(), unsure(&over), by_others(&over)), (1, nothing.clone(), nothing));
        desk.points.restore(&zero.rev, &mine, &mut |_| Ok(())).unwrap();
        assert!(!desk.path("tool.txt").exists());
        assert_eq!(desk.read("notes.txt"), "by hand, while a question was open");
        assert_eq!(desk.read("theirs.txt"), "by hand");
    });
}

#[test]
fn what_a_person_wrote_where_a_tool_removed_a_file_is_asked_about() {
    on_all(|desk| {
        desk.write("tool.txt", "zero");
        let zero = desk.before();
        desk.write("tool.txt", "by hand, in the place of what was removed");
        let one = desk.after();
        let seen = |written: &Written, ran_until| {
            let preview = desk.points.preview(&zero.rev, &turn_with(&one.rev, written.clone(), ran_until)).unwrap();
            preview.changes.iter().map(|planned| (planned.by_others, planned.unsure)).collect::<Vec<_>>()
        };
        for written in [Written::Removed, Written::Unknown] {
            assert_eq!(seen(&written, 1), [(true, false)], "{written:?}");
            assert_eq!(seen(&written, LATER), [(false, true)], "{written:?}");
        }
        std::fs::remove_file(desk.path("tool.txt")).unwrap();
        let gone = desk.after();
        let preview = desk.points.preview(&zero.rev, &turn_with(&gone.rev, Written::Removed, 1)).unwrap();
        assert_eq!(by_others(&preview), Vec::<String>::new());
    });
}

#[test]
fn what_may_be_a_persons_goes_only_where_it_was_shown() {
    on_all(|desk| {
        desk.write("a.txt", "zero");
        let zero = desk.before();
        desk.write("notes.txt", "by hand, or by the command");
        let one = desk.after();
        let options = turn(&one.rev, ONE, LATER);
        let refused = desk.points.restore(&zero.rev, &options, &mut |_| Ok(())).unwrap_err();
        let CheckpointError::MaybeByOthers { paths } = refused else { panic!("{refused:?}") };
        assert_eq!(names(paths.iter().map(|path| path.as_path())), ["notes.txt"]);
        assert!(desk.path("notes.txt").exists());
        let shown = RestoreOptions { agreed: Agreed::Files(["notes.txt".to_owned()].into()), ..options };
        desk.points.restore(&zero.rev, &shown, &mut |_| Ok(())).unwrap();
        assert!(!desk.path("notes.txt").exists());
    });
}

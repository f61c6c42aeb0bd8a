//! Taking a rewind back, and that too: nothing that was said or done since goes without a word.

use neco_proto::event::{CheckpointWhen, Rewind, RewindWhat, TurnEnd, TurnStart};
use neco_proto::{EventBody, Message, RewindKind};
use neco_workspace::checkpoint::Unfinished;

use super::super::{RewindError, RewindHistory, RewindPlan, rewind_event};
use super::{Growing, Happening, grown};

fn work(says: &str) -> Happening {
    Happening::Work { says: says.into(), calls: 1, answer: "a".into() }
}

fn texts(way: &RewindPlan) -> Vec<&str> {
    way.messages.iter().map(|point| point.text.as_str()).collect()
}

/// Goes back to before a message.
fn back(log: &mut Growing, number: &str, what: RewindWhat) {
    let course = RewindHistory::of(&log.events);
    log.go(&course.way(course.find(number).unwrap(), what).unwrap());
}

#[test]
fn a_rewind_that_was_cut_short_can_be_taken_back() {
    let mut log = grown(&[Happening::Work { says: "one".into(), calls: 1, answer: "a".into() }]);
    log.checkpoint(CheckpointWhen::Restore);
    let course = RewindHistory::of(&log.events);
    let way = course.undo().unwrap();
    assert_eq!(
        (way.what, way.rev.as_ref()),
        (RewindWhat::Files, course.cut_short.as_ref().map(|kept| &kept.checkpoint.rev))
    );
    assert!(way.notes[0].contains("interrupted"));
    // The half of it is nothing to go back to.
    let mut mended = log.copy();
    mended.go(&way);
    let course = RewindHistory::of(&mended.events);
    assert_eq!(course.cut_short, None);
    assert!(matches!(course.undo(), Err(RewindError::NothingToUndo)));
    // It can be had as long as nobody took it, also after work; that work is whatever it was done on.
    log.happen(&work("two"));
    let way = RewindHistory::of(&log.events).undo().unwrap();
    assert!(way.is_mending && way.over_work);
    log.go(&way);
    let undo = RewindHistory::of(&log.events).undo().unwrap();
    assert_eq!(undo.rev, RewindHistory::of(&log.events).checkpoints.last().map(|kept| kept.checkpoint.rev.clone()));
    assert!(undo.notes[0].contains("after an interrupted rewind"), "{:?}", undo.notes);
}

#[test]
fn a_rewind_that_was_cut_short_and_done_again_is_taken_back_to_what_was_there_before_both() {
    let mut log = grown(&[work("one"), work("two")]);
    let whole = log.checkpoint(CheckpointWhen::Restore);
    // It is cut short once more, and the conversation goes back without the files: the half stays the half.
    let half = log.checkpoint(CheckpointWhen::Restore);
    back(&mut log, "2", RewindWhat::Conversation);
    let course = RewindHistory::of(&log.events);
    assert_eq!(course.cut_short.as_ref().map(|kept| &kept.checkpoint.rev), Some(&whole));
    let way = course.way(course.find("1").unwrap(), RewindWhat::Both).unwrap();
    assert!(way.is_over_half);
    log.go(&way);
    let forth = RewindHistory::of(&log.events).forth().unwrap();
    assert_eq!((forth.rev.as_ref(), forth.is_over_half, forth.is_mending), (Some(&whole), false, false));
    log.go(&forth);
    let states = RewindHistory::of(&log.events).checkpoints;
    assert!(states.iter().any(|kept| kept.checkpoint.rev == half), "whoever wants the half can name it");
}

#[test]
fn what_somebody_did_by_hand_to_the_half_of_a_rewind_comes_back_and_is_named() {
    let mut log = grown(&[work("one")]);
    log.checkpoint(CheckpointWhen::Restore);
    let mending = RewindHistory::of(&log.events).undo().unwrap();
    let by_hand = log.checkpoint(CheckpointWhen::Restore);
    let mended = Rewind { over_others: true, ..rewind_event(&mending, Some(by_hand.clone()), 1) };
    log.add(EventBody::Rewind(mended));
    let undo = RewindHistory::of(&log.events).undo().unwrap();
    assert_eq!(undo.rev, Some(by_hand));
    assert!(undo.notes[0].contains("after an interrupted rewind"), "{:?}", undo.notes);
}

#[test]
fn rewinds_are_taken_back_one_after_the_other_and_that_too() {
    let work = |says: &str| Happening::Work { says: says.into(), calls: 1, answer: "a".into() };
    let mut log = grown(&[work("one"), work("two"), work("three")]);
    let texts = |log: &Growing| -> Vec<String> {
        RewindHistory::of(&log.events).points.iter().map(|point| point.text.clone()).collect()
    };
    for number in ["3", "2"] {
        let course = RewindHistory::of(&log.events);
        log.go(&course.way(course.find(number).unwrap(), RewindWhat::Both).unwrap());
    }
    assert_eq!(texts(&log), ["one"]);
    let steps: [(&str, &[&str]); 7] = [
        ("undo", &["one", "two"]),
        ("undo", &["one", "two", "three"]),
        ("redo", &["one", "two"]),
        ("redo", &["one"]),
        ("undo", &["one", "two"]),
        ("undo", &["one", "two", "three"]),
        ("undo", &["one", "two"]),
    ];
    for (step, left) in steps {
        let course = RewindHistory::of(&log.events);
        log.go(&if step == "undo" { course.undo() } else { course.redo() }.unwrap());
        assert_eq!(texts(&log), left, "{step}");
    }
    log.happen(&work("four"));
    let course = RewindHistory::of(&log.events);
    log.go(&course.way(course.points.last().unwrap(), RewindWhat::Both).unwrap());
    let redo = RewindHistory::of(&log.events).redo();
    assert!(matches!(redo, Err(RewindError::NothingToRedo)), "a rewind of its own leaves nothing to bring back");
}

#[test]
fn turns_go_back_one_by_one_and_come_forth_and_no_further() {
    let mut log = grown(&[work("one"), work("two")]);
    back(&mut log, "2", RewindWhat::Conversation);
    let steps: [(&str, Option<usize>); 9] = [
        ("back", Some(0)),
        ("back", None),
        ("forth", Some(1)),
        ("forth", Some(2)),
        ("forth", None),
        // What came forth goes back as one, also where it was no turn.
        ("back", Some(1)),
        ("forth", Some(2)),
        ("back", Some(1)),
        ("back", Some(0)),
    ];
    for (step, left) in steps {
        let course = RewindHistory::of(&log.events);
        let way = if step == "back" { course.back() } else { course.forth() };
        match (way, left) {
            (Ok(way), Some(left)) => {
                log.go(&way);
                assert_eq!(RewindHistory::of(&log.events).points.len(), left, "{step}");
            }
            (Err(RewindError::NothingBack | RewindError::NothingForth), None) => {}
            (way, left) => panic!("{step}: {way:?} instead of {left:?}"),
        }
    }
}

#[test]
fn a_message_that_changed_no_file_comes_forth_again() {
    let mut log = grown(&[work("one"), Happening::Work { says: "two".into(), calls: 0, answer: "b".into() }]);
    let way = RewindHistory::of(&log.events).back().unwrap();
    // The files are in that state already, so what is kept of them first is the same one.
    let rev = way.rev.clone().unwrap();
    log.checkpoint(CheckpointWhen::Restore);
    let Some(EventBody::Checkpoint(kept)) = log.events.last_mut().map(|event| &mut event.body) else { panic!("none") };
    kept.rev.clone_from(&rev);
    log.add(EventBody::Rewind(rewind_event(&way, Some(rev), 0)));
    log.go(&RewindHistory::of(&log.events).back().unwrap());
    assert!(RewindHistory::of(&log.events).points.is_empty());
    for left in [1, 2] {
        log.go(&RewindHistory::of(&log.events).forth().unwrap());
        assert_eq!(RewindHistory::of(&log.events).points.len(), left);
    }
    assert!(matches!(RewindHistory::of(&log.events).forth(), Err(RewindError::NothingForth)));
}

#[test]
fn what_work_that_was_cut_short_changed_is_known_to_be_its_own() {
    let mut log = grown(&[Happening::Work { says: "one".into(), calls: 1, answer: "a".into() }]);
    assert!(RewindHistory::of(&log.events).unfinished.is_empty());
    log.add(EventBody::Message(Message::user("two")));
    log.checkpoint(CheckpointWhen::Before);
    let course = RewindHistory::of(&log.events);
    let before = course.checkpoints.last().unwrap().checkpoint.rev.clone();
    let cut = [Unfinished { rev: before, to: None, since_ms: 0, until_ms: 15_000 }];
    assert_eq!(course.unfinished, cut);
    // A second turn of the same work begins from what the first one left, which is not told twice.
    let turn = || EventBody::TurnStart(TurnStart { iteration: 2, model: String::new() });
    let mut second = log.copy();
    second.add(turn());
    second.checkpoint(CheckpointWhen::After);
    let left = RewindHistory::of(&second.events).checkpoints.last().unwrap().checkpoint.rev.clone();
    assert_eq!(
        RewindHistory::of(&second.events).unfinished,
        [Unfinished { rev: left, to: None, since_ms: 0, until_ms: 15_000 }]
    );
    assert_eq!(course.way(&course.points[0], RewindWhat::Both).unwrap().unfinished, cut);
}

#[test]
fn what_an_interrupted_rewind_was_about_to_write_is_known_also_after_the_next_one() {
    let mut log = grown(&[work("one")]);
    let whole = log.checkpoint(CheckpointWhen::Restore);
    let Some(EventBody::Checkpoint(kept)) = log.events.last_mut().map(|event| &mut event.body) else { panic!("none") };
    kept.to = Some("aim".to_owned());
    let cut = [Unfinished { rev: whole, to: Some("aim".to_owned()), since_ms: 0, until_ms: 15_000 }];
    assert_eq!(RewindHistory::of(&log.events).unfinished, cut);
    back(&mut log, "1", RewindWhat::Files);
    assert_eq!(RewindHistory::of(&log.events).unfinished, cut, "the one that came to its end is none");
}

#[test]
fn a_rewind_that_failed_is_known_whatever_comes_after_it() {
    let mut log = grown(&[work("one")]);
    let whole = log.checkpoint(CheckpointWhen::Restore);
    let Some(EventBody::Checkpoint(kept)) = log.events.last_mut().map(|event| &mut event.body) else { panic!("none") };
    kept.to = Some("aim".to_owned());
    let cut = [Unfinished { rev: whole, to: Some("aim".to_owned()), since_ms: 0, until_ms: 15_000 }];
    let [mut turn, mut beside, mut conversation] = [log.copy(), log.copy(), log.copy()];
    turn.happen(&work("two"));
    assert_eq!(RewindHistory::of(&turn.events).unfinished, cut);
    beside.checkpoint(CheckpointWhen::Before);
    beside.checkpoint(CheckpointWhen::After);
    assert_eq!(RewindHistory::of(&beside.events).unfinished.first(), cut.first());
    back(&mut conversation, "1", RewindWhat::Conversation);
    assert_eq!(RewindHistory::of(&conversation.events).unfinished, cut);
}

#[test]
fn what_another_agent_did_after_the_roots_end_was_not_cut_short_by_a_rewind() {
    let mut changed = grown(&[work("one")]);
    let mut unchanged = changed.copy();
    changed.checkpoint(CheckpointWhen::Before);
    let rev = changed.checkpoint(CheckpointWhen::After);
    // Until then it may have gone on: its next turn begins with the same state, which is not told again.
    let cut = [Unfinished { rev, to: None, since_ms: 0, until_ms: 15_000 }];
    assert_eq!(RewindHistory::of(&changed.events).unfinished, cut);
    // A state that is the same as the one before it is not told.
    unchanged.checkpoint(CheckpointWhen::Before);
    for mut log in [changed, unchanged] {
        back(&mut log, "1", RewindWhat::Files);
        assert!(RewindHistory::of(&log.events).unfinished.is_empty());
    }
    // A turn without an end was killed.
    let mut killed = grown(&[work("one")]);
    killed.add(EventBody::Message(Message::user("two")));
    killed.add(EventBody::TurnStart(TurnStart { iteration: 1, model: String::new() }));
    let rev = killed.checkpoint(CheckpointWhen::Before);
    back(&mut killed, "1", RewindWhat::Files);
    let cut = [Unfinished { rev, to: None, since_ms: 0, until_ms: 15_000 }];
    assert_eq!(RewindHistory::of(&killed.events).unfinished, cut);
}

#[test]
fn an_undo_that_changes_nothing_is_not_in_the_way_of_the_one_before() {
    let mut log = grown(&[work("one"), work("two")]);
    back(&mut log, "2", RewindWhat::Files);
    back(&mut log, "1", RewindWhat::Files);
    let [first, second] = [0, 1].map(|at| RewindHistory::of(&log.events).rewound[at].seq);
    // The person put the files back by hand: no file would change.
    let undo = RewindHistory::of(&log.events).undo().unwrap();
    assert_eq!(undo.undoes, Some(second));
    assert!(!undo.is_nothing(&undo.shown), "it is written down all the same");
    log.go(&undo);
    assert_eq!(RewindHistory::of(&log.events).undo().unwrap().undoes, Some(first));
    // The same for a restore that was killed before it touched anything.
    log.checkpoint(CheckpointWhen::Restore);
    let mending = RewindHistory::of(&log.events).undo().unwrap();
    assert!(mending.is_mending && !mending.is_nothing(&mending.shown));
    log.go(&mending);
    assert!(RewindHistory::of(&log.events).undo().unwrap().undoes.is_some());
}

#[test]
fn the_model_is_told_again_that_files_went_back_when_what_told_it_no_longer_counts() {
    let mut log = grown(&[work("one"), work("two"), work("three")]);
    let course = RewindHistory::of(&log.events);
    let files = course.way(course.find("3").unwrap(), RewindWhat::Files).unwrap();
    log.go(&files);
    log.add(EventBody::Message(super::super::plan::told(&files).unwrap()));
    let course = RewindHistory::of(&log.events);
    let again = course.way(course.find("2").unwrap(), RewindWhat::Files).unwrap();
    assert_eq!(super::super::plan::told(&again), None, "it was told a moment ago");
    back(&mut log, "2", RewindWhat::Conversation);
    let course = RewindHistory::of(&log.events);
    let later = course.way(course.find("1").unwrap(), RewindWhat::Files).unwrap();
    assert!(super::super::plan::told(&later).is_some());
}

#[test]
fn work_after_an_undo_is_never_dropped_by_another_undo() {
    let mut log = grown(&[work("one"), work("two")]);
    back(&mut log, "2", RewindWhat::Both);
    let undo = RewindHistory::of(&log.events).undo().unwrap();
    assert_eq!((undo.kind, undo.about.as_str()), (RewindKind::Undo, "two"));
    log.go(&undo);
    let redo = RewindHistory::of(&log.events).undo().unwrap();
    assert_eq!((redo.kind, texts(&redo)), (RewindKind::Redo, vec!["two"]));
    log.happen(&work("an hour of work"));
    for taken in [RewindHistory::of(&log.events).undo(), RewindHistory::of(&log.events).redo()] {
        assert!(matches!(taken, Err(RewindError::NothingToUndo | RewindError::NothingToRedo)));
    }
}

#[test]
fn an_undo_tells_what_was_said_and_done_since() {
    let mut log = grown(&[work("one"), work("two")]);
    back(&mut log, "2", RewindWhat::Both);
    assert!(!RewindHistory::of(&log.events).undo().unwrap().over_work);
    log.happen(&work("something else"));
    let undo = RewindHistory::of(&log.events).undo().unwrap();
    assert_eq!((texts(&undo), undo.over_work), (vec!["something else"], true));
    assert_eq!(undo.again[0].text, "two");
    // Where only files went back no message goes, but what was done to files does.
    let mut log = grown(&[work("one"), work("two")]);
    back(&mut log, "2", RewindWhat::Files);
    log.happen(&work("three"));
    let undo = RewindHistory::of(&log.events).undo().unwrap();
    assert_eq!((texts(&undo), undo.over_work, undo.notes.len()), (Vec::new(), true, 1));
}

#[test]
fn what_mends_a_log_is_not_heard_of_work() {
    let at = |log: &mut Growing, ms: i64, body: EventBody| {
        log.add(body);
        log.events.last_mut().unwrap().ts = jiff::Timestamp::from_millisecond(ms).unwrap();
    };
    let mut log = grown(&[work("one")]);
    at(&mut log, 60_000, EventBody::Message(Message::user("two")));
    at(&mut log, 61_000, EventBody::TurnStart(TurnStart { iteration: 1, model: String::new() }));
    // Killed; an hour later the session is opened again, which first writes what was said until then.
    at(&mut log, 3_600_000, EventBody::Message(Message::neco("cut short")));
    let course = RewindHistory::of(&log.events);
    let rev = course.checkpoints.last().unwrap().checkpoint.rev.clone();
    assert_eq!(course.unfinished, [Unfinished { rev: rev.clone(), to: None, since_ms: 61_000, until_ms: 76_000 }]);
    // The next turn of the same work begins before what the first one left was kept.
    log.events.pop();
    let end = TurnEnd { iteration: 1 };
    at(&mut log, 62_000, EventBody::TurnEnd(end));
    at(&mut log, 63_000, EventBody::TurnStart(TurnStart { iteration: 2, model: String::new() }));
    assert_eq!(
        RewindHistory::of(&log.events).unfinished,
        [Unfinished { rev, to: None, since_ms: 61_000, until_ms: 78_000 }]
    );
}

//! Going back to an earlier message: what is shown, what its keys come to, and what stands in the field after it.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use crossterm::event::KeyCode;
use neco_proto::event::*;
use neco_proto::*;
use neco_tui::update::{Effect, News};
use serde_json::json;
use support::{Scene, in_all_sizes};

fn point(number: u64, text: &str) -> RewindPoint {
    RewindPoint {
        number,
        message_id: MessageId::new(),
        seq: number,
        ts: jiff::Timestamp::UNIX_EPOCH,
        text: text.into(),
        calls: number,
        files: number == 2,
        changed: ChangedFiles { files: 2 * (number / 2), added: 13 * (number / 2), removed: 0 },
    }
}

#[test]
fn going_back_shows_what_would_change() {
    insta::assert_snapshot!(in_all_sizes(|scene| {
        assert_eq!(scene.key(KeyCode::Esc), []);
        assert_eq!(scene.key(KeyCode::Esc), [Effect::Ask(Query::RewindPoints)]);
        let points = vec![point(1, "make a parser"), point(2, "and test it")];
        let id = points[1].message_id;
        let asked = scene.news(News::Answered(Answer::RewindPoints { points }));
        assert_eq!(asked, [Effect::Ask(Query::RewindPreview { message_id: id, what: RewindWhat::Both })]);
        let preview = json!({
            "type": "rewind_preview", "message_id": id, "what": "both", "to": 5, "messages": [], "rev": "abc",
            "files": [{"path": "src/a.rs", "kind": "modified", "by_others": false}, {"path": "b.txt", "kind": "deleted", "by_others": true}]
        });
        scene.news(News::Answered(serde_json::from_value(preview).unwrap()));
        scene.picture();
        scene.key(KeyCode::Enter);
        assert_eq!(scene.key(KeyCode::Enter), [], "nobody has seen it yet");
        scene.reads();
        let sent = scene.key(KeyCode::Enter);
        assert_eq!(sent, [Effect::Send(Command::Rewind { message_id: id, what: RewindWhat::Both })]);
        assert_eq!(scene.app.prompt.text.as_str(), "", "not before it is done");
        scene.happen(EventBody::Rewind(rewind(0, &RewindPoint { message_id: id, ..point(2, "") }, true, None)));
        assert_eq!(scene.app.prompt.text.as_str(), "and test it");
        scene.control('c');
        let points = vec![point(1, "make a parser"), point(2, "and test it")];
        let id = points[1].message_id;
        scene.news(News::Answered(Answer::RewindPoints { points }));
        let files = json!([{"path": "src/a.rs", "kind": "modified", "by_others": false}, {"path": "b.txt", "kind": "deleted", "by_others": true}]);
        let preview = json!({"type": "rewind_preview", "message_id": id, "what": "both", "to": 5, "messages": [], "rev": "abc", "files": files});
        scene.news(News::Answered(serde_json::from_value(preview).unwrap()));
    }));
}

#[test]
fn a_command_takes_the_place_of_the_message_that_came_back() {
    let mut scene = Scene::new((80, 24));
    let points = vec![point(1, "make a parser")];
    let id = points[0].message_id;
    scene.news(News::Answered(Answer::RewindPoints { points: points.clone() }));
    scene.key(KeyCode::Enter);
    assert_eq!(scene.key(KeyCode::Esc), [Effect::Ask(Query::RewindPoints)], "one step back");
    scene.news(News::Answered(Answer::RewindPoints { points }));
    scene.key(KeyCode::Enter);
    scene.reads();
    let back = Command::Rewind { message_id: id, what: RewindWhat::Conversation };
    assert_eq!(scene.key(KeyCode::Enter), [Effect::Send(back.clone())]);
    scene.news(News::Refused(ClientError::Refused("others changed it".into()), None));
    assert_eq!(scene.app.prompt.text.as_str(), "", "what was refused brings nothing back");
    scene.types("/rewind 1");
    scene.key(KeyCode::Enter);
    let points = vec![RewindPoint { message_id: id, ..point(1, "make a parser") }];
    scene.news(News::Answered(Answer::RewindPoints { points }));
    scene.reads();
    assert_eq!(scene.key(KeyCode::Enter), [Effect::Send(back)]);
    scene.happen(EventBody::Rewind(rewind(0, &RewindPoint { message_id: id, ..point(1, "") }, true, None)));
    assert_eq!(scene.app.prompt.text.as_str(), "make a parser");
    scene.types("/undo");
    assert_eq!(scene.app.prompt.text.as_str(), "/undo");
    let sent = scene.key(KeyCode::Enter);
    assert_eq!(sent, [Effect::Remember("/undo".into()), Effect::Ask(Query::BackPreview)]);
    scene.app.prompt.offer_again("make a parser");
    scene.types(" in src/");
    assert_eq!(scene.app.prompt.text.as_str(), "make a parser in src/", "what is gone on with is a message");
}

fn preview(kind: &str, files: usize) -> Answer {
    let at = |number: u64, text: &str| serde_json::to_value(point(number, text)).unwrap();
    let file = |number: usize| json!({"path": format!("src/some/folder/file-{number:03}.rs"), "kind": "modified", "by_others": number == 0});
    let preview = json!({
        "type": "rewind_preview", "kind": kind, "about": "and test it", "message_id": MessageId::new(), "what": "both",
        "to": 5, "rev": "51e6ceffb0aa", "messages": [at(3, "an hour of work")], "again": [at(2, "and test it")],
        "files": (0..files).map(file).collect::<Vec<_>>(),
        "notes": ["big.bin was changed since and can't come back: it is too big for checkpoints"],
    });
    serde_json::from_value(preview).unwrap()
}

/// What a screen shows, and below that all that can be scrolled to.
fn read_all(scene: &mut Scene) -> String {
    let mut seen = Vec::new();
    for _ in 0..80 {
        seen.push(scene.picture());
        scene.key(KeyCode::Right);
    }
    seen.join("\n")
}

#[test]
fn an_undo_is_asked_about_with_all_that_it_would_change() {
    insta::assert_snapshot!(in_all_sizes(|scene| {
        scene.types("/redo");
        assert!(scene.key(KeyCode::Enter).contains(&Effect::Ask(Query::ForthPreview)));
        scene.news(News::Answered(preview("undo", 40)));
    }));
    for size in [(40, 20), (50, 16), (80, 24)] {
        let mut scene = Scene::new(size);
        scene.types("/redo");
        scene.key(KeyCode::Enter);
        scene.news(News::Answered(preview("undo", 40)));
        let first: String = scene.picture().split_whitespace().collect::<Vec<_>>().join(" ");
        for words in ["1 message leaves the conversation", "40 files", "can't come back"] {
            assert!(first.contains(words), "{size:?}: {words}\n{first}");
        }
        let all = read_all(&mut scene);
        for words in ["an hour of work", "file-000.rs", "file-020.rs", "file-039.rs"] {
            assert!(all.contains(words), "{size:?}: {words}");
        }
        assert_eq!(scene.key(KeyCode::Char('n')), [], "no");
        scene.types("/redo");
        scene.key(KeyCode::Enter);
        scene.news(News::Answered(preview("undo", 1)));
        scene.picture();
        assert_eq!(scene.key(KeyCode::Char('y')), [], "{size:?}: what came just now was not read");
        scene.reads();
        assert_eq!(scene.key(KeyCode::Char('y')), [Effect::Send(Command::UndoRewind)]);
    }
}

#[test]
fn the_last_turn_goes_back_at_once_unless_that_costs_others_work() {
    let look = |scene: &mut Scene, command: &str, by_others: bool| {
        scene.types(command);
        scene.key(KeyCode::Enter);
        let said = serde_json::to_value(point(2, "and test it")).unwrap();
        let preview = json!({
            "type": "rewind_preview", "kind": "message", "about": "and test it", "message_id": said["message_id"],
            "what": "both", "to": 5, "rev": "51e6ceffb0aa", "messages": [said],
            "files": [{"path": "a.rs", "kind": "modified", "by_others": by_others}], "notes": ["big.bin stays"],
        });
        let message_id = serde_json::from_value(preview["message_id"].clone()).unwrap();
        let back = Command::Rewind { message_id, what: RewindWhat::Both };
        (scene.news(News::Answered(serde_json::from_value(preview).unwrap())), back)
    };
    let mut scene = Scene::new((80, 24));
    let (sent, back) = look(&mut scene, "/undo", false);
    assert_eq!(sent, [Effect::Send(back)]);
    scene.happen(EventBody::Rewind(rewind(1, &point(2, ""), true, None)));
    assert_eq!(scene.app.prompt.text.as_str(), "and test it", "what was said is in the field again");
    // A change of somebody else's is shown before it is overwritten; leaving the question leaves everything.
    let (sent, _) = look(&mut scene, "/undo", true);
    assert_eq!(sent, []);
    assert!(scene.picture().contains("Undo “and test it”?"), "{}", scene.picture());
    assert_eq!(scene.key(KeyCode::Esc), []);
    look(&mut scene, "/undo", true);
    scene.reads();
    assert!(matches!(
        &scene.key(KeyCode::Char('y'))[..],
        [Effect::Send(Command::Rewind { what: RewindWhat::Both, .. })]
    ));
    // What was looked at for a list that is closed by now goes nowhere.
    assert_eq!(look(&mut Scene::new((80, 24)), "/rewind", false).0, []);
}

#[test]
fn a_step_back_that_is_asked_about_brings_the_message_back_and_a_step_forth_takes_it_away() {
    let mut scene = Scene::new((80, 24));
    let undo = |scene: &mut Scene| {
        scene.types("/undo");
        scene.key(KeyCode::Enter);
        scene.news(News::Answered(preview("redo", 40)));
        scene.reads();
        assert_eq!(scene.key(KeyCode::Char('y')), [Effect::Send(Command::RedoRewind)]);
        scene.happen(EventBody::Rewind(rewind(0, &point(2, ""), true, Some(1))));
        assert_eq!(scene.app.prompt.text.as_str(), "and test it");
    };
    undo(&mut scene);
    scene.happen(EventBody::Rewind(rewind(9, &point(2, ""), true, Some(2))));
    assert_eq!(scene.app.prompt.text.as_str(), "", "what came forth again is said");
    undo(&mut scene);
    scene.types(" in src/");
    scene.happen(EventBody::Rewind(rewind(9, &point(2, ""), true, Some(2))));
    assert_eq!(scene.app.prompt.text.as_str(), "and test it in src/", "what was changed stays");
}

#[test]
fn a_checkpoint_is_chosen_by_its_name_or_in_a_list() {
    let mut scene = Scene::new((80, 24));
    scene.types("/rewind 51e6ce");
    assert!(scene.key(KeyCode::Enter).contains(&Effect::Ask(Query::RewindPoints)));
    let points = vec![point(1, "make a parser")];
    let asked = scene.news(News::Answered(Answer::RewindPoints { points: points.clone() }));
    assert_eq!(asked, [Effect::Ask(Query::CheckpointPreview { rev: "51e6ce".into() })]);
    scene.news(News::Answered(preview("checkpoint", 2)));
    assert!(scene.picture().contains("Restore the files of checkpoint 51e6ceffb0"));
    scene.reads();
    let rev = "51e6ceffb0aa".to_owned();
    assert_eq!(scene.key(KeyCode::Enter), [], "Enter alone loses nothing of others");
    scene.types("/rewind 51e6ce");
    scene.key(KeyCode::Enter);
    scene.news(News::Answered(Answer::RewindPoints { points: points.clone() }));
    scene.news(News::Answered(preview("checkpoint", 2)));
    scene.reads();
    assert_eq!(scene.key(KeyCode::Char('y')), [Effect::Send(Command::RestoreCheckpoint { rev: rev.clone() })]);
    // A number is a message's.
    scene.happen(EventBody::Rewind(rewind(1, &points[0], false, None)));
    scene.types("/rewind 1");
    scene.key(KeyCode::Enter);
    scene.news(News::Answered(Answer::RewindPoints { points: points.clone() }));
    assert!(scene.picture().contains("Rewind to before “make a parser”"));
    scene.key(KeyCode::Esc);
    // And in the list.
    scene.news(News::Answered(Answer::RewindPoints { points }));
    scene.key(KeyCode::Up);
    assert_eq!(scene.key(KeyCode::Enter), [Effect::Ask(Query::Checkpoints)]);
    let ts = jiff::Timestamp::UNIX_EPOCH;
    scene.app.zone = Some(jiff::tz::TimeZone::fixed(jiff::tz::offset(2)));
    let info = CheckpointInfo {
        rev: rev.clone(),
        seq: 4,
        ts,
        label: "make a parser".into(),
        when: CheckpointWhen::Before,
        changed: 3,
    };
    let asked = scene.news(News::Answered(Answer::Checkpoints { checkpoints: vec![info] }));
    assert_eq!(asked, [Effect::Ask(Query::CheckpointPreview { rev: rev.clone() })]);
    assert!(scene.picture().contains("02:00:00"), "in the person's zone");
    scene.news(News::Answered(preview("checkpoint", 2)));
    assert!(scene.picture().contains("2 files"));
    assert_eq!(scene.key(KeyCode::Enter), [Effect::Ask(Query::CheckpointPreview { rev: rev.clone() })]);
    scene.news(News::Answered(preview("checkpoint", 2)));
    scene.reads();
    assert_eq!(scene.key(KeyCode::Char('y')), [Effect::Send(Command::RestoreCheckpoint { rev })]);
}

fn rewind(to: Seq, before: &RewindPoint, conversation: bool, undoes: Option<Seq>) -> Rewind {
    let (files, undo) = (Some("51e6ceffb0aa".to_owned()), Some("aa".to_owned()));
    Rewind {
        to,
        message_id: before.message_id,
        conversation,
        files,
        undo,
        now: None,
        undoes,
        changed: 600,
        deleted: 0,
        reverted: Vec::new(),
        over_others: false,
        by: None,
    }
}

#[test]
fn going_back_is_seen_while_it_lasts_and_is_not_stopped_halfway() {
    let mut scene = Scene::new((80, 24));
    let points = vec![point(1, "make a parser")];
    scene.news(News::Answered(Answer::RewindPoints { points: points.clone() }));
    scene.key(KeyCode::Enter);
    scene.reads();
    scene.key(KeyCode::Enter);
    assert!(scene.picture().contains("Rewind 0:00") && scene.app.moves());
    scene.happen(EventBody::FilesBack(FilesBack { done: 120, total: 600 }));
    assert!(scene.picture().contains("· 120 of 600 files"), "{}", scene.picture());
    assert_eq!(scene.key(KeyCode::Esc), []);
    assert!(scene.picture().contains("can't be stopped halfway; /redo"));
    scene.happen(EventBody::Rewind(rewind(0, &points[0], true, None)));
    let screen = scene.picture();
    let words = screen.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(!words.contains("of 600 files") && words.contains("600 files restored"), "{screen}");
    // What was refused is not under way.
    scene.control('c');
    scene.news(News::Answered(Answer::RewindPoints { points }));
    scene.key(KeyCode::Enter);
    scene.reads();
    scene.key(KeyCode::Enter);
    scene.news(News::Refused(ClientError::Refused("no".into()), None));
    assert_eq!(scene.app.transcript.view.standing.going_back, None);
}

#[test]
fn what_no_longer_counts_is_marked_and_so_it_is_when_the_session_is_opened_again() {
    let (first, second) = (Message::user("make w1"), Message::user("make w2"));
    let point_of = |message: &Message| RewindPoint { message_id: message.id, ..point(1, "") };
    let answer = |text: &str| EventBody::Message(Message::new(Role::Assistant, vec![Part::Text { text: text.into() }]));
    let log = |scene: &mut Scene, past: bool| {
        let bodies = [
            EventBody::Message(first.clone()),
            answer("made w1"),
            EventBody::Message(second.clone()),
            answer("made w2"),
            EventBody::Rewind(rewind(2, &point_of(&second), true, None)),
            EventBody::Message(Message::user("make w3")),
            answer("made w3"),
        ];
        for body in bodies {
            match past {
                true => scene.happened(body),
                false => {
                    scene.happen(body);
                    scene.picture();
                }
            }
        }
    };
    insta::assert_snapshot!("counts_live", in_all_sizes(|scene| log(scene, false)));
    insta::assert_snapshot!("counts_opened_again", in_all_sizes(|scene| log(scene, true)));
    insta::assert_snapshot!(
        "counts_again_after_an_undo",
        in_all_sizes(|scene| {
            log(scene, true);
            scene.happened(EventBody::Rewind(rewind(4, &point_of(&second), true, Some(5))));
            scene.happened(EventBody::Rewind(rewind(7, &point_of(&second), true, Some(8))));
        })
    );
}

#[test]
fn a_question_stays_a_question_while_other_agents_work() {
    let mut scene = Scene::new((80, 24));
    let child = AgentId::new();
    scene.happen(support::agent_update(&support::node(child, scene.root, "explore", "look", "running", 0.0)));
    scene.types("/redo");
    scene.key(KeyCode::Enter);
    scene.news(News::Answered(preview("undo", 2)));
    assert!(scene.picture().contains("Undo the rewind to before"));
    let call_id = support::call("c1");
    let update = ToolCallUpdate {
        call_id,
        origin: ToolOrigin::BuiltIn,
        tool: "bash".into(),
        status: CallStatus::Executing,
        summary: "Run x".into(),
    };
    scene.happen_to(child, EventBody::ToolCallUpdate(update));
    assert!(scene.picture().contains("Undo the rewind to before"), "{}", scene.picture());
}

#[test]
fn what_was_named_is_forgotten_when_it_came_to_nothing() {
    let opens_list = |scene: &mut Scene| {
        scene.key(KeyCode::Esc);
        assert_eq!(scene.key(KeyCode::Esc), [Effect::Ask(Query::RewindPoints)]);
        let points = vec![point(1, "make a parser")];
        scene.news(News::Answered(Answer::RewindPoints { points }));
        assert!(scene.picture().contains("Rewind to before a message"), "{}", scene.picture());
    };
    let mut scene = Scene::new((80, 24));
    scene.types("/rewind abcd");
    scene.key(KeyCode::Enter);
    scene.news(News::Answered(Answer::RewindPoints { points: vec![point(1, "make a parser")] }));
    scene.news(News::Refused(ClientError::Refused("there is no checkpoint abcd".into()), None));
    opens_list(&mut scene);
    let mut scene = Scene::new((80, 24));
    scene.types("/rewind 1");
    scene.key(KeyCode::Enter);
    scene.types("x");
    assert_eq!(scene.news(News::Answered(Answer::RewindPoints { points: vec![point(1, "make a parser")] })), []);
    opens_list(&mut scene);
}

#[test]
fn a_rewind_names_what_the_person_wrote_and_what_was_deleted() {
    let mut scene = Scene::new((160, 24));
    let said = Message::user(format!("tidy up{}```\n$ ls\n```", Message::RAN));
    scene.happen(EventBody::Message(said.clone()));
    let point = RewindPoint { message_id: said.id, ..point(1, "") };
    scene.happen(EventBody::Rewind(Rewind { changed: 2, deleted: 1, ..rewind(0, &point, true, None) }));
    let picture = scene.picture();
    assert!(picture.contains("“tidy up” is removed") && picture.contains("as before “tidy up”"), "{picture}");
    assert!(picture.contains("1 file restored, 1 deleted") && !picture.contains("$ ls"), "{picture}");
}

#[test]
fn what_waits_is_shown_as_the_person_wrote_it() {
    let mut scene = Scene::new((100, 24));
    scene.works();
    for message in [Message::neco("coder-1 reports"), Message::user(format!("and then{}$ ls", Message::RAN))] {
        scene.happen(EventBody::MessageQueued(MessageQueued { when: Admission::TurnBoundary, message }));
    }
    let picture = scene.picture();
    assert!(picture.contains("⋯ Next   and then · next turn") && !picture.contains("$ ls"), "{picture}");
    assert!(!picture.contains("coder-1 reports"), "that is for the model: {picture}");
}

#[test]
fn the_end_counts_files_that_commands_changed() {
    let mut scene = Scene::new((100, 24));
    scene.works();
    let checkpoint = |when: &str, changed: &[&str]| {
        let files: Vec<_> = changed.iter().map(|path| json!({"path": path, "kind": "added"})).collect();
        support::read(json!({
            "type": "checkpoint", "rev": "b", "parent": "a", "when": when, "label": "x", "changed": files
        }))
    };
    // What was different before the work is not of it.
    scene.happen(checkpoint("before", &["mine.txt"]));
    scene.happen(checkpoint("after", &["made.txt", "two.txt"]));
    let usage = json!({"input": 1, "output": 1, "cache_read": 0, "cache_write": 0, "reasoning": 0});
    scene.happen(support::read(json!({
        "type": "agent_complete", "reason": "natural", "final": "", "turns": 2, "duration_ms": 5, "usage": usage
    })));
    assert!(scene.picture().contains("2 files changed by commands   /diff /undo"), "{}", scene.picture());
}

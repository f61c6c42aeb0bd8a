//! Going back to an earlier message: what is shown, what its keys come to, and what stands in the field after it.

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
        let sent = scene.key(KeyCode::Enter);
        assert_eq!(sent, [Effect::Send(Command::Rewind { message_id: id, what: RewindWhat::Both })]);
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
    let back = Command::Rewind { message_id: id, what: RewindWhat::Conversation };
    assert_eq!(scene.key(KeyCode::Enter), [Effect::Send(back)]);
    assert_eq!(scene.app.prompt.text.as_str(), "make a parser");
    scene.types("/undo");
    assert_eq!(scene.app.prompt.text.as_str(), "/undo");
    let sent = scene.key(KeyCode::Enter);
    assert_eq!(sent, [Effect::Remember("/undo".into()), Effect::Send(Command::UndoRewind)]);
    scene.app.prompt.offer_again("make a parser");
    scene.types(" in src/");
    assert_eq!(scene.app.prompt.text.as_str(), "make a parser in src/", "what is gone on with is a message");
}

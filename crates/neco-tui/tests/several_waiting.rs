//! Several calls that wait at once: how they are counted, the way from one to the next, and one answer to all of them.

mod support;

use crossterm::event::KeyCode;
use neco_proto::event::*;
use neco_proto::*;
use neco_tui::update::Effect;
use serde_json::{Value, json};
use support::{Ended, Scene, call, command_request, edit_request, with_ahead};

fn decided(id: &str, decision: Decision) -> Effect {
    Effect::Send(Command::Approve { call_id: call(id), decision })
}

fn write_request(id: &str) -> Value {
    let mut request = edit_request(id);
    request["summary"] = json!("Write b.txt");
    request
}

fn decides(scene: &mut Scene, id: &str) {
    let decision = Decision::Once;
    scene.happen(EventBody::PermissionDecision(PermissionDecision { call_id: call(id), decision, by: None }));
}

#[test]
fn other_questions_are_an_arrow_away() {
    let mut scene = Scene::new((80, 40));
    scene.works();
    scene.asks(edit_request("1"));
    scene.asks(edit_request("2"));
    scene.reads();
    assert!(scene.picture().contains("1 of 2"), "{}", scene.picture());
    scene.key(KeyCode::Right);
    assert_eq!(scene.types("y"), [], "it was not read yet");
    scene.reads();
    assert!(scene.picture().contains("2 of 2"), "{}", scene.picture());
    assert_eq!(scene.types("y"), [decided("2", Decision::Once)]);
}

#[test]
fn calls_that_are_asked_about_are_counted_forward() {
    let mut scene = Scene::new((80, 40));
    scene.works();
    ["1", "2", "3"].into_iter().for_each(|id| drop(scene.asks(edit_request(id))));
    for (id, place) in [("1", "1 of 3"), ("2", "2 of 3"), ("3", "3 of 3")] {
        scene.reads();
        assert!(scene.picture().contains(place), "{place}: {}", scene.picture());
        assert_eq!(scene.types("y"), [decided(id, Decision::Once)]);
        scene.ends(id, "edit_file", "Edit src/a.rs", Ended::well(None));
        scene.app.now_ms += 1000;
    }
    scene.asks(edit_request("4"));
    assert!(!scene.picture().contains("1 of 1") && !scene.picture().contains("of 4"), "{}", scene.picture());
}

#[test]
fn calls_are_counted_by_whoever_asks() {
    let mut scene = Scene::new((80, 40));
    scene.works();
    scene.asks(edit_request("1"));
    let request = |id: &str| serde_json::from_value(edit_request(id)).unwrap();
    scene.happen_to(AgentId::new(), EventBody::PermissionRequest(request("2")));
    scene.reads();
    assert_eq!(scene.types("y"), [decided("1", Decision::Once)]);
    scene.ends("1", "edit_file", "Edit src/a.rs", Ended::well(None));
    scene.app.now_ms += 1000;
    scene.asks(edit_request("3"));
    assert!(scene.picture().contains("1 of 2"), "what the root asked before is not counted: {}", scene.picture());
}

#[test]
fn what_waits_is_counted_the_same_whichever_is_on_the_screen() {
    let mut scene = Scene::new((120, 40));
    scene.works();
    scene.asks(with_ahead(command_request("1", "ls"), &[("5", "Write b.txt", Some("medium"))]));
    let child: PermissionRequest = serde_json::from_value(edit_request("2")).unwrap();
    scene.happen_to(AgentId::new(), EventBody::PermissionRequest(child));
    scene.reads();
    let picture = scene.picture();
    assert!(picture.contains("1 of 3") && picture.contains("No to all 3"), "{picture}");
    scene.key(KeyCode::Right);
    scene.reads();
    let picture = scene.picture();
    assert!(picture.contains("2 of 3") && picture.contains("No to all 3"), "{picture}");
}

#[test]
fn yes_to_all_is_yes_to_what_was_named_and_does_no_harm() {
    let mut scene = Scene::new((100, 30));
    scene.works();
    scene.asks(edit_request("1"));
    let mut worse = edit_request("2");
    worse["risk"] = json!("high");
    worse["summary"] = json!("Run rm -rf build");
    scene.asks(worse);
    scene.asks(edit_request("3"));
    scene.reads();
    assert!(
        scene.picture().contains("· Run    rm -rf build  +1 −1  in this folder  asked by itself"),
        "{}",
        scene.picture()
    );
    assert!(scene.picture().contains("Yes to this and the 1 marked +"), "{}", scene.picture());
    // What comes between the frame and the key was not named.
    let unseen: PermissionRequest = serde_json::from_value(edit_request("4")).unwrap();
    scene.happen(EventBody::PermissionRequest(unseen));
    assert_eq!(scene.types("Y"), [decided("1", Decision::Once), decided("3", Decision::Once)]);
}

#[test]
fn a_small_terminal_keeps_yes_to_all_and_shows_less_of_the_change() {
    let mut scene = Scene::new((60, 15));
    scene.works();
    ["1", "2", "3"].into_iter().for_each(|id| drop(scene.asks(edit_request(id))));
    scene.reads();
    let picture = scene.picture();
    assert!(picture.contains("Y yes to all +") && picture.matches("+ Edit   src/a.rs").count() == 2, "{picture}");
    assert!(picture.contains("more rows · d"), "{picture}");
    let all = ["1", "2", "3"].map(|id| decided(id, Decision::Once));
    assert_eq!(scene.types("Y"), all);
}

#[test]
fn what_was_not_named_is_not_allowed_when_another_one_goes() {
    let mut scene = Scene::new((100, 30));
    scene.works();
    for id in ["1", "2"] {
        scene.asks(edit_request(id));
    }
    scene.reads();
    // Another window answers the second; a third one takes its place in the line, unseen.
    scene.allowed("2");
    let unseen: PermissionRequest = serde_json::from_value(edit_request("3")).unwrap();
    scene.happen(EventBody::PermissionRequest(unseen));
    assert_eq!(scene.types("Y"), [decided("1", Decision::Once)]);
}

#[test]
fn yes_to_all_says_what_it_covers_and_what_is_left_says_why() {
    let mut scene = Scene::new((80, 24));
    scene.works();
    scene.call("9", "todo_write", CallStatus::Scheduled, "Update 1 todo");
    scene.app.person.focused = Some(true);
    let (two, three) = (("2", "Write b.txt", Some("medium")), ("3", "Run cat .env", Some("critical")));
    let four = ("4", "Edit new.txt", None);
    scene.asks(with_ahead(edit_request("1"), &[two, three, four]));
    let picture = scene.picture();
    for row in [
        "+ Write  b.txt     in this folder   with Y",
        "· Run    cat .env  high risk        asked by itself",
        "· Edit   new.txt   not checked yet  asked by itself",
    ] {
        assert!(picture.contains(row), "{row}:\n{picture}");
    }
    assert!(!picture.contains("1 todo ") && picture.contains("Yes to this and the 1 marked +"), "{picture}");
    assert_eq!(scene.types("Y"), [decided("1", Decision::Once)]);
    decides(&mut scene, "1");
    assert_eq!(scene.asks(with_ahead(write_request("2"), &[three, four])), [decided("2", Decision::Once)]);
    decides(&mut scene, "2");
    assert_eq!(scene.asks(with_ahead(command_request("3", "cat .env"), &[four])), [], "it was seen in a line only");
    let picture = scene.picture();
    assert!(picture.contains("Asked by itself: it is high risk"), "{picture}");
    assert!(!picture.contains("Yes to this") && picture.contains("No to all 2"), "{picture}");
    assert_eq!(scene.types("Y"), [], "it would cover nothing else");
    let picture = scene.picture();
    assert!(picture.contains("The others are asked one by one (not checked yet): y allows this one"), "{picture}");
    assert_eq!(scene.types("y"), [decided("3", Decision::Once)]);
    decides(&mut scene, "3");
    assert_eq!(scene.asks(edit_request("4")), []);
    assert!(scene.picture().contains("Asked by itself: it was not checked yet"), "{}", scene.picture());
    scene.happen(EventBody::TurnStart(TurnStart { iteration: 4, model: "m".into() }));
    assert_eq!(scene.asks(write_request("2")), [], "another turn");
}

#[test]
fn what_turns_out_worse_than_it_looked_is_asked_about() {
    let mut scene = Scene::new((80, 24));
    scene.works();
    scene.app.person.focused = Some(true);
    scene.asks(with_ahead(edit_request("1"), &[("2", "Write b.txt", Some("low")), ("3", "Run ls", Some("high"))]));
    scene.types("Y");
    decides(&mut scene, "1");
    assert_eq!(scene.asks(with_ahead(command_request("3", "ls"), &[("2", "Write b.txt", Some("low"))])), []);
    assert!(scene.picture().contains("✓ Write  b.txt  in this folder · you said yes"), "{}", scene.picture());
    decides(&mut scene, "3");
    assert_eq!(scene.asks(write_request("2")), []);
    let picture = scene.picture();
    assert!(picture.contains("It does more now than what you said yes to"), "{picture}");
}

#[test]
fn a_second_yes_to_all_forgets_nothing_of_the_first() {
    let mut scene = Scene::new((80, 24));
    scene.works();
    scene.app.person.focused = Some(true);
    let two = ("2", "Write b.txt", Some("medium"));
    scene.asks(with_ahead(edit_request("1"), &[("3", "Run ls", Some("high")), two]));
    scene.types("Y");
    decides(&mut scene, "1");
    scene.asks(with_ahead(command_request("3", "ls"), &[two, ("4", "Write c.txt", Some("medium"))]));
    scene.types("Y");
    decides(&mut scene, "3");
    assert_eq!(scene.asks(write_request("2")), [decided("2", Decision::Once)]);
}

#[test]
fn what_a_hook_changed_or_no_row_shows_whole_is_asked_about() {
    let mut scene = Scene::new((60, 30));
    scene.works();
    scene.app.person.focused = Some(true);
    let (two, three) = (("2", "Write b.txt", Some("medium")), ("3", "Patch a.rs and 5 more", Some("medium")));
    let long = format!("Write {}", "folder/".repeat(30));
    scene
        .asks(with_ahead(edit_request("1"), &[two, three, ("4", &long, Some("medium")), ("5", "Run ls", Some("low"))]));
    let picture = scene.picture();
    assert!(picture.contains("+ Write  b.txt") && picture.contains("· Patch  a.rs and 5 more"), "{picture}");
    assert!(picture.contains("· Run    ls") && picture.contains("Yes to this and the 1 marked +"), "{picture}");
    scene.types("Y");
    decides(&mut scene, "1");
    // The same id and the same risk, but not what was seen.
    assert_eq!(scene.asks(edit_request("2")), []);
    assert!(scene.picture().contains("You said yes to “Write b.txt”; it was changed since"), "{}", scene.picture());
    decides(&mut scene, "2");
    assert_eq!(scene.asks(edit_request("3")), []);
    assert!(scene.picture().contains("Asked by itself: it could not be shown whole"), "{}", scene.picture());
}

#[test]
fn no_to_all_holds_for_everything() {
    let mut scene = Scene::new((80, 24));
    scene.works();
    scene.asks(with_ahead(edit_request("1"), &[("2", "Run ls", Some("high"))]));
    let no = || Decision::Reject { reason: None };
    assert_eq!(scene.types("N"), [decided("1", no())]);
    assert_eq!(scene.asks(command_request("2", "ls")), [decided("2", no())]);
}

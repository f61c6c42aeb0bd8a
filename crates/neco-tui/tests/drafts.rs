//! What is written while something is asked: no key is taken for another, and nothing that was written is lost.

mod support;

use crossterm::event::KeyCode;
use neco_proto::event::*;
use neco_proto::*;
use neco_tui::host::ModelEntry;
use neco_tui::update::{Effect, News};
use serde_json::json;
use support::{Scene, call, edit_request};

fn decided(id: &str, decision: Decision) -> Vec<Effect> {
    vec![Effect::Send(Command::Approve { call_id: call(id), decision })]
}

#[test]
fn a_draft_is_no_reason_and_comes_back_after_it() {
    let mut scene = Scene::new((80, 24));
    scene.works();
    scene.asks(edit_request("1"));
    scene.reads();
    scene.key(KeyCode::Tab);
    scene.types("later run the linter");
    scene.key(KeyCode::Esc);
    assert_eq!(scene.types("n"), []);
    let picture = scene.picture();
    assert!(!picture.contains("linter") && picture.contains("❯  5  No, and say"), "{picture}");
    assert!(picture.contains("Enter says no") && picture.contains("Esc back to the answers"), "{picture}");
    // Back, with the draft, and once more.
    scene.key(KeyCode::Esc);
    let picture = scene.picture();
    assert!(picture.contains("later run the linter") && picture.contains("❯  1  Yes"), "{picture}");
    scene.types("n");
    scene.types("not needed");
    let reason = Some("not needed".to_owned());
    assert_eq!(scene.key(KeyCode::Enter), decided("1", Decision::Reject { reason }));
    assert!(scene.picture().contains("later run the linter"), "{}", scene.picture());
}

#[test]
fn no_key_that_was_on_its_way_answers() {
    let mut scene = Scene::new((80, 24));
    scene.works();
    let request: PermissionRequest = serde_json::from_value(edit_request("1")).unwrap();
    scene.happen(EventBody::PermissionRequest(request));
    scene.picture();
    for (after, key) in [(100, KeyCode::Enter), (250, KeyCode::Char('1')), (100, KeyCode::Enter), (100, KeyCode::Down)]
    {
        scene.app.now_ms += after;
        assert_eq!(scene.key(key), [], "somebody types still");
    }
    assert!(scene.picture().contains("That key was ignored"), "{}", scene.picture());
    assert!(scene.picture().contains("❯  1  Yes "), "{}", scene.picture());
    scene.app.now_ms += 200;
    assert_eq!(scene.key(KeyCode::Enter), decided("1", Decision::Once));
}

#[test]
fn no_sentence_makes_a_rule_or_decides() {
    for words in ["also run the tests", "stop, not here", "what is that?", "as you like", "sure"] {
        let mut scene = Scene::new((80, 24));
        scene.works();
        scene.asks(edit_request("1"));
        assert_eq!(scene.types(words), [], "{words}");
        assert_eq!(scene.app.prompt.text.as_str(), words);
        let sent = scene.key(KeyCode::Enter);
        assert_eq!(sent.last(), Some(&Effect::Send(Command::Steer { text: words.into() })));
        // The field stays the field until the person goes back to the question.
        scene.types("wait");
        scene.control('u');
        assert_eq!(scene.types("y"), []);
        scene.control('u');
        assert_eq!(scene.key(KeyCode::Esc), []);
        assert_eq!(scene.types("y"), decided("1", Decision::Once));
    }
}

#[test]
fn a_key_for_one_question_never_answers_the_next() {
    let mut scene = Scene::new((80, 24));
    scene.works();
    scene.asks(edit_request("1"));
    scene.asks(edit_request("2"));
    assert_eq!(scene.types("y"), decided("1", Decision::Once));
    assert_eq!(scene.types("y"), [], "it is answered");
    // Another window is quicker, or the session takes the answer: the key that is under way is not for the next one.
    scene.allowed("1");
    assert_eq!(scene.types("y"), [], "it was not drawn");
    scene.picture();
    assert_eq!(scene.types("y"), [], "it was not read");
    assert_eq!(scene.app.prompt.text.as_str(), "", "and it is no text");
    scene.app.now_ms += 1000;
    assert_eq!(scene.types("y"), decided("2", Decision::Once));
}

#[test]
fn a_question_behind_a_list_is_read_before_it_is_answered() {
    let mut scene = Scene::new((80, 24));
    scene.news(News::Models(Ok(vec![ModelEntry { name: "a/b".into(), ..ModelEntry::default() }])));
    scene.works();
    scene.asks(edit_request("1"));
    scene.key(KeyCode::Esc);
    assert_eq!(scene.types("y"), [], "it was not seen");
    assert_eq!(scene.app.prompt.text.as_str(), "", "and it is no message");
}

#[test]
fn a_key_in_the_moment_a_question_comes_neither_decides_nor_is_a_message() {
    let ask = || {
        let mut scene = Scene::new((80, 24));
        scene.works();
        let request: PermissionRequest = serde_json::from_value(edit_request("1")).unwrap();
        scene.happen(EventBody::PermissionRequest(request));
        scene.picture();
        scene.app.now_ms += 100;
        scene
    };
    let mut scene = ask();
    assert_eq!(scene.types("e"), []);
    assert_eq!(scene.app.prompt.text.as_str(), "");
    scene.app.now_ms += 600;
    assert_eq!(scene.types("y"), decided("1", Decision::Once), "the question has the keys still");
    // A key that is held down is no word, and decides nothing either.
    let mut scene = ask();
    assert_eq!(scene.types("yyy"), []);
    assert_eq!(scene.app.prompt.text.as_str(), "");
    // Whoever writes a word loses nothing of it, also when the question can be read meanwhile.
    let mut scene = ask();
    scene.app.now_ms += 150;
    assert_eq!(scene.types("h"), []);
    scene.app.now_ms += 100;
    assert_eq!(scene.types("ey you"), []);
    assert_eq!(scene.app.prompt.text.as_str(), "hey you");
    assert!(scene.picture().contains("Your keys write in the field below"), "{}", scene.picture());
}

#[test]
fn a_draft_waits_while_questions_are_answered() {
    let mut scene = Scene::new((80, 24));
    scene.works();
    scene.types("later: the docs");
    scene.app.now_ms += 10_000;
    scene.asks(edit_request("1"));
    assert!(scene.picture().contains("❯  1  Yes "), "{}", scene.picture());
    assert_eq!(scene.key(KeyCode::Enter), [], "what waits is not sent by a key for the question");
    assert_eq!(scene.types("y"), decided("1", Decision::Once));
    scene.allowed("1");
    scene.asks(edit_request("2"));
    assert_eq!(scene.types("y"), decided("2", Decision::Once));
    assert_eq!(scene.app.prompt.text.as_str(), "later: the docs");
}

#[test]
fn a_field_that_was_emptied_gives_the_keys_back_after_a_while() {
    let mut scene = Scene::new((80, 24));
    scene.works();
    scene.asks(edit_request("1"));
    scene.types("hello there");
    assert!(matches!(scene.key(KeyCode::Enter).last(), Some(Effect::Send(Command::Steer { .. }))));
    assert_eq!(scene.types("y"), [], "the next sentence may begin so");
    scene.control('u');
    scene.app.now_ms += 1500;
    assert!(scene.picture().contains("❯  1  Yes "), "{}", scene.picture());
    assert_eq!(scene.types("y"), decided("1", Decision::Once));
    // Whoever went there to write thinks as long as they like.
    scene.allowed("1");
    scene.asks(edit_request("2"));
    scene.key(KeyCode::Tab);
    scene.app.now_ms += 60_000;
    assert_eq!(scene.types("yes, but"), []);
    assert_eq!(scene.app.prompt.text.as_str(), "yes, but");
}

#[test]
fn esc_stops_nothing_before_it_could_be_read_that_the_question_has_the_keys_again() {
    let sent = || {
        let mut scene = Scene::new((80, 24));
        scene.works();
        scene.asks(edit_request("1"));
        scene.key(KeyCode::Tab);
        scene.types("a draft");
        scene.key(KeyCode::Enter);
        assert!(scene.picture().contains("Esc back to the question"), "{}", scene.picture());
        scene.app.now_ms += 1500;
        scene
    };
    // Nothing was drawn since, or just now: it goes to the question, as it said.
    assert_eq!(sent().key(KeyCode::Esc), []);
    let mut scene = sent();
    assert!(scene.picture().contains("Esc no, stop the turn"), "{}", scene.picture());
    scene.app.now_ms += 300;
    assert_eq!(scene.key(KeyCode::Esc), []);
    assert_eq!(scene.types("y"), decided("1", Decision::Once), "the question has the keys");
    let mut scene = sent();
    scene.reads();
    assert_eq!(scene.key(KeyCode::Esc).first(), Some(&Effect::Send(Command::Cancel)));
}

#[test]
fn whoever_answers_is_not_writing() {
    let mut scene = Scene::new((80, 24));
    scene.works();
    scene.asks(edit_request("1"));
    scene.key(KeyCode::Tab);
    scene.types("a draft");
    scene.app.now_ms += 300;
    scene.key(KeyCode::Esc);
    assert_eq!(scene.types("y"), decided("1", Decision::Once));
    scene.allowed("1");
    scene.asks(edit_request("2"));
    assert_eq!(scene.types("y"), decided("2", Decision::Once), "the next question has the keys as well");
    assert_eq!(scene.app.prompt.text.as_str(), "a draft");
}

#[test]
fn what_is_pasted_at_a_question_is_no_choice_of_it() {
    let mut scene = Scene::new((80, 24));
    scene.works();
    let options = [json!({"label": "SQLite", "description": ""}), json!({"label": "PostgreSQL", "description": ""})];
    let item = json!({"title": "store", "text": "Where?", "multiple": false, "options": options});
    scene.questions(json!({"about": "choices", "items": [item]}));
    scene.app.paste("in a file of its own");
    let sent = scene.key(KeyCode::Enter);
    let Some(Effect::Send(Command::Answer { reply: Reply::Choices { answers }, .. })) = sent.last() else {
        panic!("{sent:?}")
    };
    assert_eq!(answers[0].text.as_deref(), Some("in a file of its own"));
}

#[test]
fn a_reason_never_goes_to_another_call() {
    let mut scene = Scene::new((80, 24));
    scene.works();
    scene.asks(edit_request("1"));
    scene.asks(edit_request("2"));
    scene.types("n");
    scene.types("because");
    scene.app.now_ms += 1000;
    scene.allowed("1");
    assert!(scene.picture().contains("Answered in another window"));
    let sent = scene.key(KeyCode::Enter);
    assert_eq!(sent.last(), Some(&Effect::Send(Command::Steer { text: "because".into() })));
}

#[test]
fn what_is_being_written_when_a_question_comes_goes_on_being_written() {
    let mut scene = Scene::new((80, 24));
    scene.works();
    scene.types("wh");
    scene.asks(edit_request("1"));
    assert_eq!(scene.types("y not"), []);
    assert_eq!(scene.app.prompt.text.as_str(), "why not");
    assert!(scene.picture().contains("Esc back to the question"));
    assert_eq!(scene.key(KeyCode::Esc), [], "the work goes on");
    assert_eq!(scene.types("y"), decided("1", Decision::Once));
    assert_eq!(scene.app.prompt.text.as_str(), "why not", "the draft stays");
}

#[test]
fn no_letter_decides_in_the_normal_mode_of_vi() {
    let mut scene = Scene::new((80, 24));
    scene.works();
    scene.app.prompt.set_vi(true);
    scene.types("x");
    scene.key(KeyCode::Esc);
    scene.asks(edit_request("1"));
    assert_eq!(scene.types("dda"), []);
    assert_eq!(scene.key(KeyCode::Enter), []);
}

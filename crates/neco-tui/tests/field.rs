//! The field: what is put away comes back, searching ends at the oldest, and a first start takes answers only.

mod support;

use crossterm::event::KeyCode;
use neco_proto::app::keys::NewKey;
use neco_proto::app::{AppError, Trouble};
use neco_proto::event::*;
use neco_proto::*;
use neco_tui::SaidByCommand;
use neco_tui::update::{Effect, News};
use neco_view::slash;
use serde_json::json;
use support::{Scene, edit_request};

fn queued(scene: &mut Scene, text: &str) {
    let queued = MessageQueued { message: Message::user(text), when: Admission::TurnBoundary };
    scene.happen(EventBody::MessageQueued(queued));
}

#[test]
fn words_that_mean_leaving_leave() {
    for word in ["exit", "quit", ":q"] {
        let mut scene = Scene::new((80, 24));
        scene.types(word);
        assert!(scene.key(KeyCode::Enter).contains(&Effect::Quit), "{word}");
    }
    // Where something works, it is stopped.
    for word in ["exit", "/exit"] {
        let mut scene = Scene::new((80, 24));
        scene.works();
        scene.types(word);
        assert!(scene.key(KeyCode::Enter).ends_with(&[Effect::Send(Command::StopAll), Effect::Quit]), "{word}");
    }
    let mut scene = Scene::new((80, 24));
    scene.types("exit now");
    assert!(matches!(scene.key(KeyCode::Enter).last(), Some(Effect::Send(_))));
}

#[test]
fn a_key_is_typed_where_it_was_asked_for_and_nowhere_else() {
    let begin = |scene: &mut Scene| {
        scene.types("/login openai");
        let effects = scene.key(KeyCode::Enter);
        assert_eq!(effects, [Effect::LookForKey("openai".into())], "and nothing is remembered");
    };
    let mut scene = Scene::new((80, 24));
    begin(&mut scene);
    scene.news(News::LookedForKey(Ok("openai".into())));
    scene.types(" sk one ");
    assert!(!scene.picture().contains("one"), "{}", scene.picture());
    assert_eq!(scene.key(KeyCode::Enter), [Effect::KeepKey("openai".into(), NewKey("sk one".into()))]);
    // Whoever writes something else meanwhile goes on with that.
    let mut scene = Scene::new((80, 24));
    begin(&mut scene);
    scene.types("fix");
    scene.news(News::LookedForKey(Ok("openai".into())));
    assert_eq!((scene.app.secret.is_none(), scene.app.prompt.text.as_str()), (true, "fix"));
    // A key behind the command is neither shown nor kept.
    let mut scene = Scene::new((80, 24));
    scene.types("/login openai sk-123");
    assert_eq!(scene.key(KeyCode::Enter), []);
    assert!(!scene.picture().contains("sk-123"), "{}", scene.picture());
}

#[test]
fn a_theme_is_kept() {
    let mut scene = Scene::new((80, 24));
    scene.types("/theme 16");
    let kept = Effect::Outside(slash::Outside::Config, "tui.theme \"16\"".into());
    assert!(scene.key(KeyCode::Enter).contains(&kept));
}

#[test]
fn what_ctrl_c_put_away_comes_back_before_what_waits() {
    let mut scene = Scene::new((80, 24));
    scene.works();
    queued(&mut scene, "queued one");
    scene.types("my draft");
    assert_eq!(scene.control('c'), [Effect::Remember("my draft".into())]);
    let picture = scene.picture();
    assert!(picture.contains("↑ restores it") && !picture.contains("↑ take back"), "{picture}");
    assert_eq!(scene.key(KeyCode::Up), [], "nothing is taken back");
    assert_eq!(scene.app.prompt.text.as_str(), "my draft");
    scene.control('u');
    assert!(scene.picture().contains("↑ take back"), "{}", scene.picture());
    let sent = scene.key(KeyCode::Up);
    assert!(matches!(&sent[..], [Effect::Send(Command::Withdraw { .. })]), "{sent:?}");
}

#[test]
fn what_ctrl_c_put_away_follows_what_a_stop_brings_back() {
    let mut scene = Scene::new((80, 24));
    scene.works();
    let message = Message::user("queued one");
    let queued = |when| EventBody::MessageQueued(MessageQueued { when, message: message.clone() });
    scene.happen(queued(Admission::TurnBoundary));
    scene.types("my draft");
    scene.control('c');
    let sent = scene.control('c');
    assert!(sent.contains(&Effect::Send(Command::Withdraw { message_ids: vec![message.id] })), "{sent:?}");
    scene.happen(queued(Admission::Withdrawn));
    assert_eq!(scene.app.prompt.text.as_str(), "queued one\nmy draft");
}

#[test]
fn a_search_past_the_oldest_keeps_it() {
    let mut scene = Scene::new((80, 24));
    scene.control('r');
    scene.types("the");
    assert_eq!(scene.app.prompt.text.as_str(), "fix the parser");
    for _ in 0..3 {
        scene.control('r');
    }
    let picture = scene.picture();
    assert!(picture.contains("(no older match) run the tests") && !picture.contains("nothing fits"), "{picture}");
    scene.key(KeyCode::Enter);
    assert_eq!(scene.app.prompt.text.as_str(), "run the tests");
}

#[test]
fn lines_of_a_command_are_seen_while_they_run_and_stop_with_one_key() {
    for size in [(100, 30), (60, 15)] {
        let mut scene = Scene::new(size);
        scene.app.offers.custom = vec![slash::Custom { name: "look".into(), ..slash::Custom::default() }];
        scene.types("/look");
        scene.key(KeyCode::Enter);
        scene.news(News::LineBegins("git fetch".into()));
        scene.news(News::LinePrinted(0, "from far away\n".into()));
        let picture = scene.picture();
        for words in ["Shell  git fetch", "stopped after 60 s", "Esc stop", "from far away"] {
            assert!(picture.contains(words), "{words}:\n{picture}");
        }
        scene.types("/look");
        assert_eq!(scene.key(KeyCode::Enter).iter().filter(|effect| matches!(effect, Effect::Custom(..))).count(), 0);
        assert_eq!(scene.key(KeyCode::Esc), [Effect::StopShell]);
        scene.news(News::LinesEnded);
        scene.news(News::Custom(Err(AppError::new(Trouble::Failed, "Stopped; nothing was sent"))));
        let picture = scene.picture();
        assert!(!picture.contains("git fetch") && picture.contains("Stopped; nothing was sent"), "{picture}");
        assert!(picture.contains("› /look"), "it is there to be tried again:\n{picture}");
    }
}

#[test]
fn a_command_is_looked_for_again_before_there_is_none() {
    let mut scene = Scene::new((80, 24));
    scene.types("/shout now");
    let unknown = Some("/shout now".to_owned());
    assert_eq!(scene.key(KeyCode::Enter).last(), Some(&Effect::Commands(unknown.clone())));
    // A list that was asked for before says nothing about it.
    assert_eq!(scene.news(News::Commands(Vec::new(), None)), []);
    assert!(!scene.picture().contains("there is no"), "{}", scene.picture());
    let shout = slash::Custom { name: "shout".into(), ..slash::Custom::default() };
    assert_eq!(scene.news(News::Commands(vec![shout], unknown)), [Effect::Custom("shout".into(), "now".into())]);
    // What was typed is seen, and not only what its file says.
    let said = SaidByCommand {
        pieces: vec![MessagePiece::said("SHOUT, as the file says")],
        notes: vec!["(`ls` failed: exit code 2)".into()],
        wants: CommandWants { allow: vec!["Bash(say:*)".into()], model: Some("a/b".into()) },
    };
    let sent = scene.news(News::Custom(Ok(said)));
    assert!(scene.picture().contains("/shout now"), "{}", scene.picture());
    assert!(scene.picture().contains("(`ls` failed: exit code 2)"), "{}", scene.picture());
    let says = Command::CommandMessage {
        pieces: vec![MessagePiece::said("SHOUT, as the file says")],
        attachments: Vec::new(),
        steers: false,
        allow: vec!["Bash(say:*)".into()],
        model: Some("a/b".into()),
    };
    assert_eq!(sent.last(), Some(&Effect::Send(says)), "what its file wants goes with what it says");
    scene.types("/hepl");
    scene.key(KeyCode::Esc);
    scene.key(KeyCode::Enter);
    scene.news(News::Commands(Vec::new(), Some("/hepl".to_owned())));
    assert!(scene.picture().contains("There is no /hepl; did you mean /help?"), "{}", scene.picture());
    assert_eq!(scene.app.prompt.text.as_str(), "/hepl", "it is there to be corrected");
}

#[test]
fn a_first_start_takes_answers_and_nothing_else() {
    let mut scene = Scene::new((80, 24));
    scene.app.set_up = true;
    scene.works();
    let picture = scene.picture();
    assert!(picture.contains("one moment · Esc stops it") && !picture.contains("asks first"), "{picture}");
    scene.types("qwen3");
    assert_eq!(scene.key(KeyCode::Enter), [], "nothing is asked");
    assert_eq!(scene.app.prompt.text.as_str(), "qwen3", "and nothing is lost");
    scene.happen(EventBody::StateChange(StateChange {
        from: AgentState::Streaming,
        to: AgentState::Idle,
        iteration: 1,
    }));
    let item = json!({"title": "model", "text": "The name of the model there", "multiple": false, "options": []});
    scene.questions(json!({"about": "choices", "items": [item]}));
    let sent = scene.key(KeyCode::Enter);
    assert!(matches!(sent.last(), Some(Effect::Send(Command::Answer { .. }))), "{sent:?}");
    // Words that are not sent go first; the second Esc gives no answer.
    let item = json!({"title": "model", "text": "Its address", "multiple": false, "options": []});
    let mut scene = Scene::new((80, 24));
    scene.app.set_up = true;
    scene.questions(json!({"about": "choices", "items": [item]}));
    let picture = scene.picture();
    assert!(picture.contains("Its address") && !picture.contains("Esc no answer"), "{picture}");
    scene.types("http");
    assert_eq!(scene.key(KeyCode::Esc), []);
    assert!(scene.app.prompt.text.is_empty());
    assert!(scene.picture().contains("Esc again goes back"), "{}", scene.picture());
    let sent = scene.key(KeyCode::Esc);
    assert!(matches!(&sent[..], [Effect::Send(Command::Answer { reply: Reply::Dismiss, .. })]), "{sent:?}");
}

#[test]
fn a_key_is_never_shown_or_sent_where_a_model_is_chosen() {
    let key = format!("sk-ant-api03-{}", "aB3".repeat(12));
    let option = |label: &str| json!({"label": label, "description": "needs a key"});
    let options = json!([option("anthropic"), option("openai")]);
    let item = json!({"title": "model", "text": "Which model?", "multiple": false, "options": options});
    for pastes in [true, false] {
        let mut scene = Scene::new((80, 24));
        scene.app.set_up = true;
        scene.questions(json!({"about": "choices", "items": [item]}));
        if pastes {
            scene.app.paste(&key);
        } else {
            scene.types(&key);
        }
        let picture = scene.picture();
        assert!(picture.contains("•••") && picture.contains("looks like a key"), "{picture}");
        assert!(!picture.contains("ant-api"), "{picture}");
        assert_eq!(scene.key(KeyCode::Enter), [], "it is no answer");
        assert_eq!(scene.app.prompt.text.as_str(), "");
        let picture = scene.picture();
        assert!(picture.contains("Choose its provider") && !picture.contains("ant-api"), "{picture}");
        let sent = scene.key(KeyCode::Enter);
        assert!(matches!(sent.last(), Some(Effect::Send(Command::Answer { .. }))), "{sent:?}");
    }
}

#[test]
fn a_workflow_that_failed_says_where_and_why() {
    let mut scene = Scene::new((100, 24));
    let id = WorkflowId::new();
    let task = |id: &str, state: &str, error: Option<&str>| json!({"id": id, "kind": "command", "state": state, "error": error});
    let mut update = |state: &str, tasks: serde_json::Value| {
        let update = json!({"type": "workflow_update", "workflow_id": id, "name": "demo", "state": state, "strategy": "fail_fast", "tasks": tasks});
        scene.happen(support::read(update));
    };
    update("running", json!([task("one", "running", None), task("three", "pending", None)]));
    update("running", json!([task("one", "completed", None), task("three", "running", None)]));
    update("failed", json!([task("three", "failed", Some("exit code 1"))]));
    let picture = scene.picture();
    assert!(picture.contains("✓ one of demo completed"), "{picture}");
    assert!(picture.contains("✕ workflow demo failed at three: exit code 1 · /workflow show"), "{picture}");
}

#[test]
fn what_is_set_is_told() {
    let mut scene = Scene::new((80, 24));
    scene.types("/theme ");
    scene.key(KeyCode::Esc);
    scene.key(KeyCode::Enter);
    assert!(scene.picture().contains("• none"), "{}", scene.picture());
    scene.asks(edit_request("1"));
    assert_eq!(scene.key(KeyCode::Esc), [], "a question is asked all the same");
}

#[test]
fn pictures_come_back_with_what_was_put_away() {
    let mut scene = Scene::new((80, 24));
    let picture = Attachment::Image { media_type: "image/png".into(), data: "AA==".into() };
    scene.news(News::Image(Ok(Some(picture.clone())), None));
    scene.types("see");
    scene.control('c');
    scene.key(KeyCode::Up);
    assert_eq!(scene.app.prompt.text.as_str(), "[image 1] see");
    let sent = scene.key(KeyCode::Enter);
    let says = |effect: &Effect| matches!(effect, Effect::Send(Command::UserMessage { attachments, .. }) if *attachments == [picture.clone()]);
    assert!(sent.iter().any(says), "{sent:?}");
}

#[test]
fn a_skill_is_completed_anywhere_and_what_it_takes_is_shown_until_it_is_written() {
    let mut scene = Scene::new((80, 24));
    let own = |name: &str, is_skill| {
        let (name, argument) = (name.to_owned(), "FILE".to_owned());
        slash::Custom { name, argument, is_skill, ..slash::Custom::default() }
    };
    scene.app.offers.custom = vec![own("pdf-forms", true), own("pdf-print", false)];
    scene.types("please use $pd");
    let picture = scene.picture();
    assert!(picture.contains("$pdf-forms") && !picture.contains("$pdf-print"), "{picture}");
    scene.key(KeyCode::Tab);
    assert_eq!(scene.app.prompt.text.as_str(), "please use $pdf-forms ");
    assert!(scene.picture().contains("takes FILE"), "{}", scene.picture());
    scene.types("a");
    assert!(!scene.picture().contains("takes FILE"), "{}", scene.picture());
    scene.control('c');
    scene.types("/pdf-p");
    scene.key(KeyCode::Tab);
    assert!(scene.app.prompt.text.as_str() == "/pdf-print " && scene.picture().contains("takes FILE"));
    scene.control('c');
    assert_eq!(scene.types("it costs 5 $"), [Effect::Commands(None)]);
    assert!(scene.app.prompt.completion.is_none(), "it may be money");
    scene.control('c');
    scene.types("use $pdf-forms");
    scene.key(KeyCode::Enter);
    assert_eq!(scene.app.prompt.text.as_str(), "", "what is written out is sent");
    scene.types("/pdf-forms a.pdf");
    assert_eq!(scene.key(KeyCode::Enter).last(), Some(&Effect::Custom("pdf-forms".into(), "a.pdf".into())));
    scene.types("/skills");
    assert!(scene.key(KeyCode::Enter).contains(&Effect::Outside(slash::Outside::Skills, String::new())));
}

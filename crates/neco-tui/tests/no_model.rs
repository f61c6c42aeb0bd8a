//! No model answers: the person is asked what now, and sees when one is tried again by itself.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use crossterm::event::KeyCode;
use neco_proto::event::*;
use neco_proto::*;
use neco_tui::update::Effect;
use serde_json::json;
use support::Scene;

/// A model does not answer, and is tried again after so long.
fn waits(scene: &mut Scene, attempt: u32, wait_ms: u64) {
    let retry = json!({
        "type": "model_retry", "attempt": attempt, "attempts": 5, "model": "deepseek/chat", "wait_ms": wait_ms,
        "code": 4002, "message": "deepseek/chat: too many requests (429)", "discards": false
    });
    scene.happen(support::read(retry));
}

/// No model answers the root, whose work ends with that.
fn fails(scene: &mut Scene, message: &str) {
    let (code, message) = (ErrorCode::ProviderUnavailable, message.to_owned());
    scene.happen(EventBody::Error(ErrorEvent { code, message, retryable: true }));
    let change = StateChange { from: AgentState::Streaming, to: AgentState::Failed, iteration: 1 };
    scene.happen(EventBody::StateChange(change));
    let complete = json!({
        "type": "agent_complete", "reason": "failed", "final": "", "turns": 1, "duration_ms": 5,
        "usage": { "input": 1, "output": 1, "cache_read": 0, "cache_write": 0, "reasoning": 0 }
    });
    scene.happen(support::read(complete));
}

/// A scene in which a model is tried again after twelve seconds, one of which has passed.
fn waiting() -> Scene {
    let mut scene = Scene::new((100, 30));
    scene.works();
    waits(&mut scene, 2, 12_000);
    scene.reads();
    scene
}

/// A scene in which the work has ended.
fn failed() -> Scene {
    let mut scene = Scene::new((100, 30));
    scene.works();
    fails(&mut scene, "play failed (HTTP 500)");
    scene.reads();
    scene
}

#[test]
fn a_long_wait_is_counted_down_in_a_panel() {
    let mut scene = waiting();
    let picture = scene.picture();
    assert!(picture.contains("▎◆ No answer yet  deepseek/chat: too many requests (429)"), "{picture}");
    assert!(picture.contains("nothing is lost"), "{picture}");
    assert!(picture.contains("▎❯  1  Wait for chat  tried again in 11 s, 2 of 5"), "{picture}");
    scene.app.now_ms = 11_500;
    assert!(scene.picture().contains("tried again in 1 s, 2 of 5"), "{}", scene.picture());
    scene.app.now_ms = 12_000;
    assert!(scene.picture().contains("tried again now, 2 of 5"), "{}", scene.picture());
    // What is chosen stays while it is tried again and again.
    scene.key(KeyCode::Down);
    waits(&mut scene, 3, 92_000);
    assert!(scene.picture().contains("tried again in 1:20, 3 of 5"), "{}", scene.picture());
    assert!(scene.picture().contains("▎❯  2  Choose another model"), "{}", scene.picture());
    scene.streams(&["here I am"]);
    assert!(!scene.picture().contains("No answer yet"), "{}", scene.picture());
}

#[test]
fn a_short_wait_is_over_before_it_is_read() {
    let mut scene = Scene::new((100, 30));
    scene.works();
    waits(&mut scene, 2, 4000);
    let picture = scene.picture();
    assert!(picture.contains("trying again in 4 s") && !picture.contains("No answer yet"), "{picture}");
}

#[test]
fn whoever_waits_is_not_asked_again_in_this_turn() {
    let mut scene = waiting();
    assert_eq!(scene.types("w"), []);
    assert!(!scene.picture().contains("No answer yet"), "{}", scene.picture());
    waits(&mut scene, 3, 30_000);
    assert!(!scene.picture().contains("No answer yet"), "{}", scene.picture());
    scene.works();
    waits(&mut scene, 2, 30_000);
    assert!(scene.picture().contains("No answer yet"), "{}", scene.picture());
}

#[test]
fn a_wait_can_be_stopped_and_another_model_chosen() {
    let stop = [Effect::Send(Command::Cancel)];
    assert_eq!(waiting().types("n"), stop);
    assert_eq!(waiting().types("3"), stop);
    assert_eq!(waiting().key(KeyCode::Esc), stop, "as it does without a question");
    let chosen = waiting().types("m");
    assert_eq!((chosen.first(), chosen.last()), (stop.first(), Some(&Effect::Models)));
    // What is no answer is written, and is a message.
    let mut scene = waiting();
    assert_eq!(scene.types("use the other one"), []);
    assert_eq!(scene.app.prompt.text.as_str(), "use the other one");
    assert!(scene.picture().contains("a message"), "{}", scene.picture());
    let sent = scene.key(KeyCode::Enter);
    assert!(matches!(sent.last(), Some(Effect::Send(Command::Steer { .. }))), "{sent:?}");
}

#[test]
fn where_the_work_ended_it_asks_what_now() {
    let mut scene = failed();
    assert!(scene.picture().contains("◆ No model answers  play failed (HTTP 500)"), "{}", scene.picture());
    for again in ["1", "r"] {
        let sent = failed().types(again);
        assert!(matches!(&sent[..], [Effect::Send(Command::UserMessage { .. })]), "{again}: {sent:?}");
    }
    assert!(matches!(&failed().key(KeyCode::Enter)[..], [Effect::Send(Command::UserMessage { .. })]));
    for other in ["2", "m"] {
        assert_eq!(failed().types(other).last(), Some(&Effect::Models), "{other}");
    }
    for stop in [KeyCode::Char('3'), KeyCode::Char('n'), KeyCode::Esc] {
        let mut scene = failed();
        assert_eq!(scene.key(stop), [], "{stop:?}");
        let picture = scene.picture();
        assert!(picture.contains("Say what to do instead; Enter alone tries again"), "{stop:?}: {picture}");
        assert!(!picture.contains("No model answers"), "{stop:?}: {picture}");
    }
}

#[test]
fn those_that_were_asked_are_named_where_there_were_several() {
    let mut scene = Scene::new((100, 30));
    scene.works();
    let switch = json!({
        "type": "model_switch", "from": "far/glm", "to": "near/chat", "code": 4005, "message": "x", "discards": false
    });
    scene.happen(support::read(switch));
    fails(&mut scene, &format!("none of the 2 models answered: {}", "a: connection refused; ".repeat(9)));
    scene.reads();
    let picture = scene.picture();
    let head = picture.lines().find(|line| line.contains("No model answers")).unwrap_or_default();
    assert!(head.starts_with("▎◆ No model answers  glm and chat were asked "), "{picture}");
    assert!(head.trim_end().ends_with("nothing is lost"), "{picture}");
}

#[test]
fn d_shows_the_whole_error() {
    let mut scene = Scene::new((80, 30));
    scene.works();
    fails(&mut scene, &format!("none of the 2 models answered: {}the end", "a: connection refused; ".repeat(4)));
    scene.reads();
    scene.out.clear();
    let panel = |scene: &mut Scene| {
        let picture = scene.picture();
        picture.lines().filter(|line| line.starts_with('▎')).collect::<Vec<_>>().join("\n")
    };
    let short = panel(&mut scene);
    assert!(!short.contains("the end") && short.contains("d the whole error"), "{short}");
    assert_eq!(scene.types("d"), []);
    assert!(panel(&mut scene).contains("the end"), "{}", panel(&mut scene));
}

#[test]
fn a_new_turn_takes_the_question_away() {
    let mut scene = failed();
    scene.works();
    assert!(!scene.picture().contains("No model answers"), "{}", scene.picture());
}

#[test]
fn trying_again_is_for_the_root_whatever_others_ask_or_wait_for() {
    let mut scene = Scene::new((100, 30));
    let ids = support::agents(&mut scene, &["paused", "running"]);
    scene.works();
    fails(&mut scene, "play failed (HTTP 500)");
    let request = serde_json::from_value(support::edit_request("9")).unwrap();
    scene.happen_to(ids[1], EventBody::PermissionRequest(request));
    scene.reads();
    let sent = scene.types("r");
    assert!(matches!(&sent[..], [Effect::Send(Command::UserMessage { .. })]), "{sent:?}");
}

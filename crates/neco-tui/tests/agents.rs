//! The agents below the root: what is seen of them, and what can be said to them.

mod support;

use crossterm::event::KeyCode;
use neco_proto::event::*;
use neco_proto::*;
use neco_tui::update::{Effect, News};
use serde_json::json;
use support::{Scene, children, in_all_sizes, node};

#[test]
fn who_asked_about_a_plan_before_the_window_opened_is_known() {
    let mut scene = Scene::new((80, 24));
    let id = QuestionId::new();
    scene.happened(support::read(json!({"type": "question", "question_id": id, "about": "plan", "plan": "1. all"})));
    assert_eq!(scene.app.transcript.view.agents.asker(&id.to_string()), Some(scene.root));
}

fn workflow(scene: &mut Scene) {
    let task =
        |id: &str, state: &str, needs: &[&str]| json!({"id": id, "kind": "agent", "state": state, "needs": needs});
    let update = json!({
        "type": "workflow_update", "workflow_id": WorkflowId::new(), "name": "release", "state": "running", "strategy": "fail_fast",
        "tasks": [task("build", "completed", &[]), task("test", "running", &["build"]), task("ship", "pending", &["test"])]
    });
    scene.happen(support::read(update));
}

#[test]
fn three_children_at_work_and_a_workflow() {
    insta::assert_snapshot!(in_all_sizes(|scene| {
        scene.works();
        children(scene);
        workflow(scene);
        scene.streams(&["I gave the work to three others."]);
    }));
}

#[test]
fn a_child_that_ends_is_told_in_a_line() {
    insta::assert_snapshot!(in_all_sizes(|scene| {
        scene.works();
        let [one, two, _] = children(scene);
        for (id, state) in [(two, "cancelled"), (one, "completed")] {
            scene.streams(&["not in the middle "]);
            let node = node(id, scene.root, "coder", "mend the parser", state, 1.0);
            scene.happen_to(id, support::agent_update(&node));
        }
        scene.streams(&["of a sentence"]);
        scene.said("next");
    }));
}

#[test]
fn any_child_can_be_told_stopped_and_paused() {
    insta::assert_snapshot!(in_all_sizes(|scene| {
        let [one, two, _] = children(scene);
        workflow(scene);
        scene.control('t');
        let order = |agent_id, order| vec![Effect::Send(Command::AgentCommand { agent_id, order })];
        scene.control('x');
        assert_eq!(scene.types("p"), order(one, AgentOrder::Pause));
        scene.key(KeyCode::Down);
        scene.control('x');
        assert_eq!(scene.types("x"), order(two, AgentOrder::Cancel));
        assert_eq!(scene.key(KeyCode::Enter), [Effect::Look(two)]);
        scene.news(News::Looked(two, Vec::new(), 0));
        scene.happen_to(two, EventBody::StreamChunk(StreamChunk { text: "I look at the **tests**.".into() }));
        assert!(scene.picture().contains("I look at the tests."), "{}", scene.picture());
        scene.types("use the other file");
        let redirect = AgentOrder::Redirect { text: "use the other file".into() };
        assert_eq!(scene.key(KeyCode::Enter), order(two, redirect));
        scene.control('x');
        assert_eq!(scene.types("r"), order(two, AgentOrder::Resume));
        scene.key(KeyCode::Esc);
        scene.key(KeyCode::End);
        scene.key(KeyCode::Enter);
        scene.control('t');
    }));
}

#[test]
fn a_question_of_a_child_to_its_parent_is_a_line() {
    let mut scene = Scene::new((80, 24));
    scene.works();
    let [one, ..] = children(&mut scene);
    let question = Letter::Up(Up::Question { text: "Should tests be deleted or kept?".into() });
    let message =
        AgentMessage { from: Actor::Agent { id: one }, to: scene.root, letter: question, message_id: MessageId::new() };
    scene.happen_to(one, EventBody::AgentMessage(message));
    assert!(scene.picture().contains("coder-1 asks: Should tests be deleted or kept?"), "{}", scene.picture());
}

#[test]
fn who_has_ended_takes_no_messages() {
    let mut scene = Scene::new((80, 24));
    let [one, ..] = children(&mut scene);
    scene.control('t');
    // It is written to while it works, and ends meanwhile: what was written stays.
    scene.key(KeyCode::Enter);
    scene.news(News::Looked(one, Vec::new(), 0));
    scene.types("use the other file");
    let ended = node(one, scene.root, "coder", "mend the parser", "completed", 1.0);
    scene.happen_to(one, support::agent_update(&ended));
    assert_eq!(scene.key(KeyCode::Enter), []);
    assert!(scene.picture().contains("reads no messages") && scene.picture().contains("use the other file"));
    scene.control('c');
    assert!(scene.picture().contains("coder-1 has ended"), "{}", scene.picture());
    scene.key(KeyCode::Esc);
    assert_eq!(scene.types("a"), []);
    assert_eq!(scene.app.prompt.text.as_str(), "");
    // No key is named that does nothing.
    scene.app.now_ms += 10_000;
    let picture = scene.picture();
    assert!(picture.contains("coder-1 has ended") && picture.contains("Esc all agents"), "{picture}");
    assert!(!picture.contains("Ctrl-X") && !picture.contains("Enter send"), "{picture}");
    // Nor is it written to from the list.
    scene.key(KeyCode::Esc);
    assert_eq!(scene.types("a"), []);
    assert!(scene.picture().contains("reads no messages"), "{}", scene.picture());
}

#[test]
fn a_child_asks_with_its_name() {
    insta::assert_snapshot!(in_all_sizes(|scene| {
        scene.works();
        let [one, ..] = children(scene);
        let request = serde_json::from_value(support::edit_request("9")).unwrap();
        scene.happen_to(one, EventBody::PermissionRequest(request));
        scene.happen_to(one, EventBody::StreamChunk(StreamChunk { text: "this is the child's own business".into() }));
    }));
}

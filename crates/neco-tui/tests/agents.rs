//! The agents below the root: what is seen of them, and what can be said to them.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use crossterm::event::KeyCode;
use jiff::Timestamp;
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
fn agents_that_ended_before_the_person_spoke_last_are_only_counted() {
    let mut scene = Scene::new((120, 40));
    let (root, [old, new]) = (scene.root, [AgentId::new(), AgentId::new()]);
    let before = Timestamp::from_second(-60).unwrap();
    let done = AgentNode { changed: before, ..node(old, root, "reader", "read it", "completed", 1.0) };
    scene.happen_to(old, support::agent_update(&done));
    scene.said("and now the parser");
    scene.works();
    scene.happen_to(new, support::agent_update(&node(new, root, "coder", "mend it", "running", 0.4)));
    let picture = scene.picture();
    assert!(picture.contains("coder-1") && picture.contains(" · 1 ended earlier"), "{picture}");
    assert!(!picture.contains("reader-1"), "{picture}");
}

#[test]
fn where_no_price_is_known_there_is_no_column_for_it() {
    let mut scene = Scene::new((120, 40));
    scene.works();
    let id = AgentId::new();
    let mut free = node(id, scene.root, "coder", "mend the parser", "running", 0.0);
    (free.usage.cost, free.subtree_usage.cost) = (None, None);
    scene.happen_to(id, support::agent_update(&free));
    let picture = scene.picture();
    let at_edge = |row: &str| row.contains("coder-1") && row.ends_with("0:00") && row.chars().count() == 119;
    assert!(picture.lines().any(at_edge), "{picture}");
    scene.control('t');
    let picture = scene.picture();
    assert!(picture.contains("does") && !picture.contains("cost"), "{picture}");
}

#[test]
fn a_time_and_a_small_cost_stand_apart() {
    let mut scene = Scene::new((120, 40));
    scene.works();
    let id = AgentId::new();
    let mut cheap = node(id, scene.root, "coder", "mend the parser", "running", 0.0);
    cheap.subtree_usage.cost = Some(0.0078);
    scene.happen_to(id, support::agent_update(&cheap));
    let picture = scene.picture();
    assert!(picture.contains("0:00    $0.01"), "{picture}");
}

#[test]
fn whoever_waits_for_an_agent_that_asks_waits_for_the_person() {
    let mut scene = Scene::new((100, 40));
    scene.works();
    scene.call("s", "spawn_agent", CallStatus::Executing, "Start coder: mend the parser");
    scene.ends("s", "spawn_agent", "Start coder: mend the parser", support::Ended::well(None));
    let [one, ..] = children(&mut scene);
    scene.call("w", "agent_wait", CallStatus::Executing, "Wait for the agents");
    let picture = scene.picture();
    assert!(picture.contains(" ◔ Agent  coder  mend the parser · started"), "{picture}");
    assert!(picture.contains(" ◔ Wait   for the agents"), "{picture}");
    let request = serde_json::from_value(support::edit_request("1")).unwrap();
    scene.happen_to(one, EventBody::PermissionRequest(request));
    scene.reads();
    let picture = scene.picture();
    assert!(picture.contains(" ◆ Wait   for the agents"), "{picture}");
    assert!(picture.contains("  Its task   mend the parser and everything that calls it"), "{picture}");
}

#[test]
fn the_list_of_agents_is_where_it_was_left() {
    let mut scene = Scene::new((120, 40));
    let [_, two, _] = children(&mut scene);
    scene.control('t');
    scene.key(KeyCode::Down);
    assert_eq!(scene.key(KeyCode::Enter), [Effect::Look(two)]);
    scene.news(News::Looked(two, Vec::new(), 0));
    scene.control('t');
    let picture = scene.picture();
    assert!(picture.lines().any(|row| row.contains("❯") && row.contains("tester-1")), "{picture}");
}

#[test]
fn an_agent_that_is_open_keeps_its_thoughts_in_another_width() {
    let mut scene = Scene::new((120, 40));
    let [one, ..] = children(&mut scene);
    scene.control('t');
    scene.key(KeyCode::Enter);
    scene.news(News::Looked(one, Vec::new(), 0));
    for text in ["The tests ", "are old"] {
        scene.happen_to(one, EventBody::ReasoningChunk(StreamChunk { text: text.into() }));
    }
    scene.happen_to(one, EventBody::StreamChunk(StreamChunk { text: "I mend them.".into() }));
    let parts = vec![Part::Text { text: "I mend them.".into() }];
    scene.happen_to(one, EventBody::Message(Message::new(Role::Assistant, parts)));
    for size in [(120, 40), (90, 40)] {
        scene.size = size;
        let picture = scene.picture();
        assert!(picture.contains("The tests are old"), "{size:?}: {picture}");
        assert_eq!(picture.matches("I mend them.").count(), 1, "{size:?}: {picture}");
    }
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
fn the_field_names_the_root_beside_the_question_of_another_agent() {
    let mut scene = Scene::new((80, 24));
    scene.works();
    let [one, ..] = children(&mut scene);
    let request = serde_json::from_value(support::edit_request("9")).unwrap();
    scene.happen_to(one, EventBody::PermissionRequest(request));
    scene.reads();
    scene.key(KeyCode::Tab);
    assert!(scene.picture().contains("a message to root"), "{}", scene.picture());
}

#[test]
fn the_keys_of_an_open_agent_name_its_menu_also_where_there_is_little_room() {
    for width in [60, 80, 120] {
        let mut scene = Scene::new((width, 15));
        let [one, ..] = children(&mut scene);
        scene.control('t');
        assert_eq!(scene.key(KeyCode::Enter), [Effect::Look(one)]);
        scene.news(News::Looked(one, Vec::new(), 0));
        let picture = scene.picture();
        assert!(["Ctrl-X pause", "Ctrl-T", "Esc"].iter().all(|key| picture.contains(key)), "{width}: {picture}");
    }
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
        assert_eq!(scene.types("p"), order(two, AgentOrder::Resume));
        scene.control('t');
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
    assert!(picture.contains("coder-1 has ended") && picture.contains("Ctrl-T all agents"), "{picture}");
    assert!(!picture.contains("Ctrl-X") && !picture.contains("Enter send"), "{picture}");
    // Nor is it written to from the list.
    scene.control('t');
    assert_eq!(scene.types("a"), []);
    assert!(scene.picture().contains("reads no messages"), "{}", scene.picture());
}

#[test]
fn the_task_of_an_agent_is_told_that_asked_before_the_window_opened() {
    let mut scene = Scene::new((100, 40));
    let (root, child) = (scene.root, AgentId::new());
    let request = support::edit_request("9");
    let body = EventBody::PermissionRequest(serde_json::from_value(request.clone()).unwrap());
    scene.app.past(&Event::new(1, Timestamp::UNIX_EPOCH, SessionId::new(), child, None, body));
    let snapshot = json!({
        "session_id": SessionId::new(), "root_agent": root, "last_seq": 2, "cwd": "/tmp", "title": "",
        "model": "scripted/demo", "mode": "agent", "approval": "ask_first", "state": "idle",
        "usage": { "input": 1, "output": 1, "cache_read": 0, "cache_write": 0, "reasoning": 0 },
        "pending": [request], "generation": 8
    });
    scene.app.opened(serde_json::from_value(snapshot).unwrap());
    let coder = node(child, root, "coder", "mend the parser", "running", 0.4);
    scene.news(News::Answered(Answer::Tree { nodes: vec![coder] }));
    scene.reads();
    assert!(scene.picture().contains("coder-1  would edit"), "{}", scene.picture());
    assert!(scene.picture().contains("  Its task   mend the parser"), "{}", scene.picture());
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

/// An agent with a number, which is also when it began.
fn general(id: AgentId, parent: AgentId, number: i64, state: &str) -> AgentNode {
    let created = Timestamp::from_second(number).unwrap();
    AgentNode { name: format!("general-{number}"), created, ..node(id, parent, "general", "look", state, 0.0) }
}

fn at_rest(root: AgentId) -> SessionSnapshot {
    serde_json::from_value(json!({
        "session_id": SessionId::new(), "root_agent": root, "last_seq": 9, "cwd": "/tmp", "title": "",
        "model": "scripted/demo", "mode": "agent", "approval": "ask_first", "state": "idle",
        "usage": { "input": 1, "output": 1, "cache_read": 0, "cache_write": 0, "reasoning": 0 },
        "pending": [], "generation": 8
    }))
    .unwrap()
}

#[test]
fn agents_that_ended_before_the_window_opened_are_seen_and_listed() {
    let mut scene = Scene::new((120, 40));
    let (root, [one, two]) = (scene.root, [AgentId::new(), AgentId::new()]);
    let steps = [(one, 1, "running"), (two, 2, "running"), (one, 1, "completed"), (two, 2, "cancelled")];
    for (id, number, state) in steps {
        scene.happened_to(id, support::agent_update(&general(id, root, number, state)));
    }
    let asked = scene.app.opened(at_rest(root));
    assert!(asked.contains(&Effect::Ask(Query::Tree)) && asked.contains(&Effect::Ask(Query::Workflows)), "{asked:?}");
    let picture = scene.picture();
    assert!(picture.contains("✓ Agent  general-1") && picture.contains("⊘ Agent  general-2  stopped"), "{picture}");
    scene.control('t');
    assert!(scene.app.picker.is_some() && !scene.picture().contains("No agents"), "{}", scene.picture());
}

#[test]
fn agents_are_listed_in_the_order_in_which_they_began() {
    let mut scene = Scene::new((120, 40));
    let (root, [one, two, three]) = (scene.root, [AgentId::new(), AgentId::new(), AgentId::new()]);
    scene.app.opened(at_rest(root));
    scene.happen_to(three, support::agent_update(&general(three, root, 3, "running")));
    // Those of long ago are told of by the tree alone.
    let nodes = vec![general(one, root, 1, "completed"), general(two, root, 2, "completed")];
    scene.news(News::Answered(Answer::Tree { nodes }));
    let names: Vec<&str> = scene.app.transcript.view.agents.all().map(|node| node.name.as_str()).collect();
    assert_eq!(names, ["general-1", "general-2", "general-3"]);
}

#[test]
fn what_an_agent_changed_before_the_window_opened_was_not_changed_by_commands() {
    let mut scene = Scene::new((100, 30));
    let diff = json!({"path": "a.txt", "unified": "@@ -0,0 +1 @@\n+b\n", "added": 1, "removed": 0, "created": true});
    let ended = ToolCallEnd {
        call_id: support::call("1"),
        origin: ToolOrigin::BuiltIn,
        parts: Vec::new(),
        tool: "write_file".into(),
        summary: "Write a.txt".into(),
        status: CallStatus::Success,
        output: String::new(),
        error_code: None,
        advice: None,
        agent: None,
        duration_ms: 1,
        display: Some(Display::Diff { files: vec![serde_json::from_value(diff).unwrap()] }),
        spilled_to: None,
        known: Vec::new(),
    };
    scene.happened(EventBody::TurnStart(TurnStart { iteration: 1, model: "scripted/demo".into() }));
    scene.happened_to(AgentId::new(), EventBody::ToolCallEnd(ended));
    scene.happened(support::read(json!({
        "type": "checkpoint", "rev": "b", "parent": "a", "when": "after", "label": "x",
        "changed": [{"path": "a.txt", "kind": "added"}]
    })));
    scene.happened(support::read(json!({
        "type": "agent_complete", "reason": "natural", "final": "", "turns": 2, "duration_ms": 5,
        "usage": { "input": 1, "output": 1, "cache_read": 0, "cache_write": 0, "reasoning": 0 }
    })));
    let picture = scene.picture();
    assert!(picture.contains("+1 −0 in 1 file   /diff /undo") && !picture.contains("by commands"), "{picture}");
}

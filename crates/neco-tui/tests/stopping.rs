//! Stopping the work, then whoever still works.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use crossterm::event::KeyCode;
use neco_proto::event::*;
use neco_proto::*;
use neco_tui::app::Purpose;
use neco_tui::update::{Effect, News};
use support::{Ended, Scene, agents, node, send};

/// The root was stopped.
fn stopped(scene: &mut Scene) {
    let change = StateChange { from: AgentState::Streaming, to: AgentState::Cancelled, iteration: 1 };
    scene.happen(EventBody::StateChange(change));
    let complete = serde_json::json!({
        "type": "agent_complete", "reason": "cancelled", "final": "", "turns": 1, "duration_ms": 5,
        "usage": { "input": 1, "output": 1, "cache_read": 0, "cache_write": 0, "reasoning": 0 }
    });
    scene.happen(support::read(complete));
}

#[test]
fn esc_says_who_still_works_and_the_next_one_stops_them() {
    let mut scene = Scene::new((100, 30));
    scene.works();
    let ids = agents(&mut scene, &["running", "running", "running", "completed"]);
    assert_eq!(scene.key(KeyCode::Esc), send(Command::Cancel));
    stopped(&mut scene);
    let picture = scene.picture();
    assert!(picture.contains("⊘ 3 agents are still working, $0.03 so far"), "{picture}");
    assert!(picture.contains("Esc pause them too   Enter go on"), "{picture}");
    assert_eq!(picture.matches("Enter alone").count(), 1, "only the field says what to do: {picture}");
    // One has ended meanwhile; minutes later it still holds.
    let done = node(ids[0], scene.root, "coder", "x", "completed", 1.0);
    scene.happen_to(ids[0], support::agent_update(&done));
    scene.app.now_ms += 600_000;
    assert!(scene.picture().contains("⊘ 2 agents are still working"), "{}", scene.picture());
    assert_eq!(scene.key(KeyCode::Esc), send(Command::StopAll));
    for id in &ids[1..3] {
        let paused = node(*id, scene.root, "coder", "x", "paused", 0.0);
        scene.happen_to(*id, support::agent_update(&paused));
    }
    scene.happen(EventBody::Stop(SessionStop { paused: ids[1..3].to_vec(), by: None }));
    let picture = scene.picture();
    assert!(picture.contains("2 agents are paused; nothing they did is lost"), "{picture}");
    assert!(!picture.contains("still work") && picture.contains("‖ 2 paused"), "{picture}");
    // At rest Esc is what it always was.
    assert_eq!(scene.key(KeyCode::Esc), []);
    assert_eq!(scene.key(KeyCode::Esc), [Effect::Ask(Query::RewindPoints)]);
}

#[test]
fn an_agent_is_not_cancelled_with_the_call_that_waits_for_it() {
    for tool in ["agent_wait", "spawn_agent", "agent__reviewer"] {
        let mut scene = Scene::new((100, 30));
        scene.works();
        let ended = Ended { status: CallStatus::Cancelled, ..Ended::well(None) };
        scene.ends("1", tool, "Wait for the agents", ended);
        agents(&mut scene, &["paused"]);
        stopped(&mut scene);
        let picture = scene.picture();
        assert!(picture.contains("no longer waited for") && !picture.contains("cancelled"), "{tool}: {picture}");
    }
}

#[test]
fn of_a_call_that_nobody_follows_any_more_the_outcome_is_not_known() {
    let mut scene = Scene::new((100, 30));
    scene.works();
    scene.call("1", "bash", CallStatus::Executing, "Run make");
    // The process that ran it is gone.
    scene.app.transcript.view.end_calls();
    let picture = scene.picture();
    assert!(picture.contains(" ? Run    make · interrupted, not known whether it took effect"), "{picture}");
    // So it is told when the session goes on.
    let mut scene = Scene::new((100, 30));
    let ended = Ended::badly(ErrorCode::Interrupted, "Interrupted: Neco was stopped while this call ran.");
    scene.ends("1", "bash", "Run make", ended);
    let picture = scene.picture();
    assert!(picture.contains(" ? Run    make · interrupted, not known whether it took effect"), "{picture}");
    // Nobody cancelled a call that waited for an answer when the process was killed.
    let ended = Ended::badly(ErrorCode::Interrupted, "Interrupted: Neco was stopped before this call ran.");
    scene.ends("2", "bash", "Run mkdir x", Ended { status: CallStatus::Cancelled, ..ended });
    let picture = scene.picture();
    assert!(picture.contains(" ⊘ Run    mkdir x · interrupted, not run"), "{picture}");
}

#[test]
fn only_words_that_were_cut_off_have_the_mark_of_that() {
    for (words, is_cut) in [("", false), ("\n", false), ("I would", true)] {
        let mut scene = Scene::new((100, 30));
        scene.works();
        scene.streams(&[words]);
        stopped(&mut scene);
        let picture = scene.picture();
        assert_eq!(picture.contains('⋯'), is_cut, "{words:?}: {picture}");
    }
}

#[test]
fn while_only_agents_work_esc_offers_to_stop_them_first() {
    let mut scene = Scene::new((100, 30));
    agents(&mut scene, &["running"]);
    assert_eq!(scene.key(KeyCode::Esc), []);
    assert!(scene.picture().contains("⊘ 1 agent is still working, $0.01 so far"), "{}", scene.picture());
    assert_eq!(scene.key(KeyCode::Esc), send(Command::StopAll));
    // A new turn of the root begins anew.
    scene.works();
    assert!(!scene.picture().contains("still works"), "{}", scene.picture());
    assert_eq!(scene.key(KeyCode::Esc), send(Command::Cancel));
}

#[test]
fn a_question_of_an_agent_does_not_keep_it_from_being_stopped() {
    let mut scene = Scene::new((100, 30));
    scene.works();
    let ids = agents(&mut scene, &["running"]);
    scene.key(KeyCode::Esc);
    stopped(&mut scene);
    let request = serde_json::from_value(support::edit_request("9")).unwrap();
    scene.happen_to(ids[0], EventBody::PermissionRequest(request));
    scene.reads();
    assert!(scene.picture().contains("would edit src/a.rs"), "it still asks: {}", scene.picture());
    assert_eq!(scene.key(KeyCode::Esc), send(Command::StopAll));
}

#[test]
fn ctrl_c_stops_the_work_and_says_what_leaving_means_before_it_leaves() {
    let mut scene = Scene::new((120, 30));
    scene.works();
    agents(&mut scene, &["running", "running"]);
    assert_eq!(scene.control('c'), send(Command::Cancel));
    let words = "coder-1, coder-2 are working; leaving pauses them. Ctrl-C again leaves";
    assert!(scene.picture().contains(&format!("Stopping … {words}")), "{}", scene.picture());
    stopped(&mut scene);
    assert!(scene.picture().contains(words), "{}", scene.picture());
    assert_eq!(scene.control('c'), [Effect::Send(Command::StopAll), Effect::Quit], "the stop comes first");
    scene.app.now_ms += 10_000;
    scene.picture();
    assert_eq!(scene.control('c'), [], "it is not seen any more, so it is said again");
    assert!(scene.picture().contains(words), "{}", scene.picture());
    let mut scene = Scene::new((100, 30));
    scene.control('c');
    assert_eq!(scene.control('c'), [Effect::Quit], "nobody works");
    // The end of a stream does not take away what was said.
    let mut scene = Scene::new((100, 30));
    scene.works();
    assert_eq!(scene.control('c'), send(Command::Cancel));
    stopped(&mut scene);
    assert!(scene.picture().contains("Ctrl-C again leaves"), "{}", scene.picture());
    scene.app.now_ms += 4000;
    scene.picture();
    assert_eq!(scene.control('c'), [], "never on one press");
    assert_eq!(scene.control('c'), [Effect::Quit]);
}

#[test]
fn a_window_that_looks_on_leaves_without_stopping_the_work() {
    let mut scene = Scene::new((100, 30));
    scene.app.attached = true;
    scene.works();
    assert_eq!(scene.control('c'), []);
    assert!(scene.picture().contains("It goes on in the other window, Esc stops it"), "{}", scene.picture());
    assert_eq!(scene.control('c'), [Effect::Quit]);
    assert_eq!(scene.key(KeyCode::Esc), send(Command::Cancel), "whoever means to stop it can");
}

#[test]
fn enter_alone_goes_on() {
    let mut scene = Scene::new((100, 30));
    scene.works();
    scene.key(KeyCode::Esc);
    stopped(&mut scene);
    assert!(scene.picture().contains("Say what to do instead; Enter alone continues"), "{}", scene.picture());
    assert!(matches!(&scene.key(KeyCode::Enter)[..], [Effect::Send(Command::UserMessage { .. })]));
    assert_eq!(scene.key(KeyCode::Enter), [], "once");
    // Whoever still works keeps nobody from going on.
    let ids = agents(&mut scene, &["running"]);
    stopped(&mut scene);
    assert!(matches!(&scene.key(KeyCode::Enter)[..], [Effect::Send(Command::UserMessage { .. })]));
    let done = node(ids[0], scene.root, "coder", "x", "completed", 1.0);
    scene.happen_to(ids[0], support::agent_update(&done));
    // Agents that were paused go on with it.
    let ids = agents(&mut scene, &["paused"]);
    stopped(&mut scene);
    scene.happen(EventBody::Stop(SessionStop { paused: ids.clone(), by: None }));
    let resume = Command::AgentCommand { agent_id: ids[0], order: AgentOrder::Resume };
    let sent = scene.key(KeyCode::Enter);
    let [first, Effect::Send(Command::UserMessage { content, .. })] = &sent[..] else { panic!("{sent:?}") };
    assert_eq!(*first, Effect::Send(resume));
    assert!(content.starts_with("continue") && content.contains("agents that were paused"), "{content}");
    assert_eq!(scene.key(KeyCode::Enter), [], "once");
}

#[test]
fn a_session_with_paused_agents_can_be_left_and_one_with_agents_at_work_not() {
    let opens = |scene: &mut Scene| {
        scene.types("/new");
        scene.key(KeyCode::Enter).iter().any(|effect| matches!(effect, Effect::Open(_)))
    };
    let mut scene = Scene::new((100, 30));
    agents(&mut scene, &["paused", "completed"]);
    assert!(opens(&mut scene), "{}", scene.picture());
    let mut scene = Scene::new((100, 30));
    agents(&mut scene, &["paused", "running"]);
    assert!(!opens(&mut scene));
    let picture = scene.picture();
    assert!(picture.contains("1 agent is still working: Esc twice pauses it first, Ctrl-T shows it"), "{picture}");
}

#[test]
fn enter_alone_tries_again_what_had_no_model_and_goes_on_with_what_was_left_in_the_middle() {
    let complete = |reason: &str| {
        support::read(serde_json::json!({
            "type": "agent_complete", "reason": reason, "final": "", "turns": 1, "duration_ms": 5,
            "usage": { "input": 1, "output": 1, "cache_read": 0, "cache_write": 0, "reasoning": 0 }
        }))
    };
    let mut scene = Scene::new((100, 30));
    scene.works();
    let change = StateChange { from: AgentState::Streaming, to: AgentState::Failed, iteration: 1 };
    scene.happen(EventBody::StateChange(change));
    scene.happen(complete("failed"));
    assert!(scene.picture().contains("Say what to do instead; Enter alone tries again"), "{}", scene.picture());
    assert!(matches!(&scene.key(KeyCode::Enter)[..], [Effect::Send(Command::UserMessage { .. })]));
    // A session that is opened again says the same, unless its work had come to an end.
    for (ends, goes_on) in [(None, true), (Some("failed"), true), (Some("natural"), false)] {
        let mut scene = Scene::new((100, 30));
        scene.happened(EventBody::TurnStart(TurnStart { iteration: 1, model: "scripted/demo".into() }));
        ends.into_iter().for_each(|reason| scene.happened(complete(reason)));
        let standing = snapshot(&scene);
        scene.app.opened(standing);
        assert_eq!(scene.picture().contains("Enter alone continues"), goes_on, "{ends:?}: {}", scene.picture());
    }
}

#[test]
fn what_was_taken_back_is_not_gone_on_with() {
    let rewind = |conversation: bool| {
        support::read(serde_json::json!({
            "type": "rewind", "to": 0, "message_id": MessageId::new(), "conversation": conversation
        }))
    };
    for (conversation, goes_on) in [(true, false), (false, true)] {
        let mut scene = Scene::new((100, 30));
        scene.works();
        stopped(&mut scene);
        scene.happen(rewind(conversation));
        assert_eq!(scene.picture().contains("▎› Say what to do instead; Enter alone"), goes_on, "{}", scene.picture());
        assert_eq!(scene.key(KeyCode::Enter).is_empty(), !goes_on);
        // So it is when the session is opened again.
        let mut scene = Scene::new((100, 30));
        scene.happened(EventBody::TurnStart(TurnStart { iteration: 1, model: "scripted/demo".into() }));
        scene.happened(rewind(conversation));
        let standing = snapshot(&scene);
        scene.app.opened(standing);
        assert_eq!(scene.picture().contains("Enter alone continues"), goes_on, "{}", scene.picture());
    }
}

fn snapshot(scene: &Scene) -> SessionSnapshot {
    serde_json::from_value(serde_json::json!({
        "session_id": SessionId::new(), "root_agent": scene.root, "last_seq": 2, "cwd": "/tmp", "title": "",
        "model": "scripted/demo", "mode": "agent", "approval": "ask_first", "state": "idle",
        "usage": { "input": 1, "output": 1, "cache_read": 0, "cache_write": 0, "reasoning": 0 },
        "pending": [], "generation": 8
    }))
    .unwrap()
}

/// The work of the root has used up its turns.
fn reaches_limit(scene: &mut Scene) {
    let change = StateChange { from: AgentState::Streaming, to: AgentState::Complete, iteration: 50 };
    scene.happen(EventBody::StateChange(change));
    let complete = serde_json::json!({
        "type": "agent_complete", "reason": "iteration_limit", "final": "", "turns": 50, "duration_ms": 5,
        "usage": { "input": 1, "output": 1, "cache_read": 0, "cache_write": 0, "reasoning": 0 }
    });
    scene.happen(support::read(complete));
}

#[test]
fn work_that_used_up_its_turns_asks_whether_it_goes_on() {
    let ended = || {
        let mut scene = Scene::new((100, 30));
        scene.works();
        reaches_limit(&mut scene);
        scene
    };
    let mut scene = ended();
    assert!(scene.picture().contains("50 turns done. Go on?"), "{}", scene.picture());
    assert_eq!(scene.types("1"), [], "it was not read yet");
    scene.reads();
    assert!(matches!(&scene.types("1")[..], [Effect::Send(Command::UserMessage { .. })]));
    let mut scene = ended();
    scene.reads();
    assert_eq!(scene.types("2"), []);
    assert!(!scene.picture().contains("Go on?"), "{}", scene.picture());
    // It came by itself: it decides nothing that was not read, and words are words.
    let mut scene = ended();
    scene.picture();
    scene.types("2");
    assert!(scene.picture().contains("Go on?"), "{}", scene.picture());
    assert_eq!(scene.types("no wait"), []);
    assert_eq!(scene.app.prompt.text.as_str(), "no wait");
    assert!(!scene.picture().contains("Go on?"), "{}", scene.picture());
}

#[test]
fn what_comes_by_itself_is_not_asked_where_the_keys_are_for_something_else() {
    let begins: [fn(&mut Scene); 4] = [
        // An agent is open.
        |scene| {
            agents(scene, &["running"]);
            scene.control('t');
            scene.key(KeyCode::Enter);
        },
        // A key is typed unseen.
        |scene| {
            scene.types("/login openai");
            scene.key(KeyCode::Enter);
            scene.news(News::LookedForKey(Ok("openai".into())));
        },
        // What was written earlier is searched.
        |scene| drop(scene.control('r')),
        // What is written is for something else.
        |scene| scene.app.purpose = Purpose::Rule,
    ];
    for (number, begin) in begins.into_iter().enumerate() {
        let mut scene = Scene::new((100, 30));
        begin(&mut scene);
        scene.works();
        reaches_limit(&mut scene);
        scene.reads();
        assert!(scene.app.picker.is_none(), "{number}: {}", scene.picture());
    }
}

#[test]
fn a_question_that_has_the_keys_says_alone_what_esc_does() {
    let mut scene = Scene::new((100, 30));
    scene.works();
    let ids = agents(&mut scene, &["running", "running"]);
    scene.key(KeyCode::Esc);
    stopped(&mut scene);
    assert!(scene.picture().contains("Esc pause them too"), "{}", scene.picture());
    let question = serde_json::json!({
        "type": "question", "question_id": QuestionId::new(), "about": "loop",
        "text": "read_file gave the same result 6 times"
    });
    scene.happen_to(ids[0], support::read(question));
    scene.reads();
    let picture = scene.picture();
    assert!(picture.contains("2 agents are still working") && picture.contains("Esc no"), "{picture}");
    assert!(!picture.contains("Esc pause") && !picture.contains("Enter go on"), "{picture}");
    assert!(picture.contains("repeats itself") && !picture.contains(" asks\n"), "{picture}");
    assert!(picture.contains("read_file gave the same result 6 times. Let it go on?"), "{picture}");
}

#[test]
fn in_a_narrow_terminal_the_keys_are_seen_before_what_they_are_for() {
    for width in [12, 16, 18, 21, 22, 27, 40] {
        let mut scene = Scene::new((width, 30));
        scene.works();
        agents(&mut scene, &["running", "running"]);
        scene.key(KeyCode::Esc);
        stopped(&mut scene);
        let picture = scene.picture();
        assert!(picture.contains("Esc pause"), "{width}: {picture}");
    }
    let mut scene = Scene::new((11, 30));
    scene.works();
    assert!(scene.picture().contains("Esc stop"), "{}", scene.picture());
}

fn comes(scene: &mut Scene, subject: &serde_json::Value) {
    let mut question = subject.clone();
    question["question_id"] = serde_json::json!(QuestionId::new());
    scene.happen(EventBody::Question(serde_json::from_value(question).unwrap()));
    scene.picture();
}

fn subjects() -> [serde_json::Value; 4] {
    let item = |options: serde_json::Value| serde_json::json!([{"title": "x", "text": "Which?", "multiple": false, "options": options}]);
    let option = serde_json::json!([{"label": "one", "description": ""}, {"label": "two", "description": ""}]);
    [
        serde_json::json!({"about": "choices", "items": item(option)}),
        serde_json::json!({"about": "choices", "items": item(serde_json::json!([]))}),
        serde_json::json!({"about": "plan", "plan": "1. all"}),
        serde_json::json!({"about": "loop", "text": "it read a.rs five times"}),
    ]
}

#[test]
fn esc_is_for_the_work_until_a_question_could_be_read() {
    for subject in subjects() {
        let mut scene = Scene::new((80, 24));
        scene.works();
        comes(&mut scene, &subject);
        assert_eq!(scene.key(KeyCode::Esc), send(Command::Cancel), "{subject}");
        scene.app.now_ms += 1000;
        let sent = scene.key(KeyCode::Esc);
        assert!(matches!(&sent[..], [Effect::Send(Command::Answer { .. })]), "{subject}: {sent:?}");
        // Without work there is nothing that it could have meant.
        let mut scene = Scene::new((80, 24));
        comes(&mut scene, &subject);
        assert_eq!(scene.key(KeyCode::Esc), [], "{subject}");
        assert!(scene.picture().contains("That key was ignored"), "{}", scene.picture());
    }
}

#[test]
fn esc_in_the_field_is_no_way_to_a_question_that_was_not_read() {
    let asks = |scene: &mut Scene| {
        scene.types("wh");
        let request = serde_json::from_value(support::edit_request("1")).unwrap();
        scene.happen(EventBody::PermissionRequest(request));
        scene.picture();
    };
    let mut scene = Scene::new((80, 24));
    scene.works();
    asks(&mut scene);
    assert_eq!(scene.key(KeyCode::Esc), send(Command::Cancel));
    let mut scene = Scene::new((80, 24));
    asks(&mut scene);
    assert_eq!(scene.key(KeyCode::Esc), []);
    assert_eq!(scene.types("y"), [], "it decides nothing");
    assert_eq!(scene.app.prompt.text.as_str(), "why");
}

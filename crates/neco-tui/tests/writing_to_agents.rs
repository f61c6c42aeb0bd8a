//! Writing to the other agents: what is typed goes to the one that is named, and no bare letter does anything to it.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use crossterm::event::KeyCode;
use neco_proto::event::*;
use neco_proto::*;
use neco_tui::app::Purpose;
use neco_tui::update::{Effect, News, Unsent};
use support::{Scene, agents, node, send};

#[test]
fn typing_at_an_open_agent_writes_to_it_and_does_nothing_else() {
    let mut scene = Scene::new((100, 30));
    let ids = agents(&mut scene, &["running"]);
    scene.control('t');
    assert_eq!(scene.key(KeyCode::Enter), [Effect::Look(ids[0])]);
    assert_eq!(scene.types("explain more"), []);
    assert_eq!(scene.app.purpose, Purpose::Agent(ids[0]));
    let redirect = AgentOrder::Redirect { text: "explain more".into() };
    assert_eq!(scene.key(KeyCode::Enter), send(Command::AgentCommand { agent_id: ids[0], order: redirect }));
    scene.app.paste("xpr");
    let redirect = AgentOrder::Redirect { text: "xpr".into() };
    assert_eq!(scene.key(KeyCode::Enter), send(Command::AgentCommand { agent_id: ids[0], order: redirect }));
    for letter in ('a'..='z').chain('A'..='Z') {
        assert_eq!(scene.types(&letter.to_string()), [], "{letter}");
        scene.key(KeyCode::Backspace);
    }
}

#[test]
fn whoever_writes_to_an_open_agent_has_its_keys_all_the_same() {
    let mut scene = Scene::new((100, 30));
    let ids = agents(&mut scene, &["running"]);
    scene.control('t');
    scene.key(KeyCode::Enter);
    scene.types("faster");
    scene.control('x');
    assert!(scene.picture().contains("1  Pause       p"), "{}", scene.picture());
    scene.key(KeyCode::Esc);
    assert_eq!(scene.app.prompt.text.as_str(), "faster", "what was written stays");
    assert_eq!(scene.app.purpose, Purpose::Agent(ids[0]));
    // The field is empty again.
    "faster".chars().for_each(|_| drop(scene.key(KeyCode::Backspace)));
    scene.control('x');
    assert!(scene.picture().contains("1  Pause       p"), "{}", scene.picture());
    scene.key(KeyCode::Esc);
    scene.types("slower");
    scene.key(KeyCode::Esc);
    scene.key(KeyCode::Esc);
    assert!(scene.app.watched.is_none() && scene.app.picker.is_none(), "back to the root");
    assert_eq!((scene.app.prompt.text.as_str(), &scene.app.purpose), ("", &Purpose::Message), "it was for another");
    scene.key(KeyCode::Up);
    assert_eq!(scene.app.prompt.text.as_str(), "slower");
}

#[test]
fn an_open_agent_has_a_screen_of_its_own_and_what_is_finished_waits_for_the_other() {
    let mut scene = Scene::new((100, 30));
    agents(&mut scene, &["running"]);
    scene.control('t');
    assert!(!scene.app.frame(100, 30).alternate);
    scene.key(KeyCode::Enter);
    scene.said("meanwhile");
    let frame = scene.app.frame(100, 30);
    assert!(frame.alternate && frame.finished.is_empty(), "{frame:?}");
    assert_eq!(frame.live.len(), 30, "the field is at the bottom");
    // Where there is one screen only, no more of the conversation is pushed off it than is needed.
    scene.app.leaving.one_screen = true;
    let rows = scene.app.frame(100, 30).live.len();
    assert!(rows < 20, "{rows}");
    scene.key(KeyCode::Esc);
    let frame = scene.app.frame(100, 30);
    let left = frame.finished.iter().any(|row| row.to_string().contains("meanwhile"));
    assert!(!frame.alternate && left, "{frame:?}");
}

#[test]
fn an_open_agent_is_drawn_anew_for_another_width() {
    let mut scene = Scene::new((100, 30));
    let ids = agents(&mut scene, &["running"]);
    scene.control('t');
    scene.key(KeyCode::Enter);
    scene.news(News::Looked(ids[0], Vec::new(), 0));
    let said = Message::new(Role::Assistant, vec![Part::Text { text: "word ".repeat(40) }]);
    scene.happen_to(ids[0], EventBody::Message(said));
    let count = |picture: &str| picture.lines().filter(|row| row.starts_with("   word")).count();
    assert_eq!(count(&scene.picture()), 3, "{}", scene.picture());
    scene.size = (60, 30);
    let picture = scene.picture();
    assert!(count(&picture) > 3 && !picture.lines().any(|row| row.starts_with("word")), "{picture}");
    scene.size = (100, 30);
    assert_eq!(count(&scene.picture()), 3, "{}", scene.picture());
}

#[test]
fn what_is_told_to_an_agent_is_seen_to_wait_until_the_agent_reads_it() {
    let mut scene = Scene::new((100, 30));
    let ids = agents(&mut scene, &["running"]);
    scene.control('t');
    scene.key(KeyCode::Enter);
    scene.news(News::Looked(ids[0], Vec::new(), 0));
    let told = |text: &str| AgentMessage {
        from: Actor::Person,
        to: ids[0],
        letter: Letter::Down(Down::Redirect { text: text.to_owned() }),
        message_id: MessageId::new(),
    };
    let (first, second) = (told("mind the step"), told("and the door"));
    for letter in [&first, &second] {
        scene.happen_to(ids[0], EventBody::AgentMessage(letter.clone()));
    }
    let picture = scene.picture();
    assert!(picture.contains(" ⋯ Next   mind the step · next turn"), "{picture}");
    let read = Message { id: first.message_id, ..Message::user("Correction from the user: mind the step") };
    scene.happen_to(ids[0], EventBody::Message(read));
    let picture = scene.picture();
    assert!(picture.contains("mind the step") && !picture.contains("mind the step · next turn"), "{picture}");
    assert!(picture.contains(" ⋯ Next   and the door · next turn"), "{picture}");
    let ended = node(ids[0], scene.root, "coder", "x", "cancelled", 0.0);
    scene.happen_to(ids[0], support::agent_update(&ended));
    assert!(!scene.picture().contains("· next turn"), "{}", scene.picture());
}

#[test]
fn typing_in_the_list_of_agents_writes_to_the_chosen_one() {
    let mut scene = Scene::new((100, 30));
    let ids = agents(&mut scene, &["running", "running"]);
    for letter in ["m", "p", "r", "x", "q"] {
        scene.control('t');
        scene.key(KeyCode::Down);
        assert_eq!(scene.types(letter), [Effect::Look(ids[1])], "{letter}");
        assert_eq!(scene.app.purpose, Purpose::Agent(ids[1]));
        assert_eq!(scene.app.prompt.text.as_str(), letter);
        scene.key(KeyCode::Backspace);
        scene.key(KeyCode::Esc);
        scene.key(KeyCode::Esc);
    }
}

/// The list of two agents, the second of them chosen, while the first one asks something.
fn listed_while_one_asks() -> (Scene, Vec<AgentId>) {
    let mut scene = Scene::new((120, 40));
    let ids = agents(&mut scene, &["running", "running"]);
    let request = serde_json::from_value(support::edit_request("9")).unwrap();
    scene.happen_to(ids[0], EventBody::PermissionRequest(request));
    scene.reads();
    scene.control('t');
    scene.picture();
    scene.key(KeyCode::Down);
    (scene, ids)
}

/// A draft for the root stands in the field, and the list of agents is opened.
fn listed_with_draft() -> (Scene, Vec<AgentId>) {
    let mut scene = Scene::new((100, 30));
    let ids = agents(&mut scene, &["running"]);
    scene.types("later: the docs");
    scene.control('t');
    (scene, ids)
}

#[test]
fn a_draft_for_the_root_is_no_message_to_an_agent() {
    let (mut scene, ids) = listed_with_draft();
    assert!(!scene.picture().contains("later"), "{}", scene.picture());
    scene.types("faster");
    assert_eq!(scene.app.prompt.text.as_str(), "faster");
    let order = AgentOrder::Redirect { text: "faster".into() };
    assert_eq!(scene.key(KeyCode::Enter), send(Command::AgentCommand { agent_id: ids[0], order }));
    scene.key(KeyCode::Esc);
    assert_eq!((scene.app.prompt.text.as_str(), &scene.app.purpose), ("later: the docs", &Purpose::Message));
}

#[test]
fn a_draft_is_there_again_whichever_way_the_agents_are_left() {
    let ways: [fn(&mut Scene); 7] = [
        |scene| drop(scene.key(KeyCode::Esc)),
        |scene| drop(scene.control('t')),
        |scene| drop(scene.control('c')),
        // From the menu of one.
        |scene| {
            scene.control('x');
            scene.control('c');
        },
        // One was open.
        |scene| {
            scene.key(KeyCode::Enter);
            scene.key(KeyCode::Esc);
        },
        |scene| {
            scene.key(KeyCode::Enter);
            scene.control('t');
            scene.key(KeyCode::Esc);
        },
        // Something was being written to it.
        |scene| {
            scene.key(KeyCode::Enter);
            scene.app.paste("mind the step");
            scene.key(KeyCode::Esc);
            scene.key(KeyCode::Esc);
        },
    ];
    for (number, leave) in ways.into_iter().enumerate() {
        let (mut scene, _) = listed_with_draft();
        leave(&mut scene);
        assert!(scene.app.picker.is_none() && scene.app.watched.is_none(), "{number}");
        assert_eq!(scene.app.prompt.text.as_str(), "later: the docs", "{number}");
    }
    // What one of them asks is answered where everything is.
    let (mut scene, ids) = listed_with_draft();
    let request = serde_json::from_value(support::edit_request("9")).unwrap();
    scene.happen_to(ids[0], EventBody::PermissionRequest(request));
    scene.key(KeyCode::Enter);
    assert_eq!(scene.app.prompt.text.as_str(), "later: the docs");
}

#[test]
fn a_draft_is_given_back_as_it_was() {
    let mut scene = Scene::new((100, 30));
    agents(&mut scene, &["running"]);
    scene.app.paste(&"!line\n".repeat(20));
    scene.control('t');
    scene.key(KeyCode::Esc);
    assert_eq!(scene.app.prompt.text.as_str(), "[paste 1: 20 lines]");
    let sent = scene.key(KeyCode::Enter);
    assert!(matches!(sent.last(), Some(Effect::Send(Command::UserMessage { .. }))), "{sent:?}");
}

#[test]
fn what_was_not_taken_comes_back_for_the_root_while_the_agents_are_listed() {
    let (mut scene, _) = listed_with_draft();
    let unsent = Unsent { text: "first the code".into(), pictures: Vec::new() };
    scene.news(News::Refused(ClientError::Refused("not now".into()), Some(unsent)));
    assert_eq!(scene.app.prompt.text.as_str(), "");
    scene.key(KeyCode::Esc);
    assert_eq!(scene.app.prompt.text.as_str(), "first the code\nlater: the docs");
}

#[test]
fn what_was_written_to_an_agent_can_be_taken_away_in_the_list() {
    let mut scene = Scene::new((100, 30));
    agents(&mut scene, &["running"]);
    scene.control('t');
    scene.types("faster");
    scene.control('t');
    assert_eq!(scene.app.prompt.text.as_str(), "faster", "the list has it still");
    scene.key(KeyCode::Backspace);
    assert_eq!(scene.app.prompt.text.as_str(), "faste");
    scene.control('u');
    assert_eq!(scene.app.prompt.text.as_str(), "");
    assert!(scene.app.picker.is_some());
}

#[test]
fn what_was_written_to_one_agent_never_goes_to_another() {
    for opens_it in [true, false] {
        let mut scene = Scene::new((100, 30));
        let ids = agents(&mut scene, &["running", "running"]);
        scene.control('t');
        scene.types("faster");
        scene.control('t');
        scene.key(KeyCode::Down);
        if opens_it {
            scene.key(KeyCode::Enter);
            assert_eq!(scene.app.prompt.text.as_str(), "");
            let picture = scene.picture();
            assert!(picture.contains("Put away: ↑ restores it in the conversation"), "{picture}");
        }
        scene.types("slower");
        let order = AgentOrder::Redirect { text: "slower".into() };
        let sent = scene.key(KeyCode::Enter);
        assert_eq!(sent, send(Command::AgentCommand { agent_id: ids[1], order }), "{opens_it}");
        scene.key(KeyCode::Esc);
        scene.key(KeyCode::Up);
        scene.key(KeyCode::Up);
        assert_eq!(scene.app.prompt.text.as_str(), "faster", "{opens_it}");
    }
}

#[test]
fn words_that_were_begun_for_an_answer_go_to_no_agent() {
    let (mut scene, ids) = listed_while_one_asks();
    scene.control('t');
    scene.reads();
    scene.types("n");
    scene.types("because");
    scene.control('t');
    assert_eq!((scene.app.prompt.text.as_str(), &scene.app.purpose), ("", &Purpose::Message));
    scene.key(KeyCode::Down);
    scene.types("faster");
    let order = AgentOrder::Redirect { text: "faster".into() };
    assert_eq!(scene.key(KeyCode::Enter), send(Command::AgentCommand { agent_id: ids[1], order }));
}

#[test]
fn writing_to_an_agent_from_the_list_never_answers_what_another_one_asks() {
    let (mut scene, ids) = listed_while_one_asks();
    scene.types("do it faster");
    let shown = scene.picture();
    assert!(shown.contains("Your keys write in the field below   Esc back to the answers"), "{shown}");
    scene.reads();
    let order = AgentOrder::Redirect { text: "do it faster".into() };
    assert_eq!(scene.key(KeyCode::Enter), send(Command::AgentCommand { agent_id: ids[1], order }));
    // The list is there again, at the same agent: Enter opens it, and answers nothing.
    scene.reads();
    assert_eq!(scene.key(KeyCode::Enter), [Effect::Look(ids[1])]);
    scene.reads();
    assert!(scene.picture().contains("◆ a question waits"), "{}", scene.picture());
    assert_eq!(scene.key(KeyCode::Enter), [], "the field is for the agent");
    scene.key(KeyCode::Esc);
    scene.key(KeyCode::Esc);
    scene.reads();
    assert!(scene.picture().contains("↑↓ Enter or 1–"), "{}", scene.picture());
}

#[test]
fn esc_while_writing_to_an_agent_goes_to_the_question() {
    let (mut scene, _) = listed_while_one_asks();
    scene.types("faster");
    scene.reads();
    scene.key(KeyCode::Esc);
    assert_eq!(scene.app.prompt.text.as_str(), "", "it was for another than the root");
    assert!(scene.picture().contains("↑↓ Enter or 1–"), "{}", scene.picture());
    scene.key(KeyCode::Tab);
    scene.key(KeyCode::Up);
    assert_eq!(scene.app.prompt.text.as_str(), "faster");
}

#[test]
fn esc_while_writing_to_an_agent_answers_nothing_that_came_meanwhile() {
    let mut scene = Scene::new((120, 40));
    agents(&mut scene, &["running", "running"]);
    scene.control('t');
    scene.picture();
    scene.key(KeyCode::Down);
    scene.types("faster");
    let request = serde_json::from_value(support::edit_request("9")).unwrap();
    scene.happen(EventBody::PermissionRequest(request));
    scene.picture();
    scene.app.now_ms += 50;
    scene.key(KeyCode::Esc);
    scene.app.now_ms += 50;
    assert_eq!(scene.types("y"), [], "nobody has read it");
    assert_eq!(scene.key(KeyCode::Enter), []);
    scene.reads();
    let yes = Command::Approve { call_id: support::call("9"), decision: Decision::Once };
    assert_eq!(scene.types("y"), send(yes));
}

#[test]
fn what_is_done_to_an_agent_stands_behind_ctrl_x() {
    let mut scene = Scene::new((100, 30));
    let ids = agents(&mut scene, &["running", "paused", "completed"]);
    let order = |agent_id, order| send(Command::AgentCommand { agent_id, order });
    scene.control('t');
    scene.control('x');
    let picture = scene.picture();
    assert!(picture.contains("1  Pause       p") && picture.contains("3  Stop        x"), "{picture}");
    assert_eq!(scene.types("p"), order(ids[0], AgentOrder::Pause));
    // The list is there again, where it was.
    scene.key(KeyCode::Down);
    scene.control('x');
    assert_eq!(scene.key(KeyCode::Enter), order(ids[1], AgentOrder::Resume));
    scene.key(KeyCode::Down);
    scene.control('x');
    assert!(scene.picture().contains("It has ended"), "{}", scene.picture());
    scene.key(KeyCode::Home);
    assert_eq!(scene.key(KeyCode::Enter), [Effect::Look(ids[0])]);
    scene.control('x');
    assert_eq!(scene.key(KeyCode::Esc), []);
    assert!(scene.app.watched.is_some(), "back to the agent");
    scene.control('x');
    assert_eq!(scene.types("q"), [], "no entry");
    assert_eq!(scene.types("x"), order(ids[0], AgentOrder::Cancel));
    scene.control('x');
    assert!(scene.picture().contains("4  Print       o"), "{}", scene.picture());
    assert_eq!(scene.types("o"), []);
    assert!(scene.app.watched.is_some() && scene.app.picker.is_none(), "the agent is still open");
    scene.control('x');
    assert_eq!(scene.types("r"), []);
    assert_eq!(scene.app.purpose, Purpose::Agent(ids[0]));
}

#[test]
fn an_agent_is_started_over_also_when_it_has_failed() {
    let mut scene = Scene::new((100, 30));
    let ids = agents(&mut scene, &["running", "failed"]);
    let retry = |agent_id| send(Command::AgentCommand { agent_id, order: AgentOrder::Retry });
    scene.control('t');
    scene.control('x');
    assert!(scene.picture().contains("4  Start over  t"), "{}", scene.picture());
    assert_eq!(scene.types("t"), [], "it is asked about first");
    let picture = scene.picture();
    assert!(picture.contains("over?") && picture.contains("it forgets what it said and did"), "{picture}");
    scene.reads();
    scene.types("n");
    scene.control('t');
    scene.control('x');
    scene.types("t");
    scene.reads();
    assert_eq!(scene.types("y"), retry(ids[0]));
    scene.key(KeyCode::Down);
    scene.control('x');
    let picture = scene.picture();
    assert!(picture.contains("1  Start over  t") && !picture.contains("Pause"), "{picture}");
    assert_eq!(scene.key(KeyCode::Enter), retry(ids[1]));
}

#[test]
fn the_head_of_all_agents_counts_the_root() {
    let mut scene = Scene::new((120, 30));
    agents(&mut scene, &["running"]);
    scene.works();
    let root = node(scene.root, scene.root, "root", "x", "running", 0.0);
    let root = AgentNode { kind: NodeType::Root, parent: None, ..root };
    scene.news(News::Answered(Answer::Tree { nodes: vec![root] }));
    scene.control('t');
    assert!(scene.picture().contains("Agents  2 at work, 2 in all · $0.02"), "{}", scene.picture());
}

#[test]
fn an_agent_that_waits_says_so_its_clock_stands_in_a_pause_and_it_names_its_model() {
    let mut scene = Scene::new((120, 30));
    let ids = agents(&mut scene, &["running", "running", "paused"]);
    let answer = Message { model: Some("vendor/glm-4.7".into()), ..Message::new(Role::Assistant, Vec::new()) };
    scene.happen_to(ids[0], EventBody::Message(answer));
    scene.app.now_ms = jiff::Timestamp::from_second(1_767_225_600 + 95).unwrap().as_millisecond();
    let picture = scene.picture();
    // It is made and paused in the same moment.
    let paused = picture.lines().find(|line| line.contains("‖ coder-3"));
    assert!(paused.is_some_and(|line| line.contains("0:00")), "{picture}");
    let request = serde_json::json!({
        "type": "permission_request", "call_id": "1", "tool": "bash", "summary": "Run make", "args": {"command": "make"},
        "command": "make", "risk": "high", "reason": "commands are asked first", "sandboxed": true
    });
    scene.happen_to(ids[1], support::read(request));
    let picture = scene.picture();
    assert!(picture.contains("◔ 1 agent · ◆ 1 waits for you · ‖ 1 paused"), "{picture}");
    scene.control('t');
    let picture = scene.picture();
    assert!(picture.contains("glm-4.7") && picture.contains("1 at work, 1 waits for you, 1 paused"), "{picture}");
}

#[test]
fn an_agent_that_is_paused_says_when_it_reads_and_that_it_can_be_resumed() {
    let mut scene = Scene::new((120, 30));
    agents(&mut scene, &["running", "paused"]);
    scene.control('t');
    scene.key(KeyCode::Down);
    assert!(scene.picture().contains("Message coder-2; it reads it when it is resumed"), "{}", scene.picture());
    scene.key(KeyCode::Enter);
    let picture = scene.picture();
    assert!(picture.contains("it reads it when it is resumed") && picture.contains("Ctrl-X resume, "), "{picture}");
    scene.control('x');
    assert!(scene.picture().contains("a correction; it reads it when it is resumed"), "{}", scene.picture());
}

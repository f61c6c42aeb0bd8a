//! The commands in the background: counted, listed, looked at, stopped, and named on leaving.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use crossterm::event::KeyCode;
use jiff::Timestamp;
use neco_proto::app::{AppError, Trouble};
use neco_proto::event::CallStatus;
use neco_proto::*;
use neco_tui::app::Detaching;
use neco_tui::host::{CommandOutcome, Wanted};
use neco_tui::input::Keymap;
use neco_tui::update::{Effect, News};
use neco_view::slash::Outside;
use serde_json::json;
use support::{Scene, read};

fn command(scene: &Scene, name: &str, line: &str, ended: Option<BackgroundEnd>) -> BackgroundCommand {
    let started = Timestamp::from_millisecond(scene.app.now_ms - 65_000).unwrap();
    BackgroundCommand { agent_id: scene.root, name: name.into(), command: line.into(), started, ended }
}

/// A window in which one command runs in the background and one is over.
fn scene() -> (Scene, Vec<BackgroundCommand>) {
    let mut scene = Scene::new((100, 24));
    scene.app.now_ms = 1_000_000;
    let over = BackgroundEnd { exit_code: Some(1), took_ms: 3200 };
    let commands =
        vec![command(&scene, "bg-1", "make watch", Some(over)), command(&scene, "bg-2", "npm run dev", None)];
    scene.news(News::Answered(Answer::Background { commands: commands.clone() }));
    (scene, commands)
}

fn open(scene: &mut Scene, commands: &[BackgroundCommand]) {
    scene.types("/ps");
    let asked = scene.key(KeyCode::Enter);
    assert!(asked.contains(&Effect::Ask(Query::Background)), "{asked:?}");
    scene.news(News::Answered(Answer::Background { commands: commands.to_vec() }));
}

#[test]
fn a_command_that_goes_on_is_asked_about_and_counted() {
    let mut scene = Scene::new((80, 24));
    scene.works();
    scene.call("1", "bash", CallStatus::Executing, "Run npm run dev");
    let mut ends = |background: Option<&str>| {
        let display = json!({"kind": "terminal", "command": "npm run dev", "tail": "", "exit_code": null, "background": background});
        scene.happen(read(json!({
            "type": "tool_call_end", "call_id": "1", "tool": "bash", "summary": "Run npm run dev", "status": "success",
            "output": "", "duration_ms": 5, "display": display
        })))
    };
    assert_eq!(ends(None), []);
    assert_eq!(ends(Some("bg-1")), [Effect::Ask(Query::Background)]);
    let (mut scene, _) = self::scene();
    assert!(scene.picture().contains("◔ 1 in background"), "{}", scene.picture());
    assert!(scene.app.picker.is_none(), "nobody asked for the list");
}

#[test]
fn the_list_shows_those_that_run_first_and_the_output_of_one() {
    let (mut scene, commands) = scene();
    open(&mut scene, &commands);
    let picture = scene.picture();
    assert!(picture.contains("❯ npm run dev") && picture.contains("running for 1 m 05 s · bg-2"), "{picture}");
    assert!(picture.contains("make watch") && picture.contains("exit 1 after 3.2 s · bg-1"), "{picture}");
    // What is told later takes its place, at what is chosen.
    scene.key(KeyCode::Down);
    scene.app.now_ms += 1000;
    scene.news(News::Answered(Answer::Background { commands: commands.clone() }));
    let picture = scene.picture();
    assert!(picture.contains("running for 1 m 06 s") && picture.contains("❯ make watch"), "{picture}");
    let (agent_id, name) = (scene.root, "bg-1".to_owned());
    assert_eq!(scene.key(KeyCode::Enter), [Effect::Ask(Query::BackgroundOutput { agent_id, name })]);
    let tail = "compiling\nerror: no such file\n".to_owned();
    scene.news(News::Answered(Answer::BackgroundOutput { command: commands[0].clone(), tail }));
    let picture = scene.picture();
    assert!(picture.contains("$ make watch  bg-1 · exit 1 after 3.2 s"), "{picture}");
    assert!(picture.contains("error: no such file"), "{picture}");
}

#[test]
fn one_that_is_named_is_asked_for_without_the_list() {
    let (mut scene, _) = scene();
    for (typed, argument) in [("/ps 2", "2"), ("/ps stop 2", "stop 2"), ("/jobs bg-1", "bg-1")] {
        scene.types(typed);
        let done = scene.key(KeyCode::Enter);
        assert!(done.contains(&Effect::Outside(Outside::Background, argument.to_owned())), "{typed}: {done:?}");
        assert!(scene.app.picker.is_none(), "{typed}");
        let said = CommandOutcome::Say(format!("said of {typed}"));
        scene.news(News::Outside(Ok(said)));
        assert!(scene.picture().contains(&format!("said of {typed}")), "{}", scene.picture());
    }
}

#[test]
fn one_is_stopped_by_two_keys_and_one_that_is_over_is_not() {
    let (mut scene, commands) = scene();
    open(&mut scene, &commands);
    scene.control('x');
    assert!(scene.picture().contains("1  Stop        x"), "{}", scene.picture());
    let stop = Command::StopBackground { agent_id: scene.root, name: "bg-2".into() };
    assert_eq!(scene.types("x").first(), Some(&Effect::Send(stop)));
    assert!(scene.picture().contains("❯ npm run dev"), "the list is there again: {}", scene.picture());
    scene.key(KeyCode::Down);
    scene.control('x');
    assert!(scene.picture().contains("It has ended"), "{}", scene.picture());
    // Without any there is no list.
    scene.key(KeyCode::Esc);
    scene.key(KeyCode::Esc);
    open(&mut scene, &[]);
    assert!(scene.picture().contains("No commands in the background"), "{}", scene.picture());
}

#[test]
fn leaving_names_what_runs_and_is_stopped() {
    let (mut scene, _) = scene();
    assert_eq!(scene.control('d'), []);
    let words = "npm run dev runs in the background; leaving stops it. Ctrl-D again leaves";
    assert!(scene.picture().contains(words), "{}", scene.picture());
    assert_eq!(scene.control('d'), [Effect::Quit]);
    assert!(scene.picture().contains("Stopped in the background: npm run dev"), "{}", scene.picture());
    // Where there is no room, the key stands first.
    let (mut scene, _) = self::scene();
    scene.size = (60, 24);
    scene.picture();
    scene.control('d');
    assert!(scene.picture().contains("Ctrl-D again leaves and stops npm run dev"), "{}", scene.picture());
    // A key of one's own is named as it is.
    let (mut scene, _) = self::scene();
    scene.app.keymap = Keymap::with([("leave", "f9")]).unwrap();
    scene.key(KeyCode::F(9));
    assert!(scene.picture().contains("F9 again leaves"), "{}", scene.picture());
    // What another process runs goes on there.
    let (mut scene, _) = self::scene();
    scene.app.attached = true;
    assert_eq!(scene.control('d'), [Effect::Quit]);
    assert!(!scene.picture().contains("Stopped in the background"), "{}", scene.picture());
}

#[test]
fn esc_says_what_still_runs_and_ends_none_of_it() {
    let (mut scene, _) = scene();
    scene.works();
    assert!(scene.key(KeyCode::Esc).contains(&Effect::Send(Command::Cancel)));
    let change =
        event::StateChange { from: event::AgentState::Streaming, to: event::AgentState::Cancelled, iteration: 1 };
    scene.happen(EventBody::StateChange(change));
    let usage = json!({"input": 1, "output": 1, "cache_read": 0, "cache_write": 0, "reasoning": 0});
    scene.happen(read(json!({
        "type": "agent_complete", "reason": "cancelled", "final": "", "turns": 1, "duration_ms": 5, "usage": usage
    })));
    let picture = scene.picture();
    assert!(picture.contains("1 command still runs in the background"), "{picture}");
    assert!(picture.contains("/ps look and stop") && !picture.contains("Esc pause"), "{picture}");
    // At rest Esc is what it always is.
    assert_eq!(scene.key(KeyCode::Esc), []);
    assert!(scene.picture().contains("Esc again rewinds"), "{}", scene.picture());
    assert_eq!(scene.key(KeyCode::Esc), [Effect::Ask(Query::RewindPoints)]);
    // Agents that still work are paused, and the command goes on.
    let agent = AgentId::new();
    scene.happen_to(agent, support::agent_update(&support::node(agent, scene.root, "coder", "x", "running", 0.0)));
    scene.app.picker = None;
    let picture = scene.picture();
    let words = ["1 agent is still working", "1 command in the background", "Esc pause the agent too"];
    assert!(words.iter().all(|words| picture.contains(words)), "{picture}");
    assert_eq!(scene.key(KeyCode::Esc), [Effect::Send(Command::StopAll)]);
}

#[test]
fn the_key_that_sends_a_command_away_is_named_while_it_does_that() {
    let mut scene = Scene::new((80, 24));
    scene.works();
    scene.call("1", "bash", CallStatus::Executing, "Run make");
    scene.picture();
    scene.app.now_ms += 5000;
    assert!(scene.picture().contains("Ctrl-B background"), "{}", scene.picture());
    scene.types("x");
    assert!(!scene.picture().contains("Ctrl-B"), "it moves the cursor: {}", scene.picture());
    assert_eq!(scene.control('b'), []);
    scene.control('u');
    scene.key(KeyCode::Delete);
    assert!(scene.picture().contains("Ctrl-B background"), "{}", scene.picture());
    assert_eq!(scene.control('b'), [Effect::Send(Command::Background { call_id: support::call("1") })]);
}

#[test]
fn a_command_of_the_person_stays_where_it_is_and_that_is_said() {
    let mut scene = Scene::new((80, 24));
    scene.types("!make");
    scene.picture();
    scene.key(KeyCode::Enter);
    assert_eq!(scene.control('b'), []);
    assert!(scene.picture().contains("Only the agent's commands go to the background"), "{}", scene.picture());
}

#[test]
fn what_shift_tab_sets_is_seen_in_place_of_a_word() {
    let mut scene = Scene::new((80, 24));
    scene.key(KeyCode::Esc);
    assert!(scene.picture().contains("Esc again rewinds") && !scene.picture().contains("asks first"));
    let accepts = Command::SetApproval { approval: ApprovalMode::AcceptEdits };
    assert_eq!(scene.key(KeyCode::BackTab), [Effect::Send(accepts)]);
    assert!(scene.picture().contains("asks first"), "{}", scene.picture());
    // A second press before that is in effect goes on from it.
    let plans = [Command::SetMode { mode: Mode::Plan }, Command::SetApproval { approval: ApprovalMode::AskFirst }];
    assert_eq!(scene.key(KeyCode::BackTab), plans.map(Effect::Send));
}

#[test]
fn a_session_goes_into_the_background_once_it_was_said_what_ends_with_the_window() {
    let (mut scene, _) = scene();
    assert_eq!(scene.app.detaching, Detaching::Not);
    scene.types("/detach");
    assert_eq!(detached(scene.key(KeyCode::Enter)), []);
    assert!(scene.picture().contains("npm run dev would end"), "{}", scene.picture());
    scene.types("/detach now");
    assert_eq!(detached(scene.key(KeyCode::Enter)), [Effect::Detach(true)]);
    let quits = scene.news(News::Detached(Ok("It works on in the background.".to_owned())));
    assert_eq!(quits, [Effect::Quit]);
    assert!(scene.picture().contains("It works on in the background."), "{}", scene.picture());
}

#[test]
fn whoever_works_is_waited_for_and_a_session_that_can_not_go_stays() {
    let mut scene = Scene::new((80, 24));
    scene.works();
    scene.call("c1", "bash", CallStatus::Executing, "Run make");
    scene.types("/detach");
    assert_eq!(detached(scene.key(KeyCode::Enter)), [Effect::Detach(false)]);
    assert!(scene.picture().contains("/detach now does not wait"), "{}", scene.picture());
    scene.types("/detach");
    assert_eq!(detached(scene.key(KeyCode::Enter)), []);
    scene.types("/detach now");
    assert_eq!(detached(scene.key(KeyCode::Enter)), [Effect::Detach(true)]);
    let error = || AppError::new(Trouble::Failed, "the server can't be started");
    assert_eq!(scene.news(News::Detached(Err(error()))), []);
    assert!(scene.picture().contains("the server can't be started"), "{}", scene.picture());
    assert_eq!(scene.app.detaching, Detaching::Not);
    // One that has ended here already is opened here again.
    scene.app.detaching = Detaching::Ended;
    assert!(matches!(scene.news(News::Detached(Err(error()))).as_slice(), [Effect::GoOn(Wanted::Id(_))]));
    // What another process works on is there already.
    scene.app.attached = true;
    scene.types("/detach");
    assert_eq!(detached(scene.key(KeyCode::Enter)), []);
}

/// What of the effects is not kept in the history.
fn detached(effects: Vec<Effect>) -> Vec<Effect> {
    effects.into_iter().filter(|effect| !matches!(effect, Effect::Remember(_))).collect()
}

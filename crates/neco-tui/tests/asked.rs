//! What must hold of questions in every size: their head and their keys are seen, and no key is taken for another.

mod support;

use crossterm::event::KeyCode;
use neco_proto::event::*;
use neco_proto::*;
use neco_tui::host::{Edited, RuleEntry, SessionEntry, Wanted};
use neco_tui::update::{Effect, News};
use proptest::prelude::*;
use serde_json::{Value, json};
use support::{Ended, SIZES, Scene, call, edit_request};

fn live(scene: &mut Scene) -> String {
    let picture = scene.picture();
    picture.rsplit("┄┄┄┄┄┄┄┄┄┄").next().unwrap_or_default().to_owned()
}

fn command_request(id: &str, command: &str) -> Value {
    json!({
        "call_id": id, "tool": "bash", "summary": format!("Run {command}"), "args": {"command": command}, "command": command,
        "risk": "high", "reason": "it runs a program that is not known", "diff": [],
        "session_rule": format!("run exactly `{command}` without asking, until Neco ends"),
        "always_rule": format!("run exactly `{command}` without asking, in this folder from now on (kept in always.toml)")
    })
}

fn is_whole(shown: &str, what: &str) {
    for part in ["high risk", "it runs a", "y  yes, once", "n  no", "d  all of it"] {
        assert!(shown.contains(part), "{part} is not seen:\n{what}\n{shown}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn no_command_pushes_the_head_or_the_keys_away(word in "[a-z(); ]{1,30}", times in 1usize..60, lines in 1usize..4) {
        let command = vec![word.repeat(times); lines].join("\n");
        for size in SIZES {
            let mut scene = Scene::new(size);
            scene.works();
            scene.asks(command_request("1", command.trim()));
            is_whole(&live(&mut scene), &command);
        }
    }

    #[test]
    fn the_smallest_terminals_show_the_risk_and_the_keys(width in 30u16..120, height in 10u16..40) {
        let mut scene = Scene::new((width, height));
        scene.works();
        scene.asks(command_request("1", &"print(1); ".repeat(90)));
        let shown = live(&mut scene);
        prop_assert!(shown.contains("high risk") && shown.contains("y ") && shown.contains("n "), "{shown}");
    }

    #[test]
    fn the_chosen_option_is_seen(width in 30u16..120, height in 10u16..40, count in 2usize..40, steps in 0usize..60) {
        let mut scene = Scene::new((width, height));
        scene.questions(options(count));
        (0..steps).for_each(|_| drop(scene.key(KeyCode::Down)));
        let shown = live(&mut scene);
        prop_assert!(shown.contains("? Which"), "{shown}");
        let chosen = format!("❯ {}. ", steps % count + 1);
        prop_assert!(shown.contains(&chosen), "{chosen} in\n{shown}");
    }
}

fn options(count: usize) -> Value {
    let about = "with a key that you type next, unseen; SOME_API_KEY works too";
    let option = |number: usize| json!({"label": format!("provider{number}"), "description": about});
    let options: Vec<Value> = (1..=count).map(option).collect();
    let text = "Which model should it ask?";
    json!({"about": "choices", "items": [{"title": "model", "text": text, "multiple": false, "options": options}]})
}

fn chosen(effects: &[Effect]) -> Option<&str> {
    match effects {
        [Effect::Send(Command::Answer { reply: Reply::Choices { answers }, .. })] => Some(&answers[0].chosen[0]),
        _ => None,
    }
}

#[test]
fn numbers_above_nine_can_be_typed() {
    let ask = || {
        let mut scene = Scene::new((80, 24));
        scene.questions(options(17));
        scene
    };
    let mut scene = ask();
    assert_eq!(scene.types("1"), [], "it may be the beginning of 12");
    assert_eq!(chosen(&scene.types("2")), Some("provider12"));
    let mut scene = ask();
    scene.types("1");
    assert_eq!(chosen(&scene.key(KeyCode::Enter)), Some("provider1"));
    assert_eq!(chosen(&ask().types("3")), Some("provider3"));
    assert_eq!(chosen(&ask().types("10")), Some("provider10"));
    // No option has the number 18: the 8 is a number of its own.
    assert_eq!(chosen(&ask().types("18")), Some("provider8"));
}

#[test]
fn all_of_it_is_shown_above_a_box_that_makes_room() {
    let mut scene = Scene::new((80, 24));
    scene.works();
    let command = format!("python3 -c '{}' && echo the end", "print(1); ".repeat(120));
    scene.asks(command_request("1", &command));
    assert!(!scene.picture().contains("echo the end"), "it is too long");
    scene.types("d");
    let picture = scene.picture();
    assert!(picture.contains("echo the end"), "{picture}");
    let shown = live(&mut scene);
    assert!(shown.lines().count() < 18, "{shown}");
    is_whole(&shown, &command);
}

fn decided(id: &str, decision: Decision) -> Effect {
    Effect::Send(Command::Approve { call_id: call(id), decision })
}

#[test]
fn yes_to_all_holds_for_calls_that_are_asked_about_one_by_one() {
    let mut scene = Scene::new((80, 24));
    scene.works();
    for (id, what) in [("1", "Write a.txt"), ("2", "Write b.txt"), ("3", "Run rm -r /"), ("4", "Write c.txt")] {
        scene.call(id, "write_file", CallStatus::Scheduled, what);
    }
    scene.app.focused = Some(true);
    scene.asks(edit_request("1"));
    assert!(scene.picture().contains("+ unless of high risk · Write b.txt"), "{}", scene.picture());
    assert!(scene.picture().contains("Y  all with +"));
    assert_eq!(scene.types("Y"), [decided("1", Decision::Once)]);
    scene.happen(EventBody::PermissionDecision(PermissionDecision { call_id: call("1"), decision: Decision::Once }));
    assert_eq!(scene.asks(edit_request("2")), [decided("2", Decision::Once)]);
    scene.happen(EventBody::PermissionDecision(PermissionDecision { call_id: call("2"), decision: Decision::Once }));
    // What could do much harm was only seen in a line.
    assert_eq!(scene.asks(command_request("3", "rm -r /")), []);
    assert!(scene.picture().contains("is asked about by itself"), "{}", scene.picture());
    scene.happen(EventBody::TurnStart(TurnStart { iteration: 4, model: "m".into() }));
    assert_eq!(scene.asks(edit_request("4")), [], "another turn");
}

#[test]
fn a_changed_call_is_shown_and_asked_about_again() {
    let mut scene = Scene::new((80, 24));
    scene.works();
    scene.asks(command_request("1", "make install"));
    let wants = scene.types("e");
    assert!(matches!(&wants[..], [Effect::EditCall(call, ..)] if call.as_str() == "1"), "{wants:?}");
    let arguments = json!({ "command": "make -n install" });
    let edited = Edited { arguments: arguments.clone(), diff: Vec::new() };
    assert_eq!(scene.news(News::Call(call("1"), Ok(Some(edited)))), [], "nothing runs unseen");
    assert_eq!(scene.types("y"), [], "it was not read yet");
    scene.control('u');
    scene.key(KeyCode::Esc);
    scene.reads();
    let picture = scene.picture();
    assert!(picture.contains("$ make -n install") && picture.contains("y  yes, as you changed it"), "{picture}");
    assert!(!picture.contains("always:") && !picture.contains("for this session:"), "no rule is made of it: {picture}");
    assert_eq!(scene.types("y"), [decided("1", Decision::Edit { arguments })]);
}

#[test]
fn no_to_all_holds_for_everything() {
    let mut scene = Scene::new((80, 24));
    scene.works();
    scene.call("1", "write_file", CallStatus::Scheduled, "Write a.txt");
    scene.call("2", "bash", CallStatus::Scheduled, "Run ls");
    scene.asks(edit_request("1"));
    let no = || Decision::Reject { reason: None };
    assert_eq!(scene.types("N"), [decided("1", no())]);
    assert_eq!(scene.asks(command_request("2", "ls")), [decided("2", no())]);
}

#[test]
fn a_plan_stands_below_what_was_said_before_it() {
    let mut scene = Scene::new((80, 24));
    scene.said("plan it");
    scene.works();
    scene.streams(&["Planning."]);
    scene.call("1", "exit_plan_mode", CallStatus::Executing, "Hand over the plan");
    scene.questions(json!({"about": "plan", "plan": "1. look at src"}));
    let picture = scene.picture();
    let at = |text: &str| picture.find(text).unwrap_or_else(|| panic!("{text}:\n{picture}"));
    assert!(at("› plan it") < at("Planning.") && at("Planning.") < at("1. look at src"), "{picture}");
    assert!(at("1. look at src") < at("┄┄┄┄"), "it is in the scrollback");
}

#[test]
fn questions_and_answers_stay() {
    let mut scene = Scene::new((80, 24));
    scene.call("1", "ask_user", CallStatus::Executing, "Ask 1 question");
    scene.questions(options(3));
    let sent = scene.types("2");
    let Some(Effect::Send(Command::Answer { question_id, reply })) = sent.first() else { panic!("{sent:?}") };
    scene.happen(EventBody::QuestionAnswer(QuestionAnswer { question_id: *question_id, reply: Some(reply.clone()) }));
    scene.ends("1", "ask_user", "Ask 1 question", Ended::well(None));
    assert!(scene.picture().contains("Which model should it ask? → provider2"));
}

#[test]
fn a_rule_that_is_not_kept_comes_back() {
    let mut scene = Scene::new((80, 24));
    scene.news(News::Rules(Ok(vec![RuleEntry::default()])));
    scene.key(KeyCode::Enter);
    scene.types("allow bash(a*b)");
    assert_eq!(scene.key(KeyCode::Enter), [Effect::AddRule("allow bash(a*b)".into())]);
    assert_eq!(scene.news(News::RuleChanged(Err("a * stands at the end".into()))), []);
    assert_eq!(scene.app.prompt.text.as_str(), "allow bash(a*b)");
    assert_eq!(scene.key(KeyCode::Enter), [Effect::AddRule("allow bash(a*b)".into())], "it is a rule still");
}

#[test]
fn the_session_on_the_screen_is_not_opened_again() {
    let mut scene = Scene::new((80, 24));
    scene.app.standing.session_id = "0199-one".into();
    let entry = |id: &str| SessionEntry { id: id.into(), title: format!("session {id}"), ..SessionEntry::default() };
    scene.news(News::Sessions(Ok(vec![entry("0199-one")])));
    assert!(scene.picture().contains("session 0199-one  this one"));
    assert_eq!(scene.key(KeyCode::Enter), []);
    assert!(scene.picture().contains("in that session already"));
    scene.news(News::Sessions(Ok(vec![entry("0199-one"), entry("0199-two")])));
    assert_eq!(scene.key(KeyCode::Enter), [Effect::Open(Wanted::Id("0199-two".into()))]);
    scene.types("/resume 0199-one");
    let sent = scene.key(KeyCode::Enter);
    assert!(!sent.iter().any(|effect| matches!(effect, Effect::Open(_))), "{sent:?}");
}

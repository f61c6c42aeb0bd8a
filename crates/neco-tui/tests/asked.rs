//! What must hold of questions in every size: their head and their keys are seen, and no key is taken for another.

mod support;

use crossterm::event::KeyCode;
use neco_proto::app::{AppError, Trouble};
use neco_proto::event::*;
use neco_proto::*;
use neco_tui::host::{Edited, RuleEntry, SessionEntry, Wanted};
use neco_tui::update::{Effect, News};
use proptest::prelude::*;
use serde_json::{Value, json};
use support::{Ended, SIZES, Scene, call, command_request, edit_request, with_ahead};

fn live(scene: &mut Scene) -> String {
    let picture = scene.picture();
    picture.rsplit("┄┄┄┄┄┄┄┄┄┄").next().unwrap_or_default().to_owned()
}

fn is_whole(shown: &str, what: &str) {
    for part in ["sandboxed", "it runs a", "Yes", "No, and say", "d details"] {
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
        prop_assert!(shown.contains("sandboxed") && shown.contains("y ") && shown.contains("n "), "{shown}");
    }

    #[test]
    fn the_chosen_option_is_seen(width in 30u16..120, height in 10u16..40, count in 2usize..40, steps in 0usize..60) {
        let mut scene = Scene::new((width, height));
        scene.questions(options(count));
        (0..steps).for_each(|_| drop(scene.key(KeyCode::Down)));
        let shown = live(&mut scene);
        prop_assert!(shown.contains("◆ Which"), "{shown}");
        let chosen = format!("❯  {} ", steps % (count + 1) + 1);
        prop_assert!(shown.contains(&chosen), "{chosen} in\n{shown}");
    }
}

#[test]
fn a_number_means_the_same_whatever_else_waits_and_however_big_the_terminal_is() {
    let others = [("2", "Write b.txt", Some("medium")), ("3", "Run make", Some("high"))];
    for size in [(60, 15), (80, 24), (120, 40), (40, 12)] {
        for request in [command_request("1", "cargo test"), with_ahead(command_request("1", "cargo test"), &others)] {
            let ask = || {
                let mut scene = Scene::new(size);
                scene.works();
                scene.asks(request.clone());
                scene
            };
            assert_eq!(ask().types("1"), [decided("1", Decision::Once)], "{size:?}");
            for (number, decision) in [("2", Decision::Session), ("3", Decision::Always)] {
                let mut scene = ask();
                assert_eq!(scene.types(number), [], "a rule waits for Enter");
                assert_eq!(scene.key(KeyCode::Enter), [decided("1", decision)], "{size:?}");
            }
            assert!(matches!(&ask().types("4")[..], [Effect::EditCall(..)]), "{size:?}");
            let mut scene = ask();
            assert_eq!(scene.types("5"), []);
            assert_eq!(scene.key(KeyCode::Enter), [decided("1", Decision::Reject { reason: None })], "{size:?}");
            // No is the last, so that it is the one above the first.
            let mut scene = ask();
            scene.key(KeyCode::Up);
            scene.key(KeyCode::Enter);
            assert!(scene.picture().contains("What should it do instead?"), "{}", scene.picture());
            assert_eq!(ask().types("6"), [], "there is no sixth answer");
        }
    }
}

#[test]
fn an_answer_takes_one_row_until_it_is_gone_to() {
    for width in [60, 70, 80, 120] {
        let mut scene = Scene::new((width, 30));
        scene.works();
        let mut request = command_request("1", "cargo test -p harbor");
        request["always_file"] = json!("a.toml");
        for (rule, words) in [("session_rule", "in this session"), ("always_rule", "always in this folder")] {
            request[rule] = json!(format!("run commands that begin with `cargo test` without asking, {words}"));
        }
        scene.asks(request);
        let shown = live(&mut scene);
        let row = |shown: &str, what: &str| shown.lines().position(|line| line.contains(what));
        let rows = ["1  Yes", "2  Yes, for this session  run", "3  Yes, always  run", "4  Change", "5  No, and"];
        let rows: Vec<usize> =
            rows.iter().map(|what| row(&shown, what).unwrap_or_else(|| panic!("{what}: {shown}"))).collect();
        assert!(rows.windows(2).all(|pair| pair[0] + 1 == pair[1]), "{width}: {shown}");
        // The rule is seen to its end before it is given.
        scene.types("3");
        let shown: String = live(&mut scene).replace(['▎', '\n'], " ").split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(shown.contains("(saved in a.toml)"), "{width}: {shown}");
    }
}

#[test]
fn a_hint_that_does_not_fit_is_left_out_whole() {
    for (width, is_seen) in [(60, false), (80, true)] {
        let mut scene = Scene::new((width, 24));
        scene.works();
        scene.asks(edit_request("1"));
        let shown = live(&mut scene);
        let row = shown.lines().find(|line| line.contains("2  Yes, and accept edits from now on")).unwrap_or_default();
        assert!(row.trim_end().ends_with('s') && !row.contains('…'), "{width}: {shown}");
        assert_eq!(row.contains("Shift-Tab goes back"), is_seen, "{width}: {shown}");
    }
}

#[test]
fn a_rule_that_does_not_fit_is_cut_however_short_it_is() {
    let mut scene = Scene::new((40, 30));
    scene.works();
    let mut request = command_request("1", "make");
    request["session_rule"] = json!("run `make` here now");
    scene.asks(request);
    let shown = live(&mut scene);
    let row = shown.lines().find(|line| line.contains("2  Yes, for this session")).unwrap_or_default();
    assert!(row.contains('…'), "{shown}");
}

#[test]
fn a_narrow_box_tells_the_reason_from_its_beginning() {
    for width in [36, 40, 48] {
        let mut scene = Scene::new((width, 30));
        scene.works();
        let mut request = command_request("1", "make");
        request["reason"] = json!("harbor/settings/production.toml is changed by it");
        scene.asks(request);
        let shown = live(&mut scene);
        let told: String = shown.chars().filter(|char| !char.is_whitespace() && *char != '▎').collect();
        assert!(told.contains("Askedbecauseharbor/settings/production.tomlischangedbyit"), "{width}: {shown}");
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
fn a_digit_answers_at_once_however_many_options_there_are() {
    for count in [8, 9, 17] {
        let ask = || {
            let mut scene = Scene::new((80, 24));
            scene.questions(options(count));
            scene
        };
        assert!(ask().picture().contains("↑↓ Enter or 1–9"), "{}", ask().picture());
        assert_eq!(chosen(&ask().types("1")), Some("provider1"), "of {count}");
        assert_eq!(chosen(&ask().types("8")), Some("provider8"), "of {count}");
        // Those past nine are gone to.
        let mut scene = ask();
        scene.key(KeyCode::Up);
        scene.key(KeyCode::Up);
        assert_eq!(chosen(&scene.key(KeyCode::Enter)), Some(format!("provider{count}").as_str()));
    }
    let mut scene = Scene::new((80, 24));
    scene.questions(options(8));
    assert_eq!(scene.types("9"), [], "that is to write something else");
    scene.types("mine");
    assert_eq!(scene.app.prompt.text.as_str(), "mine");
}

#[test]
fn a_digit_that_is_no_answers_number_is_no_message() {
    let ignores = |scene: &mut Scene, digits: [char; 2]| {
        for digit in digits {
            assert_eq!(scene.key(KeyCode::Char(digit)), []);
            assert_eq!(scene.app.prompt.text.as_str(), "");
            assert!(scene.picture().contains("No answer has that number"), "{}", scene.picture());
        }
    };
    let mut scene = Scene::new((80, 24));
    scene.questions(options(2));
    ignores(&mut scene, ['0', '5']);
    assert_eq!(chosen(&scene.types("2")), Some("provider2"), "the question still has the keys");
    let mut scene = Scene::new((80, 24));
    scene.works();
    scene.asks(edit_request("1"));
    ignores(&mut scene, ['0', '9']);
    assert_eq!(scene.types("y"), [decided("1", Decision::Once)]);
}

#[test]
fn all_of_it_can_be_scrolled_to() {
    let mut scene = Scene::new((80, 24));
    scene.works();
    let command = format!("python3 -c '{}' && echo the end", "print(1); ".repeat(120));
    scene.asks(command_request("1", &command));
    assert!(!scene.picture().contains("echo the end"), "it is too long");
    scene.types("d");
    (0..9).for_each(|_| {
        scene.key(KeyCode::PageDown);
        scene.picture();
    });
    let picture = scene.picture();
    assert!(picture.contains("This session"), "{picture}");
    assert!(picture.contains("sandboxed") && picture.contains("y yes") && picture.contains("d back"), "{picture}");
}

fn decided(id: &str, decision: Decision) -> Effect {
    Effect::Send(Command::Approve { call_id: call(id), decision })
}

#[test]
fn a_narrow_box_shows_the_name_of_the_file() {
    let mut scene = Scene::new((40, 20));
    scene.works();
    let mut request = edit_request("1");
    request["summary"] = json!("Edit crates/a-long-folder/src/deeper/the_file.rs (+1 −1)");
    let ahead = [("2", "Write crates/a-long-folder/src/deeper/other_file.rs", Some("medium"))];
    scene.asks(with_ahead(request, &ahead));
    let picture = scene.picture();
    let head = picture.lines().find(|line| line.starts_with("▎◆ Edit")).unwrap_or_default();
    assert!(head.contains("file.rs  +1 −1") && picture.contains("other_file.rs"), "{picture}");
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
    scene.reads();
    let picture = scene.picture();
    assert!(picture.contains("◆ Run    a command, as you changed it"), "{picture}");
    assert_eq!(picture.matches("hecked").count(), 1, "said once: {picture}");
    assert!(picture.contains("Not checked yet: that is done when you say yes"), "{picture}");
    assert!(picture.contains("$ make -n install") && picture.contains("Yes, as you changed it"), "{picture}");
    assert!(!picture.contains("always") && !picture.contains("for this session"), "no rule is made of it: {picture}");
    assert_eq!(scene.types("y"), [decided("1", Decision::Edit { arguments })]);
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
    assert!(at("▎  plan it") < at("Planning.") && at("Planning.") < at("1. look at src"), "{picture}");
    assert!(at("1. look at src") < at("┄┄┄┄"), "it is in the scrollback");
}

#[test]
fn questions_and_answers_stay() {
    let mut scene = Scene::new((80, 24));
    scene.call("1", "ask_user", CallStatus::Executing, "Ask 1 question");
    scene.questions(options(3));
    let sent = scene.types("2");
    let Some(Effect::Send(Command::Answer { question_id, reply })) = sent.first() else { panic!("{sent:?}") };
    scene.happen(EventBody::QuestionAnswer(QuestionAnswer {
        question_id: *question_id,
        reply: Some(reply.clone()),
        by: None,
    }));
    scene.ends("1", "ask_user", "Ask 1 question", Ended::well(None));
    let picture = scene.picture();
    assert!(picture.contains("\n │        Which model should it ask? → provider2"), "{picture}");
}

#[test]
fn the_answer_to_a_plan_hangs_below_the_call_that_handed_it_over() {
    let mut scene = Scene::new((80, 24));
    scene.works();
    scene.call("1", "exit_plan_mode", CallStatus::Executing, "Hand over the plan");
    scene.questions(json!({"about": "plan", "plan": "1. look at src"}));
    let sent = scene.types("y");
    let Some(Effect::Send(Command::Answer { question_id, reply })) = sent.first() else { panic!("{sent:?}") };
    let (question_id, reply) = (*question_id, Some(reply.clone()));
    scene.happen(EventBody::QuestionAnswer(QuestionAnswer { question_id, reply, by: None }));
    scene.picture();
    scene.ends("1", "exit_plan_mode", "Hand over the plan", Ended::well(None));
    let picture = scene.picture();
    let at = |text: &str| picture.find(text).unwrap_or_else(|| panic!("{text}:\n{picture}"));
    assert!(at("✓ Plan   handed over") < at(" │        Carry out this plan? → Yes"), "{picture}");
}

#[test]
fn nothing_turns_above_a_question_that_waits() {
    let mut scene = Scene::new((80, 24));
    scene.works();
    scene.call("1", "ask_user", CallStatus::Executing, "Ask 1 question");
    scene.questions(options(3));
    let shown = live(&mut scene);
    assert!(shown.contains("◆ Which model") && !shown.contains("Ask    1 question"), "{shown}");
    let mut scene = Scene::new((80, 24));
    scene.works();
    scene.call("1", "exit_plan_mode", CallStatus::Executing, "Hand over the plan");
    scene.questions(json!({"about": "plan", "plan": "1. look at src"}));
    let shown = live(&mut scene);
    assert!(shown.contains("◆ Carry out") && !shown.contains("handed over"), "{shown}");
}

#[test]
fn a_rule_that_is_not_kept_comes_back() {
    let mut scene = Scene::new((80, 24));
    scene.news(News::Rules(Ok(vec![RuleEntry::default()])));
    scene.key(KeyCode::Enter);
    scene.types("allow bash(a*b)");
    assert_eq!(scene.key(KeyCode::Enter), [Effect::AddRule("allow bash(a*b)".into())]);
    let refused = AppError::new(Trouble::Invalid, "a * stands at the end");
    assert_eq!(scene.news(News::RuleChanged(Err(refused))), []);
    assert_eq!(scene.app.prompt.text.as_str(), "allow bash(a*b)");
    assert_eq!(scene.key(KeyCode::Enter), [Effect::AddRule("allow bash(a*b)".into())], "it is a rule still");
}

#[test]
fn the_session_on_the_screen_is_not_opened_again() {
    let mut scene = Scene::new((80, 24));
    scene.app.transcript.view.standing.session_id = "0199-one".into();
    let entry = |id: &str| SessionEntry { id: id.into(), title: format!("session {id}"), ..SessionEntry::default() };
    scene.news(News::Sessions(Ok(vec![entry("0199-one")])));
    let row = scene.picture().lines().find(|row| row.contains("session 0199-one")).map(str::to_owned);
    assert!(row.is_some_and(|row| row.contains("this one")), "{}", scene.picture());
    assert_eq!(scene.key(KeyCode::Enter), []);
    assert!(scene.picture().contains("already in that session"));
    scene.news(News::Sessions(Ok(vec![entry("0199-one"), entry("0199-two")])));
    assert_eq!(scene.key(KeyCode::Enter), [Effect::Open(Wanted::Id("0199-two".into()))]);
    scene.types("/resume 0199-one");
    let sent = scene.key(KeyCode::Enter);
    assert!(!sent.iter().any(|effect| matches!(effect, Effect::Open(_))), "{sent:?}");
}

#[test]
fn only_the_answer_that_was_refused_is_asked_for_again() {
    let gone = || ClientError::Refused("not now".into());
    let mut scene = Scene::new((80, 24));
    scene.works();
    scene.asks(edit_request("1"));
    scene.asks(edit_request("2"));
    assert_eq!(scene.types("y"), [decided("1", Decision::Once)]);
    scene.app.now_ms += 2000;
    scene.news(News::Unanswered(gone()));
    scene.news(News::Refused(gone(), None));
    let other = Command::Approve { call_id: call("2"), decision: Decision::Once };
    scene.news(News::NotDecided(gone(), Box::new(other)));
    scene.reads();
    assert_eq!(scene.key(KeyCode::Enter), [], "it is answered");
    let answer = Command::Approve { call_id: call("1"), decision: Decision::Once };
    scene.news(News::NotDecided(gone(), Box::new(answer)));
    assert_eq!(scene.key(KeyCode::Enter), [decided("1", Decision::Once)]);
}

#[test]
fn what_is_written_while_an_answer_is_on_its_way_is_written() {
    let mut scene = Scene::new((80, 24));
    scene.works();
    scene.asks(edit_request("1"));
    assert_eq!(scene.types("yy"), [decided("1", Decision::Once)], "a key that is held down answers once");
    assert_eq!(scene.app.prompt.text.as_str(), "");
    scene.app.now_ms += 2000;
    assert_eq!(scene.types("and then"), []);
    assert_eq!(scene.app.prompt.text.as_str(), "and then");
}

#[test]
fn details_are_offered_where_they_say_more_and_the_network_is_told_in_a_row() {
    let shown = |network: bool, rule: Value, size: (u16, u16)| {
        let mut scene = Scene::new(size);
        scene.works();
        let mut request = command_request("1", "git push origin main");
        (request["network"], request["session_rule"]) = (json!(network), rule);
        (request["always_rule"], request["always_file"]) = (Value::Null, Value::Null);
        scene.asks(request);
        live(&mut scene)
    };
    let whole = shown(true, Value::Null, (100, 40));
    assert!(whole.contains("▎  ! network       it can send and fetch"), "{whole}");
    assert!(!whole.contains("d details") && whole.contains("Esc no"), "{whole}");
    let rule = json!("run exactly `git push origin main` without asking, until Neco ends");
    assert!(shown(false, rule, (100, 40)).contains("d details"));
    assert!(shown(false, Value::Null, (60, 9)).contains("d details"), "not all of it has room");
}

//! What the agent asks of the person: choices, plans, whether it may go on.

mod support;

use crossterm::event::KeyCode;
use neco_proto::event::*;
use neco_proto::*;
use neco_tui::update::Effect;
use serde_json::json;
use support::{Scene, in_all_sizes};

#[test]
fn a_question_with_options() {
    insta::assert_snapshot!(in_all_sizes(|scene| {
        scene.works();
        scene.questions(json!({"about": "choices", "items": [{
            "title": "store", "text": "Where should the sessions be kept?", "multiple": false,
            "options": [{"label": "SQLite", "description": "one file, no server"}, {"label": "PostgreSQL", "description": "for many machines"}]
        }]}));
        scene.key(KeyCode::Down);
    }));
}

#[test]
fn a_question_with_several_answers_then_one_in_words() {
    insta::assert_snapshot!(in_all_sizes(|scene| {
        scene.works();
        let option = |label: &str| json!({"label": label, "description": ""});
        scene.questions(json!({"about": "choices", "items": [
            {"title": "parts", "text": "Which parts?", "multiple": true, "options": [option("parser"), option("printer"), option("tests")]},
            {"title": "name", "text": "What should it be called?", "multiple": false, "options": []}
        ]}));
        scene.types("1");
        scene.key(KeyCode::Down);
        scene.key(KeyCode::Down);
        scene.types(" ");
        scene.picture();
        assert_eq!(scene.key(KeyCode::Enter), []);
        assert!(scene.picture().contains("called?"));
        scene.types("neco");
        let sent = scene.key(KeyCode::Enter);
        let Some(Effect::Send(Command::Answer { reply: Reply::Choices { answers }, .. })) = sent.last() else {
            panic!("{sent:?}")
        };
        assert_eq!(answers[0].chosen, ["parser", "tests"]);
        assert_eq!(answers[1].text.as_deref(), Some("neco"));
    }));
}

#[test]
fn esc_at_a_later_question_keeps_what_was_answered() {
    let option = |label: &str| json!({"label": label, "description": ""});
    let item = |text: &str| json!({"text": text, "multiple": false, "options": [option("yes"), option("no")]});
    let ask = |scene: &mut Scene| {
        scene.works();
        scene.questions(json!({"about": "choices", "items": [item("Retry?"), item("How often?")]}));
    };
    let mut scene = Scene::new((80, 24));
    ask(&mut scene);
    assert_eq!(scene.types("1"), []);
    let sent = scene.key(KeyCode::Esc);
    let Some(Effect::Send(Command::Answer { reply: Reply::Choices { answers }, .. })) = sent.last() else {
        panic!("{sent:?}")
    };
    assert_eq!(answers.iter().map(|answer| answer.chosen.join(" ")).collect::<Vec<_>>(), ["yes"]);
    let mut scene = Scene::new((80, 24));
    ask(&mut scene);
    let sent = scene.key(KeyCode::Esc);
    assert!(matches!(sent.last(), Some(Effect::Send(Command::Answer { reply: Reply::Dismiss, .. }))), "{sent:?}");
}

#[test]
fn a_question_in_words_may_be_left_empty() {
    let item = |text: &str| json!({"title": "x", "text": text, "multiple": false, "options": []});
    let mut scene = Scene::new((80, 24));
    scene.works();
    scene.questions(json!({"about": "choices", "items": [item("Your name? (may be left empty)"), item("And why?")]}));
    assert!(scene.picture().contains("Enter alone leaves it empty"), "{}", scene.picture());
    assert_eq!(scene.key(KeyCode::Enter), []);
    assert!(scene.picture().contains("And why?"), "{}", scene.picture());
    scene.types("so");
    let sent = scene.key(KeyCode::Enter);
    let Some(Effect::Send(Command::Answer { reply: Reply::Choices { answers }, .. })) = sent.last() else {
        panic!("{sent:?}")
    };
    assert_eq!((&answers[0], answers[1].text.as_deref()), (&ItemAnswer::default(), Some("so")));
}

#[test]
fn a_question_says_what_enter_alone_means() {
    for (empty, says) in [("default", Some("Enter alone takes the default")), ("refused", None)] {
        let item = json!({"text": "Your name?", "multiple": false, "options": [], "empty": empty});
        let mut scene = Scene::new((80, 24));
        scene.works();
        scene.questions(json!({"about": "choices", "items": [item]}));
        let picture = scene.picture();
        assert!(says.is_none_or(|says| picture.contains(says)) && !picture.contains("leaves it empty"), "{picture}");
    }
}

#[test]
fn a_plan_waits() {
    insta::assert_snapshot!(in_all_sizes(|scene| {
        scene.works();
        scene.call("1", "exit_plan_mode", CallStatus::Executing, "Show the plan");
        scene.questions(json!({"about": "plan", "plan": "# Split the parser\n\n1. move the lexer\n2. test it"}));
        scene.key(KeyCode::Down);
    }));
}

#[test]
fn a_letter_means_of_a_plan_what_it_means_of_a_call() {
    let plan = || {
        let mut scene = Scene::new((80, 24));
        scene.questions(json!({"about": "plan", "plan": "1. all"}));
        scene
    };
    let accepts = |sent: &[Effect]| match sent {
        [Effect::Send(Command::Answer { reply: Reply::AcceptPlan { approval, .. }, .. })] => Some(*approval),
        _ => None,
    };
    assert_eq!(accepts(&plan().types("y")), Some(None));
    // What asks less from then on takes Enter as well.
    for key in ["s", "2"] {
        let mut scene = plan();
        assert_eq!(scene.types(key), [], "{key}");
        assert_eq!(accepts(&scene.key(KeyCode::Enter)), Some(Some(ApprovalMode::AcceptEdits)), "{key}");
    }
    // No plan makes a rule that is kept: that letter is the beginning of a word.
    let mut scene = plan();
    assert_eq!(scene.types("a"), []);
    assert_eq!(scene.app.prompt.text.as_str(), "a");
    for no in [KeyCode::Char('n'), KeyCode::Char('5'), KeyCode::Esc] {
        let sent = plan().key(no);
        assert!(
            matches!(&sent[..], [Effect::Send(Command::Answer { reply: Reply::DropPlan, .. })]),
            "{no:?}: {sent:?}"
        );
    }
}

#[test]
fn an_answer_to_a_plan_that_waits_for_enter_says_so() {
    let plan = || {
        let mut scene = Scene::new((80, 24));
        scene.questions(json!({"about": "plan", "plan": "1. all"}));
        scene
    };
    for key in ["s", "2"] {
        let mut scene = plan();
        assert_eq!(scene.types(key), [], "{key}");
        assert!(scene.picture().contains("Enter confirm   Esc cancel"), "{key}: {}", scene.picture());
        assert_eq!(scene.key(KeyCode::Esc), [], "{key}: nothing is answered");
        let picture = scene.picture();
        assert!(picture.contains("❯  1  Yes") && picture.contains("Esc no, keep planning"), "{key}: {picture}");
    }
    let mut scene = plan();
    assert_eq!(scene.types("so not here"), []);
    assert_eq!(scene.app.prompt.text.as_str(), "so not here");
}

#[test]
fn a_plan_is_sent_back_with_words() {
    let mut scene = Scene::new((80, 24));
    scene.questions(json!({"about": "plan", "plan": "1. all"}));
    assert_eq!(scene.types("3"), []);
    let shown = scene.picture();
    assert!(shown.contains("Enter sends it back with your words   Esc back to the answers"), "{shown}");
    assert!(shown.contains("❯  3  Change the plan") && !shown.contains("Esc no"), "{shown}");
    scene.types("smaller steps");
    let sent = scene.key(KeyCode::Enter);
    assert!(
        matches!(&sent[..], [Effect::Send(Command::Answer { reply: Reply::RevisePlan { comments }, .. })] if comments == "smaller steps")
    );
}

#[test]
fn d_shows_the_plan_and_keys_in_the_field_are_said() {
    let mut scene = Scene::new((80, 24));
    let plan = (1..=40).map(|step| format!("{step}. step number {step}\n")).collect::<String>();
    scene.questions(json!({"about": "plan", "plan": plan}));
    scene.picture();
    scene.out.clear();
    assert_eq!(scene.types("d"), []);
    let shown = scene.picture();
    assert!(
        shown.contains("step number 2") && shown.contains("PgUp PgDn") && shown.contains("Esc or d back"),
        "{shown}"
    );
    assert_eq!(scene.app.prompt.text.as_str(), "");
    scene.key(KeyCode::PageDown);
    assert!(!scene.picture().contains("1. step number 1\n"), "{}", scene.picture());
    assert_eq!(scene.key(KeyCode::Esc), [], "back, and nothing is answered");
    scene.key(KeyCode::Tab);
    scene.types("smaller");
    let shown = scene.picture();
    assert!(shown.contains("Your keys write in the field below") && !shown.contains("❯"), "{shown}");
    scene.key(KeyCode::Esc);
    assert!(scene.picture().contains("↑↓ Enter or 1–5"), "{}", scene.picture());
}

#[test]
fn d_shows_a_plan_of_any_length() {
    for steps in 1..=20 {
        let mut scene = Scene::new((80, 24));
        let plan = (1..=steps).map(|step| format!("{step}. step number {step}\n")).collect::<String>();
        scene.questions(json!({"about": "plan", "plan": plan}));
        let offers = scene.picture().contains("d the plan");
        assert!(offers || steps < 20, "{steps}: {}", scene.picture());
        assert!(!offers || steps > 1, "all of it stands above: {}", scene.picture());
        assert_eq!(scene.types("d"), []);
        for _ in 0..2 {
            let shown = scene.picture();
            assert!(shown.contains("Esc or d back"), "{steps}: {shown}");
        }
        assert_eq!(scene.types("d"), []);
        let shown = scene.picture();
        assert!(!shown.contains("Esc or d back") && shown.contains("Esc no, keep planning"), "{steps}: {shown}");
    }
}

#[test]
fn an_agent_that_repeats_itself() {
    insta::assert_snapshot!(in_all_sizes(|scene| {
        scene.works();
        scene.questions(json!({"about": "loop", "text": "it read src/a.rs five times without changing anything"}));
    }));
}

#[test]
fn marks_are_those_of_one_item_and_of_its_options() {
    let option = |label: &str| json!({"label": label, "description": ""});
    let item =
        |options: [&str; 3]| json!({"title": "x", "text": "Which?", "multiple": true, "options": options.map(option)});
    let items = || json!({"about": "choices", "items": [item(["a", "b", "c"]), item(["d", "e", "f"])]});
    let mut scene = Scene::new((80, 24));
    scene.questions(items());
    scene.types("2");
    scene.types("mine");
    scene.key(KeyCode::Enter);
    scene.app.now_ms += 5000;
    let sent = scene.key(KeyCode::Enter);
    let [Effect::Send(Command::Answer { reply: Reply::Choices { answers }, .. })] = &sent[..] else {
        panic!("{sent:?}")
    };
    assert_eq!((answers[0].text.as_deref(), &answers[1].chosen[..]), (Some("mine"), &["d".to_owned()][..]));
    // Something else can't be marked.
    let mut scene = Scene::new((80, 24));
    scene.questions(items());
    scene.key(KeyCode::Up);
    scene.types(" ");
    scene.key(KeyCode::Up);
    scene.key(KeyCode::Enter);
    let sent = scene.key(KeyCode::Enter);
    let [Effect::Send(Command::Answer { reply: Reply::Choices { answers }, .. })] = &sent[..] else {
        panic!("{sent:?}")
    };
    assert_eq!(answers[0].chosen, ["c"]);
}

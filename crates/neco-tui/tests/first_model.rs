//! A first model is chosen from a list in groups, which letters narrow down.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use neco_proto::*;
use neco_tui::update::Effect;
use serde_json::{Value, json};
use support::Scene;

fn option(label: &str, description: &str) -> Value {
    json!({"label": label, "description": description})
}

fn item(title: &str, text: &str, options: Vec<Value>) -> Value {
    json!({"title": title, "text": text, "multiple": false, "options": options})
}

/// A window without a model, in which one is to be chosen.
fn scene() -> Scene {
    let mut scene = Scene::new((100, 30));
    scene.app.set_up = true;
    asks(&mut scene);
    scene
}

fn asks(scene: &mut Scene) {
    let keys = option("○ openai", "type or paste a key, hidden");
    let items = vec![
        item(
            "On this machine",
            "Search models and providers\n↑↓ Enter choose   Esc leave",
            vec![option("✓ ollama/qwen3", "answers at http://localhost:11434/v1")],
        ),
        item("With a key", "", vec![option("✓ anthropic", "has a key: ANTHROPIC_API_KEY"), keys]),
        item("", "", vec![option("○ zai", "type or paste a key, hidden")]),
    ];
    scene.questions(json!({"about": "choices", "items": items}));
}

/// What was answered, an answer for each group.
fn answered(effects: &[Effect]) -> &[ItemAnswer] {
    let [Effect::Send(Command::Answer { reply: Reply::Choices { answers }, .. })] = effects else {
        panic!("{effects:?}")
    };
    answers
}

#[test]
fn groups_stand_below_their_names_and_what_is_said_about_them_in_a_column() {
    let mut scene = scene();
    let picture = scene.picture();
    let rows: Vec<&str> = picture.lines().skip_while(|row| !row.contains("On this machine")).collect();
    assert!(rows[1].starts_with(" ❯ ✓ ollama/qwen3"), "{picture}");
    let column = |row: &str, about: &str| row.split_once(about).map(|(before, _)| before.chars().count());
    assert!(column(rows[1], "answers at").is_some(), "{picture}");
    let with_key = rows.iter().copied().find(|row| row.contains("✓ anthropic")).unwrap();
    assert_eq!(column(rows[1], "answers at"), column(with_key, "has a key"), "{picture}");
    assert!(picture.contains("With a key\n") && picture.contains("› Search models and providers"), "{picture}");
    assert!(picture.contains("↑↓ Enter choose   Esc leave"), "{picture}");
    assert!(!picture.contains("zai") && !picture.contains('◆'), "{picture}");
}

#[test]
fn the_arrows_choose_and_letters_search_in_what_is_not_listed_as_well() {
    let mut first = scene();
    first.key(KeyCode::Down);
    assert_eq!(answered(&first.key(KeyCode::Enter))[1].chosen, ["✓ anthropic"]);
    assert!(!first.picture().contains("With a key"), "{}", first.picture());
    let mut second = scene();
    assert_eq!(second.types("za"), []);
    assert!(second.picture().contains("○ zai"), "{}", second.picture());
    let sent = second.key(KeyCode::Enter);
    let chosen: Vec<usize> = answered(&sent).iter().map(|answer| answer.chosen.len()).collect();
    assert_eq!(chosen, [0, 0, 1]);
}

#[test]
fn what_fits_nothing_is_taken_as_it_is_written() {
    let mut scene = scene();
    scene.types("gpu-box:8000");
    assert!(scene.picture().contains("Enter takes it as an address or the name of a model"), "{}", scene.picture());
    let sent = scene.key(KeyCode::Enter);
    assert_eq!(answered(&sent)[0].text.as_deref(), Some("gpu-box:8000"));
}

#[test]
fn an_address_is_not_taken_for_what_mentions_it() {
    let mut scene = scene();
    scene.types("localhost:11434");
    let sent = scene.key(KeyCode::Enter);
    assert_eq!(answered(&sent)[0].text.as_deref(), Some("localhost:11434"));
}

#[test]
fn esc_takes_what_is_searched_for_away_and_then_leaves() {
    let mut scene = scene();
    scene.types("op");
    assert_eq!(scene.key(KeyCode::Esc), []);
    assert!(scene.picture().contains("✓ anthropic"), "{}", scene.picture());
    let sent = scene.key(KeyCode::Esc);
    assert!(matches!(&sent[..], [Effect::Send(Command::Answer { reply: Reply::Dismiss, .. })]), "{sent:?}");
}

#[test]
fn nothing_closes_the_list_but_an_answer() {
    let mut scene = scene();
    scene.control('t');
    scene.app.key(KeyEvent::new(KeyCode::Char('c'), KeyModifiers::ALT));
    scene.types("/help");
    assert_eq!(scene.key(KeyCode::Enter), []);
    let picture = scene.picture();
    assert!(picture.contains("Commands work once there is a model") && picture.contains("✓ anthropic"), "{picture}");
    scene.app.paste("gpu-box:8000\nand more\n");
    assert!(scene.picture().contains("gpu-box:8000 and more"), "{}", scene.picture());
    let sent = scene.key(KeyCode::Enter);
    assert_eq!(answered(&sent)[0].text.as_deref(), Some("gpu-box:8000 and more"));
}

#[test]
fn a_person_without_a_model_can_leave_with_a_command() {
    let mut scene = scene();
    scene.types("/exit");
    assert_eq!(scene.key(KeyCode::Enter), [Effect::Quit]);
}

#[test]
fn what_was_typed_before_the_list_came_is_searched_for() {
    let mut scene = Scene::new((100, 30));
    scene.app.set_up = true;
    scene.works();
    scene.types("open");
    asks(&mut scene);
    let picture = scene.picture();
    assert!(picture.contains("○ openai") && !picture.contains("✓ anthropic"), "{picture}");
    assert_eq!(scene.app.prompt.text.as_str(), "");
}

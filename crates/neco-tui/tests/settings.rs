//! The list of settings, and what is asked before one makes agents freer.

mod support;

use crossterm::event::KeyCode;
use neco_proto::app::settings::{SettingList, SettingProblem, SettingRow};
use neco_tui::host::{Agreement, CommandOutcome};
use neco_tui::update::{Effect, News};
use neco_view::setting::Setting;
use neco_view::slash::Outside;
use support::Scene;

#[test]
fn settings_are_searched_and_one_is_taken_into_the_field() {
    let mut scene = Scene::new((80, 24));
    scene.types("/config");
    assert!(scene.key(KeyCode::Enter).contains(&Effect::Settings));
    let row = |key: &str, value: &str, layer: &str, origin: &str| SettingRow {
        key: key.into(),
        value: value.into(),
        layer: layer.into(),
        origins: vec![origin.into()],
        meaning: "When a person is asked.".into(),
        ..SettingRow::default()
    };
    let unset = SettingRow { key: "agent.max_cost".into(), ..SettingRow::default() };
    let wrong = SettingProblem {
        words: "~/.config/neco/config.toml:3:9: mode: expected one of `agent`".into(),
        file: Some("/home/me/.config/neco/config.toml".into()),
    };
    let list = |problems: Vec<SettingProblem>| SettingList {
        settings: vec![
            row("approval", "\"ask_first\"", "built-in", "built-in"),
            row("mode", "\"plan\"", "user", "config.toml:3"),
        ],
        unset: vec![unset.clone()],
        problems,
        ..SettingList::default()
    };
    scene.news(News::Settings(Ok(list(Vec::new()))));
    let picture = scene.picture();
    for words in [
        "Search 3 settings",
        "   Set\n ❯ mode",
        "   Defaults\n   approval",
        "   Not set\n   agent.max_cost",
        "\"ask_first\" · built-in",
        "not set",
        "When a person is asked.",
    ] {
        assert!(picture.contains(words), "{words}: {picture}");
    }
    scene.types("mod");
    // What else it may be set to is looked for at once.
    assert_eq!(scene.key(KeyCode::Enter), [Effect::Arguments("/config mode ".into())]);
    assert_eq!(scene.app.prompt.text.as_str(), "/config mode \"plan\"");
    // What is broken stands first, and is opened where it is.
    scene.control('c');
    scene.news(News::Settings(Ok(list(vec![wrong]))));
    assert!(scene.picture().contains("❯ ! ~/.config/neco/config.toml:3:9: mode"), "{}", scene.picture());
    let file = "/home/me/.config/neco/config.toml".to_owned();
    assert_eq!(scene.key(KeyCode::Enter), [Effect::EditFile(file)]);
    assert_eq!(scene.news(News::FileEdited(Ok(true))), [Effect::Settings], "it is looked at again");
}

#[test]
fn the_settings_that_people_change_first_stand_first() {
    let mut scene = Scene::new((80, 40));
    scene.types("/config");
    scene.key(KeyCode::Enter);
    let row = |key: &str| SettingRow { key: key.into(), layer: "built-in".into(), ..SettingRow::default() };
    let keys =
        ["agent.guards.loops", "agent.max_turns", "approval", "memory.extract", "tui.notifications", "tui.theme"];
    let list = SettingList { settings: keys.map(row).into(), ..SettingList::default() };
    scene.news(News::Settings(Ok(list)));
    let picture = scene.picture();
    let at = |key: &&str| picture.find(*key).unwrap_or_else(|| panic!("{key}: {picture}"));
    let wanted =
        ["tui.theme", "tui.notifications", "approval", "agent.max_turns", "memory.extract", "agent.guards.loops"];
    assert!(wanted.iter().map(at).is_sorted(), "{picture}");
}

#[test]
fn the_list_of_sandboxes_marks_the_present_one() {
    let mut scene = Scene::new((80, 24));
    scene.types("/sandbox");
    let sent = scene.key(KeyCode::Enter);
    assert!(sent.contains(&Effect::Outside(Outside::Sandbox, String::new())), "{sent:?}");
    let told = "The agent's commands run in: bubblewrap\n".to_owned();
    let choose = CommandOutcome::Choose(Setting::Sandbox, "workspace_write".into(), told);
    scene.news(News::Outside(Ok(choose)));
    let picture = scene.picture();
    assert!(picture.contains("The agent's commands run in: bubblewrap"), "{picture}");
    assert!(picture.contains("❯ • workspace_write") && picture.contains("    read_only"), "{picture}");
}

#[test]
fn what_loosens_is_asked_about_and_not_by_a_key_that_was_on_its_way() {
    let mut scene = Scene::new((80, 24));
    scene.types("/sandbox full");
    let sent = scene.key(KeyCode::Enter);
    assert!(sent.contains(&Effect::Outside(Outside::Sandbox, "full".into())), "{sent:?}");
    let ask = || {
        CommandOutcome::Ask(Agreement {
            question: "Run the agent's commands with sandbox full in this session?".into(),
            means: "no sandbox".into(),
            yes: (Outside::FreerSandbox, "full".into()),
        })
    };
    scene.news(News::Outside(Ok(ask())));
    scene.picture();
    assert_eq!(scene.types("y"), [], "it had just appeared");
    scene.reads();
    assert!(scene.picture().contains("❯ No, leave it as it is"), "{}", scene.picture());
    assert_eq!(scene.types("y"), [Effect::Outside(Outside::FreerSandbox, "full".into())]);
    // Whoever goes on writing is asked nothing.
    scene.types("/sandbox full");
    scene.key(KeyCode::Enter);
    scene.types("and then");
    scene.news(News::Outside(Ok(ask())));
    assert!(scene.app.picker.is_none());
}

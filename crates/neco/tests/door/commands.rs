//! Subcommands and help.

use serde_json::json;

use crate::support::{House, Ran, call, say};

#[test]
fn help_teaches() {
    let long = House::empty().run(&["--help"]).ended_with(0);
    for words in ["Examples:", "Exit codes:", "Environment:", "Settings:", "--output-format", "NECO_HOME", "130"] {
        assert!(long.stdout.contains(words), "{words}");
    }
    let short = House::empty().run(&["-h"]).ended_with(0);
    assert!(short.stdout.contains("neco demo") && short.stdout.lines().count() < 50);
    House::empty().run(&["--version"]).ended_with(0).says(env!("CARGO_PKG_VERSION"));
}

#[test]
fn settings_are_shown_with_their_origin() {
    let house = House::playing(json!([say("ok")]));
    let shown = house.run(&["config", "show", "--origin", "-c", "agent.max_turns=7"]).ended_with(0);
    let squeezed = shown.stdout.split(' ').filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ");
    for words in ["agent.max_turns = 7", "-c agent.max_turns=7", "model = \"play/a\"", "config.toml:1:", "built-in"] {
        assert!(squeezed.contains(words), "{words} is not in\n{}", shown.stdout);
    }
    assert!(!house.run(&["config", "show"]).ended_with(0).stdout.contains('#'));
    let json = house.run(&["config", "show", "--json"]).ended_with(0).json();
    let value = |key: &str| {
        let setting = json["settings"].as_array().unwrap().iter().find(|setting| setting["key"] == key);
        setting.unwrap()["value"].clone()
    };
    assert_eq!((value("model"), value("agent.max_turns").is_u64()), (json!("play/a"), true));
    house.run(&["config", "path"]).ended_with(0).says("home/config.toml").says("not there");
}

#[test]
fn keys_are_never_shown() {
    let house = House::empty();
    house.configure("model = \"mine/m\"\n[model_providers.mine]\ntype = \"openai\"\nbase = \"http://127.0.0.1:1/v1\"\napi_key = \"sk-hidden-value\"\n");
    for line in [&["config", "show", "--origin"][..], &["config", "show", "--json"], &["doctor"], &["doctor", "--json"]]
    {
        let ran = Ran::of(house.neco(line).env("OPENAI_API_KEY", "sk-hidden-value"));
        assert!(!format!("{}{}", ran.stdout, ran.stderr).contains("hidden-value"), "{line:?}");
    }
}

#[test]
fn the_doctor_says_what_is_wrong() {
    let house = House::playing(json!([say("ok")]));
    house.run(&["doctor"]).ended_with(0).says("plays a script").says("without an OS sandbox").says("neco.db");
    house.configure("model = \"openai/gpt-5\"\n");
    house.run(&["doctor"]).ended_with(1).says("fail").says("OPENAI_API_KEY");
    let report = Ran::of(house.neco(&["doctor", "--json"]).env("OPENAI_API_KEY", "sk-x")).ended_with(0).json();
    assert!(
        report["findings"].as_array().unwrap().iter().any(|line| line["words"] == "openai has a key: OPENAI_API_KEY")
    );
    house.configure("model = 5\n");
    house.run(&["doctor"]).ended_with(1).says("config.toml:1:");
}

#[test]
fn the_demo_fixes_a_real_test_and_touches_nothing_else() {
    let house = House::empty();
    let ran = house.run(&["demo"]).ended_with(0);
    for words in ["The model is scripted", "+printf", "ok    neco-in-two-seconds", "  passes"] {
        assert!(ran.stdout.contains(words), "{words} is not in\n{}", ran.stdout);
    }
    assert!(
        ran.stderr.contains("✗ Run sh test.sh · exit 1") && ran.stderr.contains("✓ Edit slug.sh"),
        "{}",
        ran.stderr
    );
    let left: Vec<_> = std::fs::read_dir(house.path("")).unwrap().flatten().map(|entry| entry.file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().starts_with("neco-demo")), "{left:?}");
    assert_eq!(std::fs::read_dir(house.path("home")).unwrap().count(), 0);
    let kept = house.run(&["demo", "--keep"]).ended_with(0).stdout;
    let place = kept.lines().find_map(|line| line.strip_prefix("The project is kept in ")).unwrap();
    assert!(std::path::Path::new(place.trim_end_matches('.')).join("slug.sh").exists());
}

#[test]
fn a_log_is_written_only_when_asked_for() {
    let house = House::playing(json!([say("ok")]));
    let log = house.path("home/data/logs/neco.log");
    house.run(&["-m", "x"]).ended_with(0);
    assert!(!log.exists());
    house.run(&["-m", "secret words", "--debug"]).ended_with(0).says("neco.log");
    let text = std::fs::read_to_string(&log).unwrap();
    for words in ["neco starts", "settings", "request", "model=play/a", "complete", "neco ends code=0"] {
        assert!(text.contains(words), "{words:?} is not in\n{text}");
    }
    assert!(!text.contains("secret words"), "{text}");
}

#[test]
fn a_log_tells_of_calls_retries_and_failures() {
    let house = House::playing(json!([
        { "fault": { "status": { "code": 503 } } },
        call("list_directory", json!({})),
        say("ok"),
    ]));
    house.run(&["-m", "x", "--debug", "-c", "network.backoff=0.01"]).ended_with(0);
    let log = || std::fs::read_to_string(house.path("home/data/logs/neco.log")).unwrap();
    for words in ["retry", "call runs", "call ends", "tool=list_directory"] {
        assert!(log().contains(words), "{words:?} is not in\n{}", log());
    }
    house.run(&["-m", "x", "--debug", "--model", "nobody/m"]).ended_with(2);
    assert!(log().contains("there is no provider") && log().contains("code=2"), "{}", log());
}

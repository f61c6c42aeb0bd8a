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
    assert!(short.stdout.contains("neco demo") && short.stdout.lines().count() <= 121);
    assert!(short.stdout.lines().chain(long.stdout.lines()).all(|line| line.chars().count() <= 80));
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
    house.run(&["doctor"]).ended_with(0).says("plays a script").says("sandbox").says("neco.db");
    house.configure("model = \"openai/gpt-5\"\n");
    house.run(&["doctor"]).ended_with(1).says("fail").says("OPENAI_API_KEY");
    let report = Ran::of(house.neco(&["doctor", "--json"]).env("OPENAI_API_KEY", "sk-x")).ended_with(0).json();
    assert!(
        report["findings"].as_array().unwrap().iter().any(|line| line["words"] == "openai has a key: OPENAI_API_KEY")
    );
    house.configure("model = 5\n");
    let broken = house.run(&["doctor"]).ended_with(1).says("config.toml:1:").says("1 problem to fix");
    assert!(!broken.stdout.contains("none is configured"), "{}", broken.stdout);
}

#[test]
fn the_doctor_promises_nothing_that_it_did_not_try() {
    let house = House::empty();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let base = format!("http://{}/v1", listener.local_addr().unwrap());
    house.configure(&format!(
        "model = \"here/m\"\n[model_providers.here]\ntype = \"openai\"\nbase = \"{base}\"\n\
         api_key_envs = [\"HERE_ONE\", \"HERE_TWO\"]\n\
         [model_providers.gone]\ntype = \"openai\"\nbase = \"http://me:pw@127.0.0.1:1/v1?key=sk-in-url\"\n\
         [model_groups.think]\nmodels = [\"here/m\", \"openai/gpt-5\"]\n"
    ));
    let ran = house.run(&["doctor"]).ended_with(0);
    for words in [
        "ok    model       here/m",
        "not tried: `neco model test`",
        "warn  group       think: here/m, openai/gpt-5; openai/gpt-5 is left out: openai needs a key",
        "warn  provider    gone: no answer at http://127.0.0.1:1/v1",
        "warn  key         here: HERE_ONE, HERE_TWO are not set; it is asked without a key",
        "info  provider    not set: ",
        "info  local       no answer from ",
        "No model was asked",
    ] {
        assert!(ran.stdout.contains(words), "{words} is not in\n{}", ran.stdout);
    }
    assert!(!ran.stdout.contains("pw@") && !ran.stdout.contains("sk-in-url"), "{}", ran.stdout);
    let quoted = Ran::of(house.neco(&["doctor"]).env("HERE_ONE", "\"sk-hidden-value\"")).ended_with(0);
    assert!(!quoted.stdout.contains("hidden-value"), "{}", quoted.stdout);
    quoted.says("here: HERE_TWO is not set; only the key of HERE_ONE is used").says("set HERE_ONE without the quotes");
    drop(listener);
    house.run(&["doctor"]).ended_with(0).says("warn  model       here/m").says("start the server");
}

#[test]
fn secrets_in_addresses_are_never_shown() {
    let house = House::empty();
    let base = "http://me:pw-s3cr3t@127.0.0.1:1/v1?key=sk-s3cr3t";
    house.configure(&format!(
        "model = \"a/m\"\n[model_providers.a]\ntype = \"openai\"\nbase = \"{base}\"\n[network]\nretries = 0\n"
    ));
    let flag = format!("model_providers.b.base={base}");
    for line in [
        &["config", "show", "--origin"][..],
        &["config", "show", "--json"],
        &["doctor"],
        &["model", "show", "a/m"],
        &["model", "list", "--all"],
        &["-m", "x", "--debug"],
    ] {
        let ran = house.run(&[line, &["-c", &flag, "-c", "model_providers.b.type=openai"]].concat());
        assert!(!format!("{}{}", ran.stdout, ran.stderr).contains("s3cr3t"), "{line:?}\n{}{}", ran.stdout, ran.stderr);
    }
    let log = std::fs::read_to_string(house.path("home/data/logs/neco.log")).unwrap();
    assert!(log.contains("model_providers.b.base") && !log.contains("s3cr3t"), "{log}");
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

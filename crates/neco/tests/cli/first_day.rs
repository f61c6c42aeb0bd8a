//! What people look for on their first day: settings, keys, rules for the model, completions, a manual page.

use serde_json::json;

use crate::support::{House, Ran, call, say};

#[test]
fn a_setting_is_written_and_the_file_stays_as_it_was() {
    let house = House::empty();
    house.configure("# mine\nmodel = \"a/b\" # the good one\n\n[agent]\nmax_turns = 9\n");
    house.run(&["config", "set", "model", "ollama/qwen3:8b"]).ended_with(0).says("config.toml");
    house.run(&["config", "set", "agent.max_turns", "7"]).ended_with(0).says("agent.max_turns = 7 written to");
    let text = std::fs::read_to_string(house.path("home/config.toml")).unwrap();
    assert!(text.contains("# mine\nmodel = \"ollama/qwen3:8b\"") && text.contains("max_turns = 7"), "{text}");
    assert_eq!(house.run(&["config", "get", "model"]).ended_with(0).stdout, "ollama/qwen3:8b\n");
    assert_eq!(house.run(&["config", "get", "agent.max_turns"]).ended_with(0).stdout, "7\n");
    house.run(&["config", "set", "agent.max_trns", "7"]).ended_with(2).says("did you mean `agent.max_turns`?");
    house.run(&["config", "set", "agent.max_turns", "many"]).ended_with(2).says("expected");
    house.run(&["config", "set", "approval", "never"]).ended_with(2).says("ask_first");
    house.run(&["config", "set", "model_providers.x.api_key", "sk-secret"]).ended_with(2).says("neco login x");
    house.run(&["config", "get", "nothing.here"]).ended_with(2).says("unknown setting");
    house.run(&["config", "get", "agent"]).ended_with(0).says("agent.max_turns");
    house.run(&["config", "edit"]).ended_with(2).says("home/config.toml");
    assert_eq!(text, std::fs::read_to_string(house.path("home/config.toml")).unwrap(), "nothing else was written");
    house.run(&["config", "unset", "agent.max_turns"]).ended_with(0).says("agent.max_turns taken out of");
    house.run(&["config", "unset", "agent.max_turns"]).ended_with(1).says("agent.max_turns is not set there");
    let text = std::fs::read_to_string(house.path("home/config.toml")).unwrap();
    assert!(text.contains("# mine\nmodel") && !text.contains("max_turns"), "{text}");
}

#[test]
fn what_outranks_a_setting_is_told() {
    let house = House::empty();
    let mut command = house.neco(&["config", "set", "model", "a/b"]);
    Ran::of(command.env("NECO_MODEL", "c/d")).ended_with(0).says("comes before your file");
}

#[test]
fn keys_are_kept_and_forgotten_in_a_word() {
    let house = House::empty();
    Ran::of(house.neco(&["login", "deepseek"]).write_stdin("sk-0123456789abcdef\n")).ended_with(0).says("is saved");
    house.run(&["auth", "list"]).ended_with(0).says("deepseek");
    house.run(&["logout"]).ended_with(0).says("1 key of deepseek removed");
    house.run(&["logout"]).ended_with(2).says("no key and no login is saved");
    house.run(&["login"]).ended_with(2).says("neco login openai").says("github-copilot");
    house.run(&["login", "nobody"]).ended_with(2);
}

#[test]
fn rules_for_the_model_are_begun_or_written_by_it() {
    let house = House::playing(json!([
        { "calls": [{ "name": "write_file", "arguments": { "path": "AGENTS.md", "content": "# Rules\n" } }],
          "expect": { "last_user_contains": "write AGENTS.md" } },
        say("Written."),
    ]));
    house.run(&["init"]).ended_with(0);
    assert_eq!(std::fs::read_to_string(house.project().join("AGENTS.md")).unwrap(), "# Rules\n");
    house.run(&["init", "--starter"]).ended_with(2).says("is there already");
    let house = House::playing(json!([call("write_file", json!({ "path": "other.md", "content": "x" })), say("No.")]));
    house.run(&["init"]).ended_with(3);
    std::fs::write(house.project().join("Cargo.toml"), "").unwrap();
    house.run(&["init", "--starter"]).ended_with(0).says("AGENTS.md written");
    assert!(std::fs::read_to_string(house.project().join("AGENTS.md")).unwrap().contains("cargo test"));
}

#[test]
fn shells_and_man_know_the_command_line() {
    let house = House::empty();
    for (shell, words) in [
        ("bash", "complete -F"),
        ("zsh", "#compdef neco"),
        ("fish", "complete -c neco"),
        ("powershell", "Register-ArgumentCompleter"),
    ] {
        let text = house.run(&["completions", shell]).ended_with(0).stdout;
        assert!(text.contains(words) && text.contains("workflow") && text.contains("output-format"), "{shell}");
    }
    let man = house.run(&["man"]).ended_with(0).says(".TH neco 1").says("Works as this agent").says("neco session\n");
    assert!(!man.stdout.contains("session(1)"), "there is no such page");
    let flags = man.stdout.split(".TP\n").skip(1).filter(|flag| flag.starts_with("\\fB\\-"));
    flags.for_each(|flag| assert!(flag.lines().nth(1).is_some_and(|words| !words.trim().is_empty()), "{flag}"));
}

/// What bash offers behind a line; nothing more where there is no bash.
fn offered(house: &House, line: &str) -> Option<String> {
    let script = format!(
        "source <('{}' completions bash); COMP_WORDS=({line} ''); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); \
         _neco neco '' \"${{COMP_WORDS[COMP_CWORD - 1]}}\"; echo \"${{COMPREPLY[*]}}\"",
        env!("CARGO_BIN_EXE_neco")
    );
    let output = std::process::Command::new("bash").args(["-c", &script]).envs(house.variables()).output().ok()?;
    Some(String::from_utf8(output.stdout).unwrap())
}

#[test]
fn bash_completes_commands_and_values() {
    let house = House::empty();
    for (line, words) in [
        ("neco", &["session", "--model", "login"][..]),
        ("neco session", &["list", "rewind"]),
        ("neco --mode", &["agent", "plan", "ask", "debug"]),
        ("neco exec --sandbox", &["read_only", "workspace_write", "full"]),
        ("neco completions", &["bash", "zsh", "fish", "powershell"]),
    ] {
        let Some(offered) = offered(&house, line) else { return };
        let offered: Vec<&str> = offered.split_whitespace().collect();
        assert!(words.iter().all(|word| offered.contains(word)), "{line}: {offered:?}");
        assert!(!offered.contains(&"workspace-write"), "what is taken silently is not offered: {offered:?}");
    }
}

#[test]
fn the_home_folder_is_warned_about() {
    let house = House::playing(json!([say("ok")]));
    let home = house.path("home").canonicalize().unwrap();
    Ran::of(&mut house.neco_in(&["-m", "x"], &home)).ended_with(0).says("This is your home folder");
    assert!(!house.run(&["-m", "x"]).ended_with(0).stderr.contains("home folder"));
}

#[test]
fn ids_are_shown_by_their_ends_and_found_by_any_part() {
    let house = House::playing(json!([say("one")]));
    let id = house.run(&["-m", "count", "--output-format", "json"]).json()["session_id"].as_str().unwrap().to_owned();
    let end = &id[id.len() - 6..];
    let listed = house.run(&["session", "list"]).ended_with(0);
    assert!(listed.stdout.contains(end) && !listed.stdout.contains(&id[..8]), "{}", listed.stdout);
    for part in [&id[..13], end, &id[24..], &id[14..23], &id.to_uppercase()] {
        house.run(&["session", "show", part]).ended_with(0).says("count");
    }
    for line in [&["session", "log"][..], &["session", "show"], &["session", "diff"], &["session", "rewind"]] {
        house.run(line).ended_with(0);
    }
    house.run(&["model", "show"]).ended_with(0).says("play/a");
}

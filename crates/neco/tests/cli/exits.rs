//! Exit codes, and the words that come with them.

use serde_json::json;

use crate::support::{House, call, say};

#[test]
fn wrong_flags_are_usage() {
    let house = House::playing(json!([say("ok")]));
    for line in [
        &["--no-such-flag"][..],
        &["-m"],
        &["-m", "x", "--mode", "dance"],
        &["-m", "x", "--output-format", "xml"],
        &["-m", "x", "--cwd", "/no/such/folder"],
        &["-m", "x", "--tools", "read_fiel"],
        &["-m", "x", "-c", "agent.max_turns=none"],
        &["-m", "x", "-c", "nonsense"],
        &["-m", "x", "--session", "ffffffff"],
        &["-m", "x", "--model", "nobody/m"],
        &["-m", "x", "--model", ""],
        &["-m", "x", "-c", "modle=play/a"],
    ] {
        let ran = house.run(line).ended_with(2);
        assert!(ran.stderr.lines().any(|line| line.starts_with("error: ")), "{line:?}: {}", ran.stderr);
    }
    house.run(&["-m", "x", "--tools", "read_fiel"]).ended_with(2).says("read_file");
    house
        .run(&["-m", "x", "-c", "modle=play/a"])
        .ended_with(2)
        .says("-c modle=…: unknown setting; did you mean `model`?")
        .says("Fix the flag");
}

#[test]
fn a_broken_configuration_names_file_and_line() {
    let house = House::playing(json!([say("ok")]));
    house.configure("model = \"play/a\"\n\n[agent]\nmax_turns = \"many\"\n");
    house.run(&["-m", "x"]).ended_with(2).says("config.toml:4:").says("agent.max_turns").says("Fix the file");
    house.configure("model = \n");
    house.run(&["-m", "x"]).ended_with(2).says("config.toml:1:");
}

#[test]
fn warnings_and_the_origin_of_the_model_are_told_when_a_run_can_not_begin() {
    let house = House::empty();
    house.configure("modle = \"a/b\"\nmodel = \"nobody/m\"\n");
    house.run(&["-m", "x"]).ended_with(2).says("modle").says("The model comes from").says("config.toml:2:");
    house.run(&["-m", "x", "--model", "openai/gpt-5"]).ended_with(5).says("modle").says("--model openai/gpt-5");
}

#[test]
fn without_a_model_there_is_a_guide() {
    let house = House::empty();
    // Nothing of the machine's own may answer.
    house.configure(
        &["ollama", "lmstudio", "\"llama.cpp\"", "vllm"]
            .map(|name| format!("[model_providers.{name}]\nbase = \"http://127.0.0.1:1/v1\"\n"))
            .concat(),
    );
    house
        .run(&["-m", "x"])
        .ended_with(5)
        .says("no model is configured yet")
        .says("OPENAI_API_KEY")
        .says("home/config.toml")
        .says("[model_providers.localhost-8000]");
}

#[test]
fn a_model_that_can_not_be_had_is_five() {
    let house = House::empty();
    house.run(&["-m", "x", "--model", "openai/gpt-5"]).ended_with(5).says("OPENAI_API_KEY");
    house.configure("model = \"near/m\"\n[model_providers.near]\ntype = \"openai\"\nbase = \"http://127.0.0.1:1/v1\"\n[network]\nretries = 0\n");
    house.run(&["-m", "x"]).ended_with(5).says("error 4005");
    let limited = House::playing(json!([{ "fault": { "status": { "code": 429 } } }]));
    limited.run(&["-m", "x", "-c", "network.retries=0"]).ended_with(5).says("4002");
    for code in [400, 404] {
        let other = House::playing(json!([{ "fault": { "status": { "code": code } } }]));
        other.run(&["-m", "x", "-c", "network.retries=0"]).ended_with(5).says("error 4011");
    }
    let refused = House::playing(json!([{ "fault": { "status": { "code": 401 } } }]));
    refused.run(&["-m", "x"]).ended_with(5).says("4003");
}

#[test]
fn nobody_to_ask_is_three_and_says_how_to_allow_it() {
    let house = House::playing(json!([call("write_file", json!({ "path": "a", "content": "x" })), say("I may not.")]));
    let ran = house.run(&["-m", "x"]).ended_with(3).says("not allowed").says("--yes");
    ran.says("but 1 call was refused (Write a)");
    assert!(!house.project().join("a").exists());
    house.run(&["-m", "x", "--approval", "auto"]).ended_with(0);
    assert!(house.project().join("a").exists());
}

#[test]
fn what_was_refused_and_then_done_another_way_is_done() {
    let house = House::playing(json!([
        call("bash", json!({ "command": "ls" })),
        call("list_directory", json!({})),
        say("There is nothing."),
    ]));
    house.run(&["-m", "x"]).ended_with(0);
}

#[test]
fn ask_mode_writes_and_runs_nothing_whatever_is_allowed() {
    let house = House::playing(json!([
        { "calls": [{ "name": "write_file", "arguments": { "path": "a", "content": "x" } }],
          "expect": { "tools_exclude": ["write_file", "bash", "edit_file"] } },
        call("bash", json!({ "command": "touch b" })),
        say("I only look."),
    ]));
    house.run(&["-m", "x", "--mode", "ask", "--yes"]).ended_with(3).says("in ask mode");
    assert!(!house.project().join("a").exists() && !house.project().join("b").exists());
}

#[test]
fn a_model_that_answers_nothing_was_reached_all_the_same() {
    let house = House::playing(json!([{ "say": "", "repeat": 9 }]));
    let words = "answered nothing, 3 times; try another model";
    let ran = house.run(&["-m", "x"]).ended_with(5).says("error 4007").says(words);
    assert!(!ran.stderr.contains("reached"), "{}", ran.stderr);
    let report = house.run(&["-m", "x", "--output-format", "json"]).ended_with(5).json();
    assert_eq!(report["error"]["code"], 4007);
    assert!(report["error"]["message"].as_str().unwrap().ends_with(words), "{report}");
}

#[test]
fn the_limit_of_turns_is_four() {
    let house = House::playing(json!([{ "calls": [{ "name": "list_directory", "arguments": {} }], "repeat": 9 }]));
    let ran = house.run(&["-m", "x", "--max-turns", "2"]).ended_with(4);
    ran.says("the limit of 2 turns (--max-turns)");
}

#[test]
fn only_the_tools_that_are_named_exist() {
    let house = House::playing(json!([
        { "say": "ok", "expect": { "tools_declared": ["read_file", "bash"], "tools_exclude": ["write_file", "edit_file"] } },
    ]));
    house.run(&["-m", "x", "--tools", "read_file,Bash"]).ended_with(0);
    let house = House::playing(json!([call("write_file", json!({ "path": "a", "content": "x" })), say("no")]));
    house.run(&["-m", "x", "--yes", "--tools", "read_file"]).ended_with(0).says("(1001)");
}

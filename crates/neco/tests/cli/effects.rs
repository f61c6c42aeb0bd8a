//! Rules hold whatever tool, name or spelling a model takes; and `neco policy explain` says what the loop does.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use crate::support::{House, call, say};

fn explained(house: &House, tool: &str, arguments: &Value, flags: &[&str]) -> String {
    let text = arguments.to_string();
    let line = [&["policy", "explain", tool, &text, "--json", "--approval", "auto", "--no-person"], flags].concat();
    house.run(&line).ended_with(0).json()["decision"].as_str().unwrap().to_owned()
}

/// What became of the calls of a script: each tool by its name in the events, and whether it was refused.
fn played(house: &House, calls: &[(&str, Value)], flags: &[&str]) -> Vec<(String, bool)> {
    let mut turns: Vec<Value> = calls.iter().map(|(tool, arguments)| call(tool, arguments.clone())).collect();
    turns.push(say("Done."));
    house.script("script.json", Value::Array(turns));
    let line = [&["-m", "go", "--approval", "auto", "--output-format", "stream-json"], flags].concat();
    let ran = house.run(&line);
    let events = ran.events();
    let ended = events.iter().filter(|event| event["type"] == "tool_call_end");
    let told = |event: &Value| (event["tool"].as_str().unwrap_or_default().to_owned(), !event["error_code"].is_null());
    ended.map(told).collect()
}

fn patch(path: &str) -> Value {
    json!({ "patch": format!("*** Begin Patch\n*** Update File: {path}\n@@\n-one\n+two\n*** End Patch\n") })
}

fn house_with_files() -> House {
    let house = House::playing(json!([]));
    for name in ["a.txt", "b.txt"] {
        fs::write(house.project().join(name), "one\n").unwrap();
    }
    house
}

fn text(house: &House, name: &str) -> String {
    fs::read_to_string(house.project().join(name)).unwrap()
}

#[test]
fn who_denies_an_edit_denies_a_patch_and_a_write() {
    let rule = |tool: &str| format!("[[rule]]\n{tool}\ndecision = 'deny'\n");
    let files = [
        rule("tool = 'Edit'\npath = 'a.txt'"),
        rule("tool = 'edit_file'\npath = 'a.txt'"),
        rule("toolName = ['write_file', 'replace']\nargsPattern = '\"file_path\":\"[^\"]*a\\.txt\"'"),
    ];
    for text_of_rule in files {
        let house = house_with_files();
        fs::create_dir_all(house.path("home/policy")).unwrap();
        fs::write(house.path("home/policy/mine.toml"), &text_of_rule).unwrap();
        let calls = [
            ("read_file", json!({ "path": "a.txt" })),
            ("read_file", json!({ "path": "b.txt" })),
            ("apply_patch", patch("a.txt")),
            ("write_file", json!({ "path": "a.txt", "content": "two\n" })),
            ("edit_file", json!({ "path": "a.txt", "old_string": "one", "new_string": "two" })),
            ("apply_patch", patch("b.txt")),
        ];
        let refused: Vec<bool> = played(&house, &calls, &[]).into_iter().map(|(_, refused)| refused).collect();
        assert_eq!(refused, [false, false, true, true, true, false], "{text_of_rule}");
        assert_eq!((text(&house, "a.txt").as_str(), text(&house, "b.txt").as_str()), ("one\n", "two\n"));
        for (index, (tool, arguments)) in calls.iter().enumerate() {
            let expected = if refused[index] { "deny" } else { "allow" };
            assert_eq!(explained(&house, tool, arguments, &[]), expected, "{text_of_rule}: {tool} {arguments}");
        }
    }
    let house = house_with_files();
    let calls = [("apply_patch", patch("b.txt")), ("write_file", json!({ "path": "c.txt", "content": "x" }))];
    let all = played(&house, &calls, &["--deny", "edit_file"]);
    assert!(all.iter().all(|(_, refused)| *refused) && !house.project().join("c.txt").exists(), "{all:?}");
}

#[test]
fn who_denies_a_command_of_git_denies_the_tool_that_runs_it() {
    let house = house_with_files();
    assert!(Command::new("git").args(["init", "--quiet"]).current_dir(house.project()).status().unwrap().success());
    let calls = [
        ("git", json!({ "action": "add", "paths": ["a.txt"] })),
        ("bash", json!({ "command": "/usr/bin/git add a.txt" })),
        ("bash", json!({ "command": "env git -C . add a.txt" })),
    ];
    for rule in ["bash(git add *)", "{ tool = 'bash', command = 'git add' }", "git"] {
        let told = played(&house, &calls, &["--deny", rule]);
        assert!(told.iter().all(|(_, refused)| *refused), "{rule}: {told:?}");
        for (tool, arguments) in &calls {
            assert_eq!(explained(&house, tool, arguments, &["--deny", rule]), "deny", "{rule}: {tool} {arguments}");
        }
    }
    assert!(!house.project().join(".git/index").exists());
}

#[test]
fn a_tool_has_one_name_however_a_model_spells_it() {
    for name in ["BASH", "bash ", "bash\n", " Bash", "run_shell_command", "Shell\t"] {
        let house = House::playing(json!([]));
        let calls = [(name, json!({ "command": "printf x > made.txt" }))];
        let denied = played(&house, &calls, &["--deny", "bash(printf *)"]);
        assert_eq!(denied, [("bash".to_owned(), true)], "{name:?}");
        assert!(!house.project().join("made.txt").exists(), "{name:?}");
        let ran = house.run(&["-m", "go", "--approval", "auto", "--output-format", "stream-json"]).ended_with(0);
        assert!(house.project().join("made.txt").exists(), "{name:?}");
        for event in ran.events() {
            for field in ["name", "tool"] {
                let told = event[field].as_str().unwrap_or("bash");
                assert_eq!(told, "bash", "{name:?}: {event}");
            }
            let parts = event["parts"].as_array().cloned().unwrap_or_default();
            let called = parts.iter().filter(|part| part["type"] == "tool_call").map(|part| part["name"].clone());
            assert!(called.into_iter().all(|called| called == "bash"), "{name:?}: {event}");
        }
    }
    let house = House::playing(json!([]));
    let told = played(&house, &[("ba\u{200b}sh", json!({ "command": "ls" }))], &[]);
    assert_eq!(told, [("ba\u{200b}sh".to_owned(), true)]);
}

#[test]
fn rules_of_others_with_fields_that_are_not_known_do_not_stop_the_start() {
    let house = house_with_files();
    fs::create_dir_all(house.path("home/policy")).unwrap();
    let rule = "[[rule]]\ntoolName = 'write_file'\ndecision = 'deny'\npriority = 5\ndeny_message = 'not here'\n";
    fs::write(house.path("home/policy/theirs.toml"), rule).unwrap();
    house.script("script.json", json!([call("write_file", json!({ "path": "c.txt", "content": "x" })), say("Done.")]));
    let ran = house.run(&["-m", "go", "--approval", "auto"]);
    assert!(ran.stderr.contains("deny_message") && !house.project().join("c.txt").exists(), "{}", ran.stderr);
}

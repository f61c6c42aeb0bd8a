//! `neco eval`: tasks that are run, checked, told, gone on with, skipped and stopped.

use std::fs;

use serde_json::{Value, json};

use crate::support::{House, Ran, call, eventually, say};

/// A house whose models play parts by their names; `good` solves what most tasks here ask.
fn house(parts: Value) -> House {
    let house = House::empty();
    play(&house, parts);
    let config = format!(
        "model = \"play/good\"\n[model_providers.play]\ntype = \"scripted\"\nscript = {:?}\n",
        house.path("script.json").display().to_string()
    );
    house.configure(&config);
    house
}

/// Gives the models these parts.
fn play(house: &House, parts: Value) {
    let mut models = json!({ "good": [
        call("bash", json!({ "command": "echo yes > answer.txt" })),
        { "say": "Done.", "usage": { "input": 100, "output": 20 } },
    ] });
    models.as_object_mut().unwrap().extend(parts.as_object().unwrap().clone());
    fs::write(house.path("script.json"), json!({ "turns": [say("I can't.")], "models": models }).to_string()).unwrap();
}

/// Writes a task file with these tasks.
fn tasks(house: &House, text: &str) {
    fs::write(house.project().join("tasks.yaml"), text).unwrap();
}

const ANSWER: &str = "\
tasks:
  - name: answer
    language: shell
    prompt: Write yes to answer.txt.
    check: grep -qx yes answer.txt
";

fn results(house: &House) -> Vec<Value> {
    let text = fs::read_to_string(house.project().join("eval-results.jsonl")).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn models_are_compared_in_a_table() {
    let house = house(json!({}));
    tasks(&house, ANSWER);
    let ran = house.run(&["eval", "tasks.yaml", "--model", "play/good", "--model", "play/bad"]).ended_with(0);
    let row = |model: &str| ran.stdout.lines().find(|line| line.starts_with(model)).unwrap().to_owned();
    assert!(row("play/good").contains("auto (8)  agent  1/1 (100%)"), "{}", ran.stdout);
    assert!(row("play/bad").contains("0/1 (0%)"), "{}", ran.stdout);
    assert!(row("answer (play/bad").contains("the check ended with 2"), "{}", ran.stdout);
    assert!(ran.stderr.contains("[2/2] answer (play/bad, level auto) failed after 1 turn"), "{}", ran.stderr);
    // The session of a run can be looked at.
    let session = results(&house)[0]["session"].as_str().unwrap().to_owned();
    house.run(&["session", "show", &session]).ended_with(0).says("Write yes to answer.txt.");
}

#[test]
fn the_level_that_a_small_window_took_is_told() {
    let house = house(json!({}));
    tasks(&house, ANSWER);
    let config = fs::read_to_string(house.path("home/config.toml")).unwrap();
    house.configure(&format!("{config}[models.\"play/good\"]\ncontext_window = 5000\n"));
    house.run(&["eval", "tasks.yaml"]).ended_with(0).says("auto (1)");
}

#[test]
fn what_is_done_is_not_done_again() {
    let house = house(json!({}));
    tasks(&house, ANSWER);
    house.run(&["eval", "tasks.yaml"]).ended_with(0);
    let ran = house.run(&["eval", "tasks.yaml"]).ended_with(0).says("1 of 1 runs are in eval-results.jsonl already");
    assert!(ran.stdout.contains("1/1 (100%)"), "{}", ran.stdout);
    assert_eq!(results(&house).len(), 1);
    // Twice is once more; a task that was changed is another one.
    house.run(&["eval", "tasks.yaml", "--repeat", "2"]).ended_with(0).says("2/2 (100%)");
    assert_eq!(results(&house).len(), 2);
    tasks(&house, &ANSWER.replace("Write yes", "Write just yes"));
    house.run(&["eval", "tasks.yaml"]).ended_with(0);
    assert_eq!(results(&house).len(), 3);
}

#[test]
fn ctrl_c_stops_and_the_same_command_goes_on() {
    let slow = json!([{ "say": "Done.", "delay_ms": 60000 }]);
    let house = house(json!({ "slow": slow }));
    tasks(&house, ANSWER);
    let line = ["eval", "tasks.yaml", "--model", "play/good", "--model", "play/slow"];
    let child = house.start(&line);
    eventually("the first run is over, and the second at work", || {
        results(&house).len() == 1
            && fs::read_dir(house.path(""))
                .unwrap()
                .flatten()
                .any(|entry| entry.file_name().to_string_lossy().starts_with("neco-eval-answer-"))
    });
    std::thread::sleep(std::time::Duration::from_millis(300));
    let interrupt = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(interrupt.success());
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{stderr}");
    assert!(stderr.contains("1 of 2 runs are left; the same command goes on where it was"), "{stderr}");
    assert_eq!(results(&house).len(), 1);
    let left = fs::read_dir(house.path("")).unwrap().flatten();
    assert!(!left.into_iter().any(|entry| entry.file_name().to_string_lossy().starts_with("neco-eval-")));
    play(&house, json!({}));
    house.run(&line).ended_with(0).says("[2/2] answer (play/slow, level auto) failed");
    assert_eq!(results(&house).len(), 2);
}

#[test]
fn limits_end_a_run_and_the_check_decides() {
    let house = house(json!({
        "looking": [{ "calls": [{ "name": "bash", "arguments": { "command": "echo yes > answer.txt; echo {n}" } }], "repeat": 50 }],
        "slow": [{ "say": "Done.", "delay_ms": 60000 }],
        "big": [
            { "calls": [{ "name": "bash", "arguments": { "command": "true" } }], "usage": { "input": 900, "output": 200 } },
            call("bash", json!({ "command": "echo yes > answer.txt" })),
        ],
    }));
    tasks(&house, ANSWER);
    let model = |name: &str, flags: &[&str]| {
        let line = [&["eval", "tasks.yaml", "--json", "--model", name], flags].concat();
        house.run(&line).ended_with(0).json()["runs"][0].clone()
    };
    let turns = model("play/looking", &["--max-turns", "2"]);
    assert_eq!((&turns["limit"], &turns["outcome"], &turns["turns"]), (&json!("turns"), &json!("passed"), &json!(2)));
    let seconds = model("play/slow", &["--timeout", "1"]);
    assert_eq!((&seconds["limit"], &seconds["outcome"]), (&json!("seconds"), &json!("failed")));
    assert!(seconds["seconds"].as_f64().unwrap() < 20.0);
    let tokens = model("play/big", &["--max-tokens", "1000"]);
    assert_eq!((&tokens["limit"], &tokens["usage"]["input"]), (&json!("tokens"), &json!(900)));
}

#[test]
fn what_can_not_be_run_is_no_failure_of_the_model() {
    let house = house(json!({ "gone": [{ "fault": { "status": { "code": 401 } } }] }));
    let more = "  - { name: absent, needs: [no-such-program], prompt: x, check: 'true' }
  - { name: broken, setup: 'echo no room; exit 7', prompt: x, check: 'true' }
";
    tasks(&house, &format!("{ANSWER}{more}"));
    let ran = house.run(&["eval", "tasks.yaml"]).ended_with(1);
    for words in ["1/1 (100%), 1 not run, 1 skipped", "needs no-such-program", "the set-up ended with 7: no room"] {
        assert!(ran.stdout.contains(words), "{words}: {}", ran.stdout);
    }
    // What did not fail is not run again, and a model that can't be had is not asked for ever.
    house.run(&["eval", "tasks.yaml", "--only", "answer"]).ended_with(0).says("already");
    let line = ["eval", "tasks.yaml", "--only", "answer", "--model", "play/gone", "--repeat", "5"];
    house.run(&line).ended_with(1).says("the rest of its runs are left out for now").says("2 of 5 runs are left");
    // A set-up that fails is no sign that the model can't be had.
    let line = ["eval", "tasks.yaml", "--only", "broken", "--repeat", "5"];
    let ran = house.run(&line).ended_with(1);
    assert!(ran.stderr.contains("[5/5] broken") && !ran.stderr.contains("left out"), "{}", ran.stderr);
}

#[test]
fn a_window_that_is_too_small_is_told() {
    let house = house(json!({}));
    tasks(&house, ANSWER);
    let small = json!({ "turns": [say("Done.")], "context_window": 1500 });
    fs::write(house.path("script.json"), small.to_string()).unwrap();
    house.run(&["eval", "tasks.yaml"]).ended_with(0).says("too long for the model (4004); the check ended with 2");
}

#[test]
fn levels_and_modes_are_what_is_asked_for() {
    let house = house(json!({}));
    tasks(&house, ANSWER);
    let line = ["eval", "tasks.yaml", "--gen", "1,8", "--mode", "agent", "--mode", "ask", "--json"];
    let report = house.run(&line).ended_with(0).json();
    let groups = report["groups"].as_array().unwrap();
    let told = |group: &Value| (group["level"].clone(), group["mode"].clone(), group["passed"].clone());
    let is = |level: u8, mode: &str, passed: u8| (json!(level), json!(mode), json!(passed));
    assert_eq!(
        groups.iter().map(told).collect::<Vec<_>>(),
        [is(1, "agent", 1), is(1, "ask", 0), is(8, "agent", 1), is(8, "ask", 0)],
        "{report:#}"
    );
    assert_eq!(report["runs"][0]["used_level"], 1);
}

#[test]
fn failed_edits_are_counted() {
    let house = house(json!({ "clumsy": [
        call("edit_file", json!({ "path": "answer.txt", "old_string": "no", "new_string": "yes" })),
        call("read_file", json!({ "path": "nothing.txt" })),
        say("Done."),
    ] }));
    tasks(&house, &format!("{ANSWER}    files: {{ answer.txt: maybe }}\n"));
    let report = house.run(&["eval", "tasks.yaml", "--model", "play/clumsy", "--json"]).ended_with(0).json();
    let run = &report["runs"][0];
    assert_eq!((&run["calls"], &run["failed_calls"], &run["failed_edits"]), (&json!(2), &json!(2), &json!(1)));
}

#[test]
fn the_check_files_outrank_what_the_agent_left() {
    let cheat = json!([call("bash", json!({ "command": "echo 'exit 0' > check.sh" })), say("Done.")]);
    let house = house(json!({ "cheat": cheat }));
    tasks(
        &house,
        "tasks:\n  - name: t\n    prompt: x\n    check: sh check.sh\n    check_files: { check.sh: exit 3 }\n",
    );
    house.run(&["eval", "tasks.yaml", "--model", "play/cheat"]).ended_with(0).says("the check ended with 3");
}

#[test]
fn the_example_of_the_document_is_sound_and_can_be_solved() {
    let document = include_str!("../../../../docs/eval.md");
    let example = document.split("```yaml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let house = house(json!({ "fixer": [
        call("read_file", json!({ "path": "greet.sh" })),
        call("edit_file", json!({ "path": "greet.sh", "old_string": "Helo", "new_string": "Hello" })),
        say("Fixed."),
    ] }));
    tasks(&house, example);
    house.run(&["eval", "tasks.yaml", "--verify"]).ended_with(0).says("greeting: sound");
    house.run(&["eval", "tasks.yaml", "--model", "play/fixer"]).ended_with(0).says("1/1 (100%)");
}

#[test]
fn tasks_that_are_not_sound_are_found() {
    let house = house(json!({}));
    tasks(
        &house,
        "tasks:
  - { name: easy, prompt: x, check: 'true' }
  - { name: hard, prompt: x, check: 'echo nothing helps; false', solution: { a: b } }
  - { name: open, prompt: x, check: 'test -e a' }
  - { name: good, prompt: x, check: 'test -e a', solution: { a: b } }
",
    );
    let ran = house.run(&["eval", "tasks.yaml", "--verify"]).ended_with(1);
    for words in [
        "easy: WRONG: the check passes although nothing was done",
        "hard: WRONG: the check fails with the solution: nothing helps",
        "open: the check fails at first",
        "good: sound",
    ] {
        assert!(ran.stdout.contains(words), "{words}: {}", ran.stdout);
    }
}

#[test]
fn wrong_usage_says_what_is_wrong_before_anything_runs() {
    let house = house(json!({}));
    tasks(&house, &ANSWER.replace("check:", "chek:"));
    house.run(&["eval", "tasks.yaml"]).ended_with(2).says("chek");
    house.run(&["eval", "nothing.yaml"]).ended_with(2).says("nothing.yaml can't be used");
    tasks(&house, ANSWER);
    house.run(&["eval", "tasks.yaml", "--only", "x"]).ended_with(2).says("neco eval --list");
    house.run(&["eval", "tasks.yaml", "--gen", "9"]).ended_with(2).says("levels from 1 to 8");
    house.run(&["eval", "tasks.yaml", "--model", "nobody/a"]).ended_with(2);
    assert!(results(&house).is_empty());
}

/// The tasks that come with the program, a language at a time: whatever is installed here is sound.
fn sound(language: &str) {
    let house = house(json!({}));
    let mut verify = house.neco(&["eval", "--verify", "--only", language]);
    // What finds a toolchain may lie in the home folder.
    for name in ["HOME", "CARGO_HOME", "RUSTUP_HOME"] {
        if let Some(value) = std::env::var_os(name) {
            verify.env(name, value);
        }
    }
    verify.timeout(std::time::Duration::from_secs(600));
    let ran = Ran::of(&mut verify).ended_with(0);
    let fine = |line: &&str| line.ends_with(": sound") || line.contains(": skipped: needs ");
    assert!(ran.stdout.lines().count() >= 4, "{}", ran.stdout);
    assert!(ran.stdout.lines().all(|line| fine(&line)), "{}", ran.stdout);
}

#[test]
fn the_tasks_in_python_are_sound() {
    sound("python");
}

#[test]
fn the_tasks_in_javascript_are_sound() {
    sound("javascript");
}

#[test]
fn the_tasks_in_rust_are_sound() {
    sound("rust");
}

#[test]
fn the_tasks_in_go_are_sound() {
    sound("go");
}

#[test]
fn the_tasks_in_shell_are_sound() {
    sound("shell");
}

#[test]
fn the_tasks_in_c_are_sound() {
    sound("c");
}

#[test]
fn there_are_tasks_enough() {
    let house = house(json!({}));
    let tasks = house.run(&["eval", "--list", "--json"]).ended_with(0).json();
    let tasks = tasks.as_array().unwrap();
    let languages: std::collections::BTreeSet<&str> =
        tasks.iter().map(|task| task["language"].as_str().unwrap()).collect();
    assert!(tasks.len() >= 30 && languages.len() >= 5, "{} in {languages:?}", tasks.len());
    assert!(tasks.iter().all(|task| !task["solution"].as_object().unwrap().is_empty()));
    house.run(&["eval", "--list"]).ended_with(0).says("shell-hello");
}

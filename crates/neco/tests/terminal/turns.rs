//! Turns: what is asked beside them, how a command leaves one, how many there are, and what goes into them.

use std::fs;

use serde_json::json;

use crate::support::{House, call, eventually, lives, say};
use crate::tmux::{Pane, house, is_there};

fn log(house: &House) -> String {
    let list = house.run(&["session", "list", "--json"]).ended_with(0).json();
    let id = list[0]["id"].as_str().unwrap().to_owned();
    house.run(&["session", "log", &id, "--json"]).ended_with(0).stdout
}

#[test]
fn a_command_goes_on_in_the_background_and_the_agent_with_its_work() {
    if !is_there() {
        return;
    }
    let house = house(json!([
        call("bash", json!({ "command": "echo begun; sleep 4721" })),
        { "expect": { "last_tool_contains": "goes on as bg-1" }, "say": "I go on." }
    ]));
    let pane = Pane::ready(&house, "--yes");
    pane.say("serve").shows("begun").shows("Ctrl-B background");
    pane.press("C-b").shows("to the background as bg-1").shows("I go on.").waits();
    assert!(lives("4721"), "the command goes on");
    pane.say("/background").shows("No command of the agent runs");
    pane.press("C-d").shows("leaving stops it").press("C-d").is_given_back();
    eventually("the command ends with the session", || !lives("4721"));
}

#[test]
fn a_command_in_the_background_is_looked_at_and_stopped_by_its_number() {
    if !is_there() {
        return;
    }
    let begin = |command: &str| call("bash", json!({ "command": command, "background": true }));
    let house = house(json!([begin("echo quick"), begin("echo slow words; sleep 4723"), say("Both are begun.")]));
    let pane = Pane::ready(&house, "--yes");
    pane.say("serve").shows("Both are begun.").waits();
    pane.say("/ps 2").shows("slow words").shows("running for");
    pane.say("/ps 1").shows("exit 0 after");
    pane.say("/ps 3").shows("There is no 3 in the background; /ps lists them");
    pane.say("/ps stop 1").shows("It has ended: echo quick");
    assert!(lives("4723"));
    pane.say("/ps stop 2").shows("Stopped: echo slow words");
    eventually("the command is stopped", || !lives("4723"));
    pane.say("/ps bg-2").shows("stopped after");
    pane.press("C-d").press("C-d").is_given_back();
}

#[test]
fn a_window_asks_whether_it_goes_on_and_goes_on_for_as_many_turns() {
    if !is_there() {
        return;
    }
    let look = || call("bash", json!({ "command": "true" }));
    let house = house(json!([look(), look(), look(), look(), say("All seen.")]));
    let pane = Pane::ready(&house, "--yes -c agent.max_turns=2 -c agent.guards.loops=false");
    pane.say("look around").shows("2 turns done. Go on?").answer("1");
    pane.until("the second question", |pane| {
        log(&house).matches("iteration_limit").count() >= 2 && pane.screen().contains("Go on?")
    });
    pane.answer("1").showed("All seen.");
}

#[test]
fn a_plan_is_changed_in_the_editor_and_carried_out_so() {
    if !is_there() {
        return;
    }
    let house = house(json!([
        call("exit_plan_mode", json!({ "plan": "1. Write the file\n" })),
        { "expect": { "last_tool_contains": "2. And look at it" }, "say": "Carried out." }
    ]));
    fs::write(house.path("editor.sh"), "#!/bin/sh\necho '2. And look at it' >> \"$1\"\n").unwrap();
    let pane = Pane::shell(&house, 100, 30);
    pane.write(&format!(
        "EDITOR='sh {}' {} --mode plan",
        house.path("editor.sh").display(),
        env!("CARGO_BIN_EXE_neco")
    ));
    pane.press("Enter").waits().say("make a plan").shows("Edit the plan in the editor").answer("e");
    pane.showed("Carried out.");
    assert!(log(&house).contains("The user changed the plan"));
}

#[test]
fn a_folder_is_opened_while_the_session_runs() {
    if !is_there() {
        return;
    }
    let house = house(json!([]));
    let other = house.path("other");
    fs::create_dir(&other).unwrap();
    let other = other.canonicalize().unwrap();
    let write = |name: &str| call("write_file", json!({ "path": other.join(name), "content": "x\n" }));
    let touch = call("bash", json!({ "command": format!("echo x > {}", other.join("c.txt").display()) }));
    let turns = json!({ "turns": [write("a.txt"), say("Not there."), write("b.txt"), touch, say("There.")] });
    fs::write(house.path("script.json"), turns.to_string()).unwrap();
    let pane = Pane::ready(&house, "--yes");
    pane.say("write there").showed("Not there.").waits();
    assert!(!other.join("a.txt").exists());
    pane.say("/add-dir nowhere").shows("nowhere can't be used");
    pane.say(&format!("/add-dir {}", other.display())).showed("can be read and written");
    pane.say("/status").shows("Also open");
    pane.say("write there again").showed("There.").waits();
    assert!(other.join("b.txt").exists() && other.join("c.txt").exists(), "{}", pane.everything());
}

#[test]
fn what_a_message_names_goes_with_it() {
    if !is_there() {
        return;
    }
    let house = house(json!([
        { "expect": { "last_user_contains": "the answer is forty-two" }, "say": "I have read it." }
    ]));
    fs::write(house.project().join("notes.md"), "the answer is forty-two\n").unwrap();
    fs::write(house.project().join("big.txt"), "x".repeat(70_000)).unwrap();
    let pane = Pane::ready(&house, "");
    pane.say("look at @notes.md and @big.txt please").showed("I have read it.").showed("big.txt is only named");
    pane.showed("1 file attached").waits();
    assert!(!pane.everything().contains("forty-two"), "{}", pane.everything());
    pane.say("/undo")
        .until("what was written in the field", |pane| pane.screen().contains("› look at @notes.md and @big"));
}

#[test]
fn what_is_asked_beside_the_conversation_is_named_and_counted() {
    if !is_there() {
        return;
    }
    let house = house(json!([
        { "say": "Hello.", "usage": { "input": 1000, "output": 100 } },
        { "say": "A title", "fault": { "stall_after": 1 }, "usage": { "input": 50, "output": 5 } }
    ]));
    let pane = Pane::ready(&house, "-c sessions.model_title=true");
    pane.say("good morning").shows("Hello.").shows("naming the session…");
}

#[test]
fn keys_are_those_of_the_settings_and_a_wrong_one_is_told_with_its_place() {
    if !is_there() {
        return;
    }
    let house = house(json!([say("Hello.")]));
    let settings = house.path("home/config.toml");
    let before = fs::read_to_string(&settings).unwrap();
    let pane = Pane::shell(&house, 100, 30);
    let start = |keys: &str| {
        fs::write(&settings, format!("{before}[tui.keys]\n{keys}\n")).unwrap();
        pane.write(env!("CARGO_BIN_EXE_neco")).press("Enter");
    };
    start("expnd = \"ctrl-e\"");
    let line = before.lines().count() + 2;
    pane.shows("did you mean “expand”?").shows(&format!("config.toml:{line}:"));
    start("help = \"f1\"");
    pane.waits().press("F1").shows("these keys");
    assert!(pane.screen().contains("F1 "), "{}", pane.screen());
}

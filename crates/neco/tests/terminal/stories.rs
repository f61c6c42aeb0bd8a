//! What people do with it.

use std::fs;

use serde_json::json;

use crate::support::{House, call, eventually, say};
use crate::tmux::{Pane, house, is_there};

fn log(house: &House) -> String {
    let list = house.run(&["session", "list", "--json"]).ended_with(0).json();
    let id = list[0]["id"].as_str().unwrap().to_owned();
    house.run(&["session", "log", &id, "--json"]).ended_with(0).stdout
}

#[test]
fn an_edit_is_approved() {
    if !is_there() {
        return;
    }
    let house =
        house(json!([call("write_file", json!({ "path": "a.txt", "content": "two\n" })), say("It is **written**.")]));
    let pane = Pane::ready(&house, "");
    pane.say("write two").shows("a.txt").shows("y ");
    assert!(!house.project().join("a.txt").exists());
    pane.answer("y").shows("It is written.");
    assert_eq!(fs::read_to_string(house.project().join("a.txt")).unwrap(), "two\n");
    pane.waits().press("C-d").showed("Resume it with  neco resume").is_given_back();
}

#[test]
fn ctrl_c_once_too_often_does_not_lose_the_way_back() {
    if !is_there() {
        return;
    }
    let house = house(json!([say("Hello.")]));
    let pane = Pane::ready(&house, "");
    pane.say("hi").shows("Hello.").waits().press("C-c").shows("again leaves");
    pane.press("C-c C-c C-c").showed("Resume it with  neco resume").is_given_back();
    assert_eq!(pane.everything().matches("Resume it with").count(), 1, "{}", pane.everything());
}

#[test]
fn an_edit_is_rejected_with_a_reason() {
    if !is_there() {
        return;
    }
    let house = house(json!([
        call("write_file", json!({ "path": "a.txt", "content": "two\n" })),
        { "expect": { "last_tool_contains": "keep it as it is" }, "say": "I left it." }
    ]));
    let pane = Pane::ready(&house, "");
    pane.say("write two").shows("a.txt").answer("n").shows("do instead?");
    pane.say("keep it as it is").shows("I left it.");
    assert!(!house.project().join("a.txt").exists());
}

#[test]
fn what_is_said_while_it_works_is_heard_at_the_next_turn() {
    if !is_there() {
        return;
    }
    let house = house(json!([
        call("bash", json!({ "command": "while ! test -e go; do sleep 0.05; done; echo went" })),
        { "expect": { "last_user_contains": "and mind the gap" }, "say": "I mind it." }
    ]));
    let pane = Pane::ready(&house, "--yes");
    pane.say("go on").shows("Esc");
    pane.say("and mind the gap").shows("mind the gap");
    eventually("the message waits", || log(&house).contains("message_queued"));
    fs::write(house.project().join("go"), "").unwrap();
    pane.shows("I mind it.");
}

#[test]
fn escape_stops_a_command_and_a_stalled_stream() {
    if !is_there() {
        return;
    }
    let house = house(json!([
        { "say": "one two three four", "fault": { "stall_after": 2 } },
        call("bash", json!({ "command": "sleep 4711" })),
        say("It goes on.")
    ]));
    let pane = Pane::ready(&house, "--yes");
    pane.say("first").shows("one").press("Escape").showed("⊘ Stopped").waits();
    pane.say("second").shows("sleep 4711").press("Escape");
    pane.until("the second stop", |pane| pane.everything().matches("⊘ Stopped").count() >= 2).waits();
    eventually("the command is dead", || !crate::support::lives("4711"));
    pane.say("third").shows("It goes on.");
}

#[test]
fn going_back_shows_what_would_change_and_does_it() {
    if !is_there() {
        return;
    }
    let house = house(json!([
        call("write_file", json!({ "path": "a.txt", "content": "one\n" })),
        say("Written."),
        say("Nothing more."),
        say("Again.")
    ]));
    let pane = Pane::ready(&house, "--yes");
    pane.say("write it").shows("Written.").waits();
    pane.say("and more").shows("Nothing more.").waits();
    // Two that arrive as one are one to a terminal.
    pane.press("Escape").shows("Esc again").press("Escape").shows("Rewind to before a message");
    pane.press("Down").press("Enter").shows("conversation and files").shows("Deleted  a.txt");
    pane.answer("Enter");
    eventually("the file is gone", || !house.project().join("a.txt").exists());
    // What was said is in the field again, to be said better.
    let is_in_field = |pane: &Pane| pane.screen().contains("▎› write it");
    pane.showed("/redo restores it").until("the message in the field", is_in_field);
    pane.press("Enter").shows("Again.");
}

#[test]
fn a_fork_goes_its_own_way() {
    if !is_there() {
        return;
    }
    let house = house(json!([say("First.")]));
    let pane = Pane::ready(&house, "");
    pane.say("hello").shows("First.").waits();
    pane.say("/fork").showed("Forked").waits();
    eventually("there are two", || {
        house.run(&["session", "list", "--json"]).json().as_array().is_some_and(|list| list.len() == 2)
    });
    assert_eq!(pane.everything().matches("First.").count(), 1, "what is on the screen is not told again");
    // The script of a session begins anew.
    pane.say("and on").until("an answer", |pane| pane.everything().matches("First.").count() == 2);
    pane.press("C-d").is_given_back();
}

#[test]
fn what_was_said_for_work_that_is_stopped_comes_back() {
    if !is_there() {
        return;
    }
    let house = house(json!([
        call("bash", json!({ "command": "sleep 4713" })),
        { "expect": { "last_user_contains": "mind the gap" }, "say": "I mind it." }
    ]));
    let pane = Pane::ready(&house, "--yes");
    pane.say("go on").shows("sleep 4713");
    pane.say("mind the gap").shows("⋯ Next   mind the gap");
    pane.write("then commit").press("Tab").shows("⋯ Next   then commit");
    pane.press("Up").hides("⋯ Next   then commit").shows("› then commit").press("C-u").hides("then commit");
    pane.press("Escape").hides("⋯ Next   mind the gap").shows("› mind the gap");
    pane.press("Enter").shows("I mind it.");
}

#[test]
fn a_rule_holds_at_once_and_so_does_taking_it_back() {
    if !is_there() {
        return;
    }
    let touch = |name: &str| call("bash", json!({ "command": format!("touch {name}") }));
    let house = house(json!([touch("one"), say("One."), touch("two"), say("Two."), touch("three"), say("Three.")]));
    let pane = Pane::ready(&house, "");
    pane.say("one").shows("1  Yes").answer("Enter").shows("One.").waits();
    pane.say("/permissions").shows("Add a rule").press("Enter").shows("For example: allow");
    pane.say("allow bash(touch *)").showed("in effect now").waits();
    pane.say("two").shows("Two.").waits();
    pane.say("/permissions").shows("Add a rule").press("Down").press("DC").showed("Rule deleted");
    pane.press("Escape").waits();
    pane.say("three").shows("1  Yes").answer("n").shows("do instead?").press("Enter").shows("Three.");
    assert!(house.project().join("two").exists() && !house.project().join("three").exists());
}

#[test]
fn a_child_is_opened_told_something_and_stopped() {
    if !is_there() {
        return;
    }
    let house = house(json!([]));
    let script = json!({
        "turns": [
            { "calls": [{ "name": "spawn_agent", "arguments": { "agent": "coder", "task": "wait for me" } }] },
            { "say": "It is at it." }
        ],
        "loop_last": true,
        "agents": [{ "role": "coder", "turns": [
            { "say": "I begin to wait.", "calls": [{ "name": "bash", "arguments": { "command": "sleep 4714" } }] },
            { "say": "heard" }
        ] }]
    });
    fs::write(house.path("script.json"), script.to_string()).unwrap();
    let pane = Pane::ready(&house, "--yes");
    pane.say("go").showed("It is at it.").shows("1 agent");
    pane.press("C-t").shows("Enter open").press("Enter").shows("I begin to wait.").shows("sleep 4714");
    pane.press("Enter").shows("to coder-1").write("look elsewhere").press("Enter");
    eventually("it was told", || log(&house).contains("look elsewhere"));
    pane.shows("look elsewhere · next turn");
    pane.press("C-x").shows("Stop        x").press("x");
    eventually("it is stopped", || !crate::support::lives("4714"));
    pane.press("C-t").shows("Enter open").press("Escape").hides("to coder-1").waits();
}

#[test]
fn a_plan_is_made_and_accepted() {
    if !is_there() {
        return;
    }
    let house = house(json!([
        call("exit_plan_mode", json!({ "plan": "# The plan\n\n1. Write the file\n2. Look at it\n" })),
        call("write_file", json!({ "path": "a.txt", "content": "planned\n" })),
        say("Carried out.")
    ]));
    let pane = Pane::ready(&house, "");
    pane.press("BTab").shows("accepts edits").press("BTab").shows("plan");
    pane.say("make a plan").shows("Write the file").shows("1");
    assert!(!house.project().join("a.txt").exists());
    pane.answer("1").shows("a.txt").answer("1").shows("Carried out.");
    assert_eq!(fs::read_to_string(house.project().join("a.txt")).unwrap(), "planned\n");
}

#[test]
fn long_output_is_folded_and_can_be_seen_whole() {
    if !is_there() {
        return;
    }
    let house =
        house(json!([call("bash", json!({ "command": "seq -f 'line-%g' 1 3000; false" })), say("That was long.")]));
    let pane = Pane::ready(&house, "--yes");
    pane.say("count").shows("That was long.").waits();
    let text = pane.everything();
    assert!(text.contains("line-3000") && !text.contains("line-1500"), "{text}");
    // Nothing of the live part is left above: one status line, one field.
    assert_eq!(text.matches("Ask, or say").count(), 1, "{text}");
    pane.press("C-o").showed("line-1");
}

#[test]
fn what_a_person_runs_is_shown_and_told_to_the_model() {
    if !is_there() {
        return;
    }
    let house = house(json!([{ "expect": { "last_user_contains": "forty-two" }, "say": "I see it." }]));
    let pane = Pane::ready(&house, "");
    // It is told once it has ended: until then a line says how it is stopped.
    pane.say("!echo forty-$(echo two)").shows("forty-two").hides("Esc stops it");
    pane.say("!mkdir below && cd below").showed("(your ! commands run in ").hides("Esc stops it");
    pane.say("!cd ..").showed("(your ! commands run in ").hides("Esc stops it");
    pane.say("look at that").shows("I see it.");
}

#[test]
fn words_on_the_command_line_begin_the_conversation_and_it_can_be_continued() {
    if !is_there() {
        return;
    }
    let house = house(json!([say("Hello to you."), say("Still here.")]));
    let pane = Pane::ready(&house, "'good morning'");
    pane.shows("Hello to you.").waits().press("C-d").is_given_back();
    drop(pane);
    let pane = Pane::ready(&house, "--continue");
    pane.shows("good morning").shows("Hello to you.");
}

#[test]
fn three_agents_work_and_report() {
    if !is_there() {
        return;
    }
    let house = house(json!([]));
    let spawn = |part: &str| json!({ "name": "spawn_agent", "arguments": { "agent": "coder", "task": part } });
    let script = json!({
        "turns": [
            { "calls": [spawn("the first part"), spawn("the second part"), spawn("the third part")] },
            { "say": "Three are at it." },
            { "say": "I heard." }
        ],
        "loop_last": true,
        "agents": [{ "role": "coder", "turns": [
            call("bash", json!({ "command": "until [ -e go ]; do sleep 0.05; done" })),
            { "say": "my part is done" }
        ] }]
    });
    fs::write(house.path("script.json"), script.to_string()).unwrap();
    let pane = Pane::ready(&house, "--yes");
    pane.say("split it up").showed("Three are at it.").shows("3 agents");
    pane.say("/tree").shows("coder-1").shows("coder-2").shows("coder-3");
    fs::write(house.project().join("go"), "").unwrap();
    pane.showed("I heard.").hides("3 agents");
    eventually("all are done", || log(&house).matches("my part is done").count() >= 3);
}

//! Settings in the window: shown although a file is broken, mended, set, and what loosens is asked about.

use std::fs;

use serde_json::json;

use crate::support::{call, say};
use crate::tmux::{Pane, house, is_there};

#[test]
fn a_broken_file_hides_nothing_and_is_mended_from_the_window() {
    if !is_there() {
        return;
    }
    let house = house(json!([say("Hello.")]));
    let pane = Pane::ready(&house, "");
    let file = house.path("home/config.toml");
    let fine = fs::read_to_string(&file).unwrap();
    fs::write(&file, format!("approval = \"autoo\"\n{fine}")).unwrap();
    for (command, words) in [("/status", "Tool level"), ("/hooks", "No hooks"), ("/config mode", "from built-in")] {
        pane.say(command).showed("config.toml:1:12: approval: expected one of").shows(words).waits();
        pane.press("C-l");
    }
    pane.say("/sandbox").showed("The agent's commands run in").shows("read_only").press("Escape");
    pane.waits().say("/config").shows("❯ ! ").shows("Enter opens it in your editor").press("Escape");
    pane.waits().say("/config approval ask_first").showed("approval is set in").waits();
    assert!(fs::read_to_string(&file).unwrap().starts_with("approval = \"ask_first\"\n"));
    pane.say("/config").shows("Search ").shows("❯ ").hides("Enter opens it in your editor").press("Escape");
    pane.waits().say("/config approvel").shows("did you mean approval?");
}

#[test]
fn the_sandbox_of_a_session_is_narrowed_at_once_and_freed_after_a_question() {
    if !is_there() {
        return;
    }
    let write = |name: &str| call("bash", json!({ "command": format!("echo x > {name}") }));
    let house = house(json!([write("one.txt"), say("Tried."), write("two.txt"), say("Again.")]));
    let pane = Pane::ready(&house, "--yes");
    pane.say("/sandbox read_only").showed("From the next turn on").waits();
    pane.say("write it").showed("Tried.").waits();
    assert!(!house.project().join("one.txt").exists(), "{}", pane.everything());
    pane.say("/sandbox workspace_write").shows("with sandbox workspace_write in this session?").answer("y");
    pane.showed("/config sandbox.level workspace_write is for all").waits();
    pane.say("write it again").showed("Again.").waits();
    assert!(house.project().join("two.txt").exists(), "{}", pane.everything());
    assert!(!fs::read_to_string(house.path("home/config.toml")).unwrap().contains("level"), "only this session has it");
    pane.say("/config sandbox.level full").shows("Set sandbox.level = full in your settings?").answer("n");
    pane.waits();
    assert!(!fs::read_to_string(house.path("home/config.toml")).unwrap().contains("level"));
}

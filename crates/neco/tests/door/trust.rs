//! A folder's own hooks run when a person trusts it, and not before; hooks of the user's run.

use std::fs;

use serde_json::json;

use crate::approvals::Seat;
use crate::support::{House, call, say};

fn brings_hooks(script: serde_json::Value) -> House {
    let house = House::playing(script);
    fs::create_dir(house.project().join(".claude")).unwrap();
    let hook = json!({"hooks": {"PreToolUse": [{"matcher": "LS", "hooks":
        [{"type": "command", "command": "sh ./check.sh"}]}]}});
    fs::write(house.project().join(".claude/settings.json"), hook.to_string()).unwrap();
    fs::write(house.project().join("check.sh"), "echo ran >> ran\n").unwrap();
    house
}

fn looks() -> House {
    brings_hooks(json!([call("list_directory", json!({})), say("Seen.")]))
}

fn ran(house: &House) -> bool {
    fs::remove_file(house.project().join("ran")).is_ok()
}

#[test]
fn without_a_person_a_folders_hooks_are_off_and_one_line_says_so() {
    let house = looks();
    let out = house.run(&["-m", "look"]).ended_with(0).says("1 hook of ").says("the folder is not trusted");
    assert_eq!(out.stderr.matches("neco trust").count(), 1, "{}", out.stderr);
    assert!(!ran(&house) && !house.path("home/trusted-folders.json").exists());
    house.run(&["doctor"]).says("not trusted");
}

#[test]
fn trust_is_given_by_command_and_ends_when_the_hook_or_its_script_changes() {
    let house = looks();
    house.run(&["trust"]).ended_with(2).says("sh ./check.sh").says("nobody can be asked");
    house.run(&["trust", "--yes"]).ended_with(0).says("is trusted");
    house.run(&["trust", "--list"]).ended_with(0).says("trusted");
    house.run(&["-m", "look"]).ended_with(0);
    assert!(ran(&house));
    fs::write(house.project().join("check.sh"), "echo evil >> ran\n").unwrap();
    house.run(&["-m", "look"]).ended_with(0).says("new or changed");
    assert!(!ran(&house), "the script is another one");
    house.run(&["trust", "--yes"]).ended_with(0).says("(new or changed)");
    house.run(&["-m", "look"]).ended_with(0);
    assert!(ran(&house));
    house.run(&["trust", "--remove"]).ended_with(0).says("is forgotten");
    house.run(&["-m", "look"]).ended_with(0).says("not trusted");
    assert!(!ran(&house));
}

#[test]
fn the_first_start_asks_once_and_shows_what_would_be_switched_on() {
    let house = looks();
    let mut seat = Seat::take(&house, &["-m", "look"], "false");
    seat.sees("[y/N]", 1);
    assert!(seat.shown().contains("hook PreToolUse LS: sh ./check.sh"), "{}", seat.shown());
    seat.press("n\r");
    seat.ends_with(0);
    assert!(!ran(&house));
    let mut again = Seat::take(&house, &["-m", "look"], "false");
    again.ends_with(0);
    assert!(!again.shown().contains("[y/N]") && !ran(&house), "{}", again.shown());
    house.run(&["trust", "--remove"]).ended_with(0);
    let mut third = Seat::take(&house, &["-m", "look"], "false");
    third.sees("[y/N]", 1);
    third.press("y\r");
    third.ends_with(0);
    assert!(ran(&house));
    house.run(&["doctor"]).says("this folder is trusted");
}

#[test]
fn the_users_own_hooks_run_everywhere_and_a_folder_can_not_take_them_away() {
    let house = House::playing(json!([call("list_directory", json!({})), say("Seen.")]));
    let config = fs::read_to_string(house.path("home/config.toml")).unwrap();
    house.configure(&format!("{config}[[hooks.PreToolUse]]\nmatcher = \"LS\"\ncommand = \"echo no >&2; exit 2\"\n"));
    fs::create_dir(house.project().join(".neco")).unwrap();
    fs::write(house.project().join(".neco/config.toml"), "[[hooks.PreToolUse]]\ncommand = \"true\"\n").unwrap();
    let out = house.run(&["-m", "look", "--output-format", "stream-json"]).ended_with(3);
    let events = out.events();
    let run = events.iter().find(|event| event["type"] == "hook_run").unwrap();
    assert_eq!((&run["event"], &run["outcome"]), (&json!("PreToolUse"), &json!("blocked")));
    assert!(run["duration_ms"].is_u64() && run["call_id"].is_string());
    assert!(out.stderr.contains("not trusted"), "{}", out.stderr);
    let text = house.run(&["-m", "look"]).ended_with(3);
    assert!(text.stderr.contains("⊘ hook PreToolUse"), "{}", text.stderr);
}

#[test]
fn a_blocked_message_never_reaches_the_model_and_a_session_end_is_heard() {
    let house = House::playing(json!([say("Never said.")]));
    let config = fs::read_to_string(house.path("home/config.toml")).unwrap();
    house.configure(&format!(
        "{config}[[hooks.UserPromptSubmit]]\ncommand = \"echo not that >&2; exit 2\"\n\
         [[hooks.SessionEnd]]\ncommand = \"cat > ended.json\"\n"
    ));
    house.run(&["-m", "hello"]).ended_with(3).says("not that").says("stopped by a hook");
    let ended: serde_json::Value =
        serde_json::from_slice(&fs::read(house.project().join("ended.json")).unwrap()).unwrap();
    assert_eq!(ended["hook_event_name"], "SessionEnd");
    house.run(&["-m", "again", "--continue"]).ended_with(3).says("not that");
}

//! What people can do with sessions that are there: find, name, fork, go back, compare, remove.

use std::fs;

use serde_json::{Value, json};

use crate::support::{House, Ran, call, say};

/// A house in which one session wrote `a.txt` twice.
fn worked() -> (House, String) {
    let write = |text: &str| call("write_file", json!({ "path": "a.txt", "content": text }));
    let house = House::playing(json!([write("one\n"), say("The plover is written.")]));
    let first = house.run(&["-m", "write the first", "--yes", "--output-format", "json"]).ended_with(0).json();
    let id = first["session_id"].as_str().unwrap().to_owned();
    house.script("script.json", json!([call("read_file", json!({ "path": "a.txt" })), write("two\n"), say("Again.")]));
    house.run(&["-m", "write the second", "--yes", "--session", &id]).ended_with(0);
    (house, id)
}

fn a(house: &House) -> Option<String> {
    fs::read_to_string(house.project().join("a.txt")).ok()
}

#[test]
fn going_back_shows_what_would_change_first_and_can_be_taken_back() {
    let (house, id) = worked();
    house
        .run(&["session", "rewind", &id])
        .ended_with(0)
        .says("1  write the first")
        .says("2  write the second")
        .says("--to N");
    house.run(&["session", "rewind", &id, "--to", "2"]).ended_with(2).says("no terminal to ask on").says("--dry-run");
    house
        .run(&["session", "rewind", &id, "--to", "2", "--dry-run"])
        .ended_with(0)
        .says("1 message removed from the conversation")
        .says("> write the second")
        .says("changed   a.txt");
    assert_eq!(a(&house).as_deref(), Some("two\n"));
    house.run(&["session", "rewind", &id, "--to", "2", "--yes"]).ended_with(0).says("--undo");
    assert_eq!(a(&house).as_deref(), Some("one\n"));
    let shown = house.run(&["session", "show", &id]).ended_with(0).says("write the first");
    assert!(!shown.stdout.contains("write the second"), "{}", shown.stdout);
    house.script(
        "script.json",
        json!([{ "say": "Third.", "expect": { "messages": 5, "last_user_contains": "third" } }]),
    );
    house.run(&["-m", "a third", "--session", &id]).ended_with(0);
    house.run(&["session", "rewind", &id, "--to", "1", "--yes"]).ended_with(0).says("deleted   a.txt");
    assert_eq!(a(&house), None);
    house.run(&["session", "rewind", &id, "--undo", "--yes"]).ended_with(0).says("2 messages restored");
    assert_eq!(a(&house).as_deref(), Some("one\n"));
}

#[test]
fn rewinds_are_taken_back_one_after_the_other_and_what_changes_nothing_is_not_done() {
    let (house, id) = worked();
    let rewind =
        |words: &[&str]| house.run(&[&["session", "rewind", id.as_str(), "--yes"], words].concat()).ended_with(0);
    rewind(&["--to", "2"]);
    rewind(&["--to", "1"]);
    assert_eq!(a(&house), None);
    rewind(&["--undo"]).says("--redo");
    assert_eq!(a(&house).as_deref(), Some("one\n"));
    rewind(&["--undo"]).says("> write the second");
    assert_eq!(a(&house).as_deref(), Some("two\n"));
    rewind(&["--redo"]).says("--undo");
    assert_eq!(a(&house).as_deref(), Some("one\n"));
    rewind(&["--undo"]);
    rewind(&["--to", "1", "--files"]);
    assert_eq!(a(&house), None);
    rewind(&["--to", "end"]).says("restored  a.txt");
    assert_eq!(a(&house).as_deref(), Some("two\n"), "the end is what the work left");
    rewind(&["--to", "end"]).says("nothing would change");
    rewind(&["--undo"]);
    assert_eq!(a(&house), None, "what changed nothing is nothing to take back");
}

#[cfg(unix)]
#[test]
fn permissions_that_a_command_changed_come_back() {
    use std::os::unix::fs::PermissionsExt;
    let change = call("bash", json!({ "command": "chmod 644 private" }));
    let house = House::playing(json!([change, say("Done.")]));
    let file = house.project().join("private");
    fs::write(&file, "x").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    let ran = house.run(&["-m", "open it", "--yes", "--output-format", "json"]).ended_with(0).json();
    let id = ran["session_id"].as_str().unwrap();
    let mode = || fs::metadata(&file).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(), 0o644);
    house.run(&["session", "diff", id]).ended_with(0).says("old mode 100600");
    house.run(&["session", "rewind", id, "--to", "1", "--yes"]).ended_with(0).says("changed   private");
    assert_eq!(mode(), 0o600);
}

#[test]
fn what_somebody_else_changed_is_marked_and_comes_back() {
    let (house, id) = worked();
    fs::write(house.project().join("a.txt"), "mine\n").unwrap();
    house
        .run(&["session", "rewind", &id, "--to", "1", "--files", "--yes"])
        .ended_with(2)
        .says("changed since by you or another program: a.txt")
        .says("--others");
    assert_eq!(a(&house).as_deref(), Some("mine\n"), "a yes is no yes to what was not shown");
    house
        .run(&["session", "rewind", &id, "--to", "1", "--files", "--yes", "--others"])
        .ended_with(0)
        .says("(you or another program changed it since)");
    assert_eq!(a(&house), None);
    house.run(&["session", "show", &id]).ended_with(0).says("write the second");
    house.run(&["session", "rewind", &id, "--undo", "--yes"]).ended_with(0);
    assert_eq!(a(&house).as_deref(), Some("mine\n"));
    house.run(&["session", "rewind", &id, "--to", "9"]).ended_with(2).says("numbered from 1 to 2");
    let elsewhere = House::playing(json!([say("Nothing.")]));
    let other = elsewhere.run(&["-m", "x", "--output-format", "json"]).ended_with(0).json();
    let other = other["session_id"].as_str().unwrap();
    elsewhere.run(&["session", "rewind", other, "--to", "1", "--files", "--yes"]).ended_with(2).says("no checkpoint");
    elsewhere.run(&["session", "rewind", other, "--undo", "--yes"]).ended_with(2).says("no rewind to undo");
}

#[test]
fn a_fork_goes_its_own_way() {
    let (house, id) = worked();
    let forked = house.run(&["session", "fork", &id, "--at", "2", "--name", "the other way", "--json"]).ended_with(0);
    let forked = forked.json();
    let fork = forked["id"].as_str().unwrap().to_owned();
    assert_eq!((forked["title"].as_str(), forked["title_by"].as_str()), (Some("the other way"), Some("person")));
    // The last one of the folder, which is the fork now, when none is named.
    let last = house.run(&["session", "fork", "--at", "1", "--json"]).ended_with(0).json();
    assert_eq!(last["forked_from"]["session_id"], fork.as_str());
    house.script("script.json", json!([{ "say": "Otherwise.", "expect": { "messages": 5 } }]));
    let ran = house.run(&["-m", "otherwise", "--session", &fork, "--output-format", "stream-json"]).ended_with(0);
    assert!(ran.stdout.contains(&format!("\"forked_from\":{{\"session_id\":\"{id}\"")), "{}", ran.stdout);
    house.run(&["session", "show", &fork]).ended_with(0).says("write the first").says("otherwise");
    let parent = house.run(&["session", "show", &id]).ended_with(0).says("write the second");
    assert!(!parent.stdout.contains("otherwise"));
    house.run(&["session", "rm", &id, "--yes"]).ended_with(0).says("1 session deleted");
    house.run(&["session", "show", &id]).ended_with(2).says("no session");
    house.run(&["session", "show", &fork]).ended_with(0).says("write the first");
    house.run(&["session", "list"]).ended_with(0).says("⑂ the other way");
}

#[test]
fn sessions_are_found_named_and_listed() {
    let (house, id) = worked();
    house.run(&["session", "search", "plover"]).ended_with(0).says("model").says("The plover is written.");
    let found: Value = house.run(&["session", "search", "plover", "--json"]).ended_with(0).json();
    assert_eq!((found[0]["session_id"].as_str(), found[0]["role"].as_str()), (Some(id.as_str()), Some("assistant")));
    house.run(&["session", "search", "plover", "--until", "2020-01-01"]).ended_with(0).says("no match");
    house.run(&["session", "search", "plover", "--since", "soon"]).ended_with(2).says("is not a time");
    house.run(&["session", "rename", &id, "about", "birds"]).ended_with(0).says("about birds");
    house.run(&["session", "rename", &id, " "]).ended_with(2).says("at least one word");
    house.run(&["session", "list", "--since", "1h"]).ended_with(0).says("about birds");
    house.run(&["session", "list", "--since", "2999-01-01"]).ended_with(0).says("no sessions");
    house.script("script.json", json!([say("More.")]));
    house.run(&["-m", "more words than before", "--session", &id]).ended_with(0);
    house.run(&["session", "list"]).ended_with(0).says("about birds");
    house.run(&["session", "search", "about birds"]).ended_with(0).says("title");
}

#[test]
fn a_log_and_what_changed_are_shown() {
    let (house, id) = worked();
    let log = house.run(&["session", "log", &id]).ended_with(0).says("session_start").says("user · write the first");
    let log = log.says("checkpoint").says("agent_complete");
    assert!(
        log.stdout.lines().any(|line| line.contains("stream_chunk") && line.contains("characters")),
        "{}",
        log.stdout
    );
    let json = house.run(&["session", "log", &id, "--json", "--after", "1"]).ended_with(0);
    let first: Value = serde_json::from_str(json.stdout.lines().next().unwrap()).unwrap();
    assert_eq!(first["seq"], 2);
    house.run(&["session", "diff", &id]).ended_with(0).says("+two");
    house.run(&["session", "diff", &id, "1", "2"]).ended_with(0).says("+one");
    house.run(&["session", "diff", &id, "2", "--stat"]).ended_with(0).says("M a.txt").says("1 file changed");
    let changed: Value = house.run(&["session", "diff", &id, "--json"]).ended_with(0).json();
    assert_eq!((changed[0]["path"].as_str(), changed[0]["kind"].as_str()), (Some("a.txt"), Some("added")));
    house.run(&["session", "diff", &id, "7"]).ended_with(2).says("is neither a message nor a checkpoint");
}

#[test]
fn sessions_are_removed_only_when_that_is_meant() {
    let (house, id) = worked();
    house.run(&["session", "rm", &id]).ended_with(2).says("no terminal to ask on").says("--yes");
    house.run(&["session", "rm", "", "--yes"]).ended_with(2);
    house.run(&["session", "show", &id]).ended_with(0);
    house.run(&["session", "prune"]).ended_with(0).says("1 session, ").says("write the first").says("--older-than");
    house.run(&["session", "prune", "--yes"]).ended_with(2).says("say which sessions").says("--older-than");
    let sized: Value = house.run(&["session", "list", "--size", "--json"]).ended_with(0).json();
    assert!(sized[0]["bytes"].as_u64().unwrap() > 1000, "{sized}");
    house.run(&["session", "prune", "--older-than", "1d", "--yes"]).ended_with(0).says("0 sessions deleted");
    house
        .run(&["session", "prune", "--keep", "0", "--dry-run"])
        .ended_with(0)
        .says("write the first")
        .says("1 session would be deleted, about ")
        .says("kB freed");
    house.run(&["session", "prune", "--keep", "0", "--yes"]).ended_with(0).says("1 session deleted");
    house.run(&["session", "list", "--all"]).ended_with(0).says("no sessions");
}

#[test]
fn resume_is_a_run_of_a_session() {
    let (house, id) = worked();
    house.run(&["session", "resume"]).ended_with(2).says("has nothing left to continue");
    house.script("script.json", json!([call("list_directory", json!({ "path": "." })), say("Never said.")]));
    house.run(&["-m", "look", "--continue", "--max-turns", "1"]);
    house.script(
        "script.json",
        json!([{ "say": "On.", "expect": { "last_user_contains": "Go on where you stopped" } }]),
    );
    house.run(&["session", "resume", "--yes"]).ended_with(0).says("On.");
    house.script("script.json", json!([{ "say": "Docs.", "expect": { "last_user_contains": "and now the docs" } }]));
    house.run(&["session", "resume", &id[..13], "and", "now", "the", "docs"]).ended_with(0).says("resumed");
}

#[test]
fn a_folder_that_was_moved_takes_its_sessions_along() {
    let (house, id) = worked();
    let moved = house.path("elsewhere");
    fs::rename(house.project(), &moved).unwrap();
    let run = |arguments: &[&str]| Ran::of(&mut house.neco_in(arguments, &moved));
    house.script("script.json", json!([{ "say": "Here.", "expect": { "last_user_contains": "where" } }]));
    let ran = run(&["-m", "where are we?", "--continue"]).ended_with(0).says("The session's folder was");
    assert!(ran.stderr.contains("was moved"), "{}", ran.stderr);
    run(&["session", "list"]).ended_with(0).says("write the first");
    run(&["session", "rewind", &id, "--to", "2", "--yes"]).ended_with(0);
    assert_eq!(fs::read_to_string(moved.join("a.txt")).unwrap(), "one\n");
}

#[test]
fn a_folder_that_is_gone_is_said_and_another_place_can_be_given() {
    let (house, id) = worked();
    fs::remove_dir_all(house.project()).unwrap();
    let home = house.path("home");
    let run = |arguments: &[&str]| Ran::of(&mut house.neco_in(arguments, &home));
    run(&["-m", "x", "--session", &id]).ended_with(2).says("is gone").says("-C DIR");
    let place = house.path("new place");
    fs::create_dir(&place).unwrap();
    house.script("script.json", json!([{ "say": "There.", "expect": { "last_user_contains": "go on" } }]));
    run(&["-m", "go on", "--session", &id, "--cwd", place.to_str().unwrap()]).ended_with(0).says("was moved");
    run(&["-m", "x", "--session", &id, "--cwd", home.to_str().unwrap()]).ended_with(2).says("has its own folder");
}

#[test]
fn a_model_makes_a_title_only_where_that_is_wanted() {
    let (house, id) = worked();
    house.run(&["session", "list"]).ended_with(0).says("write the first");
    house.script(
        "script.json",
        json!([say("Done."), { "say": "\"Birds of the coast\"", "expect": { "system_contains": "its title" } }]),
    );
    house.run(&["-m", "more", "--session", &id, "-c", "sessions.model_title=true"]).ended_with(0);
    let listed: Value = house.run(&["session", "list", "--json"]).ended_with(0).json();
    assert_eq!(
        (listed[0]["title"].as_str(), listed[0]["title_by"].as_str()),
        (Some("Birds of the coast"), Some("model"))
    );
    house.run(&["session", "rename", &id, "mine"]).ended_with(0);
    house.script("script.json", json!([say("Done.")]));
    house.run(&["-m", "even more", "--session", &id, "-c", "sessions.model_title=true"]).ended_with(0);
    house.run(&["session", "list"]).ended_with(0).says("mine");
}

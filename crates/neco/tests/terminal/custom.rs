//! Commands that people and folders bring along, lists, and views.

use std::fs;

use serde_json::json;

use crate::support::{lives, say};
use crate::tmux::{Pane, house, is_there};

#[test]
fn a_command_of_a_folder_is_run_once_the_folder_is_trusted() {
    if !is_there() {
        return;
    }
    let house = house(json!([{ "expect": { "last_user_contains": "Mend issue 7 now" }, "say": "Mended." }]));
    let folder = house.project().join(".neco/commands");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("mend.md"), "---\ndescription: mends an issue\n---\nMend issue $1 $2\n").unwrap();
    let pane = Pane::ready(&house, "");
    pane.write("/me").shows("mends an issue");
    pane.write("nd 7 now").press("Enter").showed("neco trust");
    house.run(&["trust", "--yes"]).ended_with(0);
    // What could not be done stands in the field again.
    pane.shows("› /mend 7 now").press("Enter").shows("Mended.");
}

#[test]
fn a_command_whose_file_was_made_just_now_is_run() {
    if !is_there() {
        return;
    }
    let house = house(json!([{ "expect": { "last_user_contains": "Say it loud" }, "say": "Loud." }]));
    let pane = Pane::ready(&house, "");
    pane.write("/shout").shows("› /shout");
    let folder = house.path("home/commands");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("shout.md"), "Say it loud\n").unwrap();
    pane.press("Enter").shows("Loud.");
    pane.say("/shuot").showed("There is no /shuot; did you mean /shout?");
}

#[test]
fn a_line_of_a_command_of_ones_own_is_seen_while_it_runs_and_esc_stops_it() {
    if !is_there() {
        return;
    }
    let house = house(json!([{ "expect": { "last_user_contains": "Here: done" }, "say": "Looked." }]));
    let folder = house.path("home/commands");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("slow.md"), "Here: !`echo begun; sleep 30.0871; echo done`\n").unwrap();
    let pane = Pane::ready(&house, "");
    pane.say("/slow").shows("Shell").shows("sleep 30.0871").shows("stopped after 60 s").shows("Esc stop");
    pane.shows("begun").until("the process to run", |_| lives("30.0871"));
    pane.press("Escape").shows("Stopped; nothing was sent").shows("› /slow").hides("Esc stop");
    pane.until("the process to end", |_| !lives("30.0871"));
    fs::write(folder.join("slow.md"), "Here: !`sleep 1; echo done`\n").unwrap();
    pane.press("Enter").shows("stopped after 60 s").shows("Looked.").hides("stopped after 60 s");
}

#[test]
fn in_lines_ctrl_c_stops_what_the_person_runs() {
    if !is_there() {
        return;
    }
    let house = house(json!([say("Never.")]));
    let folder = house.path("home/commands");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("slow.md"), "Here: !`sleep 30.0883`\n").unwrap();
    let pane = Pane::neco(&house, "repl", 100, 30);
    pane.shows("line by line").write("/slow").press("Enter").shows("running `sleep 30.0883`; stopped after 60 s");
    pane.until("the process to run", |_| lives("30.0883"));
    pane.press("C-c").shows("stopped; nothing was sent").until("the process to end", |_| !lives("30.0883"));
    pane.write("!sleep 30.0885").press("Enter").until("the process to run", |_| lives("30.0885"));
    pane.press("C-c").shows("(stopped)").until("the process to end", |_| !lives("30.0885"));
    assert!(!pane.everything().contains("Never."), "{}", pane.everything());
}

#[test]
fn skills_and_servers_are_lists_to_choose_from() {
    if !is_there() {
        return;
    }
    let house = house(json!([say("Hello.")]));
    let skill = house.path("home/skills/greet");
    fs::create_dir_all(&skill).unwrap();
    fs::write(skill.join("SKILL.md"), "---\nname: greet\ndescription: Greets people\n---\nSay it loud.\n").unwrap();
    let config = fs::read_to_string(house.path("home/config.toml")).unwrap();
    house.configure(&format!("{config}[mcp_servers.docs]\ncommand = \"no-such-docs\"\n"));
    let pane = Pane::ready(&house, "");
    pane.say("/skills").shows("Search 1 skill").shows("Greets people").answer("Enter").showed("Say it loud.");
    pane.say("/mcp").shows("Search 1 MCP server").shows("not started yet · no-such-docs").press("Escape");
    pane.hides("Search 1 MCP server").say("/mcp list").showed("no-such-docs");
}

#[test]
fn plugins_are_shown_and_switched() {
    if !is_there() {
        return;
    }
    let house = house(json!([say("Hello.")]));
    let command = house.path("kit/commands/mend.md");
    fs::create_dir_all(command.parent().unwrap()).unwrap();
    fs::write(command, "---\ndescription: mends an issue\n---\nMend issue $1\n").unwrap();
    let pane = Pane::ready(&house, "");
    pane.say("/plugins").showed("No plugins. `neco plugin add SOURCE` installs one.");
    house.run(&["plugin", "add", &house.path("kit").display().to_string(), "--yes"]).ended_with(0);
    pane.say("/plugins").shows("Search 1 plugin").shows("kit  on · ").answer("Enter").showed("command     /kit:mend");
    pane.say("/plugin disable kit").showed("kit is off");
    pane.say("/plugins").shows("kit  off · ").press("Escape").hides("Search 1 plugin");
    pane.say("/plugins enable kit").showed("kit is on");
    pane.say("/plugins install other").showed("`neco plugin add …` in another terminal does that");
}

#[test]
fn views_and_lists_open() {
    if !is_there() {
        return;
    }
    let house = house(json!([say("Hello.")]));
    let pane = Pane::ready(&house, "");
    pane.say("hi").shows("Hello.").waits();
    // Words that only the outcome has: neither what is typed nor what is offered for it.
    for (command, words) in [
        ("/context", "Context: "),
        ("/cost", "Used so far: "),
        ("/doctor", "No model was"),
        ("/hooks", "No hooks"),
        ("/checkpoint", "No checkpoint yet"),
        ("/bug", "/export bug.md"),
        ("/memory", "Nothing is remembered"),
        ("/diff", "No files changed in this session"),
        ("/prompt", "prints all of it"),
        ("/todo", "empty"),
        ("/plan", "No plan"),
    ] {
        let before = pane.everything().matches(words).count();
        assert_eq!(before, 0, "{words:?} was there before {command}");
        pane.say(command).showed(words).waits();
    }
    for (command, words) in [
        ("/model", "Search models"),
        ("/resume", "Search 1 session"),
        ("/permissions", "Add a rule"),
        ("/mode", "Mode of this session"),
        ("/approval", "When it asks"),
        ("/gen", "Tool level"),
        ("/theme", "Colours"),
        ("/sandbox", "Sandbox of the agent's commands"),
        ("/sandbox full", "with sandbox full in this session?"),
        ("/config", "Enter change   Esc close"),
    ] {
        pane.say(command).shows(words).press("Escape").hides(words);
    }
    pane.say("/cost now").showed("takes no argument");
    pane.press("C-u").say("/status").showed("Tool level").waits();
    pane.say("/export out.md").showed("Exported to");
    assert!(fs::read_to_string(house.project().join("out.md")).unwrap().contains("Hello."));
    pane.say("/nonsense").showed("There is no /nonsense");
    pane.press("C-u").say("/exit").is_given_back();
}

#[test]
fn files_are_completed_and_ignored_ones_are_not() {
    if !is_there() {
        return;
    }
    let house = house(json!([say("Hello.")]));
    fs::create_dir(house.project().join("src")).unwrap();
    fs::write(house.project().join("src/handler.rs"), "").unwrap();
    fs::write(house.project().join("handled.log"), "").unwrap();
    fs::write(house.project().join(".gitignore"), "*.log\n").unwrap();
    let pane = Pane::ready(&house, "");
    pane.write("look at @hand").shows("@src/handler.rs");
    assert!(!pane.screen().contains("handled.log"));
    pane.press("Tab").hides("❯").write("now").shows("look at @src/handler.rs now");
}

#[test]
fn history_is_there_in_the_next_window() {
    if !is_there() {
        return;
    }
    let house = house(json!([say("One."), say("Two.")]));
    let pane = Pane::ready(&house, "");
    pane.say("a message to remember").shows("One.").waits().press("C-d").is_given_back();
    drop(pane);
    let pane = Pane::ready(&house, "");
    pane.press("Up").shows("a message to remember");
}

#[test]
fn a_fork_is_called_in_the_window_as_it_was_called() {
    if !is_there() {
        return;
    }
    let house = house(json!([say("One.")]));
    house.run(&["-m", "the words of its parent"]).ended_with(0);
    let parent = house.run(&["session", "list", "--json"]).json()[0]["id"].as_str().unwrap().to_owned();
    let fork = house.run(&["session", "fork", &parent, "--name", "without redis", "--json"]).ended_with(0).json();
    fs::write(house.project().join("line.sh"), "grep -o '\"title\":\"[^\"]*\"'").unwrap();
    let pane = Pane::neco(
        &house,
        &format!("--session {} -c \"tui.status_line='sh line.sh'\"", fork["id"].as_str().unwrap()),
        100,
        30,
    );
    pane.shows("\"title\":\"without redis\"");
}

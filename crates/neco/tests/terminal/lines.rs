//! `neco repl`, and `neco` at a terminal that can't do more.

use serde_json::json;

use crate::support::{call, say};
use crate::tmux::{Pane, house, is_there};

#[test]
fn a_dumb_terminal_gets_lines() {
    if !is_there() {
        return;
    }
    let house =
        house(json!([call("write_file", json!({ "path": "a.txt", "content": "x\n" })), say("Written line by line.")]));
    let pane = Pane::shell(&house, 80, 24);
    pane.write(&format!("TERM=dumb {}", env!("CARGO_BIN_EXE_neco"))).press("Enter").shows("line by line");
    pane.write("write it").press("Enter").shows("a.txt").press("y").shows("Written line by line.");
    pane.write("/mode plan").press("Enter").shows("mode plan");
    pane.write("/cost").press("Enter").write("/rewind").press("Enter").shows("1. write it");
    pane.write("1").press("Enter").shows("Confirm?").write("y").press("Enter").shows("1 file deleted; /redo");
    assert!(!house.project().join("a.txt").exists());
    pane.write("/redo").press("Enter").shows("redone: “write it”");
    assert!(house.project().join("a.txt").exists());
    pane.write("/undo").press("Enter").shows("undone: “write it”");
    assert!(!house.project().join("a.txt").exists());
    pane.press("C-d").is_given_back();
}

#[test]
fn lines_can_come_from_a_program() {
    let house = house(json!([say("One."), say("Two.")]));
    let ran = house.neco(&["repl"]).write_stdin("first\n/help\nsecond \\\nline\n/exit\n").output().unwrap();
    let out = String::from_utf8(ran.stdout).unwrap();
    assert!(ran.status.success(), "{out} {}", String::from_utf8_lossy(&ran.stderr));
    for words in ["One.", "/rewind", "Two.", "Resume it with"] {
        assert!(out.contains(words), "{words} is not in\n{out}");
    }
}

#[test]
fn without_a_terminal_the_next_line_answers_and_the_end_of_the_lines_is_a_no() {
    let turns = json!([call("write_file", json!({ "path": "a.txt", "content": "x\n" })), say("Done with it.")]);
    for (lines, words, is_written) in [
        ("write it\n1\n/exit\n", "allowed once", true),
        ("write it\nwhat?\ny\n", "That is not an answer", true),
        ("write it\nn\nanother time\n/exit\n", "what should the agent do instead?", false),
        ("write it\n", "rejected (end of input)", false),
    ] {
        let house = house(turns.clone());
        let ran = house.neco(&["repl"]).write_stdin(lines).output().unwrap();
        let out = String::from_utf8(ran.stdout).unwrap();
        assert!(ran.status.success(), "{out} {}", String::from_utf8_lossy(&ran.stderr));
        for words in ["? Write a.txt", words, "Done with it."] {
            assert!(out.contains(words), "{words} is not in\n{out}");
        }
        assert_eq!(house.project().join("a.txt").exists(), is_written, "{lines:?}: {out}");
    }
}

#[test]
fn a_session_that_begins_with_a_command_is_called_what_was_written() {
    let house = house(json!([say("Nothing to complain about.")]));
    let ran = house.neco(&["repl"]).write_stdin("/review the tests\n/exit\n").output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let list = house.run(&["session", "list", "--json"]).ended_with(0).json();
    assert_eq!(list[0]["title"], "/review the tests");
}

#[test]
fn lines_are_edited_and_come_back() {
    if !is_there() {
        return;
    }
    let house = house(json!([say("One answer."), say("Another answer."), say("A third answer.")]));
    for (term, left) in [("xterm-256color", "Left Left Left"), ("dumb", "Up Down")] {
        let pane = Pane::shell(&house, 80, 24);
        pane.write(&format!("TERM={term} {} repl", env!("CARGO_BIN_EXE_neco"))).press("Enter").shows("line by line");
        // Whoever types while it works types into what it prints.
        pane.write("the words").press("Enter").shows("One answer.").until("a line to be asked for", |pane| {
            pane.screen().trim_end().lines().last().is_some_and(|line| line.trim_end() == ">")
        });
        pane.write("/copz").press(left).press("C-u");
        // What an arrow key sends is neither on the screen nor in what is said.
        pane.press("C-e C-u").press("Up").until("the line to come back", |pane| {
            pane.screen().trim_end().lines().last().is_some_and(|line| line.trim_end() == "> the words")
        });
        assert!(!pane.everything().contains("^["), "{}", pane.everything());
        pane.press("BSpace").write("ld").press("Enter").shows("> the wordld").shows("Another answer.");
        pane.write("/tree").press("Enter").shows("waits for you");
        pane.write("/copy").press("Enter").shows(if term == "dumb" { "no clipboard" } else { "Sent to the clipboard" });
        let pid = pane.neco_pid().unwrap().to_string();
        assert!(std::process::Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
        pane.shows("Resume it with  neco resume");
        pane.write("echo ended with $?").press("Enter").shows("ended with 143").is_given_back();
    }
}

#[test]
fn what_a_call_printed_is_shown_whole() {
    let turns = json!([call("bash", json!({ "command": "seq 1 400" })), say("Counted.")]);
    let house = house(turns);
    let ran = house.neco(&["repl", "--yes"]).write_stdin("count\n/expand\n/exit\n").output().unwrap();
    let out = String::from_utf8(ran.stdout).unwrap();
    assert!(out.contains("\n123\n") && out.contains("\n287\n"), "{out}");
}

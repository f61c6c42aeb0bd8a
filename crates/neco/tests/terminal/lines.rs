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
    pane.write("1").press("Enter").shows("Do it?").write("y").press("Enter").shows("/undo takes it back");
    assert!(!house.project().join("a.txt").exists());
    pane.press("C-d").is_given_back();
}

#[test]
fn lines_can_come_from_a_program() {
    let house = house(json!([say("One."), say("Two.")]));
    let ran = house.neco(&["repl"]).write_stdin("first\n/help\nsecond \\\nline\n/exit\n").output().unwrap();
    let out = String::from_utf8(ran.stdout).unwrap();
    assert!(ran.status.success(), "{out} {}", String::from_utf8_lossy(&ran.stderr));
    for words in ["One.", "/rewind", "Two.", "go on with it"] {
        assert!(out.contains(words), "{words} is not in\n{out}");
    }
}

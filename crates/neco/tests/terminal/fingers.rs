//! What people type and paste without looking.

use serde_json::json;

use crate::support::say;
use crate::tmux::{Pane, house, is_there};

/// The beginning of many a README, and something that must not be run.
fn readme(house: &crate::support::House) -> String {
    format!("![build](https://example.com)\n{}", format!("touch {}/ran\n", house.project().display()).repeat(30))
}

#[test]
fn a_paste_is_never_run() {
    if !is_there() {
        return;
    }
    let house = house(json!([say("Read once."), say("Read twice.")]));
    let pane = Pane::ready(&house, "");
    pane.paste(&readme(&house)).shows("[paste 1: 31 lines]").press("Enter").shows("Read once.").waits();
    pane.press("Up").shows("[paste 1: 31 lines]").press("Enter").shows("Read twice.").waits();
    assert!(!house.project().join("ran").exists());
    // A sequence in it does nothing.
    pane.paste("a\u{1b}]2;evil\u{7}b").shows("a]2;evilb");
}

#[test]
fn lines_that_a_program_types_are_messages() {
    if !is_there() {
        return;
    }
    let house = house(json!([say("One."), say("Two.")]));
    let pane = Pane::ready(&house, "");
    // All of it arrives at once, and nothing marks it as pasted.
    pane.write("the first message\rand the second\r").shows("Two.");
    let said = pane.everything();
    assert!(said.contains("▎  the first message") && said.contains("▎  and the second"), "{said}");
    assert!(!said.contains("[paste"), "{said}");
}

#[test]
fn what_is_typed_behind_new_is_said_to_the_new_session() {
    if !is_there() {
        return;
    }
    let house = house(json!([
        say("One."),
        { "expect": { "last_user_contains": "for the new one" }, "say": "Two." }
    ]));
    let pane = Pane::ready(&house, "");
    pane.say("first").shows("One.").waits();
    pane.write("/new").shows("/new").press("Enter").write("for the new one").press("Enter");
    // It is said, not only written.
    pane.until("it to be said", |pane| {
        let screen = pane.screen();
        screen.contains("▎  for the new one") && screen.contains("▎› Ask")
    });
    pane.press("C-d").is_given_back();
    let listed = house.run(&["session", "list", "--json"]).ended_with(0).json();
    assert_eq!(listed.as_array().unwrap().len(), 2, "{listed}");
}

#[test]
fn one_key_answers_one_question() {
    if !is_there() {
        return;
    }
    let house = house(json!([
        { "calls": [
            { "name": "write_file", "arguments": { "path": "one.txt", "content": "1\n" } },
            { "name": "write_file", "arguments": { "path": "two.txt", "content": "2\n" } }
        ] },
        say("Both were asked about.")
    ]));
    let pane = Pane::ready(&house, "");
    pane.say("write both").shows("one.txt").answer("y y y y").shows("◆ Write  two.txt");
    assert!(!house.project().join("two.txt").exists());
    pane.answer("y").shows("Both were asked about.");
    assert!(house.project().join("two.txt").exists());
}

#[test]
fn the_keys_of_vi() {
    if !is_there() {
        return;
    }
    let house = house(json!([say("never")]));
    let pane = Pane::ready(&house, "-c tui.vi=true");
    pane.write("one two").shows("one two").press("Escape").shows("NORMAL");
    pane.write("0dw").shows(": two").write("P").shows(": one two").write("$x").shows(": one tw").hides("one two");
    pane.write("u").shows("one two").write("A!").shows("one two!").shows("INSERT");
}

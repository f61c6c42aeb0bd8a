//! Going back and taking that back, as a person does it: nothing goes without having been shown.

use serde_json::json;

use crate::support::{call, say};
use crate::tmux::{Pane, house, is_there};

fn writes(path: &str) -> serde_json::Value {
    call("write_file", json!({ "path": path, "content": "x\n" }))
}

#[test]
fn what_was_said_since_is_named_before_it_goes() {
    if !is_there() {
        return;
    }
    let house = house(json!([writes("a.txt"), say("Written."), writes("b.txt"), say("Another.")]));
    let there = |name: &str| house.project().join(name).exists();
    let pane = Pane::ready(&house, "--yes");
    pane.say("write a").shows("Written.").waits();
    pane.say("/rewind 1")
        .shows("Rewind to before “write a”")
        .shows("Deleted  a.txt")
        .answer("Enter")
        .showed("“write a” is removed from the conversation");
    assert!(!there("a.txt"));
    // The old message stands in the field: a command takes its place.
    pane.press("C-u").say("an hour of work").shows("Another.").waits();
    pane.say("/redo").shows("Undo the rewind to before “write a”?").shows("“an hour of work”");
    pane.answer("n").shows("Nothing changed");
    assert!(there("b.txt") && !there("a.txt"));
    pane.say("/redo").shows("Undo the rewind").answer("y").showed("“write a” is restored");
    assert!(there("a.txt") && !there("b.txt"));
    pane.say("/undo").showed("Rewound again");
    assert!(there("b.txt") && !there("a.txt"));
    // What no longer counts is marked when the session is opened again.
    pane.press("C-u").press("C-d").is_given_back();
    let again = Pane::ready(&house, "--continue");
    again.showed("No longer part of the conversation");
    again.press("C-d").is_given_back();
}

#[test]
fn the_last_turn_is_taken_back_again_and_again_and_comes_forth() {
    if !is_there() {
        return;
    }
    let house = house(json!([writes("a.txt"), say("Written."), writes("b.txt"), say("Another.")]));
    let there = |name: &str| house.project().join(name).exists();
    let pane = Pane::ready(&house, "--yes");
    pane.say("write a").shows("Written.").waits();
    pane.say("write b").shows("Another.").waits();
    let in_field = |words: &'static str| move |pane: &Pane| pane.screen().contains(words);
    pane.say("/undo").showed("“write b” is removed from the conversation").showed("/redo restores it");
    pane.until("the message in the field", in_field("▎› write b"));
    assert!(there("a.txt") && !there("b.txt"));
    // A command takes the place of what came back.
    pane.say("/undo").showed("“write a” is removed from the conversation");
    pane.until("the message in the field", in_field("▎› write a"));
    assert!(!there("a.txt") && !there("b.txt"));
    pane.say("/undo").shows("othing to undo");
    pane.say("/redo").showed("“write a” is restored");
    assert!(there("a.txt") && !there("b.txt"));
    pane.say("/redo").showed("“write b” is restored");
    assert!(there("a.txt") && there("b.txt"));
    pane.say("/redo").shows("othing to redo");
    pane.press("C-d").is_given_back();
}

#[test]
fn a_session_that_was_gone_back_over_as_a_whole_is_kept_and_comes_back() {
    if !is_there() {
        return;
    }
    let house = house(json!([writes("a.txt"), say("Written.")]));
    let pane = Pane::ready(&house, "--yes");
    pane.say("write a").shows("Written.").waits();
    pane.say("/rewind 1").shows("Deleted  a.txt").answer("Enter").showed("removed from the conversation");
    pane.press("C-u").press("C-d").showed("Resume it with  neco resume").is_given_back();
    let list = house.run(&["session", "list", "--json"]).json();
    assert_eq!(list.as_array().map(Vec::len), Some(1), "{list}");
    let again = Pane::ready(&house, "--continue");
    again.say("/redo").showed("“write a” is restored");
    assert!(house.project().join("a.txt").exists());
    again.press("C-d").is_given_back();
}

#[test]
fn a_checkpoint_can_be_gone_back_to_by_its_name() {
    if !is_there() {
        return;
    }
    let house = house(json!([writes("a.txt"), say("Written.")]));
    let pane = Pane::ready(&house, "--yes");
    pane.say("write a").shows("Written.").waits();
    pane.say("/checkpoint").shows("/rewind NAME restores the files");
    let screen = pane.screen();
    let row = screen.lines().find(|line| line.contains(" before ") && !line.contains("Asks")).unwrap();
    let rev = row.split_whitespace().next().unwrap().to_owned();
    pane.say(&format!("/rewind {rev}"))
        .shows(&format!("Restore the files of checkpoint {rev}"))
        .shows("Deleted  a.txt");
    pane.answer("y").showed("Files as in checkpoint");
    assert!(!house.project().join("a.txt").exists());
    pane.press("C-d").is_given_back();
}

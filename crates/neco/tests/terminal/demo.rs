//! `neco demo` at a terminal.

use std::fs;
use std::time::{Duration, Instant};

use crate::support::House;
use crate::tmux::{Pane, is_there};

#[test]
fn the_demo_is_the_window_with_a_script_and_says_what_comes_next() {
    if !is_there() {
        return;
    }
    let house = House::empty();
    let begun = Instant::now();
    let pane = Pane::neco(&house, "demo", 100, 40);
    pane.showed("The test fails. Find out why and fix it.");
    pane.shows("$ sh test.sh").shows("Change it first").answer("y");
    pane.shows("tr -cs").shows("Change it first, in the editor").answer("y");
    pane.showed("✓ Edit").shows("$ sh test.sh").answer("y");
    pane.showed("Ctrl-C twice leaves the demo.").waits();
    pane.say("and now?").showed("this model only plays a script").waits();
    pane.press("C-c").shows("again leaves").hides("comes back").press("C-c");
    pane.showed("passes").showed("Now with a real model:").showed("neco login openai");
    assert!(!pane.everything().contains("Resume it with"), "{}", pane.everything());
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
    pane.is_given_back();
    assert_eq!(fs::read_dir(house.path("home")).unwrap().count(), 0, "nothing of the person's is touched");
}

#[test]
fn a_demo_in_lines_asks_nothing() {
    if !is_there() {
        return;
    }
    let house = House::empty();
    let pane = Pane::neco(&house, "demo --plain", 100, 40);
    pane.showed("The model is scripted").showed("passes").showed("Now with a real model:");
    pane.is_given_back();
}

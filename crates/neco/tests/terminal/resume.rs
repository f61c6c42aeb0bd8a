//! Continuing an earlier session in the window: by its id, as the last one, or chosen from a list.

use serde_json::json;

use crate::support::{House, say};
use crate::tmux::{Pane, house, is_there};

fn with_a_session() -> (House, String) {
    let house = house(json!([say("The word is plover.")]));
    let id = house.run(&["-m", "tell me the word", "--output-format", "json"]).json()["session_id"].clone();
    (house, id.as_str().unwrap().to_owned())
}

#[test]
fn a_session_is_chosen_from_a_list() {
    if !is_there() {
        return;
    }
    let (house, _) = with_a_session();
    for arguments in ["--resume", "-r", "resume"] {
        let pane = Pane::neco(&house, arguments, 100, 30);
        // The greeting names the session too, so it is the list that is waited for.
        pane.shows("Enter choose").shows("tell me the word").press("Enter").shows("The word is plover.");
        pane.waits().press("C-d").is_given_back();
    }
}

#[test]
fn who_chooses_no_session_is_back_in_the_shell() {
    if !is_there() {
        return;
    }
    let (house, _) = with_a_session();
    let pane = Pane::neco(&house, "resume", 100, 30);
    pane.shows("Enter choose").shows("Esc leave").press("Escape").is_given_back();
}

#[test]
fn a_session_that_is_named_opens_in_the_window() {
    if !is_there() {
        return;
    }
    let (house, id) = with_a_session();
    let end = &id[id.len() - 6..];
    for arguments in
        [format!("--resume {end}"), format!("resume {end}"), format!("session resume {end}"), "-c".to_owned()]
    {
        let pane = Pane::ready(&house, &arguments);
        pane.shows("The word is plover.");
        pane.press("C-d").is_given_back();
    }
}

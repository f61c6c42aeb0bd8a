//! A session goes on in the background, and its window ends.

use serde_json::{Value, json};

use crate::support::{House, call, eventually, say};
use crate::tmux::{Pane, house, is_there};

/// The server, which ends with the test.
struct Server<'a>(&'a House);

impl Server<'_> {
    fn row(&self) -> Value {
        self.0.run(&["ps", "--json"]).ended_with(0).json()[0].clone()
    }
}

impl Drop for Server<'_> {
    fn drop(&mut self) {
        self.0.run(&["serve", "stop"]);
    }
}

#[test]
fn a_session_goes_into_the_background_when_its_command_has_ended_and_works_on_there() {
    if !is_there() {
        return;
    }
    let until = |mark: &str| {
        let command = format!("touch begun-{mark}; until [ -e go-{mark} ]; do sleep 0.02; done");
        call("bash", json!({ "command": command, "timeout": 60 }))
    };
    let house = house(json!([until("one"), until("two"), say("Not here.")]));
    let pane = Pane::ready(&house, "--yes");
    let _server = Server(&house);
    let (begun, goes) = (|mark: &str| house.project().join(mark).exists(), |mark| house.project().join(mark));
    pane.say("run it");
    eventually("the command runs", || begun("begun-one"));
    pane.say("/detach").shows("has ended; /detach now does not wait");
    house.script("script.json", json!([say("Done in the background.")]));
    std::fs::write(goes("go-one"), "").unwrap();
    let id = house.run(&["session", "list", "--json"]).ended_with(0).json()[0]["id"].as_str().unwrap().to_owned();
    let logs = || house.run(&["logs", &id]).ended_with(0).stdout;
    eventually("it is done", || {
        // The server may have been there too late for the first command.
        if begun("begun-two") {
            std::fs::write(goes("go-two"), "").unwrap();
        }
        logs().contains("Done in the background.")
    });
    pane.showed("It works on in the background. neco resume").is_given_back();
    let log = house.run(&["session", "log", &id, "--json"]).ended_with(0);
    assert!(!log.stdout.contains("Not here.") && !log.stdout.contains("nterrupted"), "{}", log.stdout);
    let pane = Pane::neco(&house, &format!("resume {}", &id[..8]), 100, 30);
    pane.shows("Done in the background.").press("C-d").is_given_back();
}

#[test]
fn what_waits_for_the_person_waits_for_them_in_the_background() {
    if !is_there() {
        return;
    }
    let write = call("write_file", json!({ "path": "a.txt", "content": "hello" }));
    let house = house(json!([write, say("Not here.")]));
    let pane = Pane::ready(&house, "");
    let server = Server(&house);
    pane.say("write it").shows("a.txt").shows("Yes, and accept edits");
    house.script("script.json", json!([say("Written in the background.")]));
    pane.press("Tab").say("/detach");
    pane.showed("It works on in the background.").is_given_back();
    eventually("it waits", || server.row()["asks"] == true);
    let id = server.row()["id"].as_str().unwrap().to_owned();
    let pane = Pane::neco(&house, &format!("resume {}", &id[..8]), 100, 30);
    pane.shows("a.txt").shows("Yes, and accept edits").answer("1").shows("Written in the background.");
    assert_eq!(std::fs::read_to_string(house.project().join("a.txt")).unwrap(), "hello");
}

#[test]
fn what_would_end_is_named_before_and_whoever_does_not_wait_cuts_it_short() {
    if !is_there() {
        return;
    }
    let house = house(json!([
        call("bash", json!({ "command": "sleep 4731", "background": true })),
        call("bash", json!({ "command": "touch begun; sleep 4732", "timeout": 600 }))
    ]));
    let pane = Pane::ready(&house, "--yes");
    let server = Server(&house);
    pane.say("serve");
    eventually("the command runs", || house.project().join("begun").exists());
    pane.say("/detach").shows("sleep 4731 would end").shows("/detach now");
    let expects = json!({ "last_tool_contains": "not known" });
    house.script("script.json", json!([{ "expect": expects, "say": "I looked." }]));
    pane.say("/detach now").showed("It works on in the background.").is_given_back();
    eventually("nothing of it lives", || !crate::support::lives("4731") && !crate::support::lives("4732"));
    let id = server.row()["id"].as_str().unwrap().to_owned();
    eventually("it goes on", || house.run(&["logs", &id]).stdout.contains("I looked."));
}

//! Signals: everything is cancelled, written and dead before the process ends.

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::support::{House, call, eventually, lives, say};

#[test]
fn terminate_cancels_writes_and_ends() {
    let house = House::playing(json!([call("bash", json!({ "command": "sleep 30.0633" })), say("never")]));
    let child = house.start(&["-m", "sleep", "--yes", "--output-format", "stream-json"]);
    eventually("the command runs", || lives("30.0633"));
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(143));
    assert!(!lives("30.0633"), "the command outlived the run");
    let last = String::from_utf8(output.stdout).unwrap().lines().last().unwrap().to_owned();
    assert!(last.contains("\"agent_complete\"") && last.contains("\"cancelled\""), "{last}");
    house.script("script.json", json!([{ "say": "ok", "expect": { "last_tool_contains": "ancelled" } }]));
    house.run(&["-m", "go on", "--continue"]).ended_with(0);
}

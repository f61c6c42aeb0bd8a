//! The official client library of the protocol, from npm, as an editor. `cargo xtask test` installs it below the target
//! folder; where that was not possible, this is left out, which is said.

#![allow(clippy::print_stderr, reason = "a test that is left out says so")]

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::editor::playing;
use crate::support::{call, lives, say};

/// Where the library begins, below the folder of what is installed for tests.
const LIBRARY: &str = "node_modules/@agentclientprotocol/sdk/dist/v1/stable/acp.js";

fn skipped(why: &str) {
    assert!(std::env::var_os("CI").is_none(), "not checked: {why}");
    eprintln!("skipped: {why}");
}

#[test]
fn an_editor_on_the_official_library_edits_runs_stops_and_loads() {
    let library = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap().join("mcp-servers").join(LIBRARY);
    if !library.exists() {
        return skipped(&format!("{} is not installed: `cargo xtask test` does that", library.display()));
    }
    let edit = json!({ "path": "a.txt", "old_string": "typed", "new_string": "edited" });
    let house = playing(json!([
        call("read_file", json!({ "path": "a.txt" })),
        call("edit_file", edit),
        call("bash", json!({ "command": "cat a.txt; until [ -e go ]; do sleep 0.02; done; echo ran" })),
        say("Done."),
        call("bash", json!({ "command": "echo has begun; sleep 7653" })),
    ]));
    fs::write(house.project().join("a.txt"), "saved\n").unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/editor.mjs");
    let mut node = Command::new("node");
    node.arg(script).arg(library).arg(env!("CARGO_BIN_EXE_neco")).arg(house.project());
    let path = std::env::var_os("PATH").unwrap_or_default();
    node.env_clear().envs(house.variables()).env("CI", "1").env("PATH", path).stderr(Stdio::inherit());
    let output = match node.output() {
        Ok(output) => output,
        Err(error) => return skipped(&format!("there is no Node.js: {error}")),
    };
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{printed}");
    let seen: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!((&seen["agent"], &seen["exits"]), (&json!("neco"), &json!([0, 0])), "{seen:#}");
    assert_eq!(seen["stops"], json!(["end_turn", "cancelled"]), "{seen:#}");
    assert!(seen["stoppedAfter"].as_u64().unwrap() < 1000, "{seen:#}");
    assert!(!lives("7653"));
    assert_eq!(seen["asked"].as_array().unwrap().len(), 1, "{seen:#}");
    assert_eq!(fs::read_to_string(house.project().join("a.txt")).unwrap(), "edited\n");
    assert_eq!(seen["printed"][0], "edited\nran\n", "{seen:#}");
    assert_eq!(seen["heard"], json!(["edit and run", "wait"]), "{seen:#}");
    assert_eq!(seen["listed"], json!([seen["session"]]), "{seen:#}");
}

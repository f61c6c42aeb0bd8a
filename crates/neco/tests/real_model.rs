//! The binary with a real model: `NECO_REAL_MODEL_URL` is the base of an OpenAI-compatible server, with
//! the model's name behind a `#` where the server wants one. Without it the test says so and checks nothing.
//!
//! Small models fail for reasons of their own, so one good run of several is enough; what must never
//! happen in any run is an error of the program's.

#![allow(clippy::unwrap_used, reason = "what a test does not expect fails it")]

use std::fs;
use std::io::Write;
use std::time::Duration;

use assert_cmd::Command;
use serde_json::Value;
use tempfile::TempDir;

const TASK: &str = "Create a file hello.txt that contains the word hello. Then read it back and tell me what it says.";
const RUNS: usize = 3;
/// A small model on a busy machine without a graphics card.
const PATIENCE: Duration = Duration::from_secs(1800);

#[test]
fn a_file_is_written_read_back_and_reported() {
    let Ok(address) = std::env::var("NECO_REAL_MODEL_URL") else {
        // Past the harness, which hides what a test that passes prints.
        let _ = writeln!(std::io::stderr(), "SKIPPED: no real model was asked; set NECO_REAL_MODEL_URL to ask one");
        return;
    };
    for run in 1..=RUNS {
        let (folder, events) = ask(&address);
        let written = fs::read_to_string(folder.path().join("project/hello.txt")).unwrap_or_default();
        let read = events.iter().any(|event| {
            event["type"] == "tool_call_end" && event["tool"] == "read_file" && event["status"] == "success"
        });
        let last = events.iter().rfind(|event| event["type"] == "agent_complete").unwrap();
        let said = last["final"].as_str().unwrap_or_default().to_lowercase();
        let _ = writeln!(std::io::stderr(), "run {run}: hello.txt {written:?}, read back {read}, said {said:?}");
        if written.trim() == "hello" && read && said.contains("hello") {
            return;
        }
    }
    panic!("none of {RUNS} runs did the task");
}

/// One run: its folder and its events.
fn ask(address: &str) -> (TempDir, Vec<Value>) {
    let folder = tempfile::tempdir().unwrap();
    let (home, project) = (folder.path().join("home"), folder.path().join("project"));
    fs::create_dir(&home).unwrap();
    fs::create_dir(&project).unwrap();
    let (base, model) = address.split_once('#').unwrap_or((address, "local"));
    let provider = format!("type = \"openai\"\nbase = \"{base}\"\nlocal = true");
    // No byte comes while a slow machine reads the prompt.
    let network = "[network]\nfirst_byte_timeout = 1200\nidle_timeout = 600";
    let config = format!("model = \"real/{model}\"\n[model_providers.real]\n{provider}\n{network}\n");
    fs::write(home.join("config.toml"), config).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_neco"));
    command.env_clear().env("PATH", std::env::var("PATH").unwrap()).env("CI", "1");
    command.env("HOME", &home).env("NECO_HOME", &home).env("TMPDIR", folder.path()).current_dir(&project);
    command.args(["-m", TASK, "--tools", "read_file,write_file", "--yes", "--max-turns", "8"]);
    command.args(["--output-format", "stream-json"]).timeout(PATIENCE);
    let output = command.output().unwrap();
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    // 5: the model could not be asked. Turns that are used up are the model's own failure.
    assert!(output.status.code().is_some_and(|code| code != 5), "{}\n{stdout}\n{stderr}", output.status);
    (folder, stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

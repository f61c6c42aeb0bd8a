//! Tools that are scripts, and commands in the ways of other agents, with the real binary.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::sandbox::is_strong;
use crate::support::{House, Ran, call, say};

const COUNT: &str = "#!/bin/sh\n# /// tool\n# description = 'Counts the lines of a file'\n\
    # parameters = { properties = { path = { type = 'string' } }, required = ['path'] }\n# ///\nwc -l < \"$1\"\n";

fn write(house: &House, path: &str, text: &str) {
    let path = house.path(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// What the calls of a run came to.
fn ends(events: &[Value]) -> Vec<Value> {
    events.iter().filter(|event| event["type"] == "tool_call_end").cloned().collect()
}

#[test]
fn a_tool_of_a_project_is_off_until_it_is_trusted_and_again_when_it_changes() {
    let house = House::playing(json!([call("count", json!({"path": "a.txt"})), say("ok")]));
    write(&house, "project/a.txt", "1\n2\n");
    write(&house, "project/.neco/tools/count.sh", COUNT);
    let run = || ends(&house.run(&["-y", "-m", "go", "--output-format", "stream-json"]).events());
    assert_eq!(run()[0]["error_code"], 1001, "there is no such tool");
    house.run(&["trust", "--yes"]).ended_with(0).says("scripted tool count").says("wc -l <");
    let end = run().remove(0);
    assert_eq!((end["status"].as_str(), end["origin"]["kind"].as_str()), (Some("success"), Some("script")), "{end}");
    assert!(end["output"].as_str().unwrap().contains("\n2\n"), "{end}");
    let listed = house.run(&["tools", "list", "count"]).ended_with(0);
    assert!(listed.stdout.contains("script:") && listed.stdout.contains("Counts the lines"), "{}", listed.stdout);
    write(&house, "project/.neco/tools/count.sh", &COUNT.replace("wc", "rm -f made; wc"));
    assert_eq!(run()[0]["error_code"], 1001, "nobody has seen it as it is");
}

#[test]
fn a_call_is_asked_about_and_a_rule_can_say_otherwise() {
    let house = House::playing(json!([call("count", json!({"path": "a.txt"})), say("ok")]));
    write(&house, "project/a.txt", "1\n");
    write(&house, "home/tools/count.sh", COUNT);
    house.run(&["-m", "go"]).ended_with(3).says("scripted tools are asked first");
    house.run(&["-m", "go", "--allow", "count"]).ended_with(0);
    house.run(&["-y", "-m", "go", "--deny", "{ tool = '*', origin = 'script:*' }"]).ended_with(3);
    house.run(&["-y", "-m", "go", "--deny", "Read(a.txt)"]).ended_with(3);
    house.run(&["policy", "explain", "count", "a.txt"]).says("ask").says("scripted tools are asked first");
    house.run(&["-y", "-m", "go", "--tools", "count"]).ended_with(0);
}

#[test]
fn commands_of_other_agents_work_in_a_single_request() {
    let house = House::playing(json!([
        { "expect": { "last_user_contains": "Review of a b: hello" }, "say": "ok" }
    ]));
    write(&house, "home/.gemini/commands/git/look.toml", "prompt = \"Review of {{args}}: !{echo hello}\"\n");
    house.run(&["-m", "/git:look a b"]).ended_with(0);
    write(&house, "home/.config/opencode/command/other.md", "---\nmodel: play/b\n---\nSay $1\n");
    write(&house, "home/.gemini/commands/broken.toml", "prompt = ");
    house.run(&["-m", "/broken"]).says("/broken can't be used").says("it is not TOML");
    house.run(&["doctor"]).says("/broken can't be used");
    let ran = house.run(&["-m", "/other x", "--output-format", "stream-json"]);
    assert!(ran.stdout.contains("play/b"), "{}", ran.stdout);
    let ran = house.run(&["-m", "/other x", "--model", "play/c", "--output-format", "stream-json"]);
    assert!(ran.stdout.contains("play/c") && !ran.stdout.contains("play/b"), "what the person says counts first");
}

#[test]
fn a_script_writes_nothing_outside_and_reaches_nothing() {
    let house = House::playing(json!([call("probe", json!({})), say("ok")]));
    if !is_strong(&house) {
        return;
    }
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let tool = format!(
        "# /// tool\n# description = 'd'\n# ///\necho in > inside && echo wrote inside\n\
         echo out > ../outside\necho out > /etc/neco-script-test && echo wrote outside\n(exec 3<>/dev/tcp/127.0.0.1/{port}) && echo reached\necho over\n"
    );
    write(&house, "home/tools/probe.bash", &tool);
    let ends = ends(&house.run(&["-y", "-m", "go", "--output-format", "stream-json"]).ended_with(0).events());
    let said = ends[0]["output"].as_str().unwrap();
    assert!(said.contains("wrote inside") && said.contains("over"), "{said}");
    assert!(!said.contains("wrote outside") && !said.contains("reached"), "{said}");
    assert!(house.path("project/inside").is_file() && !house.path("outside").exists());
    assert!(!Path::new("/etc/neco-script-test").exists());
    listener.set_nonblocking(true).unwrap();
    assert!(listener.accept().is_err(), "nobody came");
}

/// The folder of the program that runs WASM: beside ours, in the `PATH`, or where `cargo xtask test` builds it. It is a
/// workspace of its own, so its tests can't ask for it.
fn wasm_runner() -> Option<PathBuf> {
    let built = Path::new(env!("CARGO_BIN_EXE_neco")).parent()?;
    let path = std::env::var_os("PATH")?;
    let places = [built.to_owned(), built.parent()?.join("wasm/debug")].into_iter().chain(std::env::split_paths(&path));
    let found = places.into_iter().find(|folder| folder.join("neco-wasm").is_file());
    if found.is_none() {
        assert!(std::env::var_os("CI").is_none(), "not checked: neco-wasm is not built");
        eprintln!("skipped: neco-wasm is not built; `cargo xtask test` does");
    }
    found
}

#[test]
fn a_tool_of_wasm_runs_in_the_loop_as_it_was_trusted() {
    let Some(folder) = wasm_runner() else { return };
    let house = House::playing(json!([call("echo", json!({"word": "é"})), say("ok")]));
    let module = r#"(module
        (import "wasi_snapshot_preview1" "fd_read" (func $read (param i32 i32 i32 i32) (result i32)))
        (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
        (memory (export "memory") 1)
        (func (export "_start")
          (i32.store (i32.const 0) (i32.const 200)) (i32.store (i32.const 4) (i32.const 1000))
          (drop (call $read (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 8)))
          (i32.store (i32.const 4) (i32.load (i32.const 8)))
          (drop (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8)))))"#;
    write(&house, "project/.neco/tools/echo.wat", module);
    let named = "description = 'Says it again'\ntype = 'wasm'\nscript = 'echo.wat'\n\
        parameters = { properties = { word = { type = 'string' } } }\n";
    write(&house, "project/.neco/tools/echo.toml", named);
    let path = std::env::join_paths([folder.clone(), PathBuf::from("/usr/bin"), PathBuf::from("/bin")]).unwrap();
    let run = || {
        let mut neco = house.neco(&["-y", "-m", "go", "--output-format", "stream-json"]);
        ends(&Ran::of(neco.env("PATH", &path)).events()).remove(0)
    };
    assert_eq!(run()["error_code"], 1001, "nobody trusts it");
    house.run(&["trust", "--yes"]).ended_with(0).says("with neco-wasm");
    let end = run();
    assert_eq!((end["status"].as_str(), end["origin"]["kind"].as_str()), (Some("success"), Some("script")), "{end}");
    assert!(end["output"].as_str().unwrap().contains(r#"{"word":"é"}"#), "{end}");
    write(&house, "project/.neco/tools/echo.wat", &module.replace("1000", "2000"));
    assert_eq!(run()["error_code"], 1001, "it is another one");
}

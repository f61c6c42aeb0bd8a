//! What runs, what it sees, and where it ends: with the real program and tiny modules.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::fs;
use std::io::Write;
use std::process::{Command, Output, Stdio};

/// A module that runs this.
fn module(body: &str) -> String {
    format!(
        r#"(module
          (import "wasi_snapshot_preview1" "fd_read" (func $read (param i32 i32 i32 i32) (result i32)))
          (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
          (import "wasi_snapshot_preview1" "path_open"
            (func $open (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))
          (import "wasi_snapshot_preview1" "environ_sizes_get" (func $environ (param i32 i32) (result i32)))
          (import "wasi_snapshot_preview1" "args_sizes_get" (func $args (param i32 i32) (result i32)))
          (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
          (memory (export "memory") 1)
          (data (i32.const 100) "etc/passwd")
          (func (export "_start") {body}))"#
    )
}

/// A component that says this of its run.
fn component(code: u8) -> String {
    format!(
        r#"(component
          (core module $m (func (export "run") (result i32) i32.const {code}))
          (core instance $i (instantiate $m))
          (func $run (result (result)) (canon lift (core func $i "run")))
          (instance $r (export "run" (func $run)))
          (export "wasi:cli/run@0.2.0" (instance $r)))"#
    )
}

fn run(text: &str, options: &[&str], arguments: &[&str], input: &str) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tool.wat");
    fs::write(&file, text).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_neco-wasm"))
        .args(options)
        .arg(&file)
        .args(arguments)
        .env_clear()
        .env("ARG_PATH", "x")
        .env("SECRET", "y")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_module_reads_its_input_and_prints() {
    let echo = "(i32.store (i32.const 0) (i32.const 200)) (i32.store (i32.const 4) (i32.const 1000))
        (drop (call $read (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 8)))
        (i32.store (i32.const 4) (i32.load (i32.const 8)))
        (drop (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8)))";
    let output = run(&module(echo), &[], &[], r#"{"path":"é"}"#);
    assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stdout).as_ref()), (Some(0), r#"{"path":"é"}"#));
}

#[test]
fn an_exit_code_is_its_own() {
    let output = run(&module("(call $exit (i32.const 7))"), &[], &[], "");
    assert_eq!(output.status.code(), Some(7), "{}", said(&output));
}

#[test]
fn it_has_its_arguments_and_their_variables_and_nothing_else() {
    let counts = "(drop (call $environ (i32.const 0) (i32.const 4))) (drop (call $args (i32.const 8) (i32.const 12)))
        (call $exit (i32.add (i32.mul (i32.load (i32.const 0)) (i32.const 10)) (i32.load (i32.const 8))))";
    let output = run(&module(counts), &[], &["one", "--two"], "");
    assert_eq!(output.status.code(), Some(13), "one variable, and its name with two words: {}", said(&output));
}

#[test]
fn no_file_is_open_to_it() {
    // 8 is a number that stands for no folder: none was opened for it.
    let opens = "(call $exit (call $open (i32.const 3) (i32.const 0) (i32.const 100) (i32.const 10) (i32.const 0)
        (i64.const 2) (i64.const 0) (i32.const 0) (i32.const 0)))";
    let output = run(&module(opens), &[], &[], "");
    assert_eq!(output.status.code(), Some(8), "{}", said(&output));
}

#[test]
fn a_component_runs_and_its_failure_is_an_exit_code() {
    let ended = |code| run(&component(code), &[], &[], "").status.code();
    assert_eq!((ended(0), ended(1)), (Some(0), Some(1)));
}

#[test]
fn fuel_memory_and_time_come_to_an_end() {
    let endless = module("(loop $again (br $again))");
    let output = run(&endless, &["--fuel", "100000"], &[], "");
    assert!(
        output.status.code() == Some(125) && said(&output).contains("more instructions than it may"),
        "{}",
        said(&output)
    );
    let output = run(&endless, &["--fuel", "18446744073709551615", "--timeout", "1"], &[], "");
    assert!(output.status.code() == Some(125) && said(&output).contains("longer than it may"), "{}", said(&output));
    let grows = module("(drop (memory.grow (i32.const 1000)))");
    let output = run(&grows, &["--memory", "1"], &[], "");
    assert!(output.status.code() == Some(125), "{}", said(&output));
    assert_eq!(run(&grows, &[], &[], "").status.code(), Some(0));
}

#[test]
fn all_memories_share_what_one_may_have() {
    let each = |count: usize| {
        let memories = "(memory 1)".repeat(count);
        let grow: String = (0..count).map(|at| format!("(drop (memory.grow {at} (i32.const 10)))")).collect();
        format!("(module {memories} (func (export \"_start\") {grow}))")
    };
    let output = run(&each(10), &["--memory", "1"], &[], "");
    assert!(output.status.code() == Some(125) && said(&output).contains("more memory than"), "{}", said(&output));
    assert_eq!(run(&each(10), &["--memory", "8"], &[], "").status.code(), Some(0));
}

#[test]
fn a_variable_that_is_no_text_harms_nobody() {
    use std::os::unix::ffi::OsStrExt;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tool.wat");
    fs::write(&file, module("(nop)")).unwrap();
    let odd = std::ffi::OsStr::from_bytes(b"\xff");
    let ended = Command::new(env!("CARGO_BIN_EXE_neco-wasm")).arg(&file).env("ARG_ODD", odd).env("ODD", odd).status();
    assert_eq!(ended.unwrap().code(), Some(0));
}

#[test]
fn what_is_none_is_refused_with_a_reason() {
    for (text, words) in [
        ("hello", "it is no WASM"),
        ("(module)", "it exports no `_start`"),
        ("(module (import \"host\" \"all\" (func)) (func (export \"_start\")))", "unknown import"),
        ("(module (func (export \"_start\") unreachable))", "it trapped"),
    ] {
        let output = run(text, &[], &[], "");
        assert!(output.status.code() == Some(125) && said(&output).contains(words), "{text}: {}", said(&output));
    }
    let output = Command::new(env!("CARGO_BIN_EXE_neco-wasm")).arg("/nowhere.wasm").output().unwrap();
    assert!(said(&output).contains("can't read the file"), "{}", said(&output));
}

//! The message and what is piped in.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::support::{House, Ran, say};

fn expecting(user_says: &str) -> House {
    House::playing(json!([{ "say": "ok", "expect": { "last_user_contains": user_says } }]))
}

#[test]
fn piped_text_is_added_to_the_message() {
    let house = expecting("review\n\nThis is piped in:\n\n```\nfn main() {}\n```");
    Ran::of(house.neco(&["-m", "review"]).write_stdin("fn main() {}\n")).ended_with(0);
    Ran::of(house.neco(&["-p", "review"]).write_stdin("fn main() {}\n")).ended_with(0);
}

#[test]
fn piped_text_alone_is_the_message() {
    let house = expecting("do this\nand that");
    Ran::of(house.neco(&[]).write_stdin("do this\nand that\n")).ended_with(0);
}

#[test]
fn bytes_that_are_no_text_are_told() {
    let house = expecting("a\u{fffd}b");
    Ran::of(house.neco(&["-m", "look"]).write_stdin(b"a\xffb".to_vec())).ended_with(0).says("not UTF-8");
}

#[test]
fn too_much_is_refused() {
    let big = vec![b'x'; 10 * 1024 * 1024 + 1];
    Ran::of(House::playing(json!([say("ok")])).neco(&["-m", "look"]).write_stdin(big))
        .ended_with(2)
        .says("more than 10 MB");
}

#[test]
fn a_pipe_that_is_silent_for_long_is_still_read() {
    let house = expecting("look\n\nThis is piped in:\n\n```\nlate\n```");
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_neco"))
        .env_clear()
        .envs(house.variables())
        .env("CI", "1")
        .current_dir(house.project())
        .args(["-m", "look", "--output-format", "json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut pipe = child.stdin.take().unwrap();
    // Kept to the end: whoever writes to it must not find it closed.
    let mut said = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
    assert!(said.any(|line| line.contains("silent for 5 s; waiting")), "it says that it waits");
    pipe.write_all(b"late\n").unwrap();
    drop(pipe);
    let output = child.wait_with_output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((output.status.code(), report["result"].as_str()), (Some(0), Some("ok")));
    drop(said);
}

#[test]
fn a_dash_is_stdin() {
    let house = expecting("do this");
    Ran::of(house.neco(&["-"]).write_stdin("do this\n")).ended_with(0);
    Ran::of(house.neco(&["-m", "-"]).write_stdin("do this\n")).ended_with(0);
}

#[test]
fn commands_of_other_tools_are_no_messages() {
    House::empty().run(&["list"]).ended_with(2).says("neco session list").says("neco -m \"list\"");
    House::empty().run(&["-m", "hi", "there"]).ended_with(2).says("quote the message: neco -m \"hi there\"");
    House::empty().run(&["--continue"]).ended_with(2).says("neco -c -m continue");
}

#[test]
fn without_a_message_it_says_what_to_do() {
    House::empty().run(&[]).ended_with(2).says("neco -m \"fix the failing test\"").says("neco demo");
    House::empty().run(&["-m", "  "]).ended_with(2).says("no message was given");
}

#[test]
fn a_misspelt_subcommand_is_no_message() {
    House::empty().run(&["sesion", "list"]).ended_with(2).says("did you mean `neco session`?");
}

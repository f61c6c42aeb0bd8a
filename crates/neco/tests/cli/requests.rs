//! Flags of a single request: files that go in, and what comes out.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{House, Ran, call, say};

#[test]
fn the_last_message_is_written_to_a_file() {
    let house = House::playing(json!([call("list_directory", json!({})), say("The answer.")]));
    for flag in ["-o", "--output-last-message"] {
        let ran = house.run(&["-m", "x", flag, "last.txt"]).ended_with(0);
        assert_eq!(ran.stdout, "The answer.\n");
        assert_eq!(std::fs::read_to_string(house.project().join("last.txt")).unwrap(), "The answer.\n");
    }
    assert_eq!(house.run(&["-m", "x", "-o", "-"]).ended_with(0).stdout, "The answer.\n");
    assert!(!house.project().join("-").exists());
    house.run(&["-m", "x", "-o", "no/such/folder.txt"]).ended_with(2).says("can't be written to no/such/folder.txt");
    house.run(&["-m", "x", "-o", "/dev/full"]).ended_with(1).says("can't be written to /dev/full");
}

#[test]
fn files_are_added_to_the_message() {
    let house = House::playing(json!([say("ok")]));
    std::fs::write(house.project().join("a.txt"), "hello\n").unwrap();
    house.run(&["-p", "look", "--file", "a.txt"]).ended_with(0);
    house
        .run(&["session", "show", "--json"])
        .ended_with(0)
        .says("look\\n\\nWhat stands in the files that I name:\\n\\na.txt:\\n```\\nhello\\n```");
    house.run(&["-p", "look", "--file", "gone.txt"]).ended_with(2).says("gone.txt can't be read");
    std::fs::write(house.project().join("big.txt"), vec![b'x'; 300 * 1024]).unwrap();
    house.run(&["-p", "look", "--file", "big.txt"]).ended_with(2).says("more than 256 KB");
    std::fs::write(house.project().join("odd.bin"), [0xff, 0xfe, 0x00]).unwrap();
    house.run(&["-p", "look", "--file", "odd.bin"]).ended_with(2).says("not UTF-8 text");
}

/// A PDF document of one page that says this.
fn pdf(words: &str) -> Vec<u8> {
    let drawn = format!("BT /F1 12 Tf 72 700 Td ({words}) Tj ET");
    let font = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>".to_owned();
    let page = "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>";
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_owned(),
        page.to_owned(),
        format!("<< /Length {} >>\nstream\n{drawn}\nendstream", drawn.len()),
        font,
    ];
    let (mut text, mut places) = ("%PDF-1.4\n".to_owned(), Vec::new());
    for (number, object) in (1..).zip(objects) {
        places.push(text.len());
        text.push_str(&format!("{number} 0 obj\n{object}\nendobj\n"));
    }
    let table = text.len();
    text.push_str(&format!("xref\n0 {}\n0000000000 65535 f \n", places.len() + 1));
    places.iter().for_each(|place| text.push_str(&format!("{place:010} 00000 n \n")));
    text.push_str(&format!("trailer << /Size {} /Root 1 0 R >>\nstartxref\n{table}\n%%EOF\n", places.len() + 1));
    text.into_bytes()
}

#[test]
fn of_a_document_its_text_is_added() {
    let house = House::playing(json!([say("ok")]));
    let shown = |words: &str| house.run(&["session", "show", "--json"]).ended_with(0).says(words);
    std::fs::write(house.project().join("plan.pdf"), pdf("The bridge is closed")).unwrap();
    house.run(&["-p", "look", "--file", "plan.pdf"]).ended_with(0);
    shown("look\\n\\nWhat stands in the files that I name:\\n\\nplan.pdf:\\n```\\n── page 1\\nThe bridge is closed");
    // By its name it may lie anywhere, and be called anything.
    std::fs::write(house.path("report"), pdf("The tunnel is open")).unwrap();
    house.run(&["-p", "look", "--file", &house.path("report").display().to_string()]).ended_with(0);
    shown("The tunnel is open");
    house.run(&["-m", "what does @plan.pdf say?"]).ended_with(0);
    shown("What stands in the files that I name:\\n\\nplan.pdf:\\n```\\n── page 1\\nThe bridge is closed");
    let cells = json!({ "cells": [{ "cell_type": "code", "source": ["cells = 7"], "outputs": [] }] });
    std::fs::write(house.project().join("a.ipynb"), cells.to_string()).unwrap();
    house.run(&["-m", "and @a.ipynb?"]).ended_with(0);
    shown("── cell 1 (code)\\ncells = 7");
    std::fs::write(house.project().join("cut.pdf"), "%PDF-1.4\nno more").unwrap();
    house
        .run(&["-m", "see @cut.pdf"])
        .ended_with(0)
        .says("cut.pdf is only named: cut.pdf is a PDF document; it is damaged");
    house.run(&["-p", "look", "--file", "cut.pdf"]).ended_with(2).says("cut.pdf is a PDF document; it is damaged");
}

#[test]
fn a_request_that_takes_too_long_is_stopped() {
    let house = House::playing(json!([call("bash", json!({ "command": "sleep 30.0921" })), say("never")]));
    let report = house.run(&["-m", "x", "--yes", "--timeout", "2s", "--output-format", "json"]).ended_with(4);
    assert_eq!(report.json()["exit_code"], 4);
    report.says("stopped after 2 s: --timeout");
    for wrong in ["0", "soon", "-1"] {
        assert_eq!(house.run(&["-m", "x", "--timeout", wrong]).code, 2, "{wrong}");
    }
}

#[test]
fn an_answer_fits_its_schema_or_the_request_failed() {
    let house =
        House::playing(json!([{ "say": "{\"ok\": true}", "expect": { "last_user_contains": "\"required\"" } }]));
    std::fs::write(house.project().join("s.json"), "{\"type\": \"object\", \"required\": [\"ok\"]}").unwrap();
    house.run(&["-m", "x", "--output-schema", "s.json"]).ended_with(0);
    let listed = house.run(&["session", "list", "--json"]).ended_with(0).json();
    assert_eq!(listed[0]["title"], "x", "the schema is no part of the title");
    let refused = call("write_file", json!({ "path": "a", "content": "x" }));
    house.script("script.json", json!([refused, say("I may not.")]));
    house.run(&["-m", "x", "--output-schema", "s.json"]).ended_with(3).says("! the answer does not match the schema");
    house.script("script.json", json!([say("Done.")]));
    house.run(&["-m", "x", "--output-schema", "s.json"]).ended_with(1).says("does not match the schema");
    let ran = house.run(&["-m", "x", "--output-schema", "s.json", "--output-format", "json"]).ended_with(1);
    let report = ran.json();
    assert_eq!((&report["exit_code"], &report["is_error"]), (&json!(1), &json!(true)), "{report}");
    assert!(report["error"]["message"].as_str().unwrap().contains("does not match the schema"), "{report}");
    house.run(&["-m", "x", "--output-schema", "gone.json"]).ended_with(2).says("gone.json can't be used");
}

#[test]
fn harnesses_read_the_lines_of_claude_code() {
    let house = House::playing(json!([
        { "say": "I look.", "calls": [{ "name": "list_directory", "arguments": {} }], "usage": { "input": 120, "output": 3 } },
        { "say": "Done.", "usage": { "input": 130, "output": 4, "cache_read": 100 } },
    ]));
    let ran = house.run(&["-p", "x", "--output-format", "claude-stream-json"]).ended_with(0);
    let lines = ran.events();
    let kinds: Vec<&str> = lines.iter().map(|line| line["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["system", "assistant", "user", "assistant", "result"], "{}", ran.stdout);
    assert_eq!((&lines[0]["subtype"], &lines[0]["permissionMode"]), (&json!("init"), &json!("default")));
    assert_eq!((&lines[0]["model"], &lines[0]["cwd"]), (&json!("play/a"), &json!(house.project())));
    let tools = lines[0]["tools"].as_array().unwrap();
    assert!(tools.contains(&json!("bash")) && tools.contains(&json!("read_file")), "{}", lines[0]);
    let two = house.run(&["-p", "x", "--output-format", "claude-stream-json", "--tools", "grep,bash"]);
    assert_eq!(two.events()[0]["tools"], json!(["grep", "bash"]));
    let content = &lines[1]["message"]["content"];
    assert_eq!(
        (&content[0]["text"], &content[1]["type"], &content[1]["input"]),
        (&json!("I look."), &json!("tool_use"), &json!({}))
    );
    assert_eq!(lines[2]["message"]["content"][0]["tool_use_id"], content[1]["id"]);
    let last: &Value = &lines[4];
    assert_eq!(
        (&last["subtype"], &last["result"], &last["num_turns"]),
        (&json!("success"), &json!("Done."), &json!(2))
    );
    assert_eq!(last["usage"]["cache_read_input_tokens"], 100);
    assert_eq!(last["session_id"], lines[0]["session_id"]);
    assert_eq!(last["modelUsage"]["play/a"]["cacheReadInputTokens"], 100);
    assert_eq!(last["errors"], json!([]));
    assert!(lines.iter().all(|line| line["uuid"].is_string()), "{}", ran.stdout);
    for (flags, mode) in [
        (["--approval", "accept_edits"], "acceptEdits"),
        (["--approval", "auto"], "bypassPermissions"),
        (["--mode", "plan"], "plan"),
    ] {
        let ran = house.run(&[&["-p", "x", "--output-format", "claude-stream-json"], &flags[..]].concat());
        assert_eq!(ran.events()[0]["permissionMode"], mode);
    }
    let failed = House::empty().run(&["-p", "x", "--model", "openai/gpt-5", "--output-format", "claude-stream-json"]);
    assert_eq!(failed.ended_with(5).json()["is_error"], true);
}

#[test]
fn a_slow_model_is_told_of_without_a_terminal() {
    let house = House::playing(json!([{ "say": "Done.", "delay_ms": 6_500 }, { "say": "Done.", "delay_ms": 6_500 }]));
    let ran = house.run(&["-m", "x"]).ended_with(0).says("… waiting for play/a · 5 s");
    assert_eq!(ran.stdout, "Done.\n");
    house.run(&["-c", "-m", "x", "--output-format", "json"]).ended_with(0).says("! waiting for play/a · 5 s");
}

#[test]
fn what_is_remembered_is_an_event_like_any_other() {
    let house = House::empty();
    let event = house.run(&["-m", "# use tabs", "--output-format", "stream-json"]).ended_with(0).json();
    assert_eq!((&event["type"], &event["seq"]), (&json!("memory_update"), &json!(1)));
    assert!(event["ts"].is_string() && event["session_id"].is_string() && event["agent_id"].is_string(), "{event}");
}

#[test]
fn every_line_of_stdin_is_a_message() {
    let house = House::playing(json!([{ "say": "one", "expect": { "messages": 1, "last_user_contains": "first" } }]));
    let lines = "{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"first\"}}\n\n";
    let line = ["-p", "--input-format", "stream-json", "--output-format", "claude-stream-json"];
    let ran = Ran::of(house.neco(&line).write_stdin(lines)).ended_with(0);
    assert_eq!(ran.events().last().unwrap()["result"], "one");
    house.script("script.json", json!([say("again"), say("again")]));
    let lines = "{\"type\":\"user_message\",\"content\":\"a\"}\n{\"type\":\"user_message\",\"content\":\"b\"}\n";
    let ran = Ran::of(house.neco(&line).write_stdin(lines)).ended_with(0);
    let results: Vec<Value> = ran.events().into_iter().filter(|line| line["type"] == "result").collect();
    assert_eq!(results.len(), 2);
    assert_eq!(results[0]["session_id"], results[1]["session_id"]);
    // What is given with a request goes with its first message alone.
    let notes = house.path("notes.txt");
    std::fs::write(&notes, "zebra\n").unwrap();
    house.script("script.json", json!([say("again"), say("again")]));
    let with_file = [&line[..], &["--file", notes.to_str().unwrap()]].concat();
    let ran = Ran::of(house.neco(&with_file).write_stdin(lines)).ended_with(0);
    let id = ran.events()[0]["session_id"].as_str().unwrap().to_owned();
    let exported = house.run(&["session", "export", &id]).ended_with(0).stdout;
    assert_eq!(exported.lines().filter(|line| line.contains("zebra")).count(), 1, "{exported}");
    Ran::of(house.neco(&line).write_stdin("hi\n")).ended_with(2).says("line 1 of stdin is not JSON");
    Ran::of(house.neco(&line).write_stdin("")).ended_with(2).says("stdin has no message");
}

#[test]
fn the_store_is_opened_once_for_all_lines_of_stdin() {
    let house = House::playing(json!([say("again")]));
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_neco"))
        .env_clear()
        .envs(house.variables())
        .env("CI", "1")
        .current_dir(house.project())
        .args(["-p", "--input-format", "stream-json", "--output-format", "claude-stream-json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut printed = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    for _ in 0..2 {
        stdin.write_all(b"{\"type\":\"user_message\",\"content\":\"a\"}\n").unwrap();
        assert!(printed.any(|line| line.contains("\"type\":\"result\"")));
        // Long enough to close it, which takes this file away.
        std::thread::sleep(Duration::from_secs(1));
        assert!(house.path("home/data/neco.db-wal").exists(), "it waits for the next line with its store open");
    }
    drop(stdin);
    assert!(child.wait().unwrap().success());
    assert!(!house.path("home/data/neco.db-wal").exists());
}

#[test]
fn a_request_works_as_an_agent_that_is_defined() {
    let told = json!({ "system_contains": "You are the agent \"counter\".\n\nYou count lines.", "last_user_contains": "count" });
    let house = House::playing(json!([{ "say": "ok", "expect": told }]));
    let folder = house.path("home/agents");
    std::fs::create_dir_all(&folder).unwrap();
    let text = "---\nname: counter\ndescription: counts\nmode: ask\n---\nYou count lines.\n";
    std::fs::write(folder.join("counter.md"), text).unwrap();
    let ran = house.run(&["-p", "count", "--agent", "counter", "--output-format", "stream-json"]).ended_with(0);
    assert_eq!(ran.events()[0]["mode"], "ask");
    let said = house.run(&["session", "show", "--json"]).ended_with(0);
    assert!(!said.stdout.contains("You count lines."), "it is no part of the message: {}", said.stdout);
    house.run(&["-p", "count", "--agent", "nobody"]).ended_with(2).says("nobody");
}

//! One story in the files of five agents, and files that are broken, old or odd.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use neco_proto::app::port::Program;
use neco_proto::event::{CompleteReason, TitleSource};
use neco_proto::{Event, EventBody, Part, Role, TodoStatus};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::events::{Log, Source, log, session_id};
use super::foreign::Foreign;
use super::format::{read, records, written_by};

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/sessions")
}

fn foreign(text: &str) -> (Program, Foreign) {
    let records = records(text.as_bytes()).unwrap();
    let format = written_by(&records).unwrap();
    (format, read(format, records).unwrap())
}

fn imported(text: &str) -> (Foreign, Log) {
    let (from, mut foreign) = foreign(text);
    let session = session_id(from, &foreign);
    let source = Source { from, file: "f", cwd: "/here", version: "0", session, now: Timestamp::UNIX_EPOCH };
    let log = log(&mut foreign, &source);
    check(&log.events);
    (foreign, log)
}

/// What holds for every log: places without gaps, times in order, ids unique, every call with one end
/// before anything else is said, nothing that only a vendor can read.
fn check(events: &[Event]) {
    let (mut ids, mut messages, mut open) = (HashSet::new(), HashSet::new(), Vec::new());
    let mut last = Timestamp::MIN;
    let mut ended = true;
    for (event, seq) in events.iter().zip(1..) {
        assert_eq!(event.seq, seq);
        assert!(event.ts >= last, "{seq}");
        last = event.ts;
        match &event.body {
            EventBody::Message(message) => {
                assert!(open.is_empty(), "{seq}: something is said before the calls have ended: {open:?}");
                assert!(messages.insert(message.id) && !message.parts.is_empty());
                ended = false;
                for part in &message.parts {
                    match part {
                        Part::ToolCall(call) => {
                            assert!(ids.insert(call.id.clone()) && !call.id.as_str().is_empty(), "{}", call.id);
                            assert!(call.opaque.is_none());
                            open.push(call.id.clone());
                        }
                        Part::Reasoning { opaque, .. } => assert!(opaque.is_none()),
                        Part::Text { text } => assert!(!text.trim().is_empty()),
                        Part::Image { .. } => assert_eq!(message.role, Role::User),
                        Part::ToolResult(_) => panic!("results are ends of calls"),
                    }
                }
            }
            EventBody::ToolCallEnd(end) => {
                let at = open.iter().position(|id| *id == end.call_id).expect("an end belongs to a call");
                open.remove(at);
            }
            EventBody::AgentComplete(_) => ended = true,
            _ => {}
        }
    }
    assert!(open.is_empty() && ended);
}

/// The messages of a log in the form of the expectations.
fn told(events: &[Event]) -> Vec<Value> {
    let mut told = Vec::new();
    for event in events {
        match &event.body {
            EventBody::Message(message) => {
                let mut entry = json!({ "role": message.role, "text": message.text() });
                let calls: Vec<Value> = message
                    .tool_calls()
                    .map(|call| json!({ "id": call.id, "name": call.name, "arguments": call.arguments }))
                    .collect();
                let thoughts: String = message
                    .parts
                    .iter()
                    .filter_map(|part| match part {
                        Part::Reasoning { text, .. } => Some(text.as_str()),
                        _ => None,
                    })
                    .collect();
                entry["tool_calls"] = json!(calls);
                entry["reasoning"] = json!(thoughts);
                entry["model"] = json!(message.model);
                told.push(entry);
            }
            EventBody::ToolCallEnd(end) => {
                told.push(json!({ "role": "tool", "id": end.call_id, "text": end.output, "is_error": end.error_code.is_some() }));
            }
            _ => {}
        }
    }
    told
}

fn matches_expectation(expected: &Value, told: &Value, model: &str) {
    for (field, value) in expected.as_object().unwrap() {
        let got = |name: &str| told[name].as_str().unwrap_or_default().to_owned();
        match field.as_str() {
            "text_contains" => assert!(got("text").contains(value.as_str().unwrap()), "{told}"),
            "tool_calls" => {
                let (expected, calls) = (&value[0], &told["tool_calls"][0]);
                assert_eq!(expected["id"], calls["id"]);
                assert!(["read_file", "bash"].contains(&calls["name"].as_str().unwrap()), "{told}");
                let arguments = calls["arguments"].as_str().unwrap();
                assert!(arguments.contains(expected["arguments_contain"].as_str().unwrap()), "{told}");
            }
            name => assert_eq!(value, &told[name], "{name} of {told}"),
        }
    }
    if expected["role"] == "assistant" {
        assert!(told["model"].as_str().unwrap().ends_with(&format!("/{model}")), "{told}");
    }
}

#[test]
fn one_story_is_the_same_from_all_five_agents() {
    let index: Value = serde_json::from_str(&std::fs::read_to_string(fixtures().join("index.json")).unwrap()).unwrap();
    let all = index["fixtures"].as_array().unwrap();
    assert_eq!(all.len(), 5);
    for fixture in all {
        let text = std::fs::read_to_string(fixtures().join(fixture["file"].as_str().unwrap())).unwrap();
        let (format, _) = foreign(&text);
        assert_eq!(format.name(), fixture["tool"].as_str().unwrap());
        let (foreign, log) = imported(&text);
        let expected = &fixture["expected"];
        let told = told(&log.events);
        let messages = expected["messages"].as_array().unwrap();
        assert_eq!(told.len(), messages.len(), "{told:#?}");
        for (expected_message, told) in messages.iter().zip(&told) {
            matches_expectation(expected_message, told, expected["model"].as_str().unwrap());
        }
        if expected["cwd_from"].is_null() {
            assert_eq!(foreign.cwd.as_deref(), expected["cwd"].as_str());
        }
        match expected["title"].as_str() {
            Some(title) => assert_eq!((log.title.as_str(), log.title_by), (title, TitleSource::Model)),
            None => assert_eq!((log.title.as_str(), log.title_by), ("Fix the bug in a.txt", TitleSource::FirstWords)),
        }
        let used = log.events.iter().filter(|event| matches!(event.body, EventBody::Usage(_))).count();
        assert!(used > 0, "{format:?}");
        assert!(!serde_json::to_string(&log.events).unwrap().contains("signature"));
    }
}

#[test]
fn what_was_skipped_is_told() {
    let text = std::fs::read_to_string(fixtures().join("claude-code.jsonl")).unwrap();
    let (foreign, log) = imported(&text);
    assert_eq!(skipped(&foreign).unwrap(), "1 future-line-type, 1 no JSON, 1 of a subagent");
    let left_out = log.events.iter().find_map(|event| match &event.body {
        EventBody::Imported(imported) => Some(imported.skipped),
        _ => None,
    });
    assert_eq!(left_out, Some(3));
    let (foreign, _) = imported(&text[..text.len() - 40]);
    assert!(skipped(&foreign).unwrap().contains("1 cut off"));
}

#[test]
fn the_same_session_has_the_same_id_and_another_one_another() {
    let text = |file: &str| std::fs::read_to_string(fixtures().join(file)).unwrap();
    let id = |text: &str| {
        let (format, foreign) = foreign(text);
        session_id(format, &foreign)
    };
    let claude = text("claude-code.jsonl");
    assert_eq!(id(&claude), id(&claude));
    assert_eq!(id(&claude).as_uuid().get_version_num(), 7);
    assert_ne!(id(&claude), id(&text("codex.jsonl")));
    assert!(id(&claude) < id(&text("codex.jsonl")), "it began a moment earlier");
}

fn lines(records: &[Value]) -> String {
    records.iter().map(|record| format!("{record}\n")).collect()
}

fn claude(uuid: &str, parent: Value, kind: &str, message: Value) -> Value {
    json!({ "uuid": uuid, "parentUuid": parent, "isSidechain": false, "sessionId": "s", "cwd": "/w", "type": kind,
        "timestamp": "2026-01-02T03:04:05.000Z", "message": message })
}

#[test]
fn claude_code_results_of_parallel_calls_branches_and_summaries() {
    let call = |id: &str| json!({ "type": "tool_use", "id": id, "name": "Bash", "input": { "command": format!("echo {id}") } });
    let result = |id: &str| json!({ "role": "user", "content": [{ "type": "tool_result", "tool_use_id": id, "content": [{ "type": "text", "text": format!("gave {id}") }], "is_error": id == "B" }] });
    let answer = |id: &str, block: Value| json!({ "id": id, "role": "assistant", "model": "m", "content": [block] });
    let mut summary = claude("u9", json!("u8"), "user", json!({ "role": "user", "content": "It was about cats." }));
    summary["isCompactSummary"] = json!(true);
    let mut meta = claude("u11", json!("u9"), "user", json!({ "role": "user", "content": "a caveat" }));
    meta["isMeta"] = json!(true);
    let (foreign, log) = imported(&lines(&[
        claude("u1", Value::Null, "user", json!({ "role": "user", "content": "run both" })),
        claude("u2", json!("u1"), "assistant", answer("m1", call("A"))),
        claude("u3", json!("u2"), "assistant", answer("m1", call("B"))),
        claude("u4", json!("u2"), "user", result("A")),
        claude("u5", json!("u3"), "user", result("B")),
        claude("x1", json!("u5"), "assistant", answer("m9", json!({ "type": "text", "text": "taken back" }))),
        claude("u6", json!("u5"), "user", json!({ "role": "user", "content": "[Request interrupted by user]" })),
        claude("u7", json!("u6"), "user", json!({ "role": "user", "content": "<command-name>/clear</command-name>" })),
        json!({ "type": "system", "subtype": "compact_boundary", "uuid": "u8", "parentUuid": null, "logicalParentUuid": "u7" }),
        summary,
        meta,
        claude(
            "u12",
            json!("u11"),
            "user",
            json!({ "role": "user", "content": [{ "type": "text", "text": "go on" }, { "type": "image", "source": { "media_type": "image/png", "data": "aGk=" } }] }),
        ),
        claude(
            "u13",
            json!("u12"),
            "assistant",
            answer(
                "m2",
                json!({ "type": "tool_use", "id": "C", "name": "TodoWrite", "input": { "todos": [{ "content": "feed", "status": "completed" }, { "content": "pet", "status": "pending" }] } }),
            ),
        ),
    ]));
    assert_eq!(skipped(&foreign).unwrap(), "1 on an abandoned branch");
    let told = told(&log.events);
    let texts: Vec<&str> = told.iter().map(|entry| entry["text"].as_str().unwrap()).collect();
    assert_eq!(texts[0], "run both");
    assert_eq!((texts[2], told[2]["is_error"].as_bool()), ("gave A", Some(false)));
    assert_eq!((texts[3], told[3]["is_error"].as_bool()), ("gave B", Some(true)));
    assert!(texts[4].starts_with("[Neco]") && texts[4].ends_with("It was about cats."), "{texts:?}");
    assert_eq!(texts[5], "go on");
    assert!(texts[7].starts_with("The imported session has no result"), "{texts:?}");
    let compactions = log.events.iter().filter(|event| matches!(event.body, EventBody::Compaction(_))).count();
    let cancelled = log
        .events
        .iter()
        .any(|event| matches!(&event.body, EventBody::AgentComplete(end) if end.reason == CompleteReason::Cancelled));
    assert!(compactions == 1 && cancelled);
    let fold = neco_session::Fold::of(&log.events);
    assert_eq!(fold.messages.len(), 4, "summary, question, call and its result: {:#?}", fold.messages);
    assert!(!fold.working && fold.open.is_empty());
}

/// What was skipped, in words.
fn skipped(foreign: &Foreign) -> Option<String> {
    let kinds: Vec<String> =
        foreign.skipped.records().iter().map(|records| format!("{} {}", records.count, records.kind)).collect();
    (!kinds.is_empty()).then(|| kinds.join(", "))
}

/// What was said, in order, and what was skipped.
fn said(text: &str) -> (Vec<String>, Option<String>) {
    let (foreign, log) = imported(text);
    let texts = told(&log.events).iter().map(|entry| entry["text"].as_str().unwrap().to_owned()).collect();
    (texts, skipped(&foreign))
}

fn person(uuid: &str, parent: Value, words: &str) -> Value {
    claude(uuid, parent, "user", json!({ "role": "user", "content": words }))
}

fn model(uuid: &str, parent: Value, words: &str) -> Value {
    let content = json!([{ "type": "text", "text": words }]);
    let id = format!("m-{uuid}");
    claude(uuid, parent, "assistant", json!({ "id": id, "role": "assistant", "model": "m", "content": content }))
}

#[test]
fn claude_code_without_a_tree_is_whole_and_a_first_prompt_written_anew_counts() {
    let null = Value::Null;
    let flat = [
        person("a", null.clone(), "one"),
        model("b", null.clone(), "two"),
        person("c", null.clone(), "three"),
        model("d", null.clone(), "four"),
    ];
    let all = || vec!["one".to_owned(), "two".to_owned(), "three".to_owned(), "four".to_owned()];
    assert_eq!(said(&lines(&flat)), (all(), None), "no parents at all");
    let without: Vec<Value> = flat
        .iter()
        .cloned()
        .map(|mut record| {
            record.as_object_mut().unwrap().retain(|name, _| name != "uuid" && name != "parentUuid");
            record
        })
        .collect();
    assert_eq!(said(&lines(&without)), (all(), None), "not even the fields");
    let same: Vec<Value> = flat
        .iter()
        .cloned()
        .map(|mut record| {
            (record["uuid"], record["parentUuid"]) = (json!("x"), json!("x"));
            record
        })
        .collect();
    assert_eq!(said(&lines(&same)), (all(), None), "one id for all");
    let tree = [
        person("a", null.clone(), "one"),
        model("b", json!("a"), "two"),
        person("c", json!("b"), "three"),
        model("d", json!("c"), "four"),
    ];
    let mut anew = tree.clone();
    anew[2]["parentUuid"] = json!("gone");
    assert_eq!(said(&lines(&anew)), (all(), None), "a lost parent");
    anew[2]["parentUuid"] = null;
    let abandoned = "2 on an abandoned branch".to_owned();
    assert_eq!(said(&lines(&anew)), (all()[2..].to_vec(), Some(abandoned)), "the first prompt written anew");
    // Who goes on with a session writes all of it again.
    let again: Vec<Value> = tree[..2].iter().chain(&tree).cloned().collect();
    assert_eq!(said(&lines(&again)), (all(), Some("2 written twice".to_owned())));
    let windows = format!("\u{feff}{}", lines(&tree).replace('\n', "\r\n"));
    assert_eq!(said(&windows), (all(), None), "a byte order mark and other ends of lines");
    let cut = lines(&tree);
    let (texts, skipped) = said(&cut[..cut.len() - 30]);
    assert_eq!((texts, skipped.as_deref()), (all()[..3].to_vec(), Some("1 cut off")));
}

#[test]
fn claude_code_files_begin_with_notes_of_the_program() {
    let snapshot =
        json!({ "type": "file-history-snapshot", "messageId": "a", "snapshot": {}, "isSnapshotUpdate": false });
    let queued = json!({ "type": "queue-operation", "operation": "enqueue", "sessionId": "s", "content": "one" });
    let told = [person("a", Value::Null, "one"), model("b", json!("a"), "two")];
    for note in [
        snapshot.clone(),
        queued.clone(),
        json!({ "type": "summary", "summary": "Cats", "leafUuid": "b" }),
        json!({ "type": "permission-mode", "permissionMode": "default", "sessionId": "s" }),
        json!({ "type": "last-prompt", "lastPrompt": "one", "sessionId": "s" }),
        json!({ "type": "custom-title", "customTitle": "Cats", "sessionId": "s" }),
    ] {
        let many: Vec<Value> = std::iter::repeat_n(note.clone(), 200).chain(told.clone()).collect();
        assert_eq!(said(&lines(&many)), (vec!["one".to_owned(), "two".to_owned()], None), "{note}");
        assert_eq!(foreign(&lines(&[note])).0, Program::ClaudeCode);
    }
    let mut sidechain = person("side", Value::Null, "of another agent");
    sidechain["isSidechain"] = json!(true);
    let odd = [snapshot, json!({ "type": "tomorrow", "sessionId": "s" }), sidechain, queued];
    let odd: Vec<Value> = odd.into_iter().chain(told).collect();
    let skipped = "1 of a subagent, 1 tomorrow".to_owned();
    assert_eq!(said(&lines(&odd)), (vec!["one".to_owned(), "two".to_owned()], Some(skipped)));
}

#[test]
fn codex_of_all_ages() {
    let item = |payload: Value| json!({ "timestamp": "2026-01-02T03:04:05.000Z", "type": "response_item", "payload": payload });
    let said = |role: &str, text: &str| json!({ "type": "message", "role": role, "content": [{ "type": "input_text", "text": text }] });
    let (_, log) = imported(&lines(&[
        json!({ "timestamp": "2026-01-02T03:04:05.000Z", "type": "session_meta", "payload": { "id": "one", "cwd": "/w" } }),
        item(said("user", "first")),
        item(json!({ "type": "custom_tool_call", "call_id": "p", "name": "apply_patch", "input": "*** Begin Patch" })),
        item(
            json!({ "type": "custom_tool_call_output", "call_id": "p", "output": "{\"output\":\"Success.\",\"metadata\":{\"exit_code\":0}}" }),
        ),
        item(
            json!({ "type": "function_call", "call_id": "q", "name": "shell", "arguments": "{\"command\":[\"bash\",\"-lc\",\"ls -a\"]}" }),
        ),
        item(
            json!({ "type": "function_call_output", "call_id": "q", "output": { "content": "no", "success": false } }),
        ),
        item(said("assistant", "done")),
        item(said("user", "second, taken back")),
        item(said("assistant", "never mind")),
        json!({ "timestamp": "2026-01-02T03:04:06.000Z", "type": "event_msg", "payload": { "type": "thread_rolled_back", "num_turns": 1 } }),
        json!({ "timestamp": "2026-01-02T03:04:07.000Z", "type": "compacted", "payload": { "message": "so far so good", "replacement_history": [said("user", "first")] } }),
        item(said("user", "third")),
    ]));
    let told = told(&log.events);
    let texts: Vec<&str> = told.iter().map(|entry| entry["text"].as_str().unwrap()).collect();
    assert_eq!(&texts[2..6], ["Success.", "", "no", "done"], "{texts:?}");
    assert_eq!(told[1]["tool_calls"][0]["name"], "apply_patch");
    assert_eq!(told[3]["tool_calls"][0]["arguments"], "{\"command\":\"ls -a\"}");
    assert!(texts[6].contains("so far so good\n\nThe person: first"), "{texts:?}");
    assert_eq!(texts.last(), Some(&"third"));
    let old = lines(&[
        json!({ "id": "old", "timestamp": "2025-05-05T01:02:03Z", "instructions": null, "git": {} }),
        said("user", "hello"),
        json!({ "record_type": "state" }),
        json!({ "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": "hi" }] }),
    ]);
    let (foreign, log) = imported(&old);
    assert_eq!((foreign.id.as_deref(), foreign.messages(), foreign.skipped.total()), (Some("old"), 2, 0));
    assert_eq!(log.title, "hello");
}

#[test]
fn gemini_cli_of_before_and_opencode_in_steps() {
    let old = json!({ "sessionId": "g", "projectHash": "h", "startTime": "2025-10-10T01:02:03Z", "messages": [
        { "id": "1", "type": "user", "content": "list" , "timestamp": "2025-10-10T01:02:03Z" },
        { "id": "2", "type": "gemini", "content": "", "toolCalls": [{ "id": "c", "name": "list_directory", "args": { "dir_path": "." }, "status": "error", "resultDisplay": "no such folder" }] },
    ] });
    let (_, log) = imported(&old.to_string());
    let told_old = told(&log.events);
    assert_eq!(told_old[1]["tool_calls"][0]["arguments"], "{\"path\":\".\"}");
    assert_eq!((told_old[2]["text"].as_str(), told_old[2]["is_error"].as_bool()), (Some("no such folder"), Some(true)));

    let tool = |id: &str, status: &str| json!({ "type": "tool", "tool": "bash", "callID": id, "state": { "status": status, "input": { "command": "ls" }, "output": "a\n" } });
    let steps = json!({ "info": { "id": "ses_2", "directory": "/w", "title": "" }, "messages": [
        { "info": { "id": "m1", "role": "user", "time": { "created": 1_767_323_041_000_i64 } }, "parts": [
            { "type": "text", "text": "added by the tool", "synthetic": true }, { "type": "text", "text": "look" },
            { "type": "file", "mime": "text/plain", "filename": "a.txt", "url": "file:///a.txt" }] },
        { "info": { "id": "m2", "role": "assistant", "modelID": "x", "cost": 0.5, "tokens": { "input": 1, "output": 2 } }, "parts": [
            { "type": "step-start" }, tool("a", "completed"), tool("b", "completed"), { "type": "step-finish" },
            { "type": "step-start" }, { "type": "text", "text": "and now" }, tool("c", "running"), { "type": "tomorrow" }] },
    ] });
    let (foreign, log) = imported(&steps.to_string());
    let told = told(&log.events);
    let roles: Vec<&str> = told.iter().map(|entry| entry["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["user", "assistant", "tool", "tool", "assistant", "tool"], "{told:#?}");
    assert_eq!(told[0]["text"], "look[a.txt]");
    assert_eq!(skipped(&foreign).unwrap(), "1 tomorrow");
    let cost = log.events.iter().find_map(|event| match &event.body {
        EventBody::Usage(used) => used.usage.cost,
        _ => None,
    });
    assert_eq!(cost, Some(0.5));
}

#[test]
fn todos_and_changes_are_carried_over() {
    let call =
        |id: &str, name: &str, input: Value| json!({ "type": "toolCall", "id": id, "name": name, "arguments": input });
    let message = |id: &str, parent: Value, message: Value| json!({ "type": "message", "id": id, "parentId": parent, "message": message });
    let result =
        |id: &str| json!({ "role": "toolResult", "toolCallId": id, "content": [{ "type": "text", "text": "ok" }] });
    let (_, log) = imported(&lines(&[
        json!({ "type": "session", "version": 3, "id": "p", "cwd": "/w" }),
        message("1", Value::Null, json!({ "role": "user", "content": "do it" })),
        message(
            "2",
            json!("1"),
            json!({ "role": "assistant", "content": [
            call("t", "TodoWrite", json!({ "todos": [{ "content": "one", "status": "completed" }, { "content": "two", "status": "in_progress" }] })),
            call("t", "edit", json!({ "path": "a", "oldText": "x\ny", "newText": "x\nz" })),
        ] }),
        ),
        message("3", json!("2"), result("t")),
        message("4", json!("3"), result("t")),
    ]));
    let todos = neco_session::Fold::of(&log.events).standing.todos;
    assert_eq!(
        todos.iter().map(|todo| todo.status).collect::<Vec<_>>(),
        [TodoStatus::Completed, TodoStatus::InProgress]
    );
    let diff = log.events.iter().find_map(|event| match &event.body {
        EventBody::ToolCallEnd(end) => match end.display.as_ref()? {
            neco_proto::Display::Diff { files } => Some(files[0].clone()),
            _ => None,
        },
        _ => None,
    });
    let diff = diff.unwrap();
    assert_eq!((diff.path.as_str(), diff.added, diff.removed), ("a", 1, 1));
    assert!(diff.unified.contains("-y\n+z"), "{}", diff.unified);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever lines are lost, doubled, swapped or cut: what can be read makes a log that can be sent.
    #[test]
    fn damaged_files_give_valid_logs(
        file in 0usize..5,
        picks in prop::collection::vec(0usize..20, 0..30),
        cut in 0usize..400,
    ) {
        let files = ["claude-code.jsonl", "codex.jsonl", "gemini-cli.jsonl", "openclaw-legacy.jsonl", "opencode.json"];
        let text = std::fs::read_to_string(fixtures().join(files[file])).unwrap();
        let damaged = match files[file] {
            "opencode.json" => {
                let mut document: Value = serde_json::from_str(&text).unwrap();
                let messages = document["messages"].as_array().unwrap().clone();
                let kept: Vec<Value> = picks.iter().filter_map(|pick| messages.get(*pick).cloned()).collect();
                document["messages"] = json!(kept);
                document.to_string()
            }
            _ => {
                let lines: Vec<&str> = text.lines().collect();
                let kept: Vec<&str> = picks.iter().filter_map(|pick| lines.get(*pick).copied()).collect();
                let mut joined = kept.join("\n");
                let keep = joined.char_indices().map(|(at, _)| at).rev().nth(cut).unwrap_or(joined.len());
                joined.truncate(keep);
                joined
            }
        };
        let records = records(damaged.as_bytes()).unwrap();
        for format in Program::FOREIGN {
            let mut foreign = read(format, records.clone()).unwrap();
            let session = session_id(format, &foreign);
            let source = Source { from: format, file: "f", cwd: "/", version: "0", session, now: Timestamp::UNIX_EPOCH };
            check(&log(&mut foreign, &source).events);
        }
    }
}

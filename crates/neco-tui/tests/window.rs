//! The window from lists of events, in three sizes: what people see of the conversation and its calls.

mod support;

use crossterm::event::KeyCode;
use neco_proto::event::*;
use neco_proto::*;
use serde_json::json;
use support::{Ended, Scene, call, in_all_sizes};

#[test]
fn an_answer_streams_and_what_has_settled_leaves() {
    insta::assert_snapshot!(in_all_sizes(|scene| {
        scene.said("explain the loop");
        scene.works();
        scene.streams(&[
            "# The loop\n\nIt ",
            "asks the **model**",
            ", again and again, until it has `nothing` more to do.\n",
        ]);
        scene.streams(&[
            "\n- one\n- two\n  1. inner\n\n```rust\nfn main() {\n    loop {}\n}\n```\nThen it ru",
            "ns calls",
        ]);
    }));
}

#[test]
fn what_a_tool_of_a_server_gave_is_seen_by_its_first_lines() {
    let mut scene = Scene::new((80, 24));
    scene.works();
    scene.call("1", "mcp__demo__echo", CallStatus::Executing, "demo echo text: hi");
    let output = "<untrusted-74196f source=\"MCP server demo\">\none\ntwo\nthree\nfour\n</untrusted-74196f>";
    let end = json!({
        "call_id": "1", "tool": "mcp__demo__echo", "origin": {"kind": "mcp", "server": "demo"},
        "summary": "demo echo text: hi", "status": "success", "output": output, "duration_ms": 288
    });
    scene.happen(EventBody::ToolCallEnd(serde_json::from_value(end).unwrap()));
    let picture = scene.picture();
    assert!(picture.contains("echo text: hi · 288 ms") && picture.contains("three"), "{picture}");
    assert!(picture.contains("… 1 more line · Ctrl-O") && !picture.contains("four"), "{picture}");
    assert!(!picture.contains("untrusted"), "{picture}");
}

#[test]
fn every_script_keeps_its_width() {
    insta::assert_snapshot!(in_all_sizes(|scene| {
        scene.said("漢字とかな 👩‍👩‍👧 שלום العربية");
        scene.works();
        scene.streams(&[
            "漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字 and שלום עולם with 👍🏽 in a row.\n\n",
        ]);
        scene.streams(&["| 名前 | n |\n|---|---:|\n| 漢字 | 1 |\n| emoji 👍 | 22 |\n\nend"]);
    }));
}

#[test]
fn a_thought_is_seen_while_it_goes_on_and_told_in_a_line_afterwards() {
    insta::assert_snapshot!(in_all_sizes(|scene| {
        scene.works();
        let thought = |text: &str| EventBody::ReasoningChunk(StreamChunk { text: text.into() });
        scene.happen(thought(
            "**Looking at the parser**\n\nIt reads a line and then another line, and where the two meet …",
        ));
        scene.picture();
        scene.streams(&["I found it."]);
    }));
}

#[test]
fn a_command_shows_its_last_lines_and_then_what_came_of_it() {
    insta::assert_snapshot!(in_all_sizes(|scene| {
        scene.works();
        scene.call("call-1", "bash", CallStatus::Executing, "Run cargo test --workspace --all-features");
        for line in 1..=9 {
            scene.prints("call-1", &format!("\x1b[32mtest {line} ok\x1b[0m\n"));
        }
        scene.picture();
        scene.ends(
            "call-1",
            "bash",
            "Run cargo test --workspace --all-features",
            Ended {
                duration_ms: 2300,
                display: Some(Display::Terminal {
                    command: "cargo test".into(),
                    tail: "test 8 ok\ntest 9 failed\n".into(),
                    exit_code: Some(101),
                    background: None,
                }),
                ..Ended::badly(ErrorCode::ToolFailed, "failed")
            },
        );
        scene.call("call-2", "bash", CallStatus::Executing, "Run sleep 100");
        scene.prints("call-2", "10 %\r50 %\r90 %");
        scene.app.now_ms = 75_000;
    }));
}

#[test]
fn calls_end_in_all_the_ways_there_are() {
    insta::assert_snapshot!(in_all_sizes(|scene| {
        scene.works();
        let diff = Diff {
            path: "src/parser.rs".into(),
            unified: "@@ -10,3 +10,4 @@\n fn parse(text: &str) -> Tree {\n-    read(text)\n+    let tree = read(text);\n+    tree\n }\n".into(),
            added: 2,
            removed: 1,
            created: false,
            deleted: false,
        };
        scene.ends(
            "1",
            "edit_file",
            "Edit src/parser.rs (+2 −1)",
            Ended::well(Some(Display::Diff { files: vec![diff] })),
        );
        let items = (1..=9).map(|n| format!("src/file{n}.rs:{n}: fn parse")).collect();
        let found = Display::List { title: "matches".into(), items, total: 120 };
        scene.ends("2", "search", "Search “fn parse”", Ended::well(Some(found)));
        scene.ends("3", "read_file", "Read src/lib.rs (120 lines)", Ended::well(None));
        scene.ends(
            "4",
            "read_file",
            "Read src/lob.rs",
            Ended::badly(ErrorCode::ToolFailed, "there is no src/lob.rs;\ndid you mean src/lib.rs?"),
        );
        scene.ends("5", "bash", "Run rm -rf /", Ended::badly(ErrorCode::BlockedByPolicy, "this is never allowed"));
        let refused = Ended::badly(ErrorCode::RejectedByUser, "the user rejected this call and said: not now");
        scene.ends("6", "bash", "Run git push", refused);
        scene.ends("7", "bash", "Run make", Ended { status: CallStatus::Cancelled, ..Ended::well(None) });
        let start = ToolCallStart { index: 0, call_id: call("8"), name: "write_file".into() };
        scene.happen(EventBody::StreamToolCallStart(start));
        let delta = ToolCallDelta { call_id: call("8"), partial_args: "x".repeat(2300) };
        scene.happen(EventBody::StreamToolCallDelta(delta));
    }));
}

#[test]
fn what_neco_itself_has_to_say() {
    insta::assert_snapshot!(in_all_sizes(|scene| {
        scene.works();
        let retry: ModelRetry = serde_json::from_value(json!({
            "attempt": 2, "attempts": 5, "model": "a/b", "wait_ms": 3000, "code": 2004, "message": "a/b is overloaded", "discards": true
        }))
        .unwrap();
        scene.streams(&["half an ans"]);
        scene.happen(EventBody::ModelRetry(retry));
        scene.happen(EventBody::Notification(Notification::new(
            NotificationLevel::Warning,
            "The sandbox is weaker here".into(),
        )));
        let compaction: Compaction = serde_json::from_value(json!({
            "strategy": "summary", "cause": "asked", "before": 120_000, "after": 8000, "kept": 4, "removed": 40
        }))
        .unwrap();
        scene.happen(EventBody::Compaction(compaction));
        scene.happen(EventBody::Error(ErrorEvent {
            code: ErrorCode::ToolFailed,
            message: "that went wrong".into(),
            retryable: false,
        }));
    }));
}

#[test]
fn work_goes_on_with_a_list_and_with_messages_that_wait() {
    insta::assert_snapshot!(in_all_sizes(|scene| {
        scene.works();
        let todo = |id: u32, text: &str, status: TodoStatus| Todo {
            id: id.to_string(),
            text: text.into(),
            status,
            parent: None,
        };
        let mut todos =
            vec![todo(1, "read the parser", TodoStatus::Completed), todo(2, "mend the parser", TodoStatus::InProgress)];
        todos.extend(
            (3..=12)
                .map(|n| todo(n, "another thing that is to be done and is described at length", TodoStatus::Pending)),
        );
        todos.push(Todo { parent: Some("2".into()), ..todo(20, "its tests", TodoStatus::Pending) });
        scene.happen(EventBody::TodoUpdate(TodoUpdate { todos }));
        for (when, text) in [(Admission::TurnBoundary, "use the other crate"), (Admission::AfterWork, "then commit")] {
            scene.happen(EventBody::MessageQueued(MessageQueued { when, message: Message::user(text) }));
        }
        let usage: UsageEvent = serde_json::from_value(json!({
            "model": "a/b", "input": 150_000, "output": 12_000, "cache_read": 0, "cache_write": 0, "reasoning": 0,
            "cost": 1.234, "context_window": 200_000
        }))
        .unwrap();
        scene.happen(EventBody::Usage(usage));
        scene.app.branch = Some("main".into());
    }));
}

#[test]
fn what_is_asked_aside_fills_no_context() {
    let mut scene = Scene::new((80, 24));
    let usage = |input: u64| {
        support::read(json!({
            "type": "usage", "model": "a/b", "input": input, "output": 0, "cache_read": 0, "cache_write": 0,
            "reasoning": 0, "cost": 0.25, "context_window": 200_000
        }))
    };
    scene.happen(usage(98_000));
    scene.happen_aside(usage(120));
    let picture = scene.picture();
    assert!(picture.contains("49 %"), "{picture}");
    assert!(picture.contains("$0.50"), "what it costs is counted: {picture}");
}

#[test]
fn a_group_is_named_with_the_model_that_answers() {
    let mut scene = Scene::new((100, 24));
    scene.app.transcript.view.standing.model = "think".into();
    let begins = || EventBody::TurnStart(TurnStart { iteration: 1, model: "think".into() });
    scene.happen(begins());
    scene.happen(support::read(json!({
        "type": "usage", "model": "play/deepseek-chat", "input": 900, "output": 0, "cache_read": 0, "cache_write": 0,
        "reasoning": 0, "cost": 0.25, "context_window": 10_000
    })));
    assert!(scene.picture().contains("think deepseek-chat"), "{}", scene.picture());
    scene.happen(begins());
    assert!(scene.picture().contains("think deepseek-chat"), "{}", scene.picture());
}

#[test]
fn ctrl_o_shows_all_of_it() {
    insta::assert_snapshot!(in_all_sizes(|scene| {
        let output: String = (1..=12).map(|n| format!("line {n}\n")).collect();
        let display = Some(Display::Terminal {
            command: "seq 12".into(),
            tail: output.clone(),
            exit_code: Some(0),
            background: None,
        });
        scene.ends("1", "bash", "Run seq 12", Ended { output, ..Ended::well(display) });
        scene.picture();
        scene.control('o');
    }));
}

#[test]
fn esc_stops_the_work_whatever_is_on_the_screen() {
    let mut scene = Scene::new((80, 24));
    scene.works();
    let cancel = [neco_tui::update::Effect::Send(Command::Cancel)];
    assert_eq!(scene.key(KeyCode::Esc), cancel);
    scene.types("half a sen");
    assert_eq!(scene.key(KeyCode::Esc), cancel);
    scene.control('c');
    scene.asks(support::edit_request("1"));
    assert_eq!(scene.key(KeyCode::Esc), cancel);
}

fn answer(text: &str) -> Message {
    Message { role: Role::Assistant, ..Message::user(text) }
}

#[test]
fn a_long_session_opens_with_its_end() {
    let mut scene = Scene::new((80, 24));
    for number in 1..=5000 {
        scene.happened(EventBody::Message(Message::user(format!("question {number}"))));
        scene.happened(EventBody::StreamChunk(StreamChunk { text: "a piece".into() }));
        scene.happened(EventBody::Message(answer(&format!("answer {number}"))));
    }
    scene.app.transcript.caught_up(false);
    assert!(scene.app.transcript.left_out);
    let picture = scene.picture();
    assert!(picture.contains("question 5000\n\n   answer 5000\n"), "{picture}");
    assert!(!picture.contains("question 4900") && !picture.contains("a piece"));
}

#[test]
fn a_window_that_opens_in_the_middle_of_an_answer_shows_what_there_is_of_it() {
    let mut scene = Scene::new((80, 24));
    scene.happened(EventBody::Message(Message::user("go on")));
    scene.happened(EventBody::TurnStart(TurnStart { iteration: 1, model: "a/b".into() }));
    for piece in ["the first ", "half"] {
        scene.happened(EventBody::StreamChunk(StreamChunk { text: piece.into() }));
    }
    scene.app.transcript.caught_up(true);
    scene.streams(&[", and the other"]);
    scene.happen(EventBody::Message(answer("the first half, and the other")));
    let picture = scene.picture();
    assert_eq!(picture.matches("the first half, and the other").count(), 1, "{picture}");
}

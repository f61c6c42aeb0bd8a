//! What happens when something is said.

use std::time::Duration;

use neco_proto::event::*;
use neco_proto::*;
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::client::Stage;

const ANSWER: &str = "# An answer\n\nIt has **words**, `code` and a [link](https://example.com), and goes on for long enough to \
be folded on any terminal that is not very wide.\n\n- one\n- two\n  - inner\n\n```rust\nfn main() {\n    // a comment\n    \
println!(\"hello {}\", 42);\n}\n```\n\n| name | number |\n|---|---:|\n| 漢字 | 12 |\n| emoji 👍 | 3 |\n\nDone.";

/// Lets happen what `text` asks for.
pub async fn perform(stage: Stage, text: String) {
    stage.enter(AgentState::Streaming);
    stage.happen(EventBody::TurnStart(TurnStart { iteration: 1, model: "scripted/demo".to_owned() }));
    match text.split_whitespace().next().unwrap_or_default() {
        "edit" => edit(&stage).await,
        "run" => run(&stage).await,
        "ask" => ask(&stage).await,
        "plan" => plan(&stage).await,
        "agents" => agents(&stage).await,
        "flood" => flood(&stage).await,
        "stall" => std::future::pending().await,
        "panic" => panic!("as asked"),
        _ => say(&stage, ANSWER, Duration::from_millis(10)).await,
    }
    complete(&stage, CompleteReason::Natural, "Done.");
}

/// The work is over.
pub fn complete(stage: &Stage, reason: CompleteReason, words: &str) {
    let usage =
        json!({"input": 12_000, "output": 800, "cache_read": 9000, "cache_write": 0, "reasoning": 0, "cost": 0.03});
    let mut told = usage.clone();
    told["model"] = json!("scripted/demo");
    told["context_window"] = json!(200_000);
    if let Ok(told) = serde_json::from_value(told) {
        stage.happen(EventBody::Usage(told));
    }
    stage.enter(AgentState::Complete);
    let complete = json!({
        "reason": reason, "final": words, "turns": 1, "usage": usage, "session_usage": usage,
        "duration_ms": 1000, "waited_ms": 0
    });
    if let Ok(complete) = serde_json::from_value(complete) {
        stage.happen(EventBody::AgentComplete(complete));
    }
}

async fn say(stage: &Stage, text: &str, pace: Duration) {
    let mut piece = String::new();
    for char in text.chars() {
        piece.push(char);
        if piece.len() >= 6 {
            stage.happen(EventBody::StreamChunk(StreamChunk { text: std::mem::take(&mut piece) }));
            sleep(pace).await;
        }
    }
    stage.happen(EventBody::StreamChunk(StreamChunk { text: piece }));
}

fn update(stage: &Stage, id: &str, tool: &str, status: CallStatus, summary: &str) {
    let call = json!({"call_id": id, "tool": tool, "status": status, "summary": summary});
    if let Ok(call) = serde_json::from_value(call) {
        stage.happen(EventBody::ToolCallUpdate(call));
    }
}

fn end(stage: &Stage, id: &str, tool: &str, summary: &str, status: CallStatus, display: Value) {
    let end = json!({
        "call_id": id, "tool": tool, "summary": summary, "status": status, "output": "done", "duration_ms": 1200, "display": display
    });
    if let Ok(end) = serde_json::from_value(end) {
        stage.happen(EventBody::ToolCallEnd(end));
    }
}

async fn edit(stage: &Stage) {
    say(stage, "I change the limit.", Duration::from_millis(5)).await;
    let summary = "Edit src/a.rs (+1 −1)";
    update(stage, "e1", "edit_file", CallStatus::AwaitingApproval, summary);
    let diff = json!([{
        "path": "src/a.rs", "added": 1, "removed": 1, "created": false,
        "unified": "@@ -1,3 +1,3 @@\n fn main() {\n-    let limit = 10; // the most\n+    let limit = 20; // the most\n }\n"
    }]);
    let request = json!({
        "call_id": "e1", "tool": "edit_file", "summary": summary, "args": {"path": "src/a.rs"}, "risk": "medium",
        "reason": "files are written", "diff": diff, "session_rule": "edits below this folder",
        "always_rule": "allow edit(src/**)"
    });
    if let Ok(request) = serde_json::from_value(request) {
        stage.happen(EventBody::PermissionRequest(request));
    }
    match stage.decision().await {
        Decision::Reject { .. } => end(stage, "e1", "edit_file", summary, CallStatus::Error, Value::Null),
        _ => end(stage, "e1", "edit_file", summary, CallStatus::Success, json!({"kind": "diff", "files": diff})),
    }
    say(stage, "That was it.", Duration::from_millis(5)).await;
}

async fn run(stage: &Stage) {
    update(stage, "r1", "bash", CallStatus::Executing, "Run make");
    for line in 1..=60 {
        let chunk = json!({"call_id": "r1", "stream": "output", "text": format!("line {line} of what it prints\n")});
        if let Ok(chunk) = serde_json::from_value(chunk) {
            stage.happen(EventBody::ToolOutputChunk(chunk));
        }
        sleep(Duration::from_millis(80)).await;
    }
    let display = json!({"kind": "terminal", "command": "make", "tail": "line 59\nline 60\n", "exit_code": 0});
    end(stage, "r1", "bash", "Run make", CallStatus::Success, display);
}

async fn ask(stage: &Stage) {
    let question = json!({"question_id": QuestionId::new(), "about": "choices", "items": [{
        "title": "store", "text": "Where should it be kept?", "multiple": false,
        "options": [{"label": "SQLite", "description": "one file"}, {"label": "PostgreSQL", "description": "a server"}]
    }]});
    if let Ok(question) = serde_json::from_value(question) {
        stage.happen(EventBody::Question(question));
    }
    stage.decision().await;
}

async fn plan(stage: &Stage) {
    let plan = "# Split the parser\n\n1. move the lexer\n2. test it";
    let question = json!({"question_id": QuestionId::new(), "about": "plan", "plan": plan});
    if let Ok(question) = serde_json::from_value(question) {
        stage.happen(EventBody::Question(question));
    }
    stage.decision().await;
}

async fn agents(stage: &Stage) {
    let ids = [AgentId::new(), AgentId::new(), AgentId::new()];
    for step in 0..=10 {
        for (index, id) in ids.iter().enumerate() {
            let state = if step == 10 { "completed" } else { "running" };
            let usage = json!({"input": 1000 * step, "output": 10, "cache_read": 0, "cache_write": 0, "reasoning": 0, "cost": 0.001});
            let node = json!({
                "id": id, "name": format!("coder-{}", index + 1), "type": "child", "role": "coder", "parent": stage.root, "children": [], "task": format!("part {index}"),
                "model_group": "default", "state": state, "progress": f64::from(step) / 10.0, "last_message": "on it",
                "usage": usage, "subtree_usage": usage, "created": "2026-01-01T00:00:00Z", "changed": "2026-01-01T00:00:00Z"
            });
            if let Ok(update) = serde_json::from_value(json!({"type": "agent_update", "node": node})) {
                stage.happen_to(*id, update);
            }
        }
        sleep(Duration::from_millis(500)).await;
    }
}

/// As much as a fast model and a loud command give together.
async fn flood(stage: &Stage) {
    update(stage, "f1", "bash", CallStatus::Executing, "Run yes");
    let printed = "all work and no play makes a dull program\n".repeat(100);
    for round in 0..2000 {
        if let Ok(chunk) = serde_json::from_value(json!({"call_id": "f1", "stream": "output", "text": printed})) {
            stage.happen(EventBody::ToolOutputChunk(chunk));
        }
        for _ in 0..4 {
            stage.happen(EventBody::StreamChunk(StreamChunk { text: format!("token{round} ") }));
        }
        if round % 20 == 0 {
            stage.happen(EventBody::StreamChunk(StreamChunk { text: "\n\n".to_owned() }));
        }
        sleep(Duration::from_millis(2)).await;
    }
    end(stage, "f1", "bash", "Run yes", CallStatus::Success, Value::Null);
}

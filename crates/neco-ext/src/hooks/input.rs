//! What a hook reads from its standard input: one JSON object, in the common format.

use std::path::Path;

use neco_agent::gate::{FailedPart, GatedAgent, GatedCall, HookContext, HookPoint};
use neco_proto::{ApprovalMode, Mode, SessionId};
use neco_safety::untrusted::{between, unwrapped};
use serde_json::{Map, Value, json};

use super::translate;

/// The object for a moment.
pub(super) fn of(moment: &HookPoint, scene: &HookContext, session: SessionId, cwd: &Path) -> Value {
    let mut input = Map::new();
    let mut put = |name: &str, value: Value| {
        input.insert(name.to_owned(), value);
    };
    put("session_id", json!(session.to_string()));
    // There is no file with the conversation: the log is a database.
    put("transcript_path", Value::Null);
    put("cwd", json!(cwd.display().to_string()));
    put("hook_event_name", json!(moment.event().name()));
    // What ends needs to know nothing of how it was.
    if *moment != HookPoint::SessionEnd {
        put("model", json!(scene.model));
    }
    if !matches!(moment, HookPoint::SessionEnd | HookPoint::Compaction { .. }) {
        put("permission_mode", json!(permission_mode(scene)));
    }
    let turn = scene.turn.map(|turn| turn.to_string()).unwrap_or_default();
    match moment {
        HookPoint::SessionStart { resumed } => put("source", json!(if *resumed { "resume" } else { "startup" })),
        HookPoint::SessionEnd => put("reason", json!("other")),
        HookPoint::Prompt { message_id, text } => {
            // The turn that will answer has no id yet.
            put("turn_id", json!(message_id.to_string()));
            put("prompt", json!(text));
        }
        HookPoint::BeforeCall(call) => {
            put("turn_id", json!(turn));
            put_call(&mut put, call, scene, cwd);
            put("tool_use_id", json!(call.id.to_string()));
        }
        HookPoint::Permission(call) => {
            put("turn_id", json!(turn));
            put_call(&mut put, call, scene, cwd);
        }
        HookPoint::AfterCall { call, output, succeeded } => {
            put("turn_id", json!(turn));
            put_call(&mut put, call, scene, cwd);
            put("tool_use_id", json!(call.id.to_string()));
            match succeeded {
                true => put("tool_response", response(call, output, cwd)),
                false => {
                    put("error", json!(unwrapped(output)));
                    put("is_interrupt", json!(false));
                }
            }
        }
        HookPoint::Stop { last_words, held } => {
            put("turn_id", json!(turn));
            put("stop_hook_active", json!(held));
            put("last_assistant_message", said(last_words));
        }
        HookPoint::Waiting { tool, summary } => {
            let name = translate::tool_name(tool);
            put("message", json!(format!("Neco needs your permission to use {name}: {summary}")));
            put("notification_type", json!("permission_prompt"));
        }
        HookPoint::Compaction { asked, .. } => {
            put("turn_id", json!(turn));
            put("trigger", json!(if *asked { "manual" } else { "auto" }));
            scene.agent.iter().for_each(|agent| put_agent(&mut put, agent));
        }
        HookPoint::AgentStart(agent) => {
            put("turn_id", json!(turn));
            put_agent(&mut put, agent);
        }
        HookPoint::AgentStop { agent, last_words, held } => {
            put("turn_id", json!(turn));
            put_agent(&mut put, agent);
            put("agent_transcript_path", Value::Null);
            put("stop_hook_active", json!(held));
            put("last_assistant_message", said(last_words));
        }
        HookPoint::Failure(failure) => {
            put("turn_id", json!(turn));
            scene.agent.iter().for_each(|agent| put_agent(&mut put, agent));
            put("error", json!(unwrapped(&failure.message)));
            put("error_source", json!(failure.what.name()));
            put("error_code", json!(failure.code));
            put("retryable", json!(failure.retryable));
            if let FailedPart::Call { id, tool, summary } = &failure.what {
                put("tool_name", json!(translate::tool_name(tool)));
                put("tool_use_id", json!(id.to_string()));
                put("tool_summary", json!(summary));
            }
        }
    }
    Value::Object(input)
}

fn put_agent(put: &mut impl FnMut(&str, Value), agent: &GatedAgent) {
    put("agent_id", json!(agent.id.to_string()));
    put("agent_type", json!(agent.role));
}

fn said(words: &str) -> Value {
    if words.is_empty() { Value::Null } else { json!(words) }
}

fn put_call(put: &mut impl FnMut(&str, Value), call: &GatedCall, scene: &HookContext, cwd: &Path) {
    scene.agent.iter().for_each(|agent| put_agent(put, agent));
    put("tool_name", json!(translate::tool_name(&call.tool)));
    if !call.origin.is_built_in() {
        put("tool_origin", json!(call.origin.to_string()));
    }
    put("tool_input", translate::to_common(&call.tool, &call.arguments, cwd));
}

/// What came of a call; with the fields that hooks look for first. The tags that tell a model what is data mean
/// nothing to a hook; keys and marks in it are as the model sees them.
fn response(call: &GatedCall, output: &str, cwd: &Path) -> Value {
    let mut response = json!({ "success": true, "output": unwrapped(output) });
    if call.tool == "bash" {
        // What printed nothing has no tags, and only our own words about it.
        response["stdout"] = json!(between(output).unwrap_or_default());
        response["stderr"] = json!("");
        response["interrupted"] = json!(false);
    }
    if let Some(path) = translate::to_common(&call.tool, &call.arguments, cwd).get("file_path") {
        response["filePath"] = path.clone();
    }
    response
}

/// How freely the agent works, in the words of other agents.
fn permission_mode(scene: &HookContext) -> &'static str {
    match (scene.mode, scene.approval) {
        (Mode::Ask | Mode::Plan, _) => "plan",
        (Mode::Agent | Mode::Debug, ApprovalMode::Auto) => "bypassPermissions",
        (Mode::Agent | Mode::Debug, _) if !scene.person_present => "dontAsk",
        (Mode::Agent | Mode::Debug, ApprovalMode::AcceptEdits) => "acceptEdits",
        (Mode::Agent | Mode::Debug, ApprovalMode::AskFirst | ApprovalMode::Manual) => "default",
    }
}

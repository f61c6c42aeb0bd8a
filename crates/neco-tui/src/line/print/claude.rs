//! A run as the lines that Claude Code prints with `--output-format stream-json`: many programs read those.
//!
//! What that format has no place for (agents below the root, retries, notices) is left out; `stream-json` has all of it.

use std::io;

use neco_proto::event::{SessionStart, ToolCallEnd};
use neco_proto::{AgentId, ApprovalMode, Event, EventBody, Message, MessageId, Mode, Part, Role, SessionId, Usage};
use serde_json::{Value, json};

use super::json::JsonPrinter;

/// Writes the lines; fails once nobody reads them any more.
pub struct ClaudePrinter {
    pub(super) json: JsonPrinter,
    root: Option<AgentId>,
    model: String,
    usage: Usage,
    tools: Vec<String>,
    agents: Vec<String>,
}

impl ClaudePrinter {
    /// Writes with `json`.
    pub fn new(json: JsonPrinter) -> Self {
        let (tools, agents) = (Vec::new(), Vec::new());
        Self { json, root: None, model: String::new(), usage: Usage::default(), tools, agents }
    }

    /// The tools that the session has.
    pub fn set_tools(&mut self, tools: Vec<String>) {
        self.tools = tools;
    }

    /// The agents that can be asked.
    pub fn set_agents(&mut self, agents: Vec<String>) {
        self.agents = agents;
    }

    /// Writes what an event is in that format, if it is anything.
    pub fn event(&mut self, event: &Event) -> io::Result<()> {
        if matches!(event.body, EventBody::SessionStart(_)) {
            self.root = Some(event.agent_id);
        }
        if self.root.is_some_and(|root| root != event.agent_id) {
            return Ok(());
        }
        let session = event.session_id;
        let line = match &event.body {
            EventBody::SessionStart(start) => {
                self.model.clone_from(&start.model);
                init(start, session, (&self.tools, &self.agents))
            }
            EventBody::Usage(used) => {
                self.usage = used.usage;
                return Ok(());
            }
            EventBody::Message(message) if message.role == Role::Assistant => self.assistant(message, session),
            EventBody::ToolCallEnd(end) => tool_result(end, session),
            _ => return Ok(()),
        };
        self.line(line)
    }

    /// Every line of that format has an id of its own.
    fn line(&mut self, mut line: Value) -> io::Result<()> {
        line["uuid"] = json!(MessageId::new());
        self.json.line(&line.to_string())
    }

    /// Writes the last line from the object that a run is with `--output-format json`.
    pub fn result(&mut self, report: &str) -> io::Result<()> {
        let report: Value = serde_json::from_str(report).unwrap_or_default();
        self.line(result(&report))
    }

    fn assistant(&self, message: &Message, session: SessionId) -> Value {
        let content: Vec<Value> = message.parts.iter().filter_map(part).collect();
        let calls = message.parts.iter().any(|part| matches!(part, Part::ToolCall(_)));
        json!({
            "type": "assistant",
            "message": {
                "id": message.id,
                "type": "message",
                "role": "assistant",
                "model": message.model.as_deref().unwrap_or(&self.model),
                "content": content,
                "stop_reason": if calls { "tool_use" } else { "end_turn" },
                "stop_sequence": null,
                "usage": usage(&json!(self.usage)),
            },
            "parent_tool_use_id": null,
            "session_id": session,
        })
    }
}

fn init(start: &SessionStart, session: SessionId, (tools, agents): (&[String], &[String])) -> Value {
    let mode = match (start.mode, start.approval) {
        (Mode::Plan, _) => "plan",
        (_, ApprovalMode::Auto) => "bypassPermissions",
        (_, ApprovalMode::AcceptEdits) => "acceptEdits",
        (_, ApprovalMode::AskFirst | ApprovalMode::Manual) => "default",
    };
    json!({
        "type": "system",
        "subtype": "init",
        "session_id": session,
        "cwd": start.cwd,
        "model": start.model,
        "permissionMode": mode,
        "tools": tools,
        "mcp_servers": [],
        "slash_commands": [],
        "agents": agents,
        "skills": [],
        "plugins": [],
        "output_style": "default",
        "apiKeySource": "none",
    })
}

fn part(part: &Part) -> Option<Value> {
    match part {
        Part::Text { text } => Some(json!({ "type": "text", "text": text })),
        Part::Reasoning { text, .. } if text.is_empty() => None,
        Part::Reasoning { text, .. } => Some(json!({ "type": "thinking", "thinking": text, "signature": "" })),
        Part::ToolCall(call) => {
            let input = serde_json::from_str::<Value>(&call.arguments).unwrap_or_else(|_| json!({}));
            Some(json!({ "type": "tool_use", "id": call.id, "name": call.name, "input": input }))
        }
        // An assistant's message has none of these.
        Part::Image { .. } | Part::ToolResult(_) => None,
    }
}

fn tool_result(end: &ToolCallEnd, session: SessionId) -> Value {
    let content = json!({
        "type": "tool_result",
        "tool_use_id": end.call_id,
        "content": end.output,
        "is_error": end.error_code.is_some(),
    });
    json!({
        "type": "user",
        "message": { "role": "user", "content": [content] },
        "parent_tool_use_id": null,
        "session_id": session,
    })
}

fn result(report: &Value) -> Value {
    let exit_code = report["exit_code"].as_u64();
    // A call that was refused is no error there: it stands among the denials.
    let is_error = exit_code != Some(3) && report["is_error"].as_bool().unwrap_or(true);
    let subtype = match (is_error, exit_code) {
        (false, _) => "success",
        (true, Some(4)) if !report["budget_reached"].is_null() => "error_max_budget_usd",
        (true, Some(4)) => "error_max_turns",
        (true, _) => "error_during_execution",
    };
    let errors: Vec<&Value> = report["error"].get("message").into_iter().filter(|_| is_error).collect();
    let denials = report["permission_denials"].as_array().into_iter().flatten();
    let denials = denials.map(|denial| {
        json!({ "tool_name": denial["tool"], "tool_use_id": denial["call_id"], "tool_input": denial["arguments"] })
    });
    json!({
        "type": "result",
        "subtype": subtype,
        "is_error": is_error,
        "duration_ms": report["duration_ms"],
        "duration_api_ms": report["duration_ms"],
        "num_turns": report["num_turns"],
        "result": report["result"],
        "error": errors.first(),
        "errors": errors,
        "session_id": report["session_id"],
        "total_cost_usd": report["total_cost_usd"].as_f64().unwrap_or_default(),
        "usage": usage(&report["usage"]),
        "modelUsage": model_usage(report),
        "permission_denials": denials.collect::<Vec<_>>(),
    })
}

/// What was used of the model that answered last.
fn model_usage(report: &Value) -> Value {
    let Some(model) = report["model"].as_str() else { return json!({}) };
    let used = usage(&report["usage"]);
    json!({ model: {
        "inputTokens": used["input_tokens"],
        "outputTokens": used["output_tokens"],
        "cacheReadInputTokens": used["cache_read_input_tokens"],
        "cacheCreationInputTokens": used["cache_creation_input_tokens"],
        "webSearchRequests": 0,
        "costUSD": report["total_cost_usd"].as_f64().unwrap_or_default(),
        "contextWindow": report["context_window"],
    } })
}

/// Tokens as that format counts them: input without what was read from and written to a cache.
fn usage(ours: &Value) -> Value {
    let count = |name: &str| ours[name].as_u64().unwrap_or_default();
    let (read, written) = (count("cache_read"), count("cache_write"));
    json!({
        "input_tokens": count("input").saturating_sub(read.saturating_add(written)),
        "cache_creation_input_tokens": written,
        "cache_read_input_tokens": read,
        "output_tokens": count("output"),
    })
}

//! Events as short lines that people can write and read.

use neco_proto::event::{Admission, AgentComplete, NotificationLevel};
use neco_proto::{Decision, Event, EventBody, Role};

/// An event as a line: its type and what tells it from others of its type.
#[must_use]
pub fn line(event: &Event) -> String {
    let name = event.body.type_name();
    let detail = detail(&event.body);
    if detail.is_empty() { name.to_owned() } else { format!("{name} {detail}") }
}

/// The text of an event that a `~` expectation looks into.
#[must_use]
pub fn text(event: &Event) -> String {
    match &event.body {
        EventBody::StreamChunk(chunk) | EventBody::ReasoningChunk(chunk) => chunk.text.clone(),
        EventBody::ToolOutputChunk(chunk) => chunk.text.clone(),
        EventBody::ToolCallEnd(end) => end.output.clone(),
        EventBody::PermissionRequest(request) => {
            let diff: String = request.diff.iter().map(|diff| diff.unified.as_str()).collect();
            format!("{}\n{}\n{}\n{diff}", request.summary, request.reason, request.args)
        }
        EventBody::ModelRetry(retry) => retry.message.clone(),
        EventBody::ModelSwitch(switch) => switch.message.clone(),
        EventBody::HookRun(run) => format!("{}\n{}", run.hook, run.message.as_deref().unwrap_or_default()),
        EventBody::Notification(notification) => notification.text.clone(),
        EventBody::Error(error) => error.message.clone(),
        EventBody::Message(message) => message.text(),
        EventBody::MessageQueued(queued) => queued.message.text(),
        EventBody::AgentComplete(complete) => complete.final_text.clone(),
        EventBody::SessionStart(_)
        | EventBody::StateChange(_)
        | EventBody::TurnStart(_)
        | EventBody::StreamToolCallStart(_)
        | EventBody::StreamToolCallDelta(_)
        | EventBody::ToolCallUpdate(_)
        | EventBody::PermissionDecision(_)
        | EventBody::ModeChange(_)
        | EventBody::Usage(_)
        | EventBody::TurnEnd(_) => String::new(),
    }
}

fn detail(body: &EventBody) -> String {
    match body {
        EventBody::SessionStart(start) => if start.resumed { "resumed" } else { "new" }.to_owned(),
        EventBody::StateChange(change) => format!("{} → {}", change.from, change.to),
        EventBody::TurnStart(turn) => turn.iteration.to_string(),
        EventBody::TurnEnd(turn) => turn.iteration.to_string(),
        EventBody::StreamToolCallStart(start) => start.name.clone(),
        EventBody::ModelRetry(retry) => {
            format!("{}{}", retry.code, if retry.discards { " discards" } else { "" })
        }
        EventBody::ModelSwitch(switch) => format!("{} → {} {}", switch.from, switch.to, switch.code),
        EventBody::ToolCallUpdate(update) => format!("{} {}", update.tool, update.status),
        EventBody::ToolCallEnd(end) => match end.error_code {
            Some(code) => format!("{} {} {code}", end.tool, end.status),
            None => format!("{} {}", end.tool, end.status),
        },
        EventBody::PermissionRequest(request) => format!("{} {}", request.tool, request.risk),
        EventBody::PermissionDecision(decided) => decision(&decided.decision).to_owned(),
        EventBody::HookRun(run) => format!("{} {}", run.event, run.outcome),
        EventBody::Notification(notification) => match notification.level {
            NotificationLevel::Info => "info".to_owned(),
            NotificationLevel::Warning => "warning".to_owned(),
        },
        EventBody::MessageQueued(queued) => match queued.when {
            Admission::TurnBoundary => "turn_boundary".to_owned(),
            Admission::AfterWork => "after_work".to_owned(),
        },
        EventBody::Message(message) => role(message.role).to_owned(),
        EventBody::Error(error) => error.code.to_string(),
        EventBody::AgentComplete(complete) => completion(complete),
        EventBody::StreamChunk(_)
        | EventBody::ReasoningChunk(_)
        | EventBody::StreamToolCallDelta(_)
        | EventBody::ToolOutputChunk(_)
        | EventBody::ModeChange(_)
        | EventBody::Usage(_) => String::new(),
    }
}

fn completion(complete: &AgentComplete) -> String {
    match complete.error_code {
        Some(code) => format!("{} {code}", complete.reason),
        None => complete.reason.to_string(),
    }
}

fn decision(decision: &Decision) -> &'static str {
    match decision {
        Decision::Once => "once",
        Decision::Session => "session",
        Decision::Always => "always",
        Decision::Edit { .. } => "edit",
        Decision::Reject { .. } => "reject",
    }
}

fn role(role: Role) -> &'static str {
    match role {
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "tool",
    }
}

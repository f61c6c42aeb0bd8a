//! Events as short lines that people can write and read.

use neco_proto::event::{Admission, AgentComplete, NotificationLevel};
use neco_proto::{Decision, Event, EventBody, Role};

use crate::describe_plan as plan;
use crate::describe_tree as tree;

/// An event as a line: its type and what tells it from others of its type.
pub fn line(event: &Event) -> String {
    let name = event.body.type_name();
    let detail = detail(&event.body);
    if detail.is_empty() { name.to_owned() } else { format!("{name} {detail}") }
}

/// The text of an event that a `~` expectation looks into.
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
        EventBody::MemoryUpdate(update) => {
            let entries = update.entries.iter().map(|entry| format!("{} {}", entry.scope, entry.title));
            entries.chain(update.text.clone()).collect::<Vec<_>>().join("\n")
        }
        EventBody::Question(question) => plan::question_text(&question.subject),
        EventBody::QuestionAnswer(answer) => plan::reply_text(answer.reply.as_ref()),
        EventBody::TodoUpdate(update) => plan::todo_lines(&update.todos),
        EventBody::PlanUpdate(update) => plan::plan_text(update),
        EventBody::ModeChange(change) => change.reason.clone().unwrap_or_default(),
        EventBody::Environment(told) => told.text.clone(),
        EventBody::IdeContext(open) => open.active_file.clone().unwrap_or_default(),
        EventBody::RulesTold(_) => String::new(),
        EventBody::ContextTrim(trim) => {
            trim.outputs.iter().map(|trimmed| trimmed.output.as_str()).collect::<Vec<_>>().join("\n")
        }
        EventBody::Compaction(done) => {
            let summary = done.summary.as_ref().map(neco_proto::Message::text);
            done.notes.iter().cloned().chain(summary).collect::<Vec<_>>().join("\n")
        }
        EventBody::Checkpoint(kept) => {
            let changed = kept.changed.iter().map(|change| format!("{} {}", change.kind, change.path));
            let left_out = kept.left_out.iter().map(|left| format!("left out {}: {}", left.path, left.why));
            std::iter::once(kept.label.clone()).chain(changed).chain(left_out).collect::<Vec<_>>().join("\n")
        }
        EventBody::Title(title) => title.title.clone(),
        EventBody::AgentUpdate(update) => tree::node_text(&update.node),
        EventBody::AgentMessage(message) => tree::letter_text(&message.letter),
        EventBody::WorkflowUpdate(update) => tree::task_lines(&update.tasks),
        EventBody::Imported(imported) => imported.file.clone(),
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
        | EventBody::Rewind(_)
        | EventBody::Usage(_)
        | EventBody::FilesBack(_)
        | EventBody::Stop(_)
        | EventBody::TurnEnd(_)
        | EventBody::Unknown(_) => String::new(),
    }
}

fn detail(body: &EventBody) -> String {
    match body {
        EventBody::SessionStart(start) => if start.resumed { "resumed" } else { "new" }.to_owned(),
        EventBody::StateChange(change) => format!("{} → {}", change.from, change.to),
        EventBody::TurnStart(turn) => turn.iteration.to_string(),
        EventBody::Unknown(_) => String::new(),
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
        EventBody::MemoryUpdate(update) => update.action.to_string(),
        EventBody::Question(question) => plan::about(&question.subject).to_owned(),
        EventBody::QuestionAnswer(answer) => plan::reply(answer.reply.as_ref()).to_owned(),
        EventBody::TodoUpdate(update) => plan::todo_counts(&update.todos),
        EventBody::PlanUpdate(update) => plan::plan_counts(update),
        EventBody::ModeChange(change) => plan::change(change),
        EventBody::ContextTrim(trim) => format!("{} outputs", trim.outputs.len()),
        EventBody::Compaction(done) => format!("{} {}", done.cause, done.strategy),
        EventBody::Checkpoint(kept) => format!("{} {} changed", kept.when, kept.changed_count()),
        EventBody::FilesBack(back) => format!("{} of {}", back.done, back.total),
        EventBody::Rewind(back) => match (back.conversation, back.files.is_some()) {
            (true, true) => "both".to_owned(),
            (true, false) => "conversation".to_owned(),
            (false, _) => "files".to_owned(),
        },
        EventBody::AgentUpdate(update) => format!("{} {}", update.node.name, update.node.state),
        EventBody::AgentMessage(message) => tree::letter(&message.letter).to_owned(),
        EventBody::Stop(stop) => format!("{} paused", stop.paused.len()),
        EventBody::WorkflowUpdate(update) => format!("{} {}", update.name, update.state),
        EventBody::Title(title) => title.by.to_string(),
        EventBody::Imported(imported) => imported.from.clone(),
        EventBody::Notification(notification) => match notification.level {
            NotificationLevel::Info => "info".to_owned(),
            NotificationLevel::Warning => "warning".to_owned(),
        },
        EventBody::MessageQueued(queued) => match queued.when {
            Admission::TurnBoundary => "turn_boundary".to_owned(),
            Admission::AfterWork => "after_work".to_owned(),
            Admission::Withdrawn => "withdrawn".to_owned(),
        },
        EventBody::Message(message) => role(message.role).to_owned(),
        EventBody::Error(error) => error.code.to_string(),
        EventBody::AgentComplete(complete) => completion(complete),
        EventBody::RulesTold(told) => told.files.join(" "),
        EventBody::StreamChunk(_)
        | EventBody::ReasoningChunk(_)
        | EventBody::StreamToolCallDelta(_)
        | EventBody::ToolOutputChunk(_)
        | EventBody::Environment(_)
        | EventBody::IdeContext(_)
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

//! Events that are told in a line, in plain words.

use neco_proto::event::{
    AgentUpdate, Checkpoint, Compaction, CompactionCause, CompactionStrategy, CompleteReason, Down, HookOutcome,
    HookRun, Imported, Letter, MemoryAction, MemoryUpdate, ModeChange, ModelRetry, ModelSwitch, NodeResult, Rewind,
    SessionStart, Up, WorkflowUpdate,
};
use neco_proto::{Decision, PlanStatus, TodoStatus};

use super::figures::{count, tokens};

/// What is told of a session that is made or opened again.
pub(super) fn began(start: &SessionStart) -> String {
    let what = if start.resumed { "Session resumed" } else { "Session started" };
    let mut parts = vec![what.to_owned()];
    if !start.model.is_empty() {
        let scripted = if start.scripted { " (scripted)" } else { "" };
        parts.push(format!("{}{scripted}", start.model));
    }
    parts.push(format!("mode {}", start.mode));
    parts.push(format!("approval {}", start.approval));
    if let Some(from) = start.forked_from {
        parts.push(format!("a fork of {} at event {}", from.session_id, from.seq));
    }
    parts.join(" · ")
}

pub(super) fn imported(imported: &Imported) -> String {
    let skipped = match imported.skipped {
        0 => String::new(),
        skipped => format!("; {} skipped", count(skipped, "record")),
    };
    format!("Imported from {}: {}{skipped}", imported.from, imported.file)
}

pub(super) fn compaction(compaction: &Compaction) -> String {
    let why = match compaction.cause {
        CompactionCause::Full => "the context was nearly full",
        CompactionCause::TooLong => "the model said that the request is too long",
        CompactionCause::Asked => "as asked",
    };
    let removed = count(compaction.removed, "message");
    let how = match compaction.strategy {
        CompactionStrategy::Summary => format!("{removed} summed up, {} kept", compaction.kept),
        CompactionStrategy::Outputs => {
            format!("{} of tools dropped", count(compaction.outputs.len() as u64, "old output"))
        }
        CompactionStrategy::Window => format!("{removed} dropped, {} kept", compaction.kept),
    };
    let sizes = match (compaction.before, compaction.after) {
        (0, 0) => String::new(),
        (before, after) => format!("{} → {} tokens, ", tokens(before), tokens(after)),
    };
    format!("Conversation compacted ({why}): {sizes}{how}")
}

pub(super) fn rewind(rewind: &Rewind) -> String {
    let what = match (rewind.conversation, rewind.files.is_some()) {
        (true, true) => "the conversation and the files",
        (true, false) => "the conversation; the files stayed as they were",
        (false, _) => "the files; the conversation stayed",
    };
    match rewind.undoes {
        Some(_) => format!("A rewind was undone: {what}"),
        None => format!("Rewound: {what}"),
    }
}

/// An agent of the tree, when it is new or over: what it says in between are its own words.
pub(super) fn node(AgentUpdate { node, setup, .. }: &AgentUpdate) -> Option<String> {
    let said = match &node.result {
        Some(ended) => result(ended),
        None if setup.is_some() => node.task.clone(),
        None if node.state.is_live() => return None,
        None => String::new(),
    };
    Some(format!("Agent {} ({}): {said}", node.name, node.state))
}

pub(super) fn letter(letter: &Letter) -> String {
    match letter {
        Letter::Up(Up::Report { message, .. }) => format!("Report: {message}"),
        Letter::Up(Up::Question { text }) => format!("Question: {text}"),
        Letter::Up(Up::Ended { result: ended }) => format!("Ended: {}", result(ended)),
        Letter::Up(Up::Stopped { why }) => format!("Stopped: {why}"),
        Letter::Down(Down::Task { text }) => format!("Task: {text}"),
        Letter::Down(Down::Redirect { text }) => format!("Redirected: {text}"),
        Letter::Down(Down::Answer { text }) => format!("Answer: {text}"),
    }
}

pub(super) fn workflow(update: &WorkflowUpdate) -> String {
    let tasks: Vec<String> = update.tasks.iter().map(|task| format!("{} {}", task.id, task.state)).collect();
    format!("Workflow {} ({}): {}", update.name, update.state, tasks.join(", "))
}

fn result(result: &NodeResult) -> String {
    match result {
        NodeResult::Output { output } => output.as_str().map_or_else(|| output.to_string(), str::to_owned),
        NodeResult::Error { message, .. } => message.clone(),
    }
}

pub(super) fn checkpoint(checkpoint: &Checkpoint) -> String {
    let rev: String = checkpoint.rev.chars().take(12).collect();
    let changed = match checkpoint.changed_count() {
        0 => String::new(),
        changed => format!(" · {}", count(changed, "changed file")),
    };
    let label = if checkpoint.label.is_empty() { String::new() } else { format!(" · {}", checkpoint.label) };
    format!("Checkpoint {rev}{changed}{label}")
}

pub(super) fn mode_change(change: &ModeChange) -> String {
    let mut parts = Vec::new();
    parts.extend(change.mode.map(|mode| format!("mode {mode}")));
    parts.extend(change.approval.map(|approval| format!("approval {approval}")));
    parts.extend(change.model.as_ref().map(|model| format!("model {model}")));
    parts.extend(change.generation.map(|generation| format!("generation {generation}")));
    let reason = change.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
    format!("Now {}{reason}", parts.join(", "))
}

pub(super) fn retry(retry: &ModelRetry) -> String {
    format!("{} ({}); attempt {}", retry.message, retry.code, retry.attempt)
}

pub(super) fn switch(switch: &ModelSwitch) -> String {
    format!("{} ({}); {} takes over from {}", switch.message, switch.code, switch.to, switch.from)
}

/// A hook is told of when it did something or has something to say.
pub(super) fn hook(run: &HookRun) -> Option<String> {
    let message = run.message.as_ref().map(|message| format!(": {message}")).unwrap_or_default();
    match run.outcome {
        HookOutcome::Passed | HookOutcome::Allowed if run.message.is_none() => None,
        outcome => Some(format!("{} hook {outcome} · {}{message}", run.event.name(), run.hook)),
    }
}

pub(super) fn memory(update: &MemoryUpdate) -> Option<String> {
    let did = match update.action {
        MemoryAction::Recalled => return None,
        MemoryAction::Stored => "Remembered",
        MemoryAction::Updated => "Memory changed",
    };
    let titles: Vec<&str> = update.entries.iter().map(|entry| entry.title.as_str()).collect();
    Some(format!("{did}: {}", titles.join(" · ")))
}

pub(super) fn reason(reason: CompleteReason) -> &'static str {
    match reason {
        CompleteReason::Natural => "Done",
        CompleteReason::IterationLimit => "Stopped: limit of turns",
        CompleteReason::Cancelled => "Cancelled",
        CompleteReason::Failed => "Failed",
        CompleteReason::Budget => "Stopped: budget used up",
        CompleteReason::Stopped => "Stopped",
        CompleteReason::LoopDetected => "Stopped: the model repeated itself",
    }
}

pub(super) fn decision(decision: &Decision) -> String {
    match decision {
        Decision::Once => "allowed once".to_owned(),
        Decision::Session => "allowed for the session".to_owned(),
        Decision::Always => "allowed for good".to_owned(),
        Decision::Edit { .. } => "allowed with other arguments".to_owned(),
        Decision::Reject { reason: None } => "rejected".to_owned(),
        Decision::Reject { reason: Some(reason) } => format!("rejected: {reason}"),
    }
}

pub(super) fn plan_status(status: PlanStatus) -> &'static str {
    match status {
        PlanStatus::Proposed => "proposed",
        PlanStatus::Accepted => "accepted",
        PlanStatus::SentBack => "sent back",
        PlanStatus::Dropped => "dropped",
        PlanStatus::Finished => "finished",
    }
}

pub(super) fn todo_mark(status: TodoStatus) -> &'static str {
    match status {
        TodoStatus::Pending => "☐",
        TodoStatus::InProgress => "▶",
        TodoStatus::Completed => "☑",
        TodoStatus::Cancelled => "☒",
    }
}

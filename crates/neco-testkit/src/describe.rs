//! Events as short lines that people can write and read.

use neco_proto::event::{AgentNode, Down, GivenPiece, Letter, ModeChange, NodeResult, PlanUpdate, Up, WorkflowTask};
use neco_proto::{Event, EventBody, Reply, Subject, Todo, TodoStatus};
use serde::Serialize;

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
        EventBody::Question(question) => question_text(&question.subject),
        EventBody::QuestionAnswer(answer) => reply_text(answer.reply.as_ref()),
        EventBody::TodoUpdate(update) => todo_lines(&update.todos),
        EventBody::PlanUpdate(update) => plan_text(update),
        EventBody::SharedState(update) => update.value.as_ref().map(ToString::to_string).unwrap_or_default(),
        EventBody::ModeChange(change) => change.reason.clone().unwrap_or_default(),
        EventBody::Environment(told) => told.text.clone(),
        EventBody::IdeContext(open) => open.active_file.clone().unwrap_or_default(),
        EventBody::RulesTold(_) | EventBody::SkillUsed(_) | EventBody::PiecesGiven(_) => String::new(),
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
        EventBody::AgentUpdate(update) => node_text(&update.node),
        EventBody::AgentMessage(message) => letter_text(&message.letter),
        EventBody::WorkflowUpdate(update) => task_lines(&update.tasks),
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
        | EventBody::SideCall(_)
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
        EventBody::PermissionDecision(decided) => named(&decided.decision),
        EventBody::HookRun(run) => format!("{} {}", run.event, run.outcome),
        EventBody::MemoryUpdate(update) => update.action.to_string(),
        EventBody::Question(question) => named(&question.subject),
        EventBody::QuestionAnswer(answer) => answer.reply.as_ref().map_or("none".to_owned(), named),
        EventBody::TodoUpdate(update) => todo_counts(&update.todos),
        EventBody::PlanUpdate(update) => plan_counts(update),
        EventBody::SharedState(update) => format!("{} {} {}", update.key, update.version, update.writer),
        EventBody::ModeChange(change) => mode_change(change),
        EventBody::ContextTrim(trim) => format!("{} outputs", trim.outputs.len()),
        EventBody::Compaction(done) => format!("{} {}", done.cause, done.strategy),
        EventBody::Checkpoint(kept) => format!("{} {} changed", kept.when, kept.changed_count()),
        EventBody::SideCall(call) => format!("{} {}", call.purpose, if call.running { "running" } else { "over" }),
        EventBody::FilesBack(back) => format!("{} of {}", back.done, back.total),
        EventBody::Rewind(back) if !back.reverted.is_empty() => {
            let names: Vec<&str> = back.reverted.iter().map(|file| file.path.as_str()).collect();
            format!("changes of {}", names.join(" "))
        }
        EventBody::Rewind(back) => match (back.conversation, back.files.is_some()) {
            (true, true) => "both".to_owned(),
            (true, false) => "conversation".to_owned(),
            (false, _) => "files".to_owned(),
        },
        EventBody::AgentUpdate(update) => format!("{} {}", update.node.name, update.node.state),
        EventBody::AgentMessage(message) => letter(&message.letter).to_owned(),
        EventBody::Stop(stop) => format!("{} paused", stop.paused.len()),
        EventBody::WorkflowUpdate(update) => format!("{} {}", update.name, update.state),
        EventBody::Title(title) => title.by.to_string(),
        EventBody::Imported(imported) => imported.from.clone(),
        EventBody::Notification(notification) => named(&notification.level),
        EventBody::MessageQueued(queued) => named(&queued.when),
        EventBody::Message(message) => named(&message.role),
        EventBody::Error(error) => error.code.to_string(),
        EventBody::AgentComplete(complete) => {
            let code = complete.error_code.map(|code| format!(" {code}")).unwrap_or_default();
            format!("{}{code}", complete.reason)
        }
        EventBody::RulesTold(told) => told.files.join(" "),
        EventBody::SkillUsed(used) => format!("{} {}", used.name, used.cause),
        EventBody::PiecesGiven(given) => given.pieces.iter().map(GivenPiece::place).collect::<Vec<_>>().join(" "),
        EventBody::StreamChunk(_)
        | EventBody::ReasoningChunk(_)
        | EventBody::StreamToolCallDelta(_)
        | EventBody::ToolOutputChunk(_)
        | EventBody::Environment(_)
        | EventBody::IdeContext(_)
        | EventBody::Usage(_) => String::new(),
    }
}

/// The word for a value of an enum, as events write it.
fn named<T: Serialize>(value: &T) -> String {
    let written = serde_json::to_value(value).unwrap_or_default();
    let word = [&written, &written["kind"], &written["about"]].into_iter().find_map(|word| word.as_str());
    word.unwrap_or_default().to_owned()
}

/// The words of a question.
fn question_text(subject: &Subject) -> String {
    match subject {
        Subject::Choices { items } => items
            .iter()
            .map(|item| {
                let options: Vec<&str> = item.options.iter().map(|option| option.label.as_str()).collect();
                format!("{} [{}]\n", item.text, options.join(", "))
            })
            .collect(),
        Subject::Plan { plan } => plan.clone(),
        Subject::Loop { text } => text.clone(),
    }
}

/// The words of an answer.
fn reply_text(reply: Option<&Reply>) -> String {
    match reply {
        Some(Reply::Choices { answers }) => answers
            .iter()
            .map(|answer| format!("{} {}\n", answer.chosen.join(", "), answer.text.as_deref().unwrap_or_default()))
            .collect(),
        Some(Reply::RevisePlan { comments }) => comments.clone(),
        Some(Reply::AcceptChangedPlan { plan }) => plan.clone(),
        Some(Reply::AcceptPlan { comments, .. } | Reply::GoOn { comments }) => comments.clone().unwrap_or_default(),
        Some(Reply::DropPlan | Reply::Dismiss) | None => String::new(),
    }
}

/// `1 of 3 closed`.
fn todo_counts(todos: &[Todo]) -> String {
    format!("{} of {} closed", todos.iter().filter(|todo| todo.status.is_closed()).count(), todos.len())
}

/// A line a todo: `[>] 2 text`.
fn todo_lines(todos: &[Todo]) -> String {
    let mark = |status| match status {
        TodoStatus::Pending => ' ',
        TodoStatus::InProgress => '>',
        TodoStatus::Completed => 'x',
        TodoStatus::Cancelled => '-',
    };
    let line = |todo: &Todo| {
        let part = todo.parent.as_ref().map(|parent| format!(" (of {parent})")).unwrap_or_default();
        format!("[{}] {} {}{part}\n", mark(todo.status), todo.id, todo.text)
    };
    todos.iter().map(line).collect()
}

/// `accepted 1 of 3 done`, or `none`.
fn plan_counts(update: &PlanUpdate) -> String {
    match &update.plan {
        Some(plan) => {
            let done = plan.steps.iter().filter(|step| step.done).count();
            format!("{} {done} of {} done", plan.status, plan.steps.len())
        }
        None => "none".to_owned(),
    }
}

/// The plan and what was found out.
fn plan_text(update: &PlanUpdate) -> String {
    let plan = update.plan.iter().map(|plan| plan.text.clone());
    plan.chain(update.findings.iter().cloned()).collect::<Vec<_>>().join("\n")
}

/// What changed: `plan`, `agent auto`, `generation 3`.
fn mode_change(change: &ModeChange) -> String {
    let parts = [
        change.mode.map(|mode| mode.to_string()),
        change.approval.map(|approval| approval.to_string()),
        change.model.clone(),
        change.generation.map(|generation| format!("generation {generation}")),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

fn letter(letter: &Letter) -> &'static str {
    match letter {
        Letter::Up(Up::Report { .. }) => "report",
        Letter::Up(Up::Question { .. }) => "question",
        Letter::Up(Up::Ended { result: NodeResult::Output { .. } }) => "completed",
        Letter::Up(Up::Ended { result: NodeResult::Error { .. } }) => "error",
        Letter::Up(Up::Stopped { .. }) => "stopped",
        Letter::Down(Down::Task { .. }) => "task",
        Letter::Down(Down::Redirect { .. }) => "redirect",
        Letter::Down(Down::Answer { .. }) => "answer",
    }
}

/// What a letter says.
fn letter_text(letter: &Letter) -> String {
    match letter {
        Letter::Up(Up::Report { progress, message }) => format!("{progress} {message}"),
        Letter::Up(Up::Question { text }) => text.clone(),
        Letter::Up(Up::Ended { result }) => result_text(result),
        Letter::Up(Up::Stopped { why, .. }) => why.clone(),
        Letter::Down(Down::Task { text } | Down::Redirect { text } | Down::Answer { text }) => text.clone(),
    }
}

/// What a node was asked, said and gave.
fn node_text(node: &AgentNode) -> String {
    let said = node.last_message.clone().into_iter();
    let result = node.result.iter().map(result_text);
    std::iter::once(node.task.clone()).chain(said).chain(result).collect::<Vec<_>>().join("\n")
}

/// Tasks, one a line.
fn task_lines(tasks: &[WorkflowTask]) -> String {
    let line = |task: &WorkflowTask| {
        let error = task.error.as_ref().map(|error| format!(" {error}")).unwrap_or_default();
        format!("{} {}{error}", task.id, task.state)
    };
    tasks.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn result_text(result: &NodeResult) -> String {
    match result {
        NodeResult::Output { output } => match output.as_str() {
            Some(text) => text.to_owned(),
            None => output.to_string(),
        },
        NodeResult::Error { message, .. } => message.clone(),
    }
}

//! Questions, todos and plans as short lines.

use neco_proto::event::{ModeChange, PlanUpdate};
use neco_proto::{Reply, Subject, Todo, TodoStatus};

/// What a question is about.
pub fn about(subject: &Subject) -> &'static str {
    match subject {
        Subject::Choices { .. } => "choices",
        Subject::Plan { .. } => "plan",
        Subject::Loop { .. } => "loop",
    }
}

/// The words of a question.
pub fn question_text(subject: &Subject) -> String {
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

/// The kind of an answer.
pub fn reply(reply: Option<&Reply>) -> &'static str {
    match reply {
        None => "none",
        Some(Reply::Choices { .. }) => "choices",
        Some(Reply::AcceptPlan { .. }) => "accept_plan",
        Some(Reply::RevisePlan { .. }) => "revise_plan",
        Some(Reply::DropPlan) => "drop_plan",
        Some(Reply::GoOn { .. }) => "go_on",
        Some(Reply::Dismiss) => "dismiss",
    }
}

/// The words of an answer.
pub fn reply_text(reply: Option<&Reply>) -> String {
    match reply {
        Some(Reply::Choices { answers }) => answers
            .iter()
            .map(|answer| format!("{} {}\n", answer.chosen.join(", "), answer.text.as_deref().unwrap_or_default()))
            .collect(),
        Some(Reply::RevisePlan { comments }) => comments.clone(),
        Some(Reply::AcceptPlan { comments, .. } | Reply::GoOn { comments }) => comments.clone().unwrap_or_default(),
        Some(Reply::DropPlan | Reply::Dismiss) | None => String::new(),
    }
}

/// `1 of 3 closed`.
pub fn todo_counts(todos: &[Todo]) -> String {
    format!("{} of {} closed", todos.iter().filter(|todo| todo.status.is_closed()).count(), todos.len())
}

/// A line a todo: `[>] 2 text`.
pub fn todo_lines(todos: &[Todo]) -> String {
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
pub fn plan_counts(update: &PlanUpdate) -> String {
    match &update.plan {
        Some(plan) => {
            let done = plan.steps.iter().filter(|step| step.done).count();
            format!("{} {done} of {} done", plan.status, plan.steps.len())
        }
        None => "none".to_owned(),
    }
}

/// The plan and what was found out.
pub fn plan_text(update: &PlanUpdate) -> String {
    let plan = update.plan.iter().map(|plan| plan.text.clone());
    plan.chain(update.findings.iter().cloned()).collect::<Vec<_>>().join("\n")
}

/// What changed: `plan`, `agent auto`, `generation 3`.
pub fn change(change: &ModeChange) -> String {
    let parts = [
        change.mode.map(|mode| mode.to_string()),
        change.approval.map(|approval| approval.to_string()),
        change.model.clone(),
        change.generation.map(|generation| format!("generation {generation}")),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

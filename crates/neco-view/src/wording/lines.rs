//! Blocks that a window tells in a line or two: shorter than what is kept as text.

use neco_proto::agent_ask::stopped;
use neco_proto::clean::clean_line;
use neco_proto::event::{
    AgentNode, BudgetReached, Compaction, CompleteReason, HookOutcome, HookRun, Letter, NodeResult, NodeState,
    NotificationLevel, SessionStop, TaskKind, TaskState, Up, WorkflowGraph, WorkflowState, WorkflowTask,
};
use neco_proto::{FormField, ItemAnswer, Plan, PlanStatus, QuestionItem, Reply, Subject};

use super::agents::in_one_line;
use super::notices;
use super::rewind::{REDO, UNDO, files_back, reverted};
use crate::figures;
use crate::reduce::View;
use crate::reduce::block::{
    AgentLetter, AgentMove, AgentStep, Asked, BlockBody, Call, Planned, WentBack, WorkEnd, WorkflowStep,
};

/// Characters of what an agent had to say when it ended.
const LONGEST: usize = 300;

/// How a line is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// Good to know.
    Plain,
    /// What Neco tells while the agent works.
    Note,
    /// Something went well.
    Good,
    /// Something is not as it should be.
    Warning,
    /// Something failed.
    Bad,
    /// Something was stopped.
    Stop,
    /// Somebody is paused.
    Pause,
    /// What stands above it and below it are not the same.
    Fence,
}

/// What is said of a block in a line or two; nothing of most, and of those that are more than lines.
pub fn lines(body: &BlockBody, view: &View) -> Vec<(Tone, String)> {
    match body {
        BlockBody::Question(asked) => answered(asked),
        BlockBody::Rewind(went) => rewound(went),
        BlockBody::Workflow(step) => workflow(step, &view.workflows),
        BlockBody::Stop(stop) => paused(stop, view).into_iter().collect(),
        // The call that handed it over tells that the person said no.
        BlockBody::Plan(Planned { plan: Some(Plan { status: PlanStatus::Dropped, .. }), .. }) if hands_over(view) => {
            Vec::new()
        }
        _ => line(body).into_iter().collect(),
    }
}

/// Whether a plan is being handed over.
fn hands_over(view: &View) -> bool {
    let hands = |call: &Call| call.tool == "exit_plan_mode" && !call.is_over();
    view.blocks.iter().any(|block| matches!(&block.body, BlockBody::Call(call) if hands(call)))
}

fn line(body: &BlockBody) -> Option<(Tone, String)> {
    match body {
        BlockBody::Notification(told) => {
            let tone = match told.level {
                NotificationLevel::Info => Tone::Note,
                NotificationLevel::Warning => Tone::Warning,
            };
            Some((tone, told.text.clone()))
        }
        BlockBody::Compaction(compaction) => Some((Tone::Plain, compacted(compaction))),
        BlockBody::RulesTold(told) => Some((Tone::Plain, told.words())),
        BlockBody::SkillUsed(used) => Some((Tone::Plain, used.words())),
        BlockBody::PiecesGiven(given) => Some((Tone::Plain, given.words())),
        BlockBody::HookRun(run) => hook(run),
        BlockBody::Plan(planned) => planned.plan.as_ref().and_then(|plan| plan_line(plan.status)),
        BlockBody::Imported(imported) => Some((Tone::Plain, notices::imported(imported))),
        BlockBody::End(end) => ended(end),
        BlockBody::Letter(AgentLetter { name, letter: Letter::Up(Up::Question { text }), .. }) => {
            Some((Tone::Warning, format!("{} asks: {}", clean_line(name), clean_line(text))))
        }
        // The rest is no line.
        _ => None,
    }
}

/// Who was paused; where others were before, how many are paused now.
fn paused(stop: &SessionStop, view: &View) -> Option<(Tone, String)> {
    let all = view.agents.all().filter(|node| node.state == NodeState::Paused).count();
    let in_all = if all > stop.paused.len() { format!(" · {all} are paused in all") } else { String::new() };
    let words = stopped(stop)?;
    Some((Tone::Pause, format!("{words}{in_all} · Ctrl-T resumes, messages or stops one")))
}

/// What was asked and what the person said to it, once they have.
fn answered(Asked { agent_id, question, reply, open }: &Asked) -> Vec<(Tone, String)> {
    match &question.subject {
        Subject::Choices { items } if agent_id.is_none() && !open => {
            questions_and_answers(items, reply.as_ref()).into_iter().map(|text| (Tone::Plain, text)).collect()
        }
        Subject::Choices { .. } | Subject::Plan { .. } | Subject::Loop { .. } => Vec::new(),
    }
}

/// What was asked and what the person said to it, a line each.
fn questions_and_answers(items: &[QuestionItem], reply: Option<&Reply>) -> Vec<String> {
    let answers = match reply {
        Some(Reply::Choices { answers }) => answers.as_slice(),
        _ => &[],
    };
    let line = |(index, item): (usize, &QuestionItem)| {
        let said = answers.get(index).map_or_else(|| "not answered".to_owned(), |answer| said(item, answer));
        match &item.field {
            // The rows of a form: who asks, which field, and what it was filled with.
            Some(field) => format!("{} · {}: {said}", clean_line(&field.server), clean_line(&item.title)),
            None => format!("{} → {said}", clean_line(&item.text)),
        }
    };
    items.iter().enumerate().map(line).collect()
}

/// What the person said; an answer without words is the default where there is one.
fn said(item: &QuestionItem, answer: &ItemAnswer) -> String {
    let words = answer.chosen.iter().chain(&answer.text).map(|text| clean_line(text));
    let words = words.filter(|words| !words.is_empty()).collect::<Vec<_>>().join(", ");
    match &item.field {
        _ if !words.is_empty() => words,
        Some(FormField { default: Some(default), .. }) => format!("{} (default)", clean_line(default)),
        Some(_) => "left empty".to_owned(),
        None => "no answer".to_owned(),
    }
}

fn compacted(compaction: &Compaction) -> String {
    let (before, after) = (figures::short_tokens(compaction.before), figures::short_tokens(compaction.after));
    format!("Compacted: {before} → {after} tokens")
}

/// Characters of a hook's command that say which one it is.
const MOST_OF_HOOK: usize = 30;

fn hook(run: &HookRun) -> Option<(Tone, String)> {
    let said = run.message.as_ref().filter(|_| !run.is_told_by_call())?;
    let tone = match run.outcome {
        HookOutcome::Blocked | HookOutcome::Stopped | HookOutcome::Failed | HookOutcome::TimedOut => Tone::Warning,
        HookOutcome::Passed | HookOutcome::Allowed | HookOutcome::Asked | HookOutcome::Cancelled => Tone::Plain,
    };
    let command = clean_line(&run.hook);
    let shown: String = command.chars().take(MOST_OF_HOOK).collect();
    let ending = if shown.len() < command.len() { "…" } else { "" };
    Some((tone, format!("{} hook `{shown}{ending}`: {said}", run.event)))
}

fn plan_line(status: PlanStatus) -> Option<(Tone, String)> {
    match status {
        // The call that handed it over tells of changes that are requested, with their words.
        PlanStatus::Accepted | PlanStatus::Proposed | PlanStatus::SentBack => None,
        PlanStatus::Dropped => Some((Tone::Plain, "Plan dropped".to_owned())),
        PlanStatus::Finished => Some((Tone::Good, "Plan finished".to_owned())),
    }
}

/// That the session went back, and what that did: a rule where what was said counts no longer, or again, and a line.
fn rewound(went: &WentBack) -> Vec<(Tone, String)> {
    let fence = fence_words(went).map(|text| (Tone::Fence, text));
    fence.into_iter().chain([(Tone::Plain, went_back(went))]).collect()
}

fn went_back(WentBack { rewind, before, gone, again, named, redo }: &WentBack) -> String {
    if !rewind.reverted.is_empty() {
        return format!("Changes put back: {} · {REDO}", reverted(rewind));
    }
    let what = match (rewind.conversation, rewind.files.is_some()) {
        (true, true) => "conversation and files",
        (true, false) => "conversation",
        (false, _) => "files",
    };
    let before = before.as_ref().map_or_else(|| "an earlier message".to_owned(), |before| format!("“{before}”"));
    let (done, back) = match (rewind.undoes, *redo, *named) {
        (Some(_), false, _) => (format!("Rewind undone: {what} restored"), UNDO),
        (Some(_), true, _) => (format!("Rewound again: {what} as before {before}"), REDO),
        (None, _, true) => {
            let rev: String = rewind.files.iter().flat_map(|rev| rev.chars()).take(10).collect();
            (format!("Files as in checkpoint {rev}; the conversation stays"), REDO)
        }
        (None, _, false) => (format!("Rewound: {what} as before {before}"), REDO),
    };
    let messages = |count: usize| figures::counted(count, "message", "messages");
    let gone = (!gone.is_empty()).then(|| format!("{} removed from the conversation", messages(gone.len())));
    let again = (!again.is_empty()).then(|| format!("{} restored", messages(again.len())));
    let files = files_back(rewind.changed, rewind.deleted);
    let parts = [Some(done), gone, again, files, Some(back.to_owned())];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

/// What was said that is no longer part of the conversation, and what is again.
fn fence_words(did: &WentBack) -> Option<String> {
    let told = |texts: &[String], one_does: &str, they_do: &str| match texts {
        [] => None,
        [one] => Some(format!("“{one}” {one_does}")),
        [first, ..] => Some(format!("“{first}” and what was said after it {they_do}")),
    };
    let gone = told(&did.gone, "is removed from the conversation", "are removed from the conversation");
    let again = told(&did.again, "is restored", "are restored");
    let parts: Vec<String> = gone.into_iter().chain(again).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

fn ended(end: &WorkEnd) -> Option<(Tone, String)> {
    match end.reason {
        CompleteReason::Natural => None,
        // What can be done now, the field says.
        CompleteReason::Cancelled => Some((Tone::Stop, "Stopped".to_owned())),
        CompleteReason::IterationLimit => {
            let turns = figures::counted(end.turns as usize, "turn", "turns");
            Some((Tone::Stop, format!("Stopped after {turns}. Say “continue” to go on")))
        }
        CompleteReason::Failed => None,
        CompleteReason::Budget => Some((Tone::Stop, budget(end.budget.as_ref()))),
        // The call that handed the plan over tells that the person said no.
        CompleteReason::Stopped if end.plan_dropped => None,
        CompleteReason::Stopped => Some((Tone::Stop, "Ended".to_owned())),
        CompleteReason::LoopDetected => Some((Tone::Stop, "Stopped: it was repeating itself".to_owned())),
    }
}

fn budget(reached: Option<&BudgetReached>) -> String {
    match reached {
        Some(BudgetReached::Cost { limit, used }) => {
            format!("Budget reached: {} of {}", figures::short_dollars(*used), figures::short_dollars(*limit))
        }
        Some(BudgetReached::Tokens { limit, used }) => {
            let (used, limit) = (figures::short_tokens(*used), figures::short_tokens(*limit));
            format!("Budget reached: {used} of {limit} tokens")
        }
        Some(BudgetReached::Time { limit, used }) => format!("Budget reached: {used:.0} of {limit:.0} s"),
        None => "Budget reached".to_owned(),
    }
}

/// Whether an agent below the root ended that was seen at work; what it does until then is seen elsewhere. The end of a
/// call of the root that waited for it tells of both.
pub fn is_end(step: &AgentStep) -> bool {
    step.was_live && step.did == AgentMove::Ended && !(step.in_call && step.depth == 0)
}

/// What an agent had to say when it ended, in at most a few rows; nothing of one that said nothing.
pub fn ended_with(node: &AgentNode) -> Option<String> {
    let last = || node.last_message.as_deref().map(in_one_line);
    let said = match &node.result {
        Some(NodeResult::Error { message, .. }) => Some(clean_line(message)),
        Some(NodeResult::Output { output }) => output.as_str().map(in_one_line).or_else(last),
        None => last(),
    };
    said.filter(|said| !said.is_empty()).map(|said| shortened(&said))
}

/// How tasks of a workflow ended that goes on, and how the workflow did.
fn workflow(step: &WorkflowStep, workflows: &[WorkflowGraph]) -> Vec<(Tone, String)> {
    let name = clean_line(&step.name);
    let told = |task: &WorkflowTask| match task.state {
        TaskState::Completed if task.kind != TaskKind::Agent => {
            Some((Tone::Good, format!("{} of {name} completed", clean_line(&task.id))))
        }
        // The end of the workflow names what ended it.
        TaskState::Failed if step.state == WorkflowState::Running => {
            Some((Tone::Bad, shortened(&format!("{} of {name} failed{}", clean_line(&task.id), why(task)))))
        }
        TaskState::Completed
        | TaskState::Failed
        | TaskState::Pending
        | TaskState::Ready
        | TaskState::Running
        | TaskState::Cancelled
        | TaskState::Skipped => None,
    };
    if step.began {
        return Vec::new();
    }
    let moved = step.tasks.iter().filter(|task| step.moved.contains(&task.id));
    moved.filter_map(told).chain(workflow_ended(step, workflows)).collect()
}

/// How a workflow ended; one that failed with what failed in it, and where all of it is told.
fn workflow_ended(step: &WorkflowStep, workflows: &[WorkflowGraph]) -> Option<(Tone, String)> {
    let tone = match step.state {
        WorkflowState::Completed => Tone::Good,
        WorkflowState::Failed => Tone::Bad,
        WorkflowState::Partly | WorkflowState::Interrupted => Tone::Warning,
        WorkflowState::Running | WorkflowState::Cancelled => Tone::Plain,
    };
    let graph = workflows.iter().find(|graph| graph.workflow_id == step.workflow_id);
    let mut tasks = graph.iter().flat_map(|graph| &graph.tasks);
    let failed = tasks.find(|task| task.state == TaskState::Failed).map(|task| {
        let id = clean_line(&task.id);
        format!(" at {id}{} · /workflow show {} tells all", shortened(&why(task)), step.workflow_id)
    });
    let text = format!("workflow {} {}{}", clean_line(&step.name), step.state, failed.unwrap_or_default());
    step.ended.then_some((tone, text))
}

fn why(task: &WorkflowTask) -> String {
    task.error.as_deref().map(|error| format!(": {}", clean_line(error))).unwrap_or_default()
}

fn shortened(text: &str) -> String {
    text.chars().take(LONGEST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fields_of_a_form_are_rows_and_a_default_that_was_taken_is_shown() {
        let item = |title: &str, default: Option<&str>| QuestionItem {
            title: title.to_owned(),
            text: "The MCP server shop asks (1 of 3):\na sentence or two".to_owned(),
            options: Vec::new(),
            multiple: false,
            empty: Default::default(),
            field: Some(FormField { server: "shop".to_owned(), default: default.map(str::to_owned) }),
        };
        let items = [item("Name", None), item("Colour", Some("red")), item("Note", None), item("Size", None)];
        let typed = |text: &str| ItemAnswer { text: Some(text.to_owned()), ..ItemAnswer::default() };
        let reply = Reply::Choices { answers: vec![typed("Ada"), ItemAnswer::default(), typed("")] };
        let rows = ["shop · Name: Ada", "shop · Colour: red (default)", "shop · Note: left empty"];
        let told = questions_and_answers(&items, Some(&reply));
        assert_eq!((&told[..3], told[3].as_str()), (&rows.map(str::to_owned)[..], "shop · Size: not answered"));
        let asked = QuestionItem { text: "Which?".to_owned(), field: None, ..item("", None) };
        assert_eq!(questions_and_answers(&[asked], Some(&Reply::Dismiss)), ["Which? → not answered"]);
    }
}

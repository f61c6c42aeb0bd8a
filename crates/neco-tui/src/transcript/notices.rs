//! Events that are told in a line.

use neco_proto::agent_ask::stopped;
use neco_proto::clean::clean_line;
use neco_proto::event::{
    AgentComplete, Compaction, CompactionStrategy, CompleteReason, HookOutcome, HookRun, Imported, ModeChange,
    ModelRetry, ModelSwitch, NotificationLevel, Rewind,
};
use neco_proto::{EventBody, ItemAnswer, PlanStatus, QuestionItem, Reply};

use super::block::Tone;
use super::counting::Rewound;
use crate::text::figures;

/// What is said of an event in a line or two; nothing for most.
#[must_use]
pub fn notice(body: &EventBody) -> Option<(Tone, String)> {
    match body {
        EventBody::Notification(told) => {
            let tone = match told.level {
                NotificationLevel::Info => Tone::Plain,
                NotificationLevel::Warning => Tone::Warning,
            };
            Some((tone, told.text.clone()))
        }
        EventBody::Error(error) => Some((Tone::Bad, format!("error {}: {}", error.code, error.message))),
        EventBody::ModelRetry(retry) => Some((Tone::Warning, retried(retry))),
        EventBody::ModelSwitch(switch) => Some((Tone::Warning, switched(switch))),
        EventBody::ModeChange(change) => Some((Tone::Plain, changed(change))),
        EventBody::Compaction(compaction) => Some((Tone::Plain, compacted(compaction))),
        // Of what was not read a notification told.
        EventBody::RulesTold(told) => (!told.files.is_empty()).then(|| (Tone::Plain, told.words())),
        EventBody::HookRun(run) => hook(run),
        EventBody::PlanUpdate(update) => update.plan.as_ref().and_then(|plan| planned(plan.status)),
        EventBody::Imported(imported) => Some((Tone::Plain, brought(imported))),
        EventBody::AgentComplete(complete) => ended(complete),
        EventBody::Stop(stop) => {
            stopped(stop).map(|words| (Tone::Plain, format!("‖ {words} · Ctrl-T resumes one, tells or ends it")))
        }
        // The rest is no line, or a block of its own.
        _ => None,
    }
}

/// What is said of an agent's change of files that act later, whichever agent it is; nothing for anything else.
#[must_use]
pub fn warning_of(body: &EventBody) -> Option<(Tone, String)> {
    let acts_later = matches!(body, EventBody::Notification(told) if told.changed.is_some());
    notice(body).filter(|_| acts_later)
}

/// What was asked and what the person said to it, a line each.
#[must_use]
pub fn questions_and_answers(items: &[QuestionItem], reply: Option<&Reply>) -> Vec<String> {
    let Some(Reply::Choices { answers }) = reply else {
        return items.iter().map(|item| format!("{} → not answered", clean_line(&item.text))).collect();
    };
    let said = |answer: &ItemAnswer| {
        let words = answer.chosen.iter().chain(&answer.text).map(|text| clean_line(text));
        words.collect::<Vec<_>>().join(", ")
    };
    items.iter().zip(answers).map(|(item, answer)| format!("{} → {}", clean_line(&item.text), said(answer))).collect()
}

fn retried(retry: &ModelRetry) -> String {
    let wait = figures::duration(retry.wait_ms);
    format!(
        "{}; trying again in {wait} (attempt {} of {})",
        retry.message,
        retry.attempt,
        retry.attempts.max(retry.attempt)
    )
}

fn switched(switch: &ModelSwitch) -> String {
    format!("{}: {}; {} takes over", switch.from, switch.message, switch.to)
}

fn changed(change: &ModeChange) -> String {
    let mut parts = Vec::new();
    if let Some(mode) = change.mode {
        parts.push(format!("mode {mode}"));
    }
    if let Some(approval) = change.approval {
        parts.push(format!("approval {approval}"));
    }
    if let Some(model) = &change.model {
        parts.push(format!("model {model}"));
    }
    if let Some(generation) = change.generation {
        parts.push(format!("generation {generation}"));
    }
    let why = change.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
    format!("{}{why}", parts.join(", "))
}

fn compacted(compaction: &Compaction) -> String {
    let how = match compaction.strategy {
        CompactionStrategy::Summary => "the older part is summed up",
        CompactionStrategy::Outputs => "the oldest outputs are dropped",
        CompactionStrategy::Window => "the older part is dropped",
    };
    let (before, after) = (figures::tokens(compaction.before), figures::tokens(compaction.after));
    format!("conversation compacted, {how}: {before} → {after} tokens")
}

fn hook(run: &HookRun) -> Option<(Tone, String)> {
    let said = run.message.as_ref()?;
    let tone = match run.outcome {
        HookOutcome::Blocked | HookOutcome::Stopped | HookOutcome::Failed | HookOutcome::TimedOut => Tone::Warning,
        HookOutcome::Passed | HookOutcome::Allowed | HookOutcome::Asked | HookOutcome::Cancelled => Tone::Plain,
    };
    Some((tone, format!("{} hook: {said}", run.event)))
}

fn planned(status: PlanStatus) -> Option<(Tone, String)> {
    match status {
        PlanStatus::Accepted | PlanStatus::Proposed => None,
        PlanStatus::SentBack => Some((Tone::Plain, "plan sent back".to_owned())),
        PlanStatus::Dropped => Some((Tone::Plain, "plan dropped".to_owned())),
        PlanStatus::Finished => Some((Tone::Good, "plan finished".to_owned())),
    }
}

/// That the session went back, and what that did: a rule where what was said counts no longer, or again, and a line.
#[must_use]
pub fn rewound(rewind: &Rewind, did: &Rewound) -> Vec<(Tone, String)> {
    let fence = fence_words(did).map(|text| (Tone::Fence, text));
    fence.into_iter().chain([(Tone::Plain, went_back(rewind, did))]).collect()
}

fn went_back(rewind: &Rewind, did: &Rewound) -> String {
    let what = match (rewind.conversation, rewind.files.is_some()) {
        (true, true) => "conversation and files are",
        (true, false) => "the conversation is",
        (false, _) => "files are",
    };
    let before = did.before.as_ref().map_or_else(|| "an earlier message".to_owned(), |before| format!("“{before}”"));
    let (done, back) = match (rewind.undoes, did.is_redo, did.is_named) {
        (Some(_), false, _) => (format!("undone: {what} as before you went back"), "/redo"),
        (Some(_), true, _) => (format!("gone back again: {what} as before {before}"), "/undo"),
        (None, _, true) => {
            let rev: String = rewind.files.iter().flat_map(|rev| rev.chars()).take(10).collect();
            (format!("files are as in checkpoint {rev}; the conversation stays"), "/undo")
        }
        (None, _, false) => (format!("{what} back to before {before}"), "/undo"),
    };
    let gone = (!did.gone.is_empty())
        .then(|| figures::count(did.gone.len(), "message no longer counts", "messages no longer count"));
    let again = (!did.again.is_empty())
        .then(|| figures::count(did.again.len(), "message counts again", "messages count again"));
    let changed = usize::try_from(rewind.changed).unwrap_or(usize::MAX);
    let files = (changed > 0).then(|| format!("{} put back", figures::count(changed, "file", "files")));
    let parts = [Some(done), gone, again, files, Some(format!("{back} takes that back"))];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

/// What was said that counts no longer, and again.
fn fence_words(did: &Rewound) -> Option<String> {
    let named = |texts: &[String]| match texts {
        [] => None,
        [one] => Some((format!("“{one}”"), true)),
        [first, ..] => Some((format!("“{first}” and what was said after it"), false)),
    };
    let gone = match named(&did.gone) {
        Some((words, true)) => Some(format!("{words} no longer counts")),
        Some((words, false)) => Some(format!("{words} no longer count")),
        None => None,
    };
    let again = match named(&did.again) {
        Some((words, true)) => Some(format!("{words} counts again")),
        Some((words, false)) => Some(format!("{words} count again")),
        None => None,
    };
    let parts: Vec<String> = gone.into_iter().chain(again).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

fn brought(imported: &Imported) -> String {
    let skipped = if imported.skipped > 0 { format!(", {} entries left out", imported.skipped) } else { String::new() };
    format!("imported from {} ({}{skipped})", imported.from, imported.file)
}

fn ended(complete: &AgentComplete) -> Option<(Tone, String)> {
    match complete.reason {
        CompleteReason::Natural => None,
        CompleteReason::Cancelled => Some((Tone::Plain, "stopped; say what to do instead, or “continue”".to_owned())),
        CompleteReason::IterationLimit => {
            let turns = figures::count(complete.turns as usize, "turn", "turns");
            Some((Tone::Warning, format!("stopped after {turns}; say “continue” to go on")))
        }
        CompleteReason::Failed => None,
        CompleteReason::Budget => Some((Tone::Warning, "the budget is used up".to_owned())),
        CompleteReason::Stopped => Some((Tone::Plain, "ended".to_owned())),
        CompleteReason::LoopDetected => Some((Tone::Warning, "stopped because it repeated itself".to_owned())),
    }
}

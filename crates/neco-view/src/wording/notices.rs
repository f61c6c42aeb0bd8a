//! What is told of a model that is tried again or replaced, and of a conversation that is another one now, in one line.

use std::time::Duration;

use neco_proto::event::{
    AgentNode, Compaction, CompactionCause, CompactionStrategy, Down, Imported, Letter, ModelRetry, ModelSwitch,
    NodeResult, Rewind, Up,
};

use crate::figures;
use neco_proto::clean::clean_line;

/// `fake/good (key 2): fake limits the rate (HTTP 429); attempt 2 of 4 in 12.0 s`.
#[must_use]
pub fn retry(retry: &ModelRetry) -> String {
    let who = match retry.model.as_str() {
        "" => String::new(),
        model => format!("{}: ", clean_line(model)),
    };
    let wait = figures::duration(Duration::from_millis(retry.wait_ms));
    format!("{who}{}; {} in {wait}", clean_line(&retry.message), attempt(retry))
}

/// `fake/good (key 2): attempt 2 of 4`, for the time until then.
#[must_use]
pub fn next_attempt(retry: &ModelRetry) -> String {
    match retry.model.as_str() {
        "" => attempt(retry),
        model => format!("{}: {}", clean_line(model), attempt(retry)),
    }
}

/// `fake/good: the key was not accepted; now asking fake/other`.
#[must_use]
pub fn switch(switch: &ModelSwitch) -> String {
    let (from, to) = (clean_line(&switch.from), clean_line(&switch.to));
    format!("{from}: {}; now asking {to}", clean_line(&switch.message))
}

/// `compacted (context full): 171.2k → 24.0k tokens; 214 messages became a summary, 12 stay`.
#[must_use]
pub fn compaction(compaction: &Compaction) -> String {
    let why = match compaction.cause {
        CompactionCause::Full => "the context is nearly full",
        CompactionCause::TooLong => "the model said that the request is too long",
        CompactionCause::Asked => "as asked",
    };
    let removed = figures::count(compaction.removed, "message");
    let how = match compaction.strategy {
        CompactionStrategy::Summary => format!("{removed} summed up, {} kept", compaction.kept),
        CompactionStrategy::Outputs => {
            format!("{} of tools dropped", figures::count(compaction.outputs.len() as u64, "old output"))
        }
        CompactionStrategy::Window => format!("{removed} dropped, {} kept", compaction.kept),
    };
    let (before, after) = (figures::tokens(compaction.before), figures::tokens(compaction.after));
    let notes: String = compaction.notes.iter().map(|note| format!("; {}", clean_line(note))).collect();
    format!("conversation compacted ({why}): {before} → {after} tokens, {how}{notes}")
}

/// `went back: the conversation and the files`.
#[must_use]
pub fn rewind(rewind: &Rewind) -> String {
    let what = match (rewind.conversation, rewind.files.is_some()) {
        (true, true) => "the conversation and the files",
        (true, false) => "the conversation; files stay as they are",
        (false, _) => "the files; the conversation stays",
    };
    let files = match rewind.changed {
        0 => String::new(),
        changed => format!(" · {} put back", figures::count(changed, "file")),
    };
    match rewind.undoes {
        Some(_) => format!("took going back back: {what}{files}"),
        None => format!("went back to an earlier message: {what}{files}"),
    }
}

/// `imported from codex: /home/me/rollout.jsonl; 4 entries left out`.
#[must_use]
pub fn imported(imported: &Imported) -> String {
    let left_out = match imported.skipped {
        0 => String::new(),
        skipped => format!("; left out: {}", figures::count(skipped, "line")),
    };
    format!("imported from {}: {}{left_out}", clean_line(&imported.from), clean_line(&imported.file))
}

/// `explore-1: running · find the parser`.
#[must_use]
pub fn node(node: &AgentNode) -> String {
    let said = node.result.as_ref().map(result).or_else(|| node.last_message.clone());
    let said = said.unwrap_or_else(|| node.task.clone());
    format!("{}: {} · {}", clean_line(&node.name), node.state, clean_line(&said))
}

/// `report: half of the files are read`.
#[must_use]
pub fn letter(letter: &Letter) -> String {
    let (what, said) = match letter {
        Letter::Up(Up::Report { message, .. }) => ("report", message.clone()),
        Letter::Up(Up::Question { text }) => ("question", text.clone()),
        Letter::Up(Up::Ended { result: ended }) => ("ended", result(ended)),
        Letter::Up(Up::Stopped { why }) => ("stopped", why.clone()),
        Letter::Down(Down::Task { text }) => ("task", text.clone()),
        Letter::Down(Down::Redirect { text }) => ("redirect", text.clone()),
        Letter::Down(Down::Answer { text }) => ("answer", text.clone()),
    };
    format!("{what}: {}", clean_line(&said))
}

/// What came of an agent's task, in words.
#[must_use]
pub fn result(result: &NodeResult) -> String {
    match result {
        NodeResult::Output { output } => output.as_str().map_or_else(|| output.to_string(), str::to_owned),
        NodeResult::Error { message, .. } => message.clone(),
    }
}

fn attempt(retry: &ModelRetry) -> String {
    match retry.attempts {
        0 => format!("attempt {}", retry.attempt),
        attempts => format!("attempt {} of {attempts}", retry.attempt),
    }
}

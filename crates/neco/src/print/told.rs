//! What is told of a model that is tried again or replaced, and of a conversation that is another one now, in one line.

use std::time::Duration;

use neco_proto::event::{Compaction, CompactionCause, CompactionStrategy, Imported, ModelRetry, ModelSwitch, Rewind};

use super::clean::clean_line;
use super::figures;

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
    match rewind.undoes {
        Some(_) => format!("took going back back: {what}"),
        None => format!("went back to an earlier message: {what}"),
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

fn attempt(retry: &ModelRetry) -> String {
    match retry.attempts {
        0 => format!("attempt {}", retry.attempt),
        attempts => format!("attempt {} of {attempts}", retry.attempt),
    }
}

//! A tool call as lines of text: what it does, how it ended, what came of it.

use std::time::Duration;

use neco_proto::event::{CallStatus, HookEvent, HookOutcome, HookRun, ToolCallEnd};
use neco_proto::{Display, ErrorCode};

use super::{diff, tail::Tail};
use crate::figures;
use crate::paint::colour::Paint;
use crate::paint::wrap::fitting;
use crate::reduce::work::is_refusal;
use crate::wording::calls::{INTERRUPTED, NOT_RUN, UNKNOWN, error_words, given};
use neco_proto::clean::{clean, clean_line};

/// Lines of a text that a card shows.
const TEXT_LINES: usize = 6;
/// Columns of what a call failed for, or a hook says.
const WORDS: usize = 600;
/// Columns of a hook's command.
const HOOK: usize = 50;
/// What stands before the lines of a card's body.
const BODY: &str = "  │ ";

/// The line of a call that begins.
pub fn start(summary: &str) -> String {
    format!("· {}", clean_line(summary))
}

/// The line of a call that is over: `✓ Edit src/a.rs (+3 −1) · 12 ms`.
pub fn end(end: &ToolCallEnd, in_background: bool, paint: Paint) -> String {
    let (icon, words) = match (verdict(end, paint), in_background) {
        ((icon, None), true) => (icon, Some("in the background".to_owned())),
        (verdict, _) => verdict,
    };
    let mut line = format!("{icon} {}", clean_line(&end.summary));
    if let Some(Display::Diff { files }) = &end.display {
        line.push_str(&changed_lines(files));
    }
    let took = (end.duration_ms > 0).then(|| figures::duration(Duration::from_millis(end.duration_ms)));
    let parts = words.map(|words| (words, true)).into_iter().chain(took.map(|took| (took, false)));
    for (part, is_verdict) in parts.chain(redacted(&end.output).map(|redacted| (redacted, false))) {
        line.push_str(&paint.dim(" · "));
        line.push_str(&if is_verdict { part } else { paint.dim(&part) });
    }
    line
}

/// How much of an output was secret and is not kept, shown or sent.
fn redacted(output: &str) -> Option<String> {
    match output.matches("[redacted: ").count() {
        0 => None,
        1 => Some("1 secret taken out".to_owned()),
        many => Some(format!("{many} secrets taken out")),
    }
}

/// What came of a call, as far as the person has not seen it already.
pub fn body(end: &ToolCallEnd, printed_live: bool, diff_seen: bool, paint: Paint) -> Vec<String> {
    let mut lines = match &end.display {
        Some(Display::Diff { files }) if !diff_seen => {
            // One file is in the line of the card already.
            let known = usize::from(files.len() == 1);
            let lines = files.iter().flat_map(|file| diff::lines(file, paint, diff::CARD).into_iter().skip(known));
            lines.map(|line| format!("  {line}")).collect()
        }
        Some(Display::Terminal { tail, .. }) if !printed_live => {
            let mut late = Tail::default();
            let mut shown = late.push(tail);
            shown.extend(late.finish());
            indented(&shown, paint)
        }
        Some(Display::Text { text }) => indented(&first_lines(text), paint),
        // A list is for the model; the person sees how long it is in the line of the card.
        Some(Display::Diff { .. } | Display::Terminal { .. } | Display::List { .. }) => Vec::new(),
        None => given(end).map(|text| indented(&first_lines(&text), paint)).unwrap_or_default(),
    };
    if let Some(file) = &end.spilled_to {
        lines.extend(indented(&[format!("all of the output: {}", clean_line(file))], paint));
    }
    lines
}

/// The line of a hook: nothing when it had no objection and nothing to say.
pub fn hook(run: &HookRun, paint: Paint) -> Option<String> {
    let message = run.message.as_deref().map(|message| fitting(&clean_line(message), WORDS));
    let message = message.filter(|message| !message.is_empty() && !run.is_told_by_call());
    // What ran already can't be kept from running.
    let ran = matches!(run.event, HookEvent::PostToolUse | HookEvent::PostToolUseFailure);
    let objects = ran && run.outcome == HookOutcome::Blocked;
    let words = match (run.outcome, message) {
        (HookOutcome::Passed, None) => return None,
        (HookOutcome::Passed, Some(message)) => message,
        (_, None) if objects => "objects".to_owned(),
        (_, Some(message)) if objects => format!("objects: {message}"),
        (HookOutcome::TimedOut, message) => message.unwrap_or_else(|| "timed out".to_owned()),
        (outcome, None) => outcome.to_string(),
        (outcome, Some(message)) => format!("{outcome}: {message}"),
    };
    let line = format!("hook {} {}: {words}", run.event, fitting(&clean_line(&run.hook), HOOK));
    Some(match run.outcome {
        _ if objects => paint.yellow(&format!("! {line}")),
        HookOutcome::Passed | HookOutcome::Allowed | HookOutcome::Asked => paint.dim(&format!("i {line}")),
        HookOutcome::Blocked | HookOutcome::Stopped | HookOutcome::Cancelled => paint.yellow(&format!("⊘ {line}")),
        HookOutcome::Failed | HookOutcome::TimedOut => paint.yellow(&format!("! {line}")),
    })
}

/// Lines of output that belong to a card.
pub fn indented(lines: &[String], paint: Paint) -> Vec<String> {
    lines.iter().map(|line| paint.dim(&format!("{BODY}{line}"))).collect()
}

fn verdict(end: &ToolCallEnd, paint: Paint) -> (String, Option<String>) {
    match (end.status, end.error_code) {
        (CallStatus::Cancelled, Some(ErrorCode::Interrupted)) => (paint.yellow("⊘"), Some(paint.yellow(NOT_RUN))),
        (CallStatus::Cancelled, _) => (paint.yellow("⊘"), Some(paint.yellow("cancelled"))),
        (CallStatus::Error, Some(code)) if is_refusal(code) => {
            (paint.yellow("⊘"), Some(paint.yellow(&refusal(code, &said(end)))))
        }
        (CallStatus::Error, Some(ErrorCode::Interrupted)) => (paint.yellow(UNKNOWN), Some(paint.yellow(INTERRUPTED))),
        (CallStatus::Error, Some(ErrorCode::CommandTimedOut)) => {
            // What the tool adds is worth telling; that it was killed says the code.
            let note = end.last_note().filter(|note| !note.starts_with("killed"));
            let note = note.map(|note| format!(": {}", fitting(&clean_line(note), WORDS))).unwrap_or_default();
            (paint.red("✗"), Some(paint.red(&format!("timed out{note} (3002)"))))
        }
        (CallStatus::Error, Some(ErrorCode::SandboxDenied)) => {
            let said = end.last_note().map_or_else(|| error_words(end), str::to_owned);
            let words = fitting(&clean_line(&said), WORDS);
            (paint.red("✗"), Some(paint.red(&format!("blocked by the sandbox: {words} (3003)"))))
        }
        (CallStatus::Error, Some(code)) => (paint.red("✗"), Some(paint.red(&format!("{} ({code})", said(end))))),
        (CallStatus::Error, None) => (paint.red("✗"), Some(paint.red(&said(end)))),
        (
            CallStatus::Success
            | CallStatus::Validating
            | CallStatus::Scheduled
            | CallStatus::AwaitingApproval
            | CallStatus::Executing,
            _,
        ) => success(end, paint),
    }
}

/// Why a call failed, as long as a person reads it: what a hook or a program says may be whole pages.
fn said(end: &ToolCallEnd) -> String {
    fitting(&clean_line(&error_words(end)), WORDS)
}

/// Whoever rejected a call knows that they did; the policy has to say why.
fn refusal(code: ErrorCode, words: &str) -> String {
    if code != ErrorCode::RejectedByUser {
        return format!("not allowed: {words} ({code})");
    }
    match ToolCallEnd::said_in(words) {
        Some(reason) => format!("rejected: {reason}"),
        None => "rejected".to_owned(),
    }
}

/// A command that ran is a success of the tool, whatever its exit code.
fn success(end: &ToolCallEnd, paint: Paint) -> (String, Option<String>) {
    match &end.display {
        Some(Display::Terminal { exit_code: Some(code), .. }) if *code != 0 => {
            (paint.red("✗"), Some(paint.red(&format!("exit {code}"))))
        }
        Some(Display::List { total, .. }) => (paint.green("✓"), Some(figures::count(*total, "item"))),
        Some(Display::Text { .. } | Display::Diff { .. } | Display::Terminal { .. }) | None => (paint.green("✓"), None),
    }
}

fn changed_lines(files: &[neco_proto::Diff]) -> String {
    let (added, removed) =
        files.iter().fold((0, 0), |(added, removed), file| (added + file.added, removed + file.removed));
    let new = if files.iter().all(|file| file.created) && !files.is_empty() { ", new" } else { "" };
    format!(" (+{added} −{removed}{new})")
}

fn first_lines(text: &str) -> Vec<String> {
    let text = clean(text);
    let total = text.lines().count();
    let mut lines: Vec<String> = text.lines().take(TEXT_LINES).map(str::to_owned).collect();
    if total > TEXT_LINES {
        lines.push(format!("… {} more lines", total - TEXT_LINES));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hook_blocks_what_has_not_run_and_objects_to_what_has() {
        let line = |event: HookEvent| {
            let (outcome, message) = (HookOutcome::Blocked, Some("lint failed".to_owned()));
            let (call_id, message_id) = (None, None);
            let run =
                HookRun { event, hook: "./lint.sh".to_owned(), outcome, duration_ms: 1, message, call_id, message_id };
            hook(&run, Paint::new(false)).unwrap_or_default()
        };
        assert_eq!(line(HookEvent::PostToolUse), "! hook PostToolUse ./lint.sh: objects: lint failed");
        assert_eq!(line(HookEvent::Stop), "⊘ hook Stop ./lint.sh: blocked: lint failed");
    }
}

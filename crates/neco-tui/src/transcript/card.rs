//! A call as a person follows it: one line that says what it is and how it stands, and below it as much
//! of what came of it as is worth the room.

use neco_proto::clean::{clean, clean_line, is_mark};
use neco_proto::event::{CallStatus, ToolCallEnd};
use neco_proto::{Diff, Display, ErrorCode};
use neco_view::reduce::block::Call;
use neco_view::reduce::work::is_refusal;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::block::Drawn;
use super::tail::Tail;
use crate::ask::visible_line;
use crate::text::wrap::{Indent, cut, wrap};
use crate::text::{diff, figures};
use crate::theme::Theme;

/// Lines of a change that are shown without being asked for.
const CHANGE_LINES: usize = 40;

/// Rows of a command's output.
const OUTPUT_ROWS: usize = 6;

/// Rows of it while it runs and the person wants to see more.
const MORE_OUTPUT_ROWS: usize = 24;

/// Entries of a list.
const LIST_ROWS: usize = 4;

/// Lines of a text or of a failure.
const TEXT_LINES: usize = 3;

/// How much of a card is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fold {
    /// The usual.
    Short,
    /// Everything.
    Whole,
}

/// How much of what came of a call would have to be kept to show all of it.
pub fn size(call: &Call) -> usize {
    let shown = |display: &Display| match display {
        Display::Text { text } => text.len(),
        Display::Diff { files } => files.iter().map(|file| file.unified.len()).sum(),
        Display::Terminal { tail, .. } => tail.len(),
        Display::List { items, .. } => items.iter().map(String::len).sum(),
    };
    call.end.as_ref().map_or(0, |end| end.output.len() + end.display.as_ref().map_or(0, shown))
}

/// The rows of a call that printed `tail` so far.
pub fn rows(call: &Call, tail: &Tail, fold: Fold, with: Drawn<'_>) -> Vec<Line<'static>> {
    let live = if with.expanded { MORE_OUTPUT_ROWS } else { OUTPUT_ROWS };
    let body = match &call.end {
        Some(end) => ended_body(end, with.width, fold, with.theme),
        None => tail.rows(with.width, live, with.theme),
    };
    [cut(&heading(call, with), with.width)].into_iter().chain(body).collect()
}

fn heading(call: &Call, with: Drawn<'_>) -> Line<'static> {
    let (mark, style) = mark(call, with.frame, with.theme);
    let mut spans = vec![Span::styled(mark, style), Span::raw(" ")];
    let summary = visible_line(&call.summary);
    let size = size_of_change(call, &summary);
    // What is done, then what it is done to: the eye finds the name.
    match summary.split_once(' ') {
        Some((verb, rest)) => {
            let bold = Style::new().add_modifier(ratatui::style::Modifier::BOLD);
            spans.extend([Span::styled(verb.to_owned(), bold), Span::raw(format!(" {rest}"))]);
        }
        None => spans.push(Span::raw(summary)),
    }
    spans.extend(size.map(|size| Span::styled(size, with.theme.dim)));
    if let Some(note) = note(call, with.now_ms) {
        spans.push(Span::styled(format!(" · {note}"), with.theme.dim));
    }
    Line::from(spans)
}

/// How many lines a change of one file added and removed; those of several are told file by file.
fn size_of_change(call: &Call, summary: &str) -> Option<String> {
    match call.end.as_ref()?.display.as_ref()? {
        Display::Diff { files } => match files.as_slice() {
            [file] if !file.deleted && !summary.contains("(+") => Some(format!(" (+{} −{})", file.added, file.removed)),
            _ => None,
        },
        Display::Text { .. } | Display::Terminal { .. } | Display::List { .. } => None,
    }
}

fn mark(call: &Call, frame: usize, theme: &Theme) -> (&'static str, Style) {
    let refused = call.end.as_ref().is_some_and(|end| end.error_code.is_some_and(is_refusal));
    match call.status {
        CallStatus::Success if call.end.as_ref().is_some_and(went_wrong) => ("✗", theme.bad),
        CallStatus::Validating | CallStatus::Scheduled => ("·", theme.dim),
        CallStatus::AwaitingApproval => ("?", theme.accent),
        CallStatus::Executing => (figures::turning(frame), theme.accent),
        CallStatus::Success => ("✓", theme.good),
        CallStatus::Error if refused => ("⊘", theme.warning),
        CallStatus::Error => ("✗", theme.bad),
        CallStatus::Cancelled => ("■", theme.dim),
    }
}

fn note(call: &Call, now_ms: i64) -> Option<String> {
    match (&call.end, call.started_ms) {
        (Some(end), _) => ended_note(end),
        (None, Some(since)) => {
            let ran = figures::seconds(u64::try_from(now_ms - since).unwrap_or_default());
            (!ran.is_empty()).then(|| ran.trim().to_owned())
        }
        (None, None) => match call.status {
            CallStatus::AwaitingApproval => Some("waits for you".to_owned()),
            CallStatus::Validating if call.written >= 1000 => {
                Some(format!("writing, {}", figures::bytes(call.written as u64)))
            }
            CallStatus::Validating
            | CallStatus::Scheduled
            | CallStatus::Executing
            | CallStatus::Success
            | CallStatus::Error
            | CallStatus::Cancelled => None,
        },
    }
}

fn ended_note(end: &ToolCallEnd) -> Option<String> {
    match (end.error_code, end.status) {
        (Some(code), _) if is_refusal(code) => Some(refusal(code).to_owned()),
        (_, CallStatus::Cancelled) => Some("stopped".to_owned()),
        _ if end.duration_ms >= 1000 => Some(figures::duration(end.duration_ms)),
        _ => None,
    }
}

/// Whether a command was run and says itself that it failed.
fn went_wrong(end: &ToolCallEnd) -> bool {
    matches!(end.display, Some(Display::Terminal { exit_code: Some(code), .. }) if code != 0)
}

fn refusal(code: ErrorCode) -> &'static str {
    if code == ErrorCode::RejectedByUser { "you said no" } else { "not allowed" }
}

fn ended_body(end: &ToolCallEnd, width: usize, fold: Fold, theme: &Theme) -> Vec<Line<'static>> {
    if end.status == CallStatus::Error && !matches!(end.display, Some(Display::Terminal { .. })) {
        return failure(&for_person(end), width, fold, theme);
    }
    match &end.display {
        Some(Display::Diff { files }) => changes(files, width, fold, theme),
        Some(Display::Terminal { tail, exit_code, .. }) if fold == Fold::Short => {
            let mut rows = terminal(tail, printed_lines(end), *exit_code, width, theme);
            let why = cut_short(end).map(|words| Line::styled(words, theme.bad));
            rows.extend(why.iter().flat_map(|why| wrap(why, width, &Indent::all(Span::raw("  ")))));
            rows
        }
        Some(Display::List { items, total, .. }) => list(items, *total, width, fold, theme),
        Some(Display::Text { text }) => limited(text, width, limit(fold, TEXT_LINES), theme),
        // What the model was told is more than what is shown at first.
        Some(Display::Terminal { .. }) | None if fold == Fold::Whole => {
            limited(&for_person(end), width, usize::MAX, theme)
        }
        Some(Display::Terminal { .. }) | None => Vec::new(),
    }
}

/// Why a command did not end by itself.
fn cut_short(end: &ToolCallEnd) -> Option<String> {
    let note = end.last_note().map(clean_line);
    let code = end.error_code?;
    if code == ErrorCode::SandboxDenied {
        return Some(format!("stopped by the sandbox: {}", note?));
    }
    // That it was killed says the word before it.
    let more = note.filter(|note| !note.starts_with("killed")).map(|more| format!(": {more}"));
    (code == ErrorCode::CommandTimedOut).then(|| format!("timed out{}", more.unwrap_or_default()))
}

fn limit(fold: Fold, short: usize) -> usize {
    match fold {
        Fold::Short => short,
        Fold::Whole => usize::MAX,
    }
}

/// What came of it without what is there for the model alone: what it should do now, and the marks around text
/// from outside.
fn for_person(end: &ToolCallEnd) -> String {
    let mut text = end.output.as_str();
    if let Some(code) = end.error_code {
        text = text.strip_prefix(&format!("Error {code}: ")).unwrap_or(text);
        text = text.trim_end().strip_suffix(code.for_model()).unwrap_or(text);
        // Whoever said no knows that they did; what they said with it stands.
        if code == ErrorCode::RejectedByUser {
            text = ToolCallEnd::said_in(text.trim_end()).unwrap_or_default();
        }
    }
    text.lines().filter(|line| !is_mark(line)).collect::<Vec<_>>().join("\n")
}

/// How many lines a command printed: known when the model got all of them. What comes while it runs leaves out
/// parts of a flood.
fn printed_lines(end: &ToolCallEnd) -> Option<usize> {
    if end.spilled_to.is_some() {
        return None;
    }
    let mut lines = end.output.lines();
    lines.by_ref().find(|line| is_mark(line))?;
    Some(lines.take_while(|line| !is_mark(line)).count())
}

fn failure(output: &str, width: usize, fold: Fold, theme: &Theme) -> Vec<Line<'static>> {
    let mut rows = limited(output, width, limit(fold, TEXT_LINES), theme);
    for span in rows.iter_mut().flat_map(|row| &mut row.spans) {
        span.style = theme.bad;
    }
    rows
}

fn changes(files: &[Diff], width: usize, fold: Fold, theme: &Theme) -> Vec<Line<'static>> {
    let mut rows = Vec::new();
    for file in files {
        if files.len() > 1 || file.deleted {
            let what = if file.deleted {
                " deleted"
            } else if file.created {
                " new"
            } else {
                ""
            };
            let heading = format!("  {}{what} (+{} −{})", clean_line(&file.path), file.added, file.removed);
            rows.push(cut(&Line::styled(heading, theme.dim), width));
        }
        if file.deleted && fold == Fold::Short {
            continue;
        }
        let (drawn, beyond) = diff::rows(&clean(&file.unified), width, limit(fold, CHANGE_LINES), theme);
        rows.extend(drawn);
        rows.extend(more(beyond, "more line", "more lines", theme));
    }
    rows
}

/// The end of what was printed, of so many lines, if that is known.
fn terminal(
    tail: &str,
    printed: Option<usize>,
    exit_code: Option<i32>,
    width: usize,
    theme: &Theme,
) -> Vec<Line<'static>> {
    let mut rows = Tail::end_of(tail, printed).rows(width, OUTPUT_ROWS, theme);
    match exit_code {
        Some(0) | None => {}
        Some(code) => rows.push(Line::styled(format!("  exit code {code}"), theme.bad)),
    }
    rows
}

fn list(items: &[String], total: u64, width: usize, fold: Fold, theme: &Theme) -> Vec<Line<'static>> {
    let mut rows: Vec<Line<'static>> = items
        .iter()
        .take(limit(fold, LIST_ROWS))
        .map(|item| cut(&Line::styled(format!("  {}", clean_line(item)), theme.dim), width))
        .collect();
    let beyond = usize::try_from(total).unwrap_or(usize::MAX).saturating_sub(rows.len());
    rows.extend(more(beyond, "more", "more", theme));
    rows
}

/// The first `limit` lines of a text, and how many there are beyond.
fn limited(text: &str, width: usize, limit: usize, theme: &Theme) -> Vec<Line<'static>> {
    let text = clean(text);
    let lines: Vec<&str> = text.trim_end().lines().collect();
    let indent = Indent::all(Span::raw("  "));
    let mut rows = Vec::new();
    for line in lines.iter().take(limit) {
        rows.extend(wrap(&Line::styled(line.replace('\t', "    "), theme.dim), width, &indent));
    }
    rows.extend(more(lines.len().saturating_sub(limit), "more line", "more lines", theme));
    rows
}

/// That there is more, and how it is seen.
fn more(beyond: usize, one: &str, many: &str, theme: &Theme) -> Option<Line<'static>> {
    (beyond > 0).then(|| Line::styled(format!("  … {} (Ctrl-O)", figures::count(beyond, one, many)), theme.dim))
}

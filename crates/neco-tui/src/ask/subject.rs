//! What a call would do, to the last character, with everything written out that a terminal would hide.

use neco_proto::event::{PermissionRequest, Says};
use neco_proto::visible::{self, visible_line};
use neco_view::ask::is_summed_up;
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr;

use crate::text::diff;
use crate::text::wrap::{Indent, cut, cut_front, wrap, wrap_all};
use crate::theme::Theme;

/// The change, the command, or the arguments: at most `most` lines, and how many there are beyond.
pub(super) fn what(
    request: &PermissionRequest,
    width: usize,
    most: usize,
    theme: &Theme,
) -> (Vec<Line<'static>>, usize) {
    if !request.diff.is_empty() {
        return changes(request, width, most, true, theme);
    }
    let mut rows = Vec::new();
    let mut beyond = 0;
    if let Some(command) = request.command.as_deref() {
        let prompt = Indent { first: vec![Span::styled("  $ ", theme.dim)], rest: vec![Span::raw("    ")] };
        let text = visible(command);
        let bold = |line: &str| Line::styled(line.to_owned(), Modifier::BOLD);
        let lines: Vec<Line<'static>> = text.lines().take(most).map(bold).collect();
        beyond = text.lines().count() - lines.len();
        rows.extend(wrap_all(&lines, width, &prompt));
    }
    let (arguments, further) = arguments_of(request, width, most, theme);
    rows.extend(arguments);
    (rows, beyond + further)
}

/// The arguments, to the last character.
pub(super) fn arguments_of(
    request: &PermissionRequest,
    width: usize,
    most: usize,
    theme: &Theme,
) -> (Vec<Line<'static>>, usize) {
    let indent = Indent { first: vec![Span::raw("    ")], rest: vec![Span::raw("      ")] };
    let text = visible(&arguments(&request.args, request.command.as_deref()));
    let lines = text.lines().take(most).map(|line| Line::styled(line.to_owned(), theme.dim));
    let rows = lines.flat_map(|line| wrap(&line, width, &indent)).collect();
    (rows, text.lines().count().saturating_sub(most))
}

/// The lines that a change adds and removes, without those around them.
pub(super) fn changed(request: &PermissionRequest, width: usize, most: usize, theme: &Theme) -> Vec<Line<'static>> {
    changes(request, width, most, false, theme).0
}

fn changes(
    request: &PermissionRequest,
    width: usize,
    most: usize,
    context: bool,
    theme: &Theme,
) -> (Vec<Line<'static>>, usize) {
    let in_question = theme.in_question();
    let mut rows = Vec::new();
    let mut beyond = 0;
    for file in &request.diff {
        let what = if file.deleted {
            " (deleted)"
        } else if file.created {
            " (new)"
        } else {
            ""
        };
        let counts = format!("{what} +{} −{}", file.added, file.removed);
        let path = cut_front(&visible_line(&file.path), width.saturating_sub(counts.width() + 2));
        let heading = format!("  {path}{counts}");
        // Of a single file the head of the panel says it.
        if request.diff.len() > 1 {
            rows.push(cut(&Line::styled(heading, theme.dim), width));
        }
        if is_summed_up(file) {
            let words = "  Too long to show as a change; d shows what would be written";
            rows.push(cut(&Line::styled(words, theme.warning), width));
        } else {
            let look = diff::Look {
                theme: &in_question,
                width,
                limit: most.saturating_sub(rows.len()),
                edge: vec![Span::styled(" ", theme.ask_wash)],
                language: file.path.rsplit('.').next().unwrap_or_default(),
                cuts: false,
                context,
            };
            let (drawn, further) = diff::painted(&visible(&file.unified), look);
            rows.extend(drawn);
            beyond += further;
        }
    }
    (rows, beyond)
}

/// A call in one line that has room: of a command the beginning is seen, of anything else the end, where the name of the
/// file is.
pub(super) fn fitted(summary: &str, says: Says, room: usize) -> String {
    let summary = visible_line(summary);
    if summary.width() <= room || says == Says::Command {
        return summary;
    }
    cut_front(&summary, room)
}

/// The verb of a call's line and what it is done to, without the counts, which are told beside it.
pub(super) fn parted(summary: &str) -> (String, String) {
    let summary = visible_line(summary);
    let short = summary.rsplit_once(" (+").map_or(summary.as_str(), |(short, _)| short);
    let (verb, what) = short.split_once(' ').unwrap_or((short, ""));
    (verb.to_owned(), what.to_owned())
}

/// The counts that a call's line ends with, where it does.
pub(super) fn counted(summary: &str) -> Option<&str> {
    let (_, counts) = summary.rsplit_once(" (+")?;
    let from = summary.len() - counts.len() - 1;
    let is_count = |char: char| char.is_ascii_digit() || matches!(char, '+' | '−' | ' ');
    summary.get(from..)?.strip_suffix(')').filter(|counts| counts.chars().all(is_count))
}

/// Arguments as people read them: a name and a value a line; without the command that is shown above them.
fn arguments(args: &serde_json::Value, command: Option<&str>) -> String {
    let Some(fields) = args.as_object() else { return args.to_string() };
    let value = |value: &serde_json::Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let new = |field: &serde_json::Value| command.is_none() || field.as_str() != command;
    let fields = fields.iter().filter(|(_, field)| new(field));
    fields.map(|(name, field)| format!("{name}: {}\n", value(field))).collect()
}

/// The text with everything written out that a terminal obeys or does not show, and tabs as blanks.
fn visible(text: &str) -> String {
    visible::visible(text).replace('\t', "    ")
}

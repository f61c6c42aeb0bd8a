//! What goes on, and what waits, above the field.

use neco_proto::clean::clean_line;
use neco_proto::event::Admission;
use neco_proto::{Message, TodoStatus};
use neco_view::reduce::standing::GoingBack;
use neco_view::reduce::workflows;
use ratatui::text::{Line, Span};

use super::frame::ROOMY;
use crate::app::WindowState;
use crate::panel::{self, Work};
use crate::text::figures;
use crate::text::wrap::cut;
use crate::theme::Theme;
use crate::transcript::block::Drawn;
use crate::transcript::ledger;
use crate::update::stopping;

/// Rows of the todo list, and of the agents beside it.
const LIST_ROWS: usize = 8;

/// Columns of a row beside its keys below which the keys stand alone.
const LEAST_BEFORE_KEYS: usize = 4;

/// Columns from which on the row of the work names all of its keys.
const WIDE: usize = 96;

/// What goes on, and what waits; `lists` where there is room for what is to be done and who does it.
pub(super) fn work(window: &WindowState, with: Drawn<'_>, room: usize, lists: bool) -> Vec<Line<'static>> {
    let Drawn { width, theme, .. } = with;
    let mut rows = window.shell.rows(with, window.height);
    let lists = lists && lists_work(window);
    if lists && window.picker.is_none() {
        // A small terminal shows less of the list, not less of the work.
        let most = LIST_ROWS.min(room / 3).max(1);
        rows.extend(beside(window, with.now_ms).rows(width, most, theme));
        if let Some(graph) = workflows::running(&window.transcript.view.workflows) {
            rows.extend(panel::strip(graph, false, with.now_ms, width, theme));
        }
    }
    let now: Vec<Line<'static>> =
        queued(window, width).chain(working(window, width, lists)).chain(stopping::still_work(window, width)).collect();
    if !rows.is_empty() && room > ROOMY {
        rows.push(Line::default());
    }
    rows.extend(now);
    rows
}

/// Whether what is to be done and who does it are lists: at work where there is room, unless the person wants the
/// other.
fn lists_work(window: &WindowState) -> bool {
    let panels = &window.panels;
    if window.rests() { panels.at_rest } else { Work::has_room((window.width, window.height)) == panels.work }
}

fn beside(window: &WindowState, now_ms: i64) -> Work<'_> {
    let todos = if window.panels.hides_todos { [].as_slice() } else { window.transcript.view.todos.as_slice() };
    Work { todos, agents: window.agents(), works: window.standing().works(), now_ms }
}

/// What was said and waits.
fn queued(window: &WindowState, width: usize) -> impl Iterator<Item = Line<'static>> {
    let theme = &window.theme;
    let count = window.transcript.waiting().count();
    let works = window.standing().works();
    window.transcript.waiting().enumerate().map(move |(index, waiting)| {
        let when = match (works, waiting.waits == Some(Admission::AfterWork)) {
            (true, true) => "after the work",
            (true, false) => "next turn",
            // Whoever stopped the work does not want it to go on by itself.
            (false, _) => "goes with your next message",
        };
        let takes_back = index + 1 == count && window.prompt.text.is_empty() && !window.prompt.has_put_away();
        let keys = if takes_back { ledger::keys(&[("↑", "take back")], theme) } else { Vec::new() };
        let right: usize = keys.iter().map(Span::width).sum();
        let head = ledger::head(Span::styled("⋯", theme.dim), "Next", theme.dim);
        let when = vec![Span::styled(format!(" · {when}"), theme.dim)];
        let text = vec![Span::raw(clean_line(Message::written(&waiting.text)))];
        let left = ledger::row(head, text, when, width.saturating_sub(right + 3));
        ledger::sprung(left.spans, keys, width)
    })
}

/// The row of the work; where there is no room for lists it says what is being done, and who else works.
fn working(window: &WindowState, width: usize, lists: bool) -> Option<Line<'static>> {
    let theme = &window.theme;
    let beside = beside(window, window.now_ms);
    let todo = if lists || !window.desk.is_empty() { None } else { beside.line(theme) };
    let works = window.standing().works() && window.desk.is_empty();
    let (verb, about, ms) = if let Some(GoingBack { since_ms, files }) = window.standing().going_back {
        let far = files.map(|(done, total)| format!(" · {done} of {total} files")).unwrap_or_default();
        ("Rewind", far, window.now_ms - since_ms)
    } else if works {
        let since = window.standing().since_ms.unwrap_or(window.now_ms);
        let verb = if window.standing().compacting { "Compact" } else { "Work" };
        let others = if lists { String::new() } else { beside.others() };
        (verb, format!("{others}{}", progress(window)), window.leaving.shown_ms(window.now_ms) - since)
    } else if let Some((text, far)) = todo {
        // What nobody has begun does not rest.
        let is_begun = window.transcript.view.todos.iter().any(|todo| todo.status == TodoStatus::InProgress);
        let mark = if is_begun { Span::styled(" ‖ ", theme.accent) } else { Span::styled(" ○ ", theme.dim) };
        let spans = std::iter::once(mark).chain(text).chain([Span::styled(far, theme.dim)]).collect();
        return Some(with_keys(theme, spans, &[("Ctrl-T", "more")], width));
    } else {
        return None;
    };
    let time = figures::clock(u64::try_from(ms).unwrap_or_default());
    let turning = Span::styled(figures::turning(window.frame), theme.accent);
    let is_work = works && !window.standing().compacting;
    if let Some((text, far)) = todo.filter(|_| is_work) {
        let far = Span::styled(format!("{far} · {time}"), theme.dim);
        let spans = [Span::raw(" "), turning, Span::raw(" ")].into_iter().chain(text).chain([far]).collect();
        return Some(with_keys(theme, spans, &[("Ctrl-T", "more"), ("Esc", "stop")], width));
    }
    let mut spans = ledger::head(turning, verb, theme.accent);
    spans.push(Span::styled(format!("{time}{about}"), theme.dim));
    let keys: &[(&str, &str)] = match is_work {
        true if width >= WIDE => &[("Enter", "next turn"), ("Tab", "after the work"), ("Esc", "stop")],
        true => &[("Esc", "stop")],
        false if works => &[("Esc", "stop")],
        false => &[],
    };
    Some(with_keys(theme, spans, keys, width))
}

/// A row with keys at its end: of the row as much as leaves room for the last of them.
fn with_keys(theme: &Theme, spans: Vec<Span<'static>>, keys: &[(&str, &str)], width: usize) -> Line<'static> {
    let wide = spans.iter().map(Span::width).sum::<usize>();
    let right = |from: usize| ledger::keys(keys.get(from..).unwrap_or_default(), theme);
    let measured = |spans: &[Span<'static>]| spans.iter().map(Span::width).sum::<usize>();
    let from = (0..keys.len()).find(|from| wide + measured(&right(*from)) + 3 <= width);
    before_keys(spans, right(from.unwrap_or(keys.len().saturating_sub(1))), width)
}

/// How far the present work is, and what it used.
fn progress(window: &WindowState) -> String {
    if window.standing().compacting {
        return String::new();
    }
    let turn = format!(" · turn {}", window.standing().iteration.max(1));
    let (used, before) = (window.standing().usage, window.standing().used_before);
    let (input, output) = (used.input.saturating_sub(before.input), used.output.saturating_sub(before.output));
    match input + output {
        0 => turn,
        _ => format!("{turn} · {} in, {} out", figures::tokens(input), figures::tokens(output)),
    }
}

/// A row with these keys at its end: of the row as much as leaves room for them, or nothing where that says nothing.
pub(crate) fn before_keys(left: Vec<Span<'static>>, keys: Vec<Span<'static>>, width: usize) -> Line<'static> {
    let room = width.saturating_sub(keys.iter().map(Span::width).sum::<usize>() + 3);
    if room < LEAST_BEFORE_KEYS && !keys.is_empty() {
        return cut(&Line::from_iter(std::iter::once(Span::raw(" ")).chain(keys)), width);
    }
    ledger::sprung(cut(&Line::from(left), room).spans, keys, width)
}

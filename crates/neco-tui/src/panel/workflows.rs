//! Workflows: what waits for what, and how far it is.

use neco_proto::clean::clean_line;
use neco_proto::event::{TaskState, WorkflowGraph, WorkflowState, WorkflowTask};
use neco_view::paint::text::workflow::depths;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::heading::heading;
use crate::text::figures;
use crate::text::wrap::{Indent, cut, wrap};
use crate::theme::Theme;

/// How deep tasks are shown below each other.
const DEEPEST: usize = 16;

/// Rows of what follows what in a strip.
const STRIP: usize = 2;

/// How far a workflow is: its heading is its meter, below it what follows what.
pub fn strip(graph: &WorkflowGraph, chosen: bool, now_ms: i64, width: usize, theme: &Theme) -> Vec<Line<'static>> {
    let done = graph.tasks.iter().filter(|task| task.state.is_final()).count();
    let first = graph.tasks.iter().filter_map(|task| task.started).min();
    let last = match graph.state {
        WorkflowState::Running => Some(now_ms),
        _ => graph.tasks.iter().filter_map(|task| task.ended).max().map(|time| time.as_millisecond()),
    };
    let mut about = format!("workflow, {}{done} of {} steps", state(graph.state), graph.tasks.len());
    if let (Some(first), Some(last)) = (first, last) {
        let took = u64::try_from(last - first.as_millisecond()).unwrap_or_default();
        about.push_str(&format!(" · {}", figures::lasted(took)));
    }
    let about = vec![Span::styled(about, theme.dim)];
    let mut head = heading(&clean_line(&graph.name), about, Some((done, graph.tasks.len())), width, theme);
    if chosen && let Some(rule) = head.spans.first_mut() {
        *rule = Span::styled(" ❯ ", theme.accent);
        head = theme.choose(head);
    }
    let mut spans = vec![Span::raw("   ")];
    let depths = depths(&graph.tasks);
    let deepest = depths.iter().copied().max().unwrap_or_default();
    for level in 0..=deepest {
        if level > 0 {
            spans.push(Span::styled("→  ", theme.dim));
        }
        for (task, _) in graph.tasks.iter().zip(&depths).filter(|(_, depth)| **depth == level) {
            let (mark, style) = mark(task.state, theme);
            let name = if task.state == TaskState::Running { Style::default() } else { theme.dim };
            spans.push(Span::styled(format!("{mark} "), style));
            spans.push(Span::styled(format!("{}  ", clean_line(&task.id)), name));
        }
    }
    let steps = wrap(&Line::from(spans), width, &Indent { first: Vec::new(), rest: vec![Span::raw("   ")] });
    std::iter::once(head).chain(steps.into_iter().take(STRIP)).collect()
}

fn state(state: WorkflowState) -> String {
    if state == WorkflowState::Running { String::new() } else { format!("{state}, ") }
}

/// A workflow as an entry of a list.
pub fn workflow_words(graph: &WorkflowGraph) -> (String, String) {
    let done = graph.tasks.iter().filter(|task| task.state.is_final()).count();
    let running: Vec<String> =
        graph.tasks.iter().filter(|task| task.state == TaskState::Running).map(|task| clean_line(&task.id)).collect();
    let now = if running.is_empty() { String::new() } else { format!(" · {}", running.join(", ")) };
    (
        format!("workflow {}", clean_line(&graph.name)),
        format!("{}, {done} of {} tasks{now}", graph.state, graph.tasks.len()),
    )
}

/// All tasks, those that wait for others below them.
pub fn workflow_rows(graph: &WorkflowGraph, width: usize, theme: &Theme) -> Vec<Line<'static>> {
    let (text, about) = workflow_words(graph);
    let mut rows = vec![cut(&Line::styled(format!("{text} · {about}"), theme.heading), width)];
    let depths = depths(&graph.tasks).into_iter().map(|depth| depth.min(DEEPEST));
    let mut tasks: Vec<(usize, &WorkflowTask)> = depths.zip(&graph.tasks).collect();
    tasks.sort_by_key(|(depth, _)| *depth);
    rows.extend(tasks.into_iter().map(|(depth, task)| cut(&row(depth, task, theme), width)));
    rows
}

fn row(depth: usize, task: &WorkflowTask, theme: &Theme) -> Line<'static> {
    let (mark, style) = mark(task.state, theme);
    let mut about = format!(" · {} · {}", task.kind, task.state);
    if let (Some(started), Some(ended)) = (task.started, task.ended) {
        let took = ended.as_millisecond().saturating_sub(started.as_millisecond());
        about.push_str(&format!(" · {}", figures::duration(u64::try_from(took).unwrap_or_default())));
    }
    if task.attempts > 1 {
        about.push_str(&format!(" · {} tries", task.attempts));
    }
    if !task.needs.is_empty() {
        about.push_str(&format!(" · after {}", clean_line(&task.needs.join(", "))));
    }
    if let Some(error) = &task.error {
        about.push_str(&format!(" · {}", clean_line(error)));
    }
    Line::from(vec![
        Span::raw("  ".repeat(depth + 1)),
        Span::styled(format!("{mark} "), style),
        Span::raw(clean_line(&task.id)),
        Span::styled(about, theme.dim),
    ])
}

fn mark(state: TaskState, theme: &Theme) -> (&'static str, Style) {
    match state {
        TaskState::Pending | TaskState::Ready => ("○", theme.dim),
        TaskState::Running => ("◔", theme.accent),
        TaskState::Completed => ("✓", theme.good),
        TaskState::Failed => ("✕", theme.bad),
        TaskState::Cancelled | TaskState::Skipped => ("⊘", theme.dim),
    }
}

//! Workflows: what waits for what, and how far it is.

use neco_proto::clean::clean_line;
use neco_proto::event::{TaskState, WorkflowGraph, WorkflowTask};
use neco_view::paint::text::workflow::depths;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::text::figures;
use crate::text::wrap::cut;
use crate::theme::Theme;

/// How deep tasks are shown below each other.
const DEEPEST: usize = 16;

/// A workflow in one row.
pub fn workflow_line(graph: &WorkflowGraph, width: usize, theme: &Theme) -> Line<'static> {
    let (text, about) = workflow_words(graph);
    cut(&Line::from(vec![Span::raw(format!("  {text}")), Span::styled(format!(" · {about}"), theme.dim)]), width)
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
    let (mark, style) = match task.state {
        TaskState::Pending | TaskState::Ready => ("○", Style::default()),
        TaskState::Running => ("◐", theme.accent),
        TaskState::Completed => ("✓", theme.good),
        TaskState::Failed => ("✗", theme.bad),
        TaskState::Cancelled => ("■", theme.dim),
        TaskState::Skipped => ("⊘", theme.dim),
    };
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

//! Workflows: what waits for what, and how far it is.

use std::collections::HashMap;

use neco_proto::clean::clean_line;
use neco_proto::event::{TaskState, WorkflowGraph, WorkflowTask};
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::text::figures;
use crate::text::wrap::cut;
use crate::theme::Theme;

/// A workflow in one row.
#[must_use]
pub fn workflow_line(graph: &WorkflowGraph, width: usize, theme: &Theme) -> Line<'static> {
    let (text, about) = workflow_words(graph);
    cut(&Line::from(vec![Span::raw(format!("  {text}")), Span::styled(format!(" · {about}"), theme.dim)]), width)
}

/// A workflow as an entry of a list.
#[must_use]
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
#[must_use]
pub fn workflow_rows(graph: &WorkflowGraph, width: usize, theme: &Theme) -> Vec<Line<'static>> {
    let (text, about) = workflow_words(graph);
    let mut rows = vec![cut(&Line::styled(format!("{text} · {about}"), theme.heading), width)];
    let depths = depths(&graph.tasks);
    let mut tasks: Vec<(usize, &WorkflowTask)> =
        graph.tasks.iter().map(|task| (depths.get(task.id.as_str()).copied().unwrap_or(0), task)).collect();
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

/// How many tasks stand in a row before each; a circle, which no workflow may have, ends the count.
fn depths(tasks: &[WorkflowTask]) -> HashMap<&str, usize> {
    let mut depths: HashMap<&str, usize> = tasks.iter().map(|task| (task.id.as_str(), 0)).collect();
    for _ in 0..tasks.len().min(16) {
        for task in tasks {
            let below =
                task.needs.iter().filter_map(|need| depths.get(need.as_str())).max().map_or(0, |depth| depth + 1);
            depths.insert(task.id.as_str(), below);
        }
    }
    depths.values_mut().for_each(|depth| *depth = (*depth).min(16));
    depths
}

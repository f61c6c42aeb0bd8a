//! The todo list and the plan.

use neco_proto::clean::{clean, clean_line};
use neco_proto::{Plan, PlanStep, Todo, TodoStatus};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use super::heading::heading;
use crate::text::markdown;
use crate::text::wrap::cut;
use crate::theme::Theme;

/// Whether something of a list is open.
pub fn is_open(todos: &[Todo]) -> bool {
    todos.iter().any(|todo| !todo.status.is_closed())
}

/// How much of a list is done, and how long it is.
pub fn done_of(todos: &[Todo]) -> (usize, usize) {
    (todos.iter().filter(|todo| todo.status == TodoStatus::Completed).count(), todos.len())
}

/// What of a list is being worked on, or comes next.
pub fn present(todos: &[Todo]) -> Option<&Todo> {
    let find = |status: TodoStatus| todos.iter().find(|todo| todo.status == status);
    find(TodoStatus::InProgress).or_else(|| find(TodoStatus::Pending))
}

/// The list below its heading, around what is being worked on when not all of it has room. `works` where somebody works
/// on it now.
pub fn todo_rows(todos: &[Todo], width: usize, most: usize, works: bool, theme: &Theme) -> Vec<Line<'static>> {
    let (done, all) = done_of(todos);
    let outline = Todo::outline(todos);
    let present = outline.iter().position(|(_, todo)| todo.status == TodoStatus::InProgress).unwrap_or_default();
    let first = if outline.len() > most { present.saturating_sub(1).min(outline.len() - most) } else { 0 };
    let count = vec![Span::styled(format!("{done} of {all}"), theme.dim)];
    let mut rows = vec![heading("Todo", count, Some((done, all)), width, theme)];
    for (depth, todo) in outline.iter().skip(first).take(most) {
        let (mark, glyph, text) = match todo.status {
            TodoStatus::Pending => ("○", theme.dim, theme.label),
            TodoStatus::InProgress => {
                (if works { "◔" } else { "‖" }, theme.accent, Style::new().add_modifier(Modifier::BOLD))
            }
            TodoStatus::Completed => ("✓", theme.good, theme.dim),
            TodoStatus::Cancelled => ("⊘", theme.dim, theme.dim),
        };
        let indent = "  ".repeat(*depth);
        let spans = vec![Span::styled(format!(" {indent}{mark} "), glyph), Span::styled(clean_line(&todo.text), text)];
        rows.push(cut(&Line::from(spans), width.saturating_sub(1)));
    }
    let beyond = outline.len().saturating_sub(first + most);
    if beyond > 0 {
        rows.push(Line::styled(format!("   … {beyond} more"), theme.dim));
    }
    rows
}

/// The plan and how far it is.
pub fn plan_rows(plan: &Plan, width: usize, theme: &Theme) -> Vec<Line<'static>> {
    let steps = || plan.steps.iter().filter(|step| !step.text.trim().is_empty());
    let (done, all) = (steps().filter(|step| step.done).count(), steps().count());
    // A plan without steps is told as it was written.
    if all == 0 {
        let heading = heading("Plan", vec![Span::styled(plan.status.to_string(), theme.dim)], None, width, theme);
        let text = markdown::rows(&clean(plan.text.trim()), width, theme);
        return std::iter::once(heading).chain(text).collect();
    }
    let count = format!("{}, {done} of {all} steps done", plan.status);
    let heading = heading("Plan", vec![Span::styled(count, theme.dim)], Some((done, all)), width, theme);
    let row = |step: &PlanStep| {
        let (mark, style) = if step.done { ("✓", theme.dim) } else { ("○", theme.label) };
        cut(&Line::styled(format!(" {mark} {}", clean_line(&step.text)), style), width)
    };
    std::iter::once(heading).chain(steps().map(row)).collect()
}

//! The todo list and the plan.

use neco_proto::clean::clean_line;
use neco_proto::{Plan, PlanStep, Todo, TodoStatus};
use ratatui::style::{Modifier, Style};
use ratatui::text::Line;

use crate::text::wrap::cut;
use crate::theme::Theme;

/// The list as long as something of it is open.
pub fn open_todos(todos: &[Todo], width: usize, most: usize, theme: &Theme) -> Vec<Line<'static>> {
    if todos.iter().all(|todo| todo.status.is_closed()) {
        return Vec::new();
    }
    todo_rows(todos, width, most, theme)
}

/// The list, around what is being worked on when not all of it has room.
pub fn todo_rows(todos: &[Todo], width: usize, most: usize, theme: &Theme) -> Vec<Line<'static>> {
    let done = todos.iter().filter(|todo| todo.status == TodoStatus::Completed).count();
    let outline = Todo::outline(todos);
    let present = outline.iter().position(|(_, todo)| todo.status == TodoStatus::InProgress).unwrap_or_default();
    let first = if outline.len() > most { present.saturating_sub(1).min(outline.len() - most) } else { 0 };
    let mut rows = vec![Line::styled(format!("todos {done} of {}", todos.len()), theme.dim)];
    for (depth, todo) in outline.iter().skip(first).take(most) {
        let (mark, style) = match todo.status {
            TodoStatus::Pending => ("○", Style::default()),
            TodoStatus::InProgress => ("◐", theme.accent.add_modifier(Modifier::BOLD)),
            TodoStatus::Completed => ("●", theme.dim.add_modifier(Modifier::CROSSED_OUT)),
            TodoStatus::Cancelled => ("⊘", theme.dim),
        };
        let text = format!("{}{mark} {}", "  ".repeat(depth + 1), clean_line(&todo.text));
        rows.push(cut(&Line::styled(text, style), width));
    }
    let beyond = outline.len().saturating_sub(first + most);
    if beyond > 0 {
        rows.push(Line::styled(format!("  … {beyond} more"), theme.dim));
    }
    rows
}

/// The plan and how far it is.
pub fn plan_rows(plan: &Plan, width: usize, theme: &Theme) -> Vec<Line<'static>> {
    let done = plan.steps.iter().filter(|step| step.done).count();
    let heading = format!("plan: {}, {done} of {} steps done", plan.status, plan.steps.len());
    let row = |step: &PlanStep| {
        let (mark, style) = if step.done { ("●", theme.dim) } else { ("○", Style::default()) };
        cut(&Line::styled(format!("  {mark} {}", clean_line(&step.text)), style), width)
    };
    std::iter::once(Line::styled(heading, theme.heading)).chain(plan.steps.iter().map(row)).collect()
}

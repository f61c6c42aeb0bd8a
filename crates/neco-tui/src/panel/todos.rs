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
        let mark = Span::styled(format!(" {indent}{mark} "), glyph);
        let spans = std::iter::once(mark).chain(with_code(&clean_line(&todo.text), text, theme));
        rows.push(cut(&Line::from_iter(spans), width.saturating_sub(1)));
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
        let mark = Span::styled(format!(" {mark} "), style);
        cut(&Line::from_iter(std::iter::once(mark).chain(with_code(&clean_line(&step.text), style, theme))), width)
    };
    std::iter::once(heading).chain(steps().map(row)).collect()
}

/// Words with the code between backticks on its own ground; where there are no grounds the backticks stay.
pub(super) fn with_code(text: &str, style: Style, theme: &Theme) -> Vec<Span<'static>> {
    if !theme.has_washes() || text.matches('`').count() % 2 == 1 {
        return vec![Span::styled(text.to_owned(), style)];
    }
    let piece = |(index, piece): (usize, &str)| {
        let style = if index % 2 == 1 { style.patch(theme.code) } else { style };
        Span::styled(piece.to_owned(), style)
    };
    text.split('`').enumerate().map(piece).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theme::ThemeName;

    #[test]
    fn code_has_a_ground_or_its_backticks() {
        let words = |text: &str, name: ThemeName| -> String {
            with_code(text, Style::new(), &Theme::new(name)).iter().map(|span| span.content.as_ref()).collect()
        };
        assert_eq!(words("Retry in `put_part` once", ThemeName::Dark), "Retry in put_part once");
        assert_eq!(words("Retry in `put_part` once", ThemeName::Plain), "Retry in `put_part` once");
        assert_eq!(words("a lone ` stays", ThemeName::Dark), "a lone ` stays");
        let dark = Theme::new(ThemeName::Dark);
        let spans = with_code("in `put_part`", Style::new(), &dark);
        assert_eq!(spans.get(1).map(|span| span.style), Some(dark.code));
    }
}

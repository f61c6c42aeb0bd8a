//! The todo list and the agents beside the work: next to each other where the window is wide, below each other where it
//! is high, else in a row.

use neco_proto::Todo;
use neco_proto::clean::clean_line;
use ratatui::text::{Line, Span};

use super::agents::agent_rows;
use super::todos::{done_of, is_open, present, todo_rows, with_code};
use crate::text::figures;
use crate::theme::Theme;
use neco_view::reduce::Agents;

/// Columns from which on both stand next to each other, and a window that is as wide and as high from which on they
/// stand below each other.
const BESIDE: (usize, usize) = (100, 22);
const STACKED: (usize, usize) = (80, 30);

/// What is to be done, and who does it.
#[derive(Clone, Copy)]
pub struct Work<'a> {
    pub todos: &'a [Todo],
    pub agents: &'a Agents,
    /// Whether the root works.
    pub works: bool,
    pub now_ms: i64,
}

impl Work<'_> {
    /// Whether a window of this size has room for lists.
    pub fn has_room((width, height): (usize, usize)) -> bool {
        let fits = |(wide, high): (usize, usize)| width >= wide && height >= high;
        fits(BESIDE) || fits(STACKED)
    }

    /// Both lists, each with at most `most` rows below its heading.
    pub fn rows(&self, width: usize, most: usize, theme: &Theme) -> Vec<Line<'static>> {
        let todos = |width: usize| match is_open(self.todos) {
            true => todo_rows(self.todos, width, most, self.works, theme),
            false => Vec::new(),
        };
        let agents = |width: usize| agent_rows(self.agents, width, most, self.now_ms, theme);
        if width < BESIDE.0 || !is_open(self.todos) || self.agents.live() == 0 {
            return todos(width).into_iter().chain(agents(width)).collect();
        }
        let half = width / 2;
        let (left, right) = (todos(half), agents(width - half));
        let row = |index: usize| {
            let mut row = left.get(index).cloned().unwrap_or_default();
            // A row that is styled as a whole would style what stands next to it.
            let style = std::mem::take(&mut row.style);
            row.spans.iter_mut().for_each(|span| span.style = style.patch(span.style));
            row.push_span(Span::raw(" ".repeat(half.saturating_sub(row.width()))));
            let beside = right.get(index).cloned().unwrap_or_default();
            let style = beside.style;
            row.spans.extend(beside.spans.into_iter().map(|span| Span { style: style.patch(span.style), ..span }));
            row
        };
        (0..left.len().max(right.len())).map(row).collect()
    }

    /// What is being worked on, and behind it how much is done and how many work.
    pub fn line(&self, theme: &Theme) -> Option<(Vec<Span<'static>>, String)> {
        let todo = present(self.todos).filter(|_| is_open(self.todos))?;
        let (done, all) = done_of(self.todos);
        let text = with_code(&clean_line(&todo.text), theme.heading, theme);
        Some((text, format!("  {done} of {all}{}", self.others())))
    }

    /// How many agents work besides.
    pub fn others(&self) -> String {
        match self.agents.working().count() {
            0 => String::new(),
            count => format!(" · {}", figures::count(count, "agent", "agents")),
        }
    }
}

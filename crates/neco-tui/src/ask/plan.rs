//! Is this the plan?

use neco_proto::clean::clean;
use neco_view::ask::{PLAN_ANSWERS, PlanAnswer};
use ratatui::text::{Line, Span};

use crate::text::markdown;
use crate::text::wrap::{Indent, cut, wrap};
use crate::theme::Theme;

/// The answers that are listed, each with its words.
fn listed() -> impl Iterator<Item = (&'static str, &'static PlanAnswer)> {
    PLAN_ANSWERS.iter().filter_map(|answer| Some((answer.listed?, answer)))
}

/// A plan that waits.
#[derive(Clone, Debug, Default)]
pub struct PlanBox {
    at: usize,
}

impl PlanBox {
    /// One row up or down.
    pub fn step(&mut self, down: bool) {
        let count = listed().count();
        self.at = if down { (self.at + 1) % count } else { (self.at + count - 1) % count };
    }

    /// The answer of a number, from 1; the present one without.
    pub fn answer(&self, number: Option<usize>) -> Option<&'static PlanAnswer> {
        let at = number.map_or(Some(self.at), |number| number.checked_sub(1))?;
        listed().nth(at).map(|(_, answer)| answer)
    }

    /// The rows of the box; the plan itself has its place in the scrollback.
    pub fn rows(&self, width: usize, theme: &Theme) -> Vec<Line<'static>> {
        let mut rows = vec![Line::styled("? the plan above", theme.accent)];
        for (index, (words, _)) in listed().enumerate() {
            let here = index == self.at;
            let style = if here { theme.chosen } else { ratatui::style::Style::default() };
            let pointer = if here { "❯ " } else { "  " };
            let line = Line::styled(format!("{pointer}{}. {}", index + 1, words), style);
            rows.extend(wrap(&line, width, &Indent { first: Vec::new(), rest: vec![Span::raw("     ")] }));
        }
        rows.push(cut(&Line::styled("↑↓ or a number, Enter · Esc drops it", theme.dim), width));
        rows
    }
}

/// The plan as it goes into the scrollback, under its own heading where it has one.
pub fn plan_rows(plan: &str, width: usize, theme: &Theme) -> Vec<Line<'static>> {
    let rows = markdown::rows(&clean(plan), width, theme);
    if plan.trim_start().starts_with('#') {
        return rows;
    }
    [Line::styled("The plan", theme.heading), Line::default()].into_iter().chain(rows).collect()
}

//! Is this the plan?

use neco_proto::clean::clean;
use neco_proto::{ApprovalMode, Reply};
use ratatui::text::{Line, Span};

use crate::text::markdown;
use crate::text::wrap::{Indent, cut, wrap};
use crate::theme::Theme;

/// What can be chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// Carry it out, and ask as before.
    Accept,
    /// Carry it out without asking for what is not critical.
    AcceptAuto,
    /// Make it better.
    Revise,
    /// Nothing comes of it.
    Drop,
}

impl Choice {
    /// In the order they are shown.
    pub const ALL: [Self; 4] = [Self::Accept, Self::AcceptAuto, Self::Revise, Self::Drop];

    fn words(self) -> &'static str {
        match self {
            Self::Accept => "carry it out, asking as before",
            Self::AcceptAuto => "carry it out, asking only for what is critical",
            Self::Revise => "send it back: say what should be different",
            Self::Drop => "drop it",
        }
    }

    /// The reply; none when the person is to say something first.
    pub fn reply(self) -> Option<Reply> {
        match self {
            Self::Accept => Some(Reply::AcceptPlan { approval: None, comments: None }),
            Self::AcceptAuto => Some(Reply::AcceptPlan { approval: Some(ApprovalMode::Auto), comments: None }),
            Self::Revise => None,
            Self::Drop => Some(Reply::DropPlan),
        }
    }
}

/// A plan that waits.
#[derive(Clone, Debug, Default)]
pub struct PlanBox {
    at: usize,
}

impl PlanBox {
    /// The first choice is chosen.
    pub fn new() -> Self {
        Self { at: 0 }
    }

    /// One row up or down.
    pub fn step(&mut self, down: bool) {
        let count = Choice::ALL.len();
        self.at = if down { (self.at + 1) % count } else { (self.at + count - 1) % count };
    }

    /// The choice of a number, from 1; the present one without.
    pub fn choice(&self, number: Option<usize>) -> Option<Choice> {
        Choice::ALL.get(number.map_or(Some(self.at), |number| number.checked_sub(1))?).copied()
    }

    /// The rows of the box; the plan itself has its place in the scrollback.
    pub fn rows(&self, width: usize, theme: &Theme) -> Vec<Line<'static>> {
        let mut rows = vec![Line::styled("? the plan above", theme.accent)];
        for (index, choice) in Choice::ALL.into_iter().enumerate() {
            let here = index == self.at;
            let style = if here { theme.chosen } else { ratatui::style::Style::default() };
            let pointer = if here { "❯ " } else { "  " };
            let line = Line::styled(format!("{pointer}{}. {}", index + 1, choice.words()), style);
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

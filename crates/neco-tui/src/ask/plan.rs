//! Is this the plan?

use neco_proto::clean::clean;
use neco_view::ask::{PLAN_ANSWERS, PlanAnswer, PlanMeans};
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};

use super::approval::Asks;
use super::edge::{Answer, Tints};
use crate::text::markdown;
use crate::theme::Theme;

/// The answers that are listed, each with its words.
fn listed() -> impl Iterator<Item = (&'static str, &'static PlanAnswer)> {
    PLAN_ANSWERS.iter().filter_map(|answer| Some((answer.listed?, answer)))
}

/// A plan that waits.
#[derive(Clone, Debug, Default)]
pub struct PlanBox {
    at: usize,
    /// Rows that were scrolled past, while the plan is shown above the answers, and rows of it that were shown last.
    details: Option<usize>,
    page: usize,
    /// The plan, as it is changed by whoever edits it.
    pub plan: String,
}

impl PlanBox {
    pub fn new(plan: String) -> Self {
        Self { plan, ..Self::default() }
    }

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

    /// Goes to the answer of a letter; whether there is one.
    pub fn go_to(&mut self, letter: char) -> bool {
        let found = listed().position(|(_, answer)| answer.key == letter);
        self.at = found.unwrap_or(self.at);
        found.is_some()
    }

    /// The plan is shown above the answers, or not any more.
    pub fn toggle_details(&mut self) {
        self.details = if self.details.is_some() { None } else { Some(0) };
    }

    /// Whether the plan is shown above the answers.
    pub fn is_whole(&self) -> bool {
        self.details.is_some()
    }

    /// Scrolls a page in the plan; false when it is not shown.
    pub fn scroll(&mut self, down: bool) -> bool {
        let Some(from) = &mut self.details else { return false };
        let page = self.page.saturating_sub(1).max(1);
        *from = if down { *from + page } else { from.saturating_sub(page) };
        true
    }

    /// As much of the plan as there is room for.
    fn seen(&mut self, width: usize, room: usize, tints: &Tints, theme: &Theme) -> Vec<Line<'static>> {
        let Some(from) = self.details else { return Vec::new() };
        let all = markdown::rows(&clean(&self.plan), width.saturating_sub(4).max(8), theme);
        let most = if all.len() <= room { all.len() } else { room.saturating_sub(1) };
        let from = from.min(all.len().saturating_sub(most));
        (self.page, self.details) = (most, Some(from));
        let shown = format!("rows {} to {} of {} · PgUp PgDn", from + 1, from + most, all.len());
        let shown = (most < all.len()).then(|| Line::styled(shown, tints.meta));
        let indented = |row: Line<'static>| {
            let style = row.style;
            tints.row(Line::from_iter(std::iter::once(Span::raw("  ")).chain(row.spans)).style(style))
        };
        all.into_iter().skip(from).take(most).chain(shown).map(indented).collect()
    }

    /// The rows of the panel; the plan itself has its place in the scrollback, and `d` shows it here as well.
    pub fn rows(&mut self, asks: Asks<'_>, width: usize, room: usize, theme: &Theme) -> Vec<Line<'static>> {
        let tints = Tints::of(theme);
        let head = |_| vec![Span::styled("◆ ", tints.edge), Span::styled("Carry out this plan?", Modifier::BOLD)];
        let mut rows = vec![tints.head(head, &[vec![Span::styled("plan mode", tints.meta)], Vec::new()], width)];
        let answers: Vec<Answer> = listed()
            .map(|(words, answer)| Answer {
                key: Some(answer.key),
                words: words.to_owned(),
                short: answer.label.to_owned(),
                ..Answer::default()
            })
            .collect();
        let numbers = format!("or 1–{}", answers.len());
        let enter = ("↑↓ Enter", numbers.as_str());
        let keys = match (asks.elsewhere, self.is_whole()) {
            _ if asks.revises => {
                tints.keys(&[("Enter", "sends it back with your words"), ("Esc", "back to the answers")], width)
            }
            (true, _) => tints.keys(&Tints::ELSEWHERE, width),
            (false, true) => tints.keys(&[enter, ("Esc or d", "back")], width),
            (false, false) => tints.keys(&[enter, ("d", "the plan"), ("Esc", "no, keep planning")], width),
        };
        let at = match asks.revises {
            true => listed().position(|(_, answer)| answer.means == PlanMeans::Revise),
            false => Some(self.at).filter(|_| !asks.elsewhere),
        };
        if self.is_whole() {
            let short = tints.short_answers(&answers, at, width);
            let left = room.saturating_sub(rows.len() + short.len() + keys.len()).max(1);
            rows.extend(self.seen(width, left, &tints, theme));
            rows.extend(short);
            rows.extend(keys);
            return rows;
        }
        let list = tints.answers(&answers, at, (usize::MAX, usize::MAX), width);
        let blanks = rows.len() + list.len() + keys.len() + 2 <= room;
        rows.extend(blanks.then(|| tints.blank()));
        rows.extend(match rows.len() + list.len() + keys.len() <= room {
            true => list,
            false => tints.short_answers(&answers, at, width),
        });
        rows.extend(blanks.then(|| tints.blank()));
        rows.extend(keys);
        rows
    }
}

/// The plan as it goes into the scrollback, on a ground of its own and under its own heading where it has one.
pub fn plan_rows(plan: &str, width: usize, theme: &Theme) -> Vec<Line<'static>> {
    let is_headed = plan.trim_start().starts_with('#');
    let label = (!is_headed).then(|| Line::styled("Plan", theme.plan.add_modifier(Modifier::BOLD)));
    let rows = markdown::rows(&clean(plan), width.saturating_sub(4).max(8), theme);
    let framed = |row: Line<'static>| {
        let style = if row.style.bg.is_some() { row.style } else { theme.plan_wash.patch(row.style) };
        let edge = Span::styled("▎  ", theme.plan_wash.patch(theme.plan));
        Line::from_iter(std::iter::once(edge).chain(row.spans)).style(style)
    };
    label.into_iter().chain(rows).map(framed).collect()
}

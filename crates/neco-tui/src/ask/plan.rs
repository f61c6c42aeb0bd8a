//! Is this the plan?

use neco_proto::Reply;
use neco_proto::clean::clean;
use neco_view::ask::{PLAN_ANSWERS, PlanAnswer, PlanMeans};
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};

use super::approval::Asks;
use super::details::Details;
use super::edge::{Answer, Tints};
use crate::text::wrap::{Indent, wrap};
use crate::text::{figures, markdown};
use crate::theme::Theme;

/// What the first answer says where edits and commands are asked about.
const ASKS_FIRST: &str = "Yes, ask before edits and commands";

/// Rows of the plan beside which the answers keep rows of their own.
const GOOD_ROWS: usize = 6;

/// The answers that are listed, each with its words.
fn listed() -> impl Iterator<Item = (&'static str, &'static PlanAnswer)> {
    PLAN_ANSWERS.iter().filter_map(|answer| Some((answer.listed?, answer)))
}

/// A plan that waits.
#[derive(Clone, Debug, Default)]
pub struct PlanBox {
    at: usize,
    /// Whether the plan is shown above the answers.
    pub details: Details,
    /// The plan, as it is changed by whoever edits it.
    pub plan: String,
    /// The width for which its rows in the scrollback were counted last, and how many there are.
    counted: Option<(usize, usize)>,
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

    /// Goes back to the answer that it began with.
    pub fn go_back(&mut self) {
        self.at = 0;
    }

    /// How many rows it has in the scrollback; they are drawn to be counted once for a width.
    fn height(&mut self, width: usize, theme: &Theme) -> usize {
        if let Some((counted_for, rows)) = self.counted
            && counted_for == width
        {
            return rows;
        }
        let rows = plan_rows(&self.plan, width, theme).len();
        self.counted = Some((width, rows));
        rows
    }

    /// As much of the plan as there is room for.
    fn seen(&mut self, width: usize, room: usize, tints: &Tints, theme: &Theme) -> Vec<Line<'static>> {
        let all = markdown::rows(&clean(&self.plan), width.saturating_sub(4).max(8), theme);
        let most = if all.len() <= room { all.len() } else { room.saturating_sub(1) };
        let from = self.details.first(all.len(), most);
        let shown = (most < all.len()).then(|| Line::styled(self.details.seen(all.len()), tints.meta));
        let indented = |row: Line<'static>| {
            let style = row.style;
            tints.row(Line::from_iter(std::iter::once(Span::raw("  ")).chain(row.spans)).style(style))
        };
        all.into_iter().skip(from).take(most).chain(shown).map(indented).collect()
    }

    /// The rows of the panel; the plan itself has its place in the scrollback, and `d` shows it here. That is said where
    /// not all of it can be on the screen beside the panel.
    pub fn rows(&mut self, asks: Asks<'_>, width: usize, room: usize, theme: &Theme) -> Vec<Line<'static>> {
        let tints = Tints::of(theme);
        let head = |_| vec![Span::styled("◆ ", tints.edge), Span::styled("Carry out this plan?", Modifier::BOLD)];
        let mut rows = vec![tints.head(head, &[vec![Span::styled("plan mode", theme.plan)], Vec::new()], width)];
        let words = |listed: &'static str, answer: &PlanAnswer| match &answer.means {
            PlanMeans::Send(Reply::AcceptPlan { approval: None, .. }) if asks.asks_first => ASKS_FIRST,
            _ => listed,
        };
        let answers: Vec<Answer> = listed()
            .map(|(listed, answer)| Answer {
                key: Some(answer.key),
                words: words(listed, answer).to_owned(),
                short: answer.label.to_owned(),
                ..Answer::default()
            })
            .collect();
        let at = match asks.revises {
            true => listed().position(|(_, answer)| answer.means == PlanMeans::Revise),
            false => Some(self.at).filter(|_| !asks.elsewhere),
        };
        let list = tints.answers(&answers, at, (usize::MAX, usize::MAX), width);
        // With its head, its keys and the blank rows between them.
        let is_seen = asks.who.is_none() && self.height(width, theme) + list.len() + 4 <= room;
        let is_whole = self.details.is_whole();
        let keys_of = |is_listed: bool| {
            let choosing = Tints::choosing(is_listed, answers.len());
            let enter = ("↑↓ Enter", choosing.as_str());
            match (asks.elsewhere, is_whole) {
                _ if asks.revises => {
                    tints.keys(&[("Enter", "sends it back with your words"), ("Esc", "back to the answers")], width)
                }
                (true, _) => tints.keys(&Tints::ELSEWHERE, width),
                (false, _) if asks.armed.is_some() => tints.keys(&[("Enter", "confirm"), ("Esc", "cancel")], width),
                (false, true) => tints.keys(&[enter, ("Esc or d", "back")], width),
                (false, false) if is_seen => tints.keys(&[enter, ("Esc", "no, keep planning")], width),
                (false, false) => tints.keys(&[enter, ("d", "the plan"), ("Esc", "no, keep planning")], width),
            }
        };
        let keys = keys_of(true);
        if is_whole {
            let (list, keys) = match rows.len() + list.len() + keys.len() + GOOD_ROWS <= room {
                true => (list, keys),
                false => (tints.short_answers(&answers, at, width), keys_of(false)),
            };
            let left = room.saturating_sub(rows.len() + list.len() + keys.len()).max(1);
            rows.extend(self.seen(width, left, &tints, theme));
            rows.extend(list);
            rows.extend(keys);
            return rows;
        }
        let blanks = rows.len() + list.len() + keys.len() + 2 <= room;
        rows.extend(blanks.then(|| tints.blank()));
        let (list, keys) = match rows.len() + list.len() + keys.len() <= room {
            true => (list, keys),
            false => (tints.short_answers(&answers, at, width), keys_of(false)),
        };
        rows.extend(list);
        rows.extend(blanks.then(|| tints.blank()));
        rows.extend(keys);
        rows
    }
}

/// The plan as it goes into the scrollback, on a ground of its own: what it is called, how many steps it has, the plan.
pub fn plan_rows(plan: &str, width: usize, theme: &Theme) -> Vec<Line<'static>> {
    let plan = clean(plan);
    let (title, text) = titled(plan.trim());
    let width = width.saturating_sub(4).max(8);
    let mut head = vec![Span::styled("Plan", theme.plan.add_modifier(Modifier::BOLD))];
    if let Some(title) = title {
        let title = markdown::rows(title, title.len() + 8, theme).into_iter().flat_map(|row| row.spans);
        head.push(Span::raw("  "));
        head.extend(title.map(|span| Span { style: span.style.add_modifier(Modifier::BOLD), ..span }));
    }
    let steps = text.lines().filter(|line| is_step(line)).count();
    if steps > 0 {
        head.push(Span::styled(format!("  {}", figures::count(steps, "step", "steps")), theme.dim));
    }
    let rows = markdown::rows(text, width, theme);
    let blank = (!rows.is_empty()).then(Line::default);
    let framed = |row: Line<'static>| {
        let style = if row.style.bg.is_some() { row.style } else { theme.plan_wash.patch(row.style) };
        let edge = Span::styled("▎  ", theme.plan_wash.patch(theme.plan));
        Line::from_iter(std::iter::once(edge).chain(row.spans)).style(style)
    };
    let rows = rows.into_iter().map(|row| numbered(row, theme));
    wrap(&Line::from(head), width, &Indent::default()).into_iter().chain(blank).chain(rows).map(framed).collect()
}

/// The heading that a plan begins with, where it does and that says more than what it is, and the rest.
fn titled(plan: &str) -> (Option<&str>, &str) {
    let (first, rest) = plan.split_once('\n').unwrap_or((plan, ""));
    match first.trim_start_matches('#').strip_prefix(' ').filter(|_| first.starts_with('#')) {
        Some(title) => (Some(title.trim()).filter(|title| !title.eq_ignore_ascii_case("plan")), rest),
        None => (None, plan),
    }
}

/// Whether a line begins a step.
fn is_step(line: &str) -> bool {
    line.split_once(['.', ')']).is_some_and(|(number, rest)| is_number(number) && rest.starts_with(' '))
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// A row of a plan; the number of a step has the colour of plans.
fn numbered(mut row: Line<'static>, theme: &Theme) -> Line<'static> {
    if let Some(first) = row.spans.iter_mut().find(|span| !span.content.trim().is_empty())
        && first.content.trim().strip_suffix('.').is_some_and(is_number)
    {
        first.style = theme.plan;
    }
    row
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theme::ThemeName;

    fn rows(plan: &str) -> Vec<String> {
        plan_rows(plan, 60, &Theme::new(ThemeName::Dark)).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_plan_is_named_and_its_steps_are_counted() {
        let plan = "# Retry uploads\n\n1. Move the deadline\n   - in `Limits`\n2. Test it\n\nNot in it: downloads";
        let first = rows(plan);
        assert_eq!(first.first().map(String::as_str), Some("▎  Plan  Retry uploads  2 steps"));
        assert_eq!(first.get(2).map(String::as_str), Some("▎  1. Move the deadline"));
        assert_eq!(rows("# Plan\n\nLook around").first().map(String::as_str), Some("▎  Plan"));
        assert_eq!(rows("1. all").first().map(String::as_str), Some("▎  Plan  1 step"));
    }

    #[test]
    fn the_numbers_of_steps_have_the_colour_of_plans() {
        let theme = Theme::new(ThemeName::Dark);
        let drawn = plan_rows("1. move it\n2. test it", 60, &theme);
        let numbers =
            drawn.iter().flat_map(|row| &row.spans).filter(|span| ["1.", "2."].contains(&span.content.trim()));
        let styles: Vec<_> = numbers.map(|span| span.style).collect();
        assert_eq!(styles, [theme.plan, theme.plan]);
    }
}

//! The panel that a question stands in: an edge and a wash, a head, answers with their numbers and keys.

use neco_view::ask::{CallAnswer, Means};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr;

use crate::text::figures::padded;
use crate::text::wrap::{Indent, cut, wrap};
use crate::theme::Theme;

/// The column of the keys beside the answers, where the terminal is wide enough.
const KEY_COLUMN: usize = 72;

/// How far right long rules move it: a terminal of 80 columns folds no answer that was drawn for a wider one.
const LAST_KEY_COLUMN: usize = 78;

/// Columns before an answer: the edge, the pointer, a blank.
const BEFORE: usize = 3;

/// Columns of an answer's number.
const NUMBER: usize = 4;

/// Columns of an answer from which on what is said about it stands in a column of its own.
const ROOM_FOR_COLUMN: usize = 48;

/// The colours of a panel.
#[derive(Clone, Copy, Debug)]
pub struct Tints {
    /// The edge.
    pub bar: Style,
    /// What waits for the person.
    pub edge: Style,
    /// The ground.
    pub wash: Style,
    /// The answer that is chosen: the one solid thing on the screen.
    pub solid: Style,
    /// Labels, and keys.
    pub label: Style,
    /// What matters less.
    pub meta: Style,
    /// What leaves the sandbox or can't be undone.
    pub alarm: Style,
}

impl Tints {
    /// The keys of a panel while what is typed goes to the field.
    pub const ELSEWHERE: [(&'static str, &'static str); 2] =
        [("Your keys", "write in the field below"), ("Esc", "back to the answers")];

    /// The colours of a question.
    pub fn of(theme: &Theme) -> Self {
        Self {
            bar: theme.ask_edge,
            edge: theme.ask,
            wash: theme.ask_wash,
            solid: theme.ask_solid,
            label: theme.label,
            meta: theme.dim,
            alarm: theme.bad,
        }
    }

    /// A row of the panel; what a row washes itself, as a changed line does, stays.
    pub fn row(&self, row: Line<'static>) -> Line<'static> {
        let style = if row.style.bg.is_some() { row.style } else { self.wash.patch(row.style) };
        let edge = Span::styled("▎", self.wash.patch(self.bar));
        Line::from_iter(std::iter::once(edge).chain(row.spans)).style(style)
    }

    /// A row with nothing in it.
    pub fn blank(&self) -> Line<'static> {
        self.row(Line::default())
    }

    /// The first row: what is asked, and on the right the longest of some words that has room beside it. The shortest
    /// is always seen.
    pub fn head(
        &self,
        left: impl Fn(usize) -> Vec<Span<'static>>,
        right: &[Vec<Span<'static>>],
        width: usize,
    ) -> Line<'static> {
        let inner = width.saturating_sub(2);
        let measured = |spans: &[Span<'_>]| spans.iter().map(Span::width).sum::<usize>();
        let whole = measured(&left(usize::MAX));
        let fits = right.iter().find(|words| whole + measured(words) + 3 <= inner);
        let words = fits.or(right.last()).cloned().unwrap_or_default();
        let taken = measured(&words) + if words.is_empty() { 0 } else { 3 };
        let left = cut(&Line::from(left(inner.saturating_sub(taken))), inner.saturating_sub(taken));
        let gap = inner.saturating_sub(left.width() + measured(&words));
        self.row(Line::from_iter(left.spans.into_iter().chain([Span::raw(" ".repeat(gap))]).chain(words)))
    }

    /// The keys of the last row, each with what it does.
    pub fn keys(&self, keys: &[(&str, &str)], width: usize) -> Vec<Line<'static>> {
        let mut rows: Vec<Vec<Span<'static>>> = vec![Vec::new()];
        let mut taken = 0;
        for (key, does) in keys {
            let wide = key.width() + does.width() + 1;
            if taken > 0 && taken + wide + 3 > width.saturating_sub(BEFORE) {
                rows.push(Vec::new());
                taken = 0;
            }
            let Some(row) = rows.last_mut() else { continue };
            row.push(Span::raw(if taken == 0 { "  " } else { "   " }));
            row.push(Span::styled((*key).to_owned(), self.label));
            row.push(Span::styled(format!(" {does}"), self.meta));
            taken += wide + 3;
        }
        rows.into_iter().map(|row| self.row(cut(&Line::from(row), width.saturating_sub(1)))).collect()
    }

    /// The answers below one another, `at` the one that is chosen; each has at most `most` rows, and that one `chosen`.
    pub fn answers(
        &self,
        answers: &[Answer],
        at: Option<usize>,
        (most, chosen): (usize, usize),
        width: usize,
    ) -> Vec<Line<'static>> {
        let mut number = 0;
        let column = key_column(answers);
        let rows = |(index, answer): (usize, &Answer)| {
            let here = at == Some(index);
            number += usize::from(!answer.bare);
            self.answer_beside(answer, number, here, if here { chosen } else { most }, (column, width))
        };
        answers.iter().enumerate().flat_map(rows).collect()
    }

    /// The rows of one answer.
    pub fn answer(&self, answer: &Answer, number: usize, here: bool, most: usize, width: usize) -> Vec<Line<'static>> {
        self.answer_beside(answer, number, here, most, (KEY_COLUMN, width))
    }

    /// The same with its key in a column that it shares with the other answers.
    fn answer_beside(
        &self,
        answer: &Answer,
        number: usize,
        here: bool,
        most: usize,
        (column, width): (usize, usize),
    ) -> Vec<Line<'static>> {
        let room = room_of(width, column);
        let rows = self.words_of(answer, here, most, room);
        let block = rows.into_iter().enumerate().map(|(row, words)| {
            let number = if row == 0 && !answer.bare { format!(" {number:<3}") } else { " ".repeat(NUMBER) };
            let key = answer.key.filter(|_| row == 0).unwrap_or(' ');
            let pad = " ".repeat(room.saturating_sub(words.width()) + 1);
            let spans = std::iter::once(Span::styled(number, self.meta))
                .chain(words.spans)
                .chain([Span::raw(pad), Span::styled(format!("{key} "), self.label)]);
            let pointer = if here && row == 0 { "❯ " } else { "  " };
            let pointer = Span::styled(pointer, self.edge.add_modifier(Modifier::BOLD));
            let block: Vec<Span<'static>> = match here {
                true => spans.map(|span| Span::styled(span.content, self.solid)).collect(),
                false => spans.collect(),
            };
            self.row(cut(&Line::from_iter(std::iter::once(pointer).chain(block)), width.saturating_sub(1)))
        });
        block.collect()
    }

    /// What an answer says and what is told about it, in at most so many rows.
    fn words_of(&self, answer: &Answer, here: bool, most: usize, room: usize) -> Vec<Line<'static>> {
        // Where a rule is saved stands with it once it is gone to, in a row of its own where it has no room: no key moves.
        let whole = if here { format!("{}{}", answer.about, answer.saved) } else { answer.about.clone() };
        let folded = |about: &str| {
            if about.is_empty() {
                return wrap(&Line::raw(answer.words.clone()), room, &Indent::default());
            }
            let words = Span::raw(padded(&answer.words, answer.column));
            let rest = if answer.column > 0 { vec![Span::raw(" ".repeat(answer.column + 2))] } else { Vec::new() };
            let spans = vec![words, Span::styled(format!("  {about}"), self.meta)];
            wrap(&Line::from(spans), room, &Indent { first: Vec::new(), rest })
        };
        let mut rows = folded(&whole);
        // Where it is saved goes first; all of it is in the details.
        if rows.len() > most && whole != answer.about {
            rows = folded(&answer.about);
        }
        // A hint that does not fit goes as a whole; a rule and anything longer are cut.
        if rows.len() > most && !answer.is_rule && answer.about.width() < answer.words.width() {
            rows = folded("");
        }
        first_rows(rows, most, room)
    }

    /// The answers in as few rows as they can be told, the chosen one solid. None is torn from its letter.
    pub fn short_answers(&self, answers: &[Answer], at: Option<usize>, width: usize) -> Vec<Line<'static>> {
        let inner = width.saturating_sub(1);
        let mut rows: Vec<Line<'static>> = Vec::new();
        for (index, answer) in answers.iter().enumerate() {
            let words = answer.key.map_or_else(|| answer.short.clone(), |key| format!("{key} {}", answer.short));
            let style = if at == Some(index) { self.solid } else { self.label };
            if rows.last().is_none_or(|row| row.width() + 2 + words.width() > inner) {
                rows.push(Line::default());
            }
            if let Some(row) = rows.last_mut() {
                row.push_span(Span::raw("  "));
                row.push_span(Span::styled(words, style));
            }
        }
        rows.into_iter().map(|row| self.row(cut(&row, inner))).collect()
    }

    /// The column that what is said about these answers stands in; 0 where there is no room for one.
    pub fn column(answers: &[Answer], width: usize) -> usize {
        let room = room_of(width, KEY_COLUMN);
        let told = answers.iter().filter(|answer| !answer.about.is_empty());
        let widest = told.map(|answer| answer.words.width()).max().unwrap_or_default();
        if room >= ROOM_FOR_COLUMN && 2 * widest <= room { widest } else { 0 }
    }

    /// What is said of the arrows and Enter: answers that are not listed show no numbers, and none are offered.
    pub fn choosing(listed: bool, numbers: usize) -> String {
        if listed { format!("or 1–{numbers}") } else { "choose".to_owned() }
    }
}

/// An answer that can be chosen.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    /// The letter that means it, where one does.
    pub key: Option<char>,
    /// What it says.
    pub words: String,
    /// More about it.
    pub about: String,
    /// Where the rule that it makes is saved, in words that follow it.
    pub saved: String,
    /// The same in a word or two, for small terminals.
    pub short: String,
    /// Whether it has no number.
    pub bare: bool,
    /// Whether what is told about it is the rule that it makes.
    pub is_rule: bool,
    /// The column that what is told about it stands in, where all answers have one.
    pub column: usize,
}

/// The column of the keys beside these answers: as far right as the longest rule needs, up to a point. All of a longer one
/// is seen once it is gone to.
fn key_column(answers: &[Answer]) -> usize {
    let rules = answers.iter().filter(|answer| answer.is_rule);
    let widest = rules.map(|rule| rule.words.width() + rule.about.width() + 2).max().unwrap_or_default();
    (BEFORE + NUMBER + widest + 1).clamp(KEY_COLUMN, LAST_KEY_COLUMN)
}

/// The columns that an answer has where its key stands in `column` at most.
fn room_of(width: usize, column: usize) -> usize {
    column.min(width.saturating_sub(2)).saturating_sub(BEFORE + NUMBER + 1).max(1)
}

impl From<CallAnswer> for Answer {
    fn from(answer: CallAnswer) -> Self {
        let CallAnswer { means, words, about, saved, short } = answer;
        Self {
            key: Some(means.letter()),
            words,
            about,
            saved,
            short: short.to_owned(),
            bare: !means.is_numbered(),
            is_rule: matches!(means, Means::Rule(_)),
            column: 0,
        }
    }
}

/// The first rows, with `…` where something is missing.
pub fn first_rows(mut rows: Vec<Line<'static>>, most: usize, width: usize) -> Vec<Line<'static>> {
    if rows.len() > most {
        rows.truncate(most);
        if let Some(last) = rows.pop() {
            let spans = last.spans.into_iter().chain([Span::raw(" …")]);
            rows.push(cut(&Line::from_iter(spans), width));
        }
    }
    rows
}

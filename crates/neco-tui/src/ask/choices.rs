//! Which of these? One item after the other, with options to choose from or words of one's own.

use neco_proto::clean::{clean, clean_line};
use neco_proto::{ItemAnswer, QuestionItem, QuestionOption};
use ratatui::text::{Line, Span};

use crate::text::wrap::{Indent, cut, wrap};
use crate::theme::Theme;

/// Rows of options that a long question leaves.
const LEAST_OPTIONS: usize = 4;

/// The items of one question and how far the person is.
#[derive(Clone, Debug)]
pub struct Choices {
    items: Vec<QuestionItem>,
    answers: Vec<ItemAnswer>,
    at: usize,
    marked: Vec<usize>,
    /// The digits of a number that may go on.
    typed: usize,
}

impl Choices {
    pub fn new(items: Vec<QuestionItem>) -> Self {
        Self { items, answers: Vec::new(), at: 0, marked: Vec::new(), typed: 0 }
    }

    /// One row up or down.
    pub fn step(&mut self, down: bool) {
        self.typed = 0;
        let count = self.options().max(1);
        self.at = if down { (self.at + 1) % count } else { (self.at + count - 1) % count };
    }

    /// A digit of an option's number, from 1: the option is chosen, or marked where several can be, once no other
    /// number begins so; until then it is only gone to.
    pub fn digit(&mut self, digit: usize) -> Option<Vec<ItemAnswer>> {
        let count = self.options();
        let longer = self.typed * 10 + digit;
        let number = if (1..=count).contains(&longer) { longer } else { digit };
        self.typed = 0;
        if number == 0 || number > count {
            return None;
        }
        self.at = number - 1;
        if number * 10 <= count {
            self.typed = number;
            return None;
        }
        if self.several() {
            self.mark();
            return None;
        }
        self.choose()
    }

    /// Marks the present option, or takes the mark off.
    pub fn mark(&mut self) {
        self.typed = 0;
        if !self.several() {
            return;
        }
        match self.marked.iter().position(|marked| *marked == self.at) {
            Some(index) => drop(self.marked.remove(index)),
            None => self.marked.push(self.at),
        }
    }

    /// Answers the item with what is chosen; all answers once the last item has one.
    pub fn choose(&mut self) -> Option<Vec<ItemAnswer>> {
        let mut chosen = std::mem::take(&mut self.marked);
        if chosen.is_empty() {
            chosen.push(self.at);
        }
        chosen.sort_unstable();
        let item = self.item()?;
        let labels = chosen.iter().filter_map(|index| item.options.get(*index)).map(|option| option.label.clone());
        let answer = ItemAnswer { chosen: labels.collect(), text: None };
        self.take(answer)
    }

    /// Answers the item in words.
    pub fn words(&mut self, text: String) -> Option<Vec<ItemAnswer>> {
        self.take(ItemAnswer { chosen: Vec::new(), text: Some(text) })
    }

    /// Whether only words can answer the present item.
    pub fn wants_words(&self) -> bool {
        self.options() == 0
    }

    fn take(&mut self, answer: ItemAnswer) -> Option<Vec<ItemAnswer>> {
        self.answers.push(answer);
        self.at = 0;
        self.typed = 0;
        (self.answers.len() >= self.items.len()).then(|| std::mem::take(&mut self.answers))
    }

    fn item(&self) -> Option<&QuestionItem> {
        self.items.get(self.answers.len())
    }

    fn options(&self) -> usize {
        self.item().map_or(0, |item| item.options.len())
    }

    fn several(&self) -> bool {
        self.item().is_some_and(|item| item.multiple)
    }

    /// The rows of the box. Where there is no room for all options, each has one row, and those around the present
    /// one are shown.
    pub fn rows(&self, width: usize, room: usize, theme: &Theme) -> Vec<Line<'static>> {
        let Some(item) = self.item() else { return Vec::new() };
        let mut rows = self.heading(item, width, theme);
        let keys = match (item.options.len(), item.multiple) {
            (0, _) => "Esc: no answer",
            (_, true) => "↑↓ or a number · Space marks · Enter takes them · Esc: none of these",
            (_, false) => "↑↓ or a number, Enter · Esc: none of these",
        };
        let keys = wrap(&Line::styled(keys, theme.dim), width, &Indent::default());
        rows.truncate(room.saturating_sub(keys.len() + LEAST_OPTIONS).max(1));
        let room = room.saturating_sub(rows.len() + keys.len());
        rows.extend(self.option_rows(item, width, room, theme));
        rows.extend(keys);
        rows
    }

    fn heading(&self, item: &QuestionItem, width: usize, theme: &Theme) -> Vec<Line<'static>> {
        let of = if self.items.len() > 1 {
            format!(" ({} of {})", self.answers.len() + 1, self.items.len())
        } else {
            String::new()
        };
        let mut rows = Vec::new();
        for (index, line) in clean(&item.text).lines().enumerate() {
            let indent = if index == 0 {
                Indent::hanging(Span::styled("? ", theme.accent))
            } else {
                Indent::all(Span::raw("  "))
            };
            let text = if index == 0 { format!("{line}{of}") } else { line.to_owned() };
            rows.extend(wrap(&Line::styled(text, theme.accent), width, &indent));
        }
        rows
    }

    fn option_rows(&self, item: &QuestionItem, width: usize, room: usize, theme: &Theme) -> Vec<Line<'static>> {
        let lines: Vec<Line<'static>> =
            item.options.iter().enumerate().map(|(index, option)| self.option(item, index, option, theme)).collect();
        let indent = Indent { first: Vec::new(), rest: vec![Span::raw("     ")] };
        let all: Vec<Line<'static>> = lines.iter().flat_map(|line| wrap(line, width, &indent)).collect();
        if all.len() <= room {
            return all;
        }
        // The chosen one is shown whole, as far as there is room.
        let mut chosen = lines.get(self.at).map(|line| wrap(line, width, &indent)).unwrap_or_default();
        chosen.truncate((room / 3).max(1));
        let room = room.saturating_sub(chosen.len().saturating_sub(1));
        // A row above and one below say how many are not shown.
        let most = if lines.len() <= room { lines.len() } else { room.saturating_sub(2).max(1) };
        let first = self.at.saturating_sub(most / 2).min(lines.len().saturating_sub(most));
        let beyond = lines.len().saturating_sub(first + most);
        let note =
            |mark: &str, count: usize| (count > 0).then(|| Line::styled(format!("  {mark} {count} more"), theme.dim));
        let shown = lines
            .iter()
            .enumerate()
            .skip(first)
            .take(most)
            .flat_map(|(index, line)| if index == self.at { chosen.clone() } else { vec![cut(line, width)] });
        note("↑", first).into_iter().chain(shown).chain(note("↓", beyond)).collect()
    }

    fn option(&self, item: &QuestionItem, index: usize, option: &QuestionOption, theme: &Theme) -> Line<'static> {
        let here = index == self.at;
        let mark = match (item.multiple, self.marked.contains(&index)) {
            (true, true) => "☑ ",
            (true, false) => "☐ ",
            (false, _) => "",
        };
        let pointer = if here { "❯ " } else { "  " };
        let style = if here { theme.chosen } else { ratatui::style::Style::default() };
        let about = if option.description.is_empty() {
            String::new()
        } else {
            format!("  {}", clean_line(&option.description))
        };
        Line::from(vec![
            Span::styled(format!("{pointer}{}. {mark}{}", index + 1, clean_line(&option.label)), style),
            Span::styled(about, theme.dim),
        ])
    }
}

//! Which of these? One item after the other, with options to choose from or words of one's own.

use neco_proto::clean::{clean, clean_line};
use neco_proto::{EmptyAnswer, ItemAnswer, QuestionItem, QuestionOption};
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};

use super::approval::Asks;
use super::edge::{Answer, Tints};
use crate::text::wrap::{Indent, wrap_all};
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
}

impl Choices {
    pub fn new(items: Vec<QuestionItem>) -> Self {
        Self { items, answers: Vec::new(), at: 0, marked: Vec::new() }
    }

    /// One row up or down.
    pub fn step(&mut self, down: bool) {
        // Below the options one can write something else.
        let count = self.options() + 1;
        self.at = if down { (self.at + 1) % count } else { (self.at + count - 1) % count };
    }

    /// Whether an option has this number, from 1, or what one writes oneself.
    pub fn has_number(&self, number: usize) -> bool {
        (1..=self.options() + 1).contains(&number)
    }

    /// The option of a number is chosen at once, or marked where several can be; what one writes oneself is gone to.
    pub fn number(&mut self, number: usize) -> Option<Vec<ItemAnswer>> {
        if !self.has_number(number) {
            return None;
        }
        self.at = number - 1;
        if self.is_own_words() {
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
        // What one writes oneself takes the place of all options.
        if !self.several() || self.at >= self.options() {
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

    /// Leaves the item without an answer.
    pub fn nothing(&mut self) -> Option<Vec<ItemAnswer>> {
        self.take(ItemAnswer::default())
    }

    /// Leaves this item and those after it without an answer; gives what was answered before.
    pub fn no_more(&mut self) -> Option<Vec<ItemAnswer>> {
        (!self.answers.is_empty()).then(|| std::mem::take(&mut self.answers))
    }

    /// Whether only words can answer the present item.
    pub fn wants_words(&self) -> bool {
        self.options() == 0
    }

    fn take(&mut self, answer: ItemAnswer) -> Option<Vec<ItemAnswer>> {
        self.answers.push(answer);
        self.at = 0;
        self.marked.clear();
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

    /// Goes back to the item before this one.
    pub fn back(&mut self) {
        if self.answers.pop().is_some() {
            self.at = 0;
            self.marked.clear();
        }
    }

    /// Whether the person is to write what none of the options says.
    pub fn is_own_words(&self) -> bool {
        self.options() > 0 && self.at == self.options()
    }

    /// The rows of the panel. Where there is no room for all options, each has one row, and those around the present
    /// one are shown.
    pub fn rows(&self, asks: Asks<'_>, width: usize, room: usize, theme: &Theme) -> Vec<Line<'static>> {
        let Some(item) = self.item() else { return Vec::new() };
        let tints = Tints::of(theme);
        let numbers = format!("or 1–{}", (item.options.len() + 1).min(9));
        let elsewhere = asks.elsewhere && !self.wants_words();
        let alone = match item.empty {
            EmptyAnswer::Allowed => vec![("Enter", "alone leaves it empty")],
            EmptyAnswer::Default => vec![("Enter", "alone takes the default")],
            EmptyAnswer::Refused => vec![("Enter", "sends it")],
        };
        let mut keys = match (item.options.len(), item.multiple) {
            _ if elsewhere => Tints::ELSEWHERE.to_vec(),
            (0, _) if asks.goes_back => Vec::new(),
            (0, _) => alone,
            (_, true) => vec![("↑↓ Space", "mark"), ("Enter", "take them")],
            (_, false) => vec![("↑↓ Enter", numbers.as_str()), ("letters", "write an answer")],
        };
        if !self.answers.is_empty() && !elsewhere {
            keys.push(("←", "the question before"));
        }
        keys.extend((!elsewhere).then_some(("Esc", if asks.goes_back { "back" } else { "no answer" })));
        let keys = tints.keys(&keys, width);
        let mut rows = self.heading(item, width, &tints);
        rows.truncate(room.saturating_sub(keys.len() + LEAST_OPTIONS).max(1));
        let answers = self.answer_list(item, width);
        let all: usize =
            answers.iter().enumerate().map(|(at, answer)| tints.answer(answer, at, false, 9, width).len()).sum();
        let blanks = rows.len() + all + keys.len() + 2 <= room && all > 0;
        rows.extend(blanks.then(|| tints.blank()));
        let left = room.saturating_sub(rows.len() + keys.len() + usize::from(blanks));
        rows.extend(self.option_rows(&answers, width, left, &tints));
        rows.extend(blanks.then(|| tints.blank()));
        rows.extend(keys);
        rows
    }

    fn heading(&self, item: &QuestionItem, width: usize, tints: &Tints) -> Vec<Line<'static>> {
        let of = match self.items.len() {
            0 | 1 => Vec::new(),
            count => vec![Span::styled(format!("question {} of {count}", self.answers.len() + 1), tints.meta)],
        };
        let text = clean(&item.text);
        let indent = Indent { first: vec![Span::styled("◆ ", tints.edge)], rest: vec![Span::raw("  ")] };
        let taken = of.iter().map(Span::width).sum::<usize>();
        let room = width.saturating_sub(if taken > 0 { taken + 5 } else { 2 });
        let bold = |line: &str| Line::styled(line.to_owned(), Modifier::BOLD);
        let lines: Vec<Line<'static>> = text.lines().map(bold).collect();
        let mut rows = wrap_all(&lines, room, &indent).into_iter();
        let first = rows.next().unwrap_or_default();
        std::iter::once(tints.head(|_| first.spans.clone(), &[of], width))
            .chain(rows.map(|row| tints.row(row)))
            .collect()
    }

    /// The options as answers, what they mean in a column; the last one is to write something else.
    fn answer_list(&self, item: &QuestionItem, width: usize) -> Vec<Answer> {
        let option = |(index, option): (usize, &QuestionOption)| {
            let mark = match (item.multiple, self.marked.contains(&index)) {
                (true, true) => "☑ ",
                (true, false) => "☐ ",
                (false, _) => "",
            };
            let words = format!("{mark}{}", clean_line(&option.label));
            Answer { words, about: clean_line(&option.description), ..Answer::default() }
        };
        let own = Answer { words: "Something else: write it".to_owned(), ..Answer::default() };
        let own = (!item.options.is_empty()).then_some(own);
        let mut answers: Vec<Answer> = item.options.iter().enumerate().map(option).chain(own).collect();
        let column = Tints::column(&answers, width);
        answers.iter_mut().for_each(|answer| answer.column = column);
        answers
    }

    fn option_rows(&self, answers: &[Answer], width: usize, room: usize, tints: &Tints) -> Vec<Line<'static>> {
        let all = tints.answers(answers, Some(self.at), (usize::MAX, usize::MAX), width);
        if all.len() <= room {
            return all;
        }
        // The chosen one is shown whole, as far as there is room.
        let one = |(index, answer): (usize, &Answer)| {
            let most = if index == self.at { (room / 3).max(1) } else { 1 };
            tints.answer(answer, index + 1, index == self.at, most, width)
        };
        let chosen = answers.get(self.at).map_or(1, |answer| one((self.at, answer)).len());
        let room = room.saturating_sub(chosen.saturating_sub(1));
        // A row above and one below say how many are not shown.
        let most = if answers.len() <= room { answers.len() } else { room.saturating_sub(2).max(1) };
        let first = self.at.saturating_sub(most / 2).min(answers.len().saturating_sub(most));
        let beyond = answers.len().saturating_sub(first + most);
        let note = |mark: &str, count: usize| {
            (count > 0).then(|| tints.row(Line::styled(format!("   {mark} {count} more"), tints.meta)))
        };
        let shown = answers.iter().enumerate().skip(first).take(most).flat_map(one);
        note("↑", first).into_iter().chain(shown).chain(note("↓", beyond)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theme::ThemeName;

    #[test]
    fn what_options_mean_stands_in_a_column_where_there_is_room() {
        let option = |label: &str, description: &str| QuestionOption {
            label: label.to_owned(),
            description: description.to_owned(),
        };
        let long = "one file beside the project, which needs no server and is easily copied";
        let options = vec![option("SQLite", long), option("PostgreSQL", "for many machines")];
        let (title, text, empty) = (String::new(), "Where?".to_owned(), EmptyAnswer::Allowed);
        let item = QuestionItem { title, text, options, multiple: false, empty, field: None };
        let rows = |width: usize| -> Vec<String> {
            let rows = Choices::new(vec![item.clone()]).rows(Asks::default(), width, 30, &Theme::new(ThemeName::Plain));
            rows.iter().map(|row| row.to_string().trim_end().to_owned()).collect()
        };
        let wide = rows(80);
        let column = |row: &str, word: &str| row.split(word).next().map(|before| before.chars().count());
        assert_eq!(column(&wide[2], "one file"), column(&wide[4], "for many"), "{wide:?}");
        let blanks = wide[3].chars().skip(1).take_while(|char| *char == ' ').count();
        assert_eq!(Some(blanks + 1), column(&wide[2], "one file"), "what does not fit goes on below it: {wide:?}");
        assert!(rows(40)[2].contains("SQLite  one file"), "{:?}", rows(40));
    }
}

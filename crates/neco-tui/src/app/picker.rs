//! A list to choose from, above the field: sessions, messages to go back to, models, rules, agents.

use neco_proto::clean::clean_line;
use neco_proto::event::RewindWhat;
use neco_proto::{AgentId, RewindPoint, WorkflowId};
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::input::fits;
use crate::text::wrap::{Indent, cut, wrap};
use crate::theme::Theme;

/// Rows of a list at most.
const ROWS: usize = 12;

/// What an entry stands for.
#[derive(Clone, Debug, PartialEq)]
pub enum Picked {
    /// A message to go back to.
    Message(RewindPoint),
    /// What goes back.
    Rewind(RewindPoint, RewindWhat),
    /// A session, by its id.
    Session(String),
    /// A model or group.
    Model(String),
    /// A rule; the id when it can be taken away.
    Rule(Option<String>),
    /// Another rule is to be written.
    NewRule,
    /// An agent of the tree.
    Agent(AgentId),
    /// A workflow.
    Workflow(WorkflowId),
}

/// One entry.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// What it is.
    pub text: String,
    /// More about it.
    pub about: String,
    /// What it stands for.
    pub picked: Picked,
}

impl Entry {
    /// An entry of these words.
    #[must_use]
    pub fn new(text: &str, about: &str, picked: Picked) -> Self {
        Self { text: clean_line(text), about: clean_line(about), picked }
    }
}

/// What letters do in a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Letters {
    /// They narrow it down.
    Filter,
    /// They are commands.
    Command,
}

/// A list to choose from.
#[derive(Clone, Debug)]
pub struct Picker {
    heading: String,
    hint: String,
    letters: Letters,
    entries: Vec<Entry>,
    filter: String,
    at: usize,
    /// What the chosen entry would do, once that is known.
    pub preview: Vec<String>,
}

impl Picker {
    /// A list with its first entry chosen.
    #[must_use]
    pub fn new(heading: impl Into<String>, hint: impl Into<String>, letters: Letters, entries: Vec<Entry>) -> Self {
        let (heading, hint) = (heading.into(), hint.into());
        Self { heading, hint, letters, entries, filter: String::new(), at: 0, preview: Vec::new() }
    }

    /// In place of an older list of the same: what was chosen and written there stays. Nothing is chosen when what was
    /// chosen is gone: keys that are under way would fall on something else.
    #[must_use]
    pub fn in_place_of(mut self, older: Option<Self>) -> Self {
        let Some(older) = older.filter(|older| older.heading == self.heading) else { return self };
        let chosen = older.chosen().map(|entry| entry.picked.clone());
        self.filter = older.filter;
        let fitting = self.fitting();
        let same = |entry: &&Entry| Some(&entry.picked) == chosen.as_ref();
        self.at = fitting.iter().position(same).unwrap_or(fitting.len());
        self
    }

    /// Whether it has an entry like this.
    #[must_use]
    pub fn holds(&self, like: impl Fn(&Picked) -> bool) -> bool {
        self.entries.iter().any(|entry| like(&entry.picked))
    }

    /// With another entry chosen.
    #[must_use]
    pub fn at(mut self, at: usize) -> Self {
        self.at = at.min(self.entries.len().saturating_sub(1));
        self
    }

    /// What letters do here.
    #[must_use]
    pub fn letters(&self) -> Letters {
        self.letters
    }

    /// The chosen entry.
    #[must_use]
    pub fn chosen(&self) -> Option<&Entry> {
        self.fitting().into_iter().nth(self.at)
    }

    /// So many rows up or down, around the ends by one and up to them by more.
    pub fn step(&mut self, by: isize) {
        let count = self.fitting().len();
        let Some(last) = count.checked_sub(1) else { return };
        self.preview.clear();
        self.at = match (by, self.at) {
            (1, at) if at == last => 0,
            (-1, 0) => last,
            (by, at) => at.saturating_add_signed(by).min(last),
        };
    }

    /// One more letter narrows it down; none takes the last one away.
    pub fn narrow(&mut self, letter: Option<char>) {
        match letter {
            Some(letter) => self.filter.push(letter),
            None => drop(self.filter.pop()),
        }
        self.at = 0;
        self.preview.clear();
    }

    /// The entries that fit what was written, the nearest first.
    fn fitting(&self) -> Vec<&Entry> {
        if self.filter.is_empty() {
            return self.entries.iter().collect();
        }
        let score =
            |entry: &Entry| fits(&self.filter, &entry.text).or_else(|| Some(fits(&self.filter, &entry.about)? / 4));
        let mut fitting: Vec<(i64, &Entry)> =
            self.entries.iter().filter_map(|entry| Some((score(entry)?, entry))).collect();
        fitting.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
        fitting.into_iter().map(|(_, entry)| entry).collect()
    }

    /// Its rows, at most `room`.
    #[must_use]
    pub fn rows(&self, width: usize, room: usize, theme: &Theme) -> Vec<Line<'static>> {
        let mut heading = vec![Span::styled(format!("? {}", self.heading), theme.accent)];
        if !self.filter.is_empty() {
            heading.push(Span::styled(format!("  {}", self.filter), theme.chosen));
        }
        let mut rows = vec![cut(&Line::from(heading), width)];
        let fitting = self.fitting();
        let preview = self.preview.len().min(room / 3);
        let hint = wrap(&Line::styled(self.hint.clone(), theme.dim), width, &Indent::default());
        // The chosen one is shown whole, as far as there is room.
        let chosen = self.chosen().map(|entry| self.row(entry, true, theme)).unwrap_or_default();
        let mut chosen = wrap(&chosen, width, &Indent { first: Vec::new(), rest: vec![Span::raw("    ")] });
        chosen.truncate((room / 4).max(1));
        let most = room.saturating_sub(1 + hint.len() + preview + chosen.len()).clamp(1, ROWS);
        let first = (self.at.min(fitting.len().saturating_sub(1)) + 1).saturating_sub(most);
        for (index, entry) in fitting.iter().enumerate().skip(first).take(most) {
            if index == self.at {
                rows.append(&mut chosen);
            } else {
                rows.push(cut(&self.row(entry, false, theme), width));
            }
        }
        match fitting.len().saturating_sub(first + most) {
            0 if fitting.is_empty() => rows.push(Line::styled("  nothing fits", theme.dim)),
            0 => {}
            beyond => rows.push(Line::styled(format!("  … {beyond} more"), theme.dim)),
        }
        let shown = self.preview.iter().take(preview);
        rows.extend(shown.map(|line| cut(&Line::styled(format!("    {}", clean_line(line)), theme.dim), width)));
        rows.extend(hint);
        rows
    }

    fn row(&self, entry: &Entry, here: bool, theme: &Theme) -> Line<'static> {
        let (mark, style) = if here { ("❯ ", theme.chosen) } else { ("  ", Style::default()) };
        let mut spans = vec![Span::styled(format!("{mark}{}", entry.text), style)];
        if !entry.about.is_empty() {
            spans.push(Span::styled(format!("  {}", entry.about), theme.dim));
        }
        Line::from(spans)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theme::ThemeName;

    #[test]
    fn letters_narrow_the_list_down() {
        let entry = |name: &str| Entry::new(name, "", Picked::Model(name.to_owned()));
        let entries = vec![entry("openai/gpt-5"), entry("anthropic/claude"), entry("local/qwen")];
        let mut picker = Picker::new("which model?", "Enter", Letters::Filter, entries);
        picker.step(-1);
        assert_eq!(picker.chosen().map(|entry| entry.text.as_str()), Some("local/qwen"));
        "cla".chars().for_each(|letter| picker.narrow(Some(letter)));
        assert_eq!(picker.chosen().map(|entry| entry.text.as_str()), Some("anthropic/claude"));
        picker.narrow(Some('z'));
        assert!(picker.chosen().is_none());
        picker.step(1);
        let rows = picker.rows(40, 10, &Theme::new(ThemeName::Plain));
        assert!(rows.iter().any(|row| row.to_string().contains("nothing fits")));
    }
}

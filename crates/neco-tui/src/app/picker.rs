//! A list to choose from, below the field: sessions, messages to go back to, models, rules, agents.

use neco_proto::clean::clean_line;
use neco_proto::event::RewindWhat;
use neco_proto::{AgentId, CheckpointInfo, Command, RewindPoint, WorkflowId};
use neco_view::slash::Slash;
use neco_view::wording::Told;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::app::facing::READ_MS;
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
    /// The states of the files, to choose one.
    Checkpoints,
    /// A state of the files.
    Checkpoint(CheckpointInfo),
    /// Yes: this is to be done.
    Go(Box<Command>),
    /// No: nothing is.
    Leave,
    /// Work that was stopped goes on.
    GoOn,
    /// A session, by its id.
    Session(String),
    /// A model or group.
    Model(String),
    /// A rule; the id when it can be taken away.
    Rule(Option<String>),
    /// Another rule is to be written.
    NewRule,
    /// The rules that come with Neco, folded.
    BuiltInRules,
    /// An agent of the tree.
    Agent(AgentId),
    Workflow(WorkflowId),
    /// Something that can be done to an agent or a workflow, and the letter that means it in its menu.
    Order(char, Box<Command>),
    /// Something is to be written to an agent.
    Write(AgentId),
    /// A command after a slash.
    Slash(Box<Slash>),
}

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
    pub fn new(text: &str, about: &str, picked: Picked) -> Self {
        Self { text: clean_line(text), about: clean_line(about), picked }
    }
}

/// What letters do in a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Letters {
    /// They narrow it down.
    #[default]
    Filter,
    /// They begin a message to the chosen agent; in the menu of one they choose.
    Command,
}

/// A list to choose from.
#[derive(Clone, Debug, Default)]
pub struct Picker {
    heading: String,
    hint: String,
    /// What letters do here.
    pub letters: Letters,
    entries: Vec<Entry>,
    filter: String,
    at: usize,
    /// What the chosen entry would do, once that is known.
    preview: Vec<Told>,
    /// Rows of it that were scrolled past, that were shown last, and that did not fit below those.
    scrolled: usize,
    shown: usize,
    hidden: usize,
    /// Since when what it says now is on the screen, in milliseconds.
    seen_ms: Option<i64>,
}

impl Picker {
    /// A list with its first entry chosen.
    pub fn new(heading: impl Into<String>, hint: impl Into<String>, letters: Letters, entries: Vec<Entry>) -> Self {
        Self { heading: heading.into(), hint: hint.into(), letters, entries, ..Self::default() }
    }

    /// With what the chosen entry would do.
    #[must_use]
    pub fn with_preview(mut self, preview: Vec<Told>) -> Self {
        self.set_preview(preview);
        self
    }

    /// The chosen entry would do this.
    pub fn set_preview(&mut self, preview: Vec<Told>) {
        self.preview = preview;
        self.scrolled = 0;
        self.seen_ms = None;
    }

    /// A frame was drawn with it.
    pub fn draw(&mut self, now_ms: i64) {
        self.seen_ms.get_or_insert(now_ms);
    }

    /// What was drawn does not reach the terminal before then.
    pub fn unseen(&mut self, until_ms: i64) {
        self.seen_ms = self.seen_ms.map(|_| until_ms);
    }

    /// Whether what it says was on the screen for long enough to be decided about.
    pub fn is_read(&self, now_ms: i64) -> bool {
        self.seen_ms.is_some_and(|since| now_ms - since >= READ_MS)
    }

    /// A page up or down: of what the chosen entry would do when not all of that is seen, of the list otherwise.
    pub fn page(&mut self, by: isize) {
        if !self.scroll(by) {
            self.step(by.saturating_mul(10));
        }
    }

    /// A page of what the chosen entry would do; whether there is more of it than is seen.
    pub fn scroll(&mut self, by: isize) -> bool {
        let is_cut = self.hidden > 0 || self.scrolled > 0;
        let page = isize::try_from(self.shown.saturating_sub(1).max(1)).unwrap_or(1);
        let down = usize::try_from(by.saturating_mul(page)).unwrap_or_default().min(self.hidden);
        let up = usize::try_from(by.saturating_mul(page).saturating_neg()).unwrap_or_default();
        self.scrolled = (self.scrolled + down).saturating_sub(up);
        is_cut
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
    pub fn holds(&self, like: impl Fn(&Picked) -> bool) -> bool {
        self.entries.iter().any(|entry| like(&entry.picked))
    }

    /// With another entry chosen.
    #[must_use]
    pub fn at(mut self, at: usize) -> Self {
        self.at = at.min(self.entries.len().saturating_sub(1));
        self
    }

    /// Chooses the first entry like this.
    pub fn choose(&mut self, like: impl Fn(&Picked) -> bool) {
        self.filter.clear();
        self.at = self.entries.iter().position(|entry| like(&entry.picked)).unwrap_or(self.at);
    }

    pub fn chosen(&self) -> Option<&Entry> {
        self.fitting().into_iter().nth(self.at)
    }

    /// So many rows up or down, around the ends by one and up to them by more.
    pub fn step(&mut self, by: isize) {
        let count = self.fitting().len();
        let Some(last) = count.checked_sub(1) else { return };
        self.set_preview(Vec::new());
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
        self.set_preview(Vec::new());
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

    /// Its rows, at most `room`. Of what the chosen entry would do as much is shown as there is room for beside the
    /// list, and the rest can be scrolled to.
    pub fn rows(&mut self, width: usize, room: usize, theme: &Theme) -> Vec<Line<'static>> {
        // What waits for an answer says so; a list does not.
        let mark = if self.holds(|picked| *picked == Picked::Leave) { "◆ " } else { "  " };
        let mut heading = vec![Span::styled(format!("{mark}{}", self.heading), theme.accent)];
        if !self.filter.is_empty() {
            heading.push(Span::styled(format!("  {}", self.filter), theme.chosen));
        }
        let mut rows = wrap(&Line::from(heading), width, &Indent { first: Vec::new(), rest: vec![Span::raw("  ")] });
        rows.truncate((room / 5).max(1));
        let hint = wrap(&Line::styled(self.hint.clone(), theme.dim), width, &Indent::default());
        let told = self.told_rows(width, theme);
        let fitting = self.fitting();
        // The chosen one is shown whole, as far as there is room.
        let chosen = self.chosen().map(|entry| self.row(entry, true, theme)).unwrap_or_default();
        let mut chosen = wrap(&chosen, width, &Indent { first: Vec::new(), rest: vec![Span::raw("    ")] });
        chosen.truncate((room / 4).max(1));
        let left = room.saturating_sub(rows.len() + hint.len());
        let list = (fitting.len().saturating_sub(1) + chosen.len()).clamp(1, ROWS.max(chosen.len()));
        // Both have half of the room at least, if they need it.
        let below = told.len().min(left.saturating_sub(list).max(left / 2));
        let beyond = usize::from(fitting.len() > list);
        let most = left.saturating_sub(below + beyond + chosen.len().saturating_sub(1)).clamp(1, ROWS);
        let first = (self.at.min(fitting.len().saturating_sub(1)) + 1).saturating_sub(most);
        for (index, entry) in fitting.iter().enumerate().skip(first).take(most) {
            if index == self.at {
                rows.append(&mut chosen);
            } else {
                rows.push(cut(&self.row(entry, false, theme), width));
            }
        }
        match fitting.len().saturating_sub(first + most) {
            0 if fitting.is_empty() => rows.push(Line::styled("  No match", theme.dim)),
            0 => {}
            beyond => rows.push(Line::styled(format!("  … {beyond} more"), theme.dim)),
        }
        rows.extend(self.seen_of(told, below, theme));
        rows.extend(hint);
        rows
    }

    /// What the chosen entry would do; nothing of it is cut off.
    fn told_rows(&self, width: usize, theme: &Theme) -> Vec<Line<'static>> {
        let row = |told: &Told| {
            let (mark, style) = if told.warns { ("  ! ", theme.warning) } else { ("    ", theme.dim) };
            let indent = Indent { first: vec![Span::styled(mark, style)], rest: vec![Span::raw("      ")] };
            wrap(&Line::styled(clean_line(&told.text), style), width, &indent)
        };
        self.preview.iter().flat_map(row).collect()
    }

    /// As much of it as has room; the last row says how much more there is.
    fn seen_of(&mut self, told: Vec<Line<'static>>, room: usize, theme: &Theme) -> Vec<Line<'static>> {
        let count = told.len();
        if count <= room {
            (self.scrolled, self.shown, self.hidden) = (0, count, 0);
            return told;
        }
        self.shown = room.saturating_sub(1);
        self.scrolled = self.scrolled.min(count.saturating_sub(self.shown));
        self.hidden = count.saturating_sub(self.scrolled + self.shown);
        let words = match (self.hidden, self.scrolled) {
            (0, _) => format!("    … ← {} rows above", self.scrolled),
            (hidden, 0) => format!("    … → {hidden} more rows"),
            (hidden, scrolled) => format!("    … → {hidden} more rows, ← {scrolled} above"),
        };
        let seen = told.into_iter().skip(self.scrolled).take(self.shown);
        seen.chain([Line::styled(words, theme.accent)]).collect()
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
        assert!(rows.iter().any(|row| row.to_string().contains("No match")));
    }
}

//! What is chosen in a list: by arrows, by letters that narrow it down, and what stays of that when the list changes.

use neco_proto::QuestionId;
use neco_view::wording::Told;

use super::entry::{Column, Entry, Letters, Picked};
use crate::app::facing::READ_MS;
use crate::input::fits;

/// Letters from which on what is said about the entries is searched, too.
const WORDY: usize = 3;

/// A list to choose from.
#[derive(Clone, Debug, Default)]
pub struct Picker {
    pub(super) heading: String,
    pub(super) hint: String,
    /// What letters do here.
    pub letters: Letters,
    pub(super) columns: &'static [Column],
    pub(super) entries: Vec<Entry>,
    pub(super) filter: String,
    pub(super) at: usize,
    /// What the chosen entry would do, once that is known.
    pub(super) preview: Vec<Told>,
    /// Rows of it that were scrolled past, that were shown last, and that did not fit below those.
    pub(super) scrolled: usize,
    pub(super) shown: usize,
    pub(super) hidden: usize,
    /// Since when what it says now is on the screen, in milliseconds.
    seen_ms: Option<i64>,
    /// Whether it has as many rows as there is room for.
    pub(super) is_tall: bool,
    /// Whether what its entries are has as many columns as what is said about them leaves.
    pub(super) is_wide: bool,
    /// What is said of words that fit nothing, where Enter takes them all the same.
    pub(super) otherwise: Option<&'static str>,
}

impl Picker {
    /// A list with its first entry chosen.
    pub fn new(heading: impl Into<String>, hint: impl Into<String>, letters: Letters, entries: Vec<Entry>) -> Self {
        let at = entries.iter().position(|entry| !entry.is_heading).unwrap_or_default();
        Self { heading: heading.into(), hint: hint.into(), letters, entries, at, ..Self::default() }
    }

    /// With these columns behind what its entries are.
    #[must_use]
    pub fn columns(mut self, columns: &'static [Column]) -> Self {
        self.columns = columns;
        self
    }

    /// With as many rows as there is room for.
    #[must_use]
    pub fn tall(mut self) -> Self {
        self.is_tall = true;
        self
    }

    /// With as many columns for what its entries are as what is said about them leaves.
    #[must_use]
    pub fn wide(mut self) -> Self {
        self.is_wide = true;
        self
    }

    /// With words that fit nothing, of which this is said: Enter takes them all the same.
    #[must_use]
    pub fn otherwise(mut self, words: &'static str) -> Self {
        self.otherwise = Some(words);
        self
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
        let chosen = older.chosen().cloned();
        self.filter = older.filter;
        let fitting = self.fitting();
        let is_same = |entry: &&Entry| chosen.as_ref().is_some_and(|chosen| entry.picked == chosen.picked);
        // Several may stand for the same, such as rules that can't be taken away.
        let is_called_so = |entry: &&Entry| chosen.as_ref().is_some_and(|chosen| entry.text == chosen.text);
        let exact = fitting.iter().position(|entry| is_same(entry) && is_called_so(entry));
        self.at = exact.or_else(|| fitting.iter().position(is_same)).unwrap_or(fitting.len());
        self
    }

    /// Whether it has an entry like this.
    pub fn holds(&self, like: impl Fn(&Picked) -> bool) -> bool {
        self.entries.iter().any(|entry| like(&entry.picked))
    }

    /// The question that is asked with it.
    pub fn question(&self) -> Option<QuestionId> {
        self.entries.iter().find_map(|entry| match entry.picked {
            Picked::Answer(question, _) => Some(question),
            _ => None,
        })
    }

    /// Whether it is the list of all agents, which stands above the field.
    pub fn is_tree(&self) -> bool {
        self.holds(|picked| matches!(picked, Picked::Agent(_) | Picked::Workflow(_)))
    }

    /// Whether it is the menu of something that is looked at.
    pub fn is_menu(&self) -> bool {
        self.holds(|picked| matches!(picked, Picked::Order(..)))
    }

    /// Whether the field searches it.
    pub fn searches(&self) -> bool {
        self.letters == Letters::Filter
    }

    /// What it is a list of.
    pub fn heading(&self) -> &str {
        &self.heading
    }

    /// What is searched for.
    pub fn filter(&self) -> &str {
        &self.filter
    }

    /// How many fit what is searched for.
    pub fn found(&self) -> String {
        match self.filter.is_empty() {
            true => String::new(),
            false => {
                let all = self.entries.iter().filter(|entry| !entry.is_heading).count();
                format!("{} of {all}", self.fitting().len())
            }
        }
    }

    /// Chooses the entry of a number, from 1; whether there is one.
    pub fn choose_number(&mut self, number: usize) -> bool {
        let is_there = (1..=self.entries.len()).contains(&number);
        if is_there {
            self.at = number - 1;
        }
        is_there
    }

    /// Chooses the next entry like this below the chosen one, or from the top.
    pub fn choose_next(&mut self, like: impl Fn(&Picked) -> bool) {
        let count = self.entries.len();
        let at = |step: usize| (self.at + step) % count.max(1);
        let fits = |index: &usize| self.entries.get(*index).is_some_and(|entry| like(&entry.picked));
        if let Some(next) = (1..=count).map(at).find(fits) {
            self.at = next;
        }
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
        // The names of what follows are passed over.
        let fitting = self.fitting();
        let rows: Vec<usize> = (0..).zip(fitting).filter(|(_, entry)| !entry.is_heading).map(|(row, _)| row).collect();
        let Some(last) = rows.len().checked_sub(1) else { return };
        self.set_preview(Vec::new());
        let next = match (by, rows.partition_point(|row| *row < self.at)) {
            (1, at) if at == last => 0,
            (-1, 0) => last,
            (by, at) => at.saturating_add_signed(by).min(last),
        };
        self.at = rows.get(next).copied().unwrap_or(self.at);
    }

    /// One more letter narrows it down; none takes the last one away.
    pub fn narrow(&mut self, letter: Option<char>) {
        match letter {
            Some(letter) => self.filter.push(letter),
            None => drop(self.filter.pop()),
        }
        self.at = self.fitting().iter().position(|entry| !entry.is_heading).unwrap_or_default();
        self.set_preview(Vec::new());
    }

    /// Nothing is searched for any more.
    pub fn clear(&mut self) {
        self.filter.clear();
        self.narrow(None);
    }

    /// The entries that fit what was written, the nearest first: names that begin so, names that hold it, what is said
    /// about the others, and last those that have its letters somewhere.
    pub(super) fn fitting(&self) -> Vec<&Entry> {
        if self.filter.is_empty() {
            return self.entries.iter().filter(|entry| !entry.is_folded).collect();
        }
        // A letter or two are somewhere in everything that is said about something; where words are taken as they are
        // written, they are no less so because something mentions them.
        let wanted = self.filter.to_lowercase();
        let says = |text: &String| text.to_lowercase().contains(&wanted);
        let is_wordy = wanted.chars().count() >= WORDY && self.otherwise.is_none();
        let is_about = |entry: &Entry| is_wordy && (says(&entry.about) || entry.cells.iter().any(says));
        let score = |entry: &Entry| {
            let (name, letters) = (entry.text.to_lowercase(), fits(&self.filter, &entry.text));
            let near = match name.trim_start_matches('/') {
                name if name.starts_with(&wanted) => 3,
                _ if name.contains(&wanted) => 2,
                _ if is_about(entry) => 1,
                _ => 0,
            };
            (near > 0 || letters.is_some()).then_some((near, letters.unwrap_or(i64::MIN)))
        };
        let mut fitting: Vec<((u8, i64), &Entry)> = self
            .entries
            .iter()
            .filter(|entry| !entry.is_heading)
            .filter_map(|entry| Some((score(entry)?, entry)))
            .collect();
        fitting.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
        fitting.into_iter().map(|(_, entry)| entry).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theme::{Theme, ThemeName};

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
        assert_eq!((picker.filter(), picker.found().as_str()), ("claz", "0 of 3"));
    }

    #[test]
    fn names_that_begin_so_come_before_those_that_hold_it_and_what_is_said() {
        let entry = |name: &str, about: &str| Entry::new(name, about, Picked::Fill(name.to_owned()));
        let entries = vec![
            entry("/sandbox [read_only|workspace_write|full]", "what commands run in"),
            entry("/redo", "redo a rewind"),
            entry("/unrewind", ""),
            entry("/rewind", ""),
        ];
        let mut picker = Picker::new("Search", "Esc", Letters::Filter, entries);
        "rew".chars().for_each(|letter| picker.narrow(Some(letter)));
        let found: Vec<&str> = picker.fitting().into_iter().map(|entry| entry.text.as_str()).collect();
        assert_eq!(found, ["/rewind", "/unrewind", "/redo", "/sandbox [read_only|workspace_write|full]"]);
    }
}

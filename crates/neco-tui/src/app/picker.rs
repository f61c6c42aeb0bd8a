//! A list to choose from, below the field: sessions, messages to go back to, models, rules, agents.

use neco_proto::clean::{clean, clean_line};
use neco_proto::event::RewindWhat;
use neco_proto::{AgentId, CheckpointInfo, Command, RewindPoint, WorkflowId};
use neco_view::slash::Slash;
use neco_view::wording::Told;
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr;

use crate::app::facing::READ_MS;
use crate::input::{fits, lit};
use crate::text::wrap::{Indent, cut, wrap};
use crate::theme::Theme;

/// Rows of a list at most.
const ROWS: usize = 12;

/// Columns of what an entry is, before what is said about it.
const COLUMN: usize = 48;

/// Letters from which on what is said about the entries is searched, too.
const WORDY: usize = 3;

/// Rows from which on the keys stand apart from the list.
const ROOMY: usize = 10;

/// Rows from which on what the chosen entry would do stands below a rule.
const RULED: usize = 26;

/// What points at the chosen entry.
const HERE: &str = " ❯ ";

/// Which sessions a list has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reach {
    /// Those of this folder.
    #[default]
    Folder,
    /// Those of all folders.
    Everywhere,
}

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
    /// Yes: this is to be done, and this message comes back into the field with it.
    Go(Box<Command>, Option<String>),
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
    /// A command in the background: the agent that started it, and what it is called there.
    Background(AgentId, String),
    /// Something that can be done to an agent or a workflow, and the letter that means it in its menu.
    Order(char, Box<Command>),
    /// Something is to be written to an agent.
    Write(AgentId),
    /// A command after a slash.
    Slash(Box<Slash>),
    /// This is put into the field, to be gone on with.
    Fill(String),
    /// A file is to be changed in the editor.
    EditFile(String),
    /// Nothing: it is the name of what follows, or only tells something.
    Nothing,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// What it is.
    pub text: String,
    /// More about it.
    pub about: String,
    /// What is told below the list while it is chosen.
    pub more: Vec<Told>,
    /// What it stands for.
    pub picked: Picked,
    /// Whether it is the name of what follows, and can't be chosen.
    is_heading: bool,
}

impl Entry {
    /// An entry of these words.
    pub fn new(text: &str, about: &str, picked: Picked) -> Self {
        Self { text: clean_line(text), about: clean_line(about), more: Vec::new(), picked, is_heading: false }
    }

    /// An entry about which something is said in columns: the blanks between those stay.
    pub fn aligned(text: &str, about: &str, picked: Picked) -> Self {
        Self { about: clean(about).replace(['\n', '\r', '\t'], " "), ..Self::new(text, "", picked) }
    }

    /// An entry whose first words are Neco's own and keep their blanks, which stand for columns.
    pub fn spaced(text: String, about: &str, picked: Picked) -> Self {
        Self { text, ..Self::new("", about, picked) }
    }

    /// The name of what follows.
    pub fn heading(text: &str) -> Self {
        Self { is_heading: true, ..Self::new(text, "", Picked::Nothing) }
    }

    /// With what is told below the list while it is chosen.
    #[must_use]
    pub fn telling(mut self, more: Vec<Told>) -> Self {
        self.more = more;
        self
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
    /// Whether it has as many rows as there is room for.
    is_tall: bool,
    /// Whether what its entries are has as many columns as what is said about them leaves.
    is_wide: bool,
}

impl Picker {
    /// A list with its first entry chosen.
    pub fn new(heading: impl Into<String>, hint: impl Into<String>, letters: Letters, entries: Vec<Entry>) -> Self {
        let at = entries.iter().position(|entry| !entry.is_heading).unwrap_or_default();
        Self { heading: heading.into(), hint: hint.into(), letters, entries, at, ..Self::default() }
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
        let count = self.fitting().len();
        let Some(last) = count.checked_sub(1) else { return };
        self.set_preview(Vec::new());
        self.at = match (by, self.at) {
            (1, at) if at == last => 0,
            (-1, 0) => last,
            (by, at) => at.saturating_add_signed(by).min(last),
        };
        // The name of what follows is passed over; above the first one is nothing to go to.
        if self.chosen().is_some_and(|entry| entry.is_heading) {
            self.at = if by < 0 && self.at > 0 {
                self.at - 1
            } else if by == -1 {
                last
            } else {
                (self.at + 1).min(last)
            };
        }
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

    /// The entries that fit what was written, the nearest first: names that begin so, names that hold it, what is said
    /// about the others, and last those that have its letters somewhere.
    fn fitting(&self) -> Vec<&Entry> {
        if self.filter.is_empty() {
            return self.entries.iter().collect();
        }
        // A letter or two are somewhere in everything that is said about something.
        let wanted = self.filter.to_lowercase();
        let is_about = |entry: &Entry| wanted.chars().count() >= WORDY && entry.about.to_lowercase().contains(&wanted);
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

    /// Its rows, at most `room`. Of what the chosen entry would do as much is shown as there is room for beside the
    /// list, and the rest can be scrolled to.
    pub fn rows(&mut self, width: usize, room: usize, theme: &Theme) -> Vec<Line<'static>> {
        let mut rows = Vec::new();
        if !self.searches() {
            // What waits for an answer says so; a list does not.
            let (mark, style) = if self.is_question() { (" ◆ ", theme.ask) } else { ("   ", theme.accent) };
            let heading =
                Line::from(vec![Span::styled(mark, style), Span::styled(self.heading.clone(), theme.heading)]);
            rows = wrap(&heading, width, &Indent { first: Vec::new(), rest: vec![Span::raw("   ")] });
            rows.truncate((room / 5).max(1));
        }
        let mut hint = wrap(&Line::styled(self.hint.clone(), theme.dim), width, &Indent::all(Span::raw("   ")));
        if room > ROOMY {
            hint.insert(0, Line::default());
        }
        let told = self.told_rows(width, theme);
        let rule = self.rule(width, theme).filter(|_| room >= RULED && !told.is_empty());
        let fitting = self.fitting();
        // The chosen one is shown whole, as far as there is room; where the rule names it, the list stays where it is.
        let column = self.column(width);
        let chosen = self.chosen();
        let chosen = match rule {
            Some(_) => chosen.map(|entry| vec![cut(&self.row(HERE, entry, column, theme), width)]),
            None => chosen.map(|entry| self.whole_rows(entry, column, width, theme)),
        };
        let chosen = chosen.unwrap_or_else(|| vec![Line::default()]).into_iter().take((room / 4).max(1));
        let mut chosen: Vec<Line<'static>> = chosen.map(|row| theme.choose(row)).collect();
        let rule: Vec<Line<'static>> = rule.into_iter().flat_map(|rule| [Line::default(), rule]).collect();
        let left = room.saturating_sub(rows.len() + hint.len() + rule.len());
        let highest = if self.is_tall { left } else { ROWS };
        let list = (fitting.len().saturating_sub(1) + chosen.len()).clamp(1, highest.max(chosen.len()));
        // Both have half of the room at least, if they need it.
        let below = told.len().min(left.saturating_sub(list).max(left / 2));
        let beyond = usize::from(fitting.len() > list);
        let most = left.saturating_sub(below + beyond + chosen.len().saturating_sub(1)).clamp(1, highest.max(1));
        let first = (self.at.min(fitting.len().saturating_sub(1)) + 1).saturating_sub(most);
        for (index, entry) in fitting.iter().enumerate().skip(first).take(most) {
            if index == self.at {
                rows.append(&mut chosen);
            } else {
                rows.push(cut(&self.row("   ", entry, column, theme), width));
            }
        }
        match fitting.len().saturating_sub(first + most) {
            0 if fitting.is_empty() => rows.push(Line::styled("   No match", theme.dim)),
            0 => {}
            beyond => rows.push(Line::styled(format!("   … {beyond} more"), theme.dim)),
        }
        rows.extend(rule);
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
        let chosen = self.chosen().map(|entry| entry.more.as_slice()).unwrap_or_default();
        let told = if self.preview.is_empty() { chosen } else { &self.preview };
        told.iter().flat_map(row).collect()
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

    /// Whether it asks for a yes.
    fn is_question(&self) -> bool {
        self.holds(|picked| *picked == Picked::Leave)
    }

    /// The column in which what is said about the entries begins.
    fn column(&self, width: usize) -> usize {
        let wide = |entry: &Entry| entry.text.width();
        let widest = self.entries.iter().filter(|entry| !entry.about.is_empty()).map(wide).max().unwrap_or_default();
        let usual = COLUMN.min(width / 2);
        let about = self.entries.iter().map(|entry| entry.about.width()).max().unwrap_or_default();
        let most = if self.is_wide { usual.max(width.saturating_sub(HERE.width() + about + 2)) } else { usual };
        widest.min(most)
    }

    /// The rule above what is told of the chosen entry: which one that is. What a rewind is to, the heading says.
    fn rule(&self, width: usize, theme: &Theme) -> Option<Line<'static>> {
        let entry = self.chosen()?;
        let title = match entry.picked {
            Picked::Session(_) | Picked::Message(_) | Picked::Checkpoint(_) => entry.text.clone(),
            Picked::Rewind(..) => "What would change".to_owned(),
            _ => return None,
        };
        let title = cut(&Line::from(Span::styled(title, theme.heading)), width.saturating_sub(6));
        let blank = width.saturating_sub(title.width() + 4);
        let mut spans = vec![Span::styled("── ", theme.line)];
        spans.extend(title.spans);
        spans.push(Span::styled(format!(" {}", "─".repeat(blank)), theme.line));
        Some(Line::from(spans))
    }

    /// The rows of the chosen entry with nothing cut off.
    fn whole_rows(&self, entry: &Entry, column: usize, width: usize, theme: &Theme) -> Vec<Line<'static>> {
        let row = self.row_of(HERE, entry, &entry.text, column, theme);
        wrap(&row, width, &Indent { first: Vec::new(), rest: vec![Span::raw("     ")] })
    }

    /// The row of an entry, whose words end where the column begins of what is said about it.
    fn row(&self, pointer: &'static str, entry: &Entry, column: usize, theme: &Theme) -> Line<'static> {
        match !entry.about.is_empty() && entry.text.width() > column {
            true => {
                let text = cut(&Line::raw(entry.text.clone()), column).to_string();
                self.row_of(pointer, entry, &text, column, theme)
            }
            false => self.row_of(pointer, entry, &entry.text, column, theme),
        }
    }

    fn row_of(&self, pointer: &'static str, entry: &Entry, text: &str, column: usize, theme: &Theme) -> Line<'static> {
        if entry.is_heading {
            return Line::styled(format!("   {text}"), theme.heading);
        }
        let blanks = if entry.about.is_empty() { 0 } else { column.saturating_sub(text.width()) + 2 };
        let mut spans = vec![Span::styled(pointer, theme.accent.add_modifier(Modifier::BOLD))];
        spans.extend(lit(text, &self.filter, theme));
        spans.push(Span::raw(" ".repeat(blanks)));
        spans.push(Span::styled(entry.about.clone(), theme.dim));
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

    #[test]
    fn a_wide_list_cuts_nothing_that_has_room() {
        let rule = "allow edit_file, write_file, apply_patch (risk high and above)";
        let entries = vec![Entry::new("Add", "", Picked::NewRule), Entry::new(rule, "yours", Picked::Rule(None))];
        let list = || Picker::new("Rules", "Esc", Letters::Filter, entries.clone());
        let theme = Theme::new(ThemeName::Plain);
        let row = |mut picker: Picker| picker.rows(120, 30, &theme).iter().map(ToString::to_string).nth(1);
        assert_eq!(row(list().wide()), Some(format!("   {rule}  yours")));
        assert!(row(list()).is_some_and(|row| row.contains('…')));
    }

    #[test]
    fn what_is_looked_into_stands_below_a_rule_and_the_list_stays() {
        let long = "a title that is far too long for one row ".repeat(4);
        let entry = |name: &str| Entry::aligned(name, "2 h ago   3 messages", Picked::Session(name.to_owned()));
        let told = vec![Told::plain("› the last words")];
        let mut picker = Picker::new("Search", "Esc", Letters::Filter, vec![entry(&long), entry("b")]);
        picker.set_preview(told);
        let theme = Theme::new(ThemeName::Plain);
        let rows: Vec<String> = picker.rows(100, 30, &theme).iter().map(ToString::to_string).collect();
        assert!(rows[0].ends_with("2 h ago   3 messages") && rows[1].starts_with("   b "), "{rows:?}");
        assert!(rows[2].is_empty() && rows[3].starts_with("── a title that"), "{rows:?}");
        assert_eq!(rows[4], "    › the last words");
        // What nothing is told of is named by no rule: the list tells all of it.
        picker.set_preview(Vec::new());
        let rows: Vec<String> = picker.rows(100, 30, &theme).iter().map(ToString::to_string).collect();
        assert!(!rows.iter().any(|row| row.starts_with('─')), "{rows:?}");
        assert_eq!(rows.concat().matches("a title that").count(), 4, "{rows:?}");
        picker.set_preview(vec![Told::plain("› the last words")]);
        // Where there are few rows, the list tells it.
        let rows: Vec<String> = picker.rows(100, 12, &theme).iter().map(ToString::to_string).collect();
        assert!(!rows[1].starts_with("   b ") && !rows.iter().any(|row| row.starts_with('─')), "{rows:?}");
    }

    #[test]
    fn a_rule_names_the_checkpoint_that_the_list_cuts() {
        let info = serde_json::json!({
            "rev": "0123456789", "seq": 3, "ts": "2026-01-01T10:00:00Z", "label": "a", "when": "before", "changed": 2
        });
        let picked = Picked::Checkpoint(serde_json::from_value(info).unwrap());
        let text = "0123456789 before edit_file crates/harbor/src/upload/retry.rs";
        let mut picker = Picker::new("Restore", "Esc", Letters::Filter, vec![Entry::new(text, "10:00:00", picked)]);
        picker.set_preview(vec![Told::plain("2 files go back")]);
        let rows: Vec<String> =
            picker.rows(100, 30, &Theme::new(ThemeName::Plain)).iter().map(ToString::to_string).collect();
        assert!(!rows[0].contains("retry.rs") && rows[2].starts_with(&format!("── {text} ─")), "{rows:?}");
    }
}

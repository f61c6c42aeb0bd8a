//! A list to choose from, as rows: the list, what its chosen entry would do, and the keys.

use neco_proto::clean::clean_line;
use neco_view::wording::Told;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr;

use super::{Entry, Mark, Picked, Picker};
use crate::input::lit;
use crate::panel;
use crate::text::figures::padded;
use crate::text::wrap::{Indent, cut, wrap};
use crate::theme::Theme;

/// Rows of a list at most.
const ROWS: usize = 12;

/// Columns of what an entry is, before what is said about it.
const COLUMN: usize = 48;

/// Columns that are left to it at least.
const LEAST: usize = 16;

/// Blanks between what is said about an entry in columns.
const GAP: usize = 3;

/// Columns of what stands before an entry.
const MARK: usize = 2;

/// Rows from which on the keys stand apart from the list.
const ROOMY: usize = 10;

/// Rows from which on what the chosen entry would do stands below a rule.
const RULED: usize = 26;

/// Columns up to which what is told of an entry has none of its own.
const NARROW: usize = 60;

/// What points at the chosen entry.
const HERE: &str = " ❯ ";

/// How wide the parts of a list's rows are.
struct Layout {
    /// All of it.
    width: usize,
    /// What stands before the entries.
    mark: usize,
    /// What they are.
    text: usize,
    /// Each column behind that; 0 for one that has no room, or nothing in it.
    cells: Vec<usize>,
}

impl Picker {
    /// Its rows, at most `room`. Of what the chosen entry would do as much is shown as there is room for beside the
    /// list, and the rest can be scrolled to.
    pub fn rows(&mut self, width: usize, room: usize, theme: &Theme) -> Vec<Line<'static>> {
        let mut rows = self.heading_rows(width, room, theme);
        let mut hint = wrap(&Line::styled(self.hint.clone(), theme.dim), width, &Indent::all(Span::raw("   ")));
        if room > ROOMY {
            hint.insert(0, Line::default());
        }
        let told = self.told_rows(width, theme);
        let rule = self.rule(width, theme).filter(|_| room >= RULED && !told.is_empty());
        let layout = self.layout(width);
        let chosen = self.chosen_rows(rule.is_some(), &layout, theme);
        let chosen = chosen.into_iter().take((room / 4).max(1)).map(|row| theme.choose(row)).collect();
        let rule: Vec<Line<'static>> = rule.into_iter().flat_map(|rule| [Line::default(), rule]).collect();
        let left = room.saturating_sub(rows.len() + hint.len() + rule.len());
        let (list, below) = self.list_rows(chosen, told.len(), left, &layout, theme);
        rows.extend(list);
        rows.extend(rule);
        rows.extend(self.seen_of(told, below, theme));
        rows.extend(hint);
        rows
    }

    /// What it is a list of; where the field searches it, the field says that.
    fn heading_rows(&self, width: usize, room: usize, theme: &Theme) -> Vec<Line<'static>> {
        if self.searches() {
            return Vec::new();
        }
        // What waits for an answer says so; a list does not.
        let (mark, style) = if self.is_question() { (" ◆ ", theme.ask) } else { ("   ", theme.accent) };
        let heading = Line::from(vec![Span::styled(mark, style), Span::styled(self.heading.clone(), theme.heading)]);
        let mut rows = wrap(&heading, width, &Indent { first: Vec::new(), rest: vec![Span::raw("   ")] });
        rows.truncate((room / 5).max(1));
        rows
    }

    /// The rows of the chosen entry: it is shown whole, but where a rule names it the list stays where it is.
    fn chosen_rows(&self, is_ruled: bool, layout: &Layout, theme: &Theme) -> Vec<Line<'static>> {
        match self.chosen() {
            None => vec![Line::default()],
            Some(entry) if is_ruled => vec![cut(&self.row(HERE, entry, layout, theme), layout.width)],
            Some(entry) => self.whole_rows(entry, layout, theme),
        }
    }

    /// The entries, and how many rows of the `left` ones are for the `told` ones below them.
    fn list_rows(
        &self,
        mut chosen: Vec<Line<'static>>,
        told: usize,
        left: usize,
        layout: &Layout,
        theme: &Theme,
    ) -> (Vec<Line<'static>>, usize) {
        let fitting = self.fitting();
        let highest = if self.is_tall { left } else { ROWS };
        let list = (fitting.len().saturating_sub(1) + chosen.len()).clamp(1, highest.max(chosen.len()));
        // Both have half of the room at least, if they need it; what is told gives way to the chosen entry and to the
        // row that says how many follow.
        let least = chosen.len() + usize::from(fitting.len() > 1);
        let below = told.min(left.saturating_sub(list).max(left / 2)).min(left.saturating_sub(least));
        let extra = chosen.len().saturating_sub(1);
        let most = |beyond: usize| left.saturating_sub(below + beyond + extra).clamp(1, highest.max(1));
        let last = self.at.min(fitting.len().saturating_sub(1)) + 1;
        let most = most(usize::from(fitting.len() > list || fitting.len() > last.max(most(0))));
        let first = last.saturating_sub(most);
        let mut rows = Vec::new();
        for (index, entry) in fitting.iter().enumerate().skip(first).take(most) {
            if index == self.at {
                rows.append(&mut chosen);
            } else {
                rows.push(cut(&self.row("   ", entry, layout, theme), layout.width));
            }
        }
        match fitting.len().saturating_sub(first + most) {
            0 if fitting.is_empty() => {
                rows.push(Line::styled(format!("   {}", self.otherwise.unwrap_or("No match")), theme.dim));
            }
            0 => {}
            _ if rows.len() + below >= left => {}
            beyond => rows.push(Line::styled(format!("   … {beyond} more"), theme.dim)),
        }
        (rows, below)
    }

    /// What the chosen entry would do; nothing of it is cut off.
    fn told_rows(&self, width: usize, theme: &Theme) -> Vec<Line<'static>> {
        let chosen = self.chosen().map(|entry| entry.more.as_slice()).unwrap_or_default();
        let told = if self.preview.is_empty() { chosen } else { &self.preview };
        let label = told.iter().map(|told| told.label.width()).max().filter(|_| width >= NARROW).unwrap_or_default();
        let counted = told.iter().filter(|told| told.lines.is_some()).map(|told| told.text.width());
        let column = counted.max().unwrap_or_default().min(COLUMN.min(width / 2));
        told.iter().flat_map(|told| told_row(told, label, column, width, theme)).collect()
    }

    /// As much of it as has room; the last row says how much more there is.
    fn seen_of(&mut self, told: Vec<Line<'static>>, room: usize, theme: &Theme) -> Vec<Line<'static>> {
        let count = told.len();
        if room == 0 {
            (self.scrolled, self.shown, self.hidden) = (0, 0, 0);
            return Vec::new();
        }
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

    /// How wide the parts of its rows are.
    fn layout(&self, width: usize) -> Layout {
        let mark = if self.entries.iter().any(|entry| entry.mark.is_some()) { MARK } else { 0 };
        let says_more = |entry: &&Entry| !entry.about.is_empty() || !entry.cells.is_empty();
        let wide = |entry: &Entry| entry.text.width();
        let widest = self.entries.iter().filter(says_more).map(wide).max().unwrap_or_default();
        let usual = COLUMN.min(width / 2);
        let room = width.saturating_sub(HERE.width() + mark);
        if self.columns.is_empty() {
            let about = self.entries.iter().map(|entry| entry.about.width()).max().unwrap_or_default();
            let most = if self.is_wide { usual.max(room.saturating_sub(about + 2)) } else { usual };
            return Layout { width, mark, text: widest.min(most), cells: Vec::new() };
        }
        let cell = |at: usize| self.entries.iter().filter_map(move |entry| entry.cells.get(at));
        let mut cells: Vec<usize> =
            (0..self.columns.len()).map(|at| cell(at).map(|cell| cell.width()).max().unwrap_or_default()).collect();
        let left = |cells: &[usize]| {
            let taken: usize = cells.iter().filter(|wide| **wide > 0).map(|wide| wide + GAP).sum();
            room.saturating_sub(taken)
        };
        while left(&cells) < widest.min(usual) {
            let shown = self.columns.iter().zip(&mut cells).filter(|(column, wide)| column.rank > 0 && **wide > 0);
            let Some((_, wide)) = shown.max_by_key(|(column, _)| column.rank) else { break };
            *wide = 0;
        }
        Layout { width, mark, text: widest.min(left(&cells).max(LEAST)), cells }
    }

    /// What is said about an entry, in columns where it has some.
    fn about(&self, entry: &Entry, layout: &Layout) -> String {
        if entry.cells.is_empty() {
            return entry.about.clone();
        }
        let columns = self.columns.iter().zip(&layout.cells).zip(&entry.cells);
        let shown = columns.filter(|((_, wide), _)| **wide > 0).map(|((column, wide), cell)| match column.is_right {
            true => format!("{}{cell}", " ".repeat(wide.saturating_sub(cell.width()))),
            false => padded(cell, *wide),
        });
        shown.collect::<Vec<String>>().join(&" ".repeat(GAP)).trim_end().to_owned()
    }

    /// The rule above what is told of the chosen entry: which one that is. What a rewind is to, the heading says.
    fn rule(&self, width: usize, theme: &Theme) -> Option<Line<'static>> {
        let entry = self.chosen()?;
        let title = match entry.picked {
            Picked::Session(_) | Picked::Message(_) | Picked::Checkpoint(_) => entry.text.clone(),
            Picked::Rewind(..) => "What would change".to_owned(),
            _ => return None,
        };
        Some(panel::heading(&title, Vec::new(), None, width, theme))
    }

    /// The rows of the chosen entry with nothing cut off.
    fn whole_rows(&self, entry: &Entry, layout: &Layout, theme: &Theme) -> Vec<Line<'static>> {
        let row = self.row_of(HERE, entry, &entry.text, layout, theme);
        wrap(&row, layout.width, &Indent { first: Vec::new(), rest: vec![Span::raw("     ")] })
    }

    /// The row of an entry, whose words end where the column begins of what is said about it.
    fn row(&self, pointer: &'static str, entry: &Entry, layout: &Layout, theme: &Theme) -> Line<'static> {
        let says_more = !entry.about.is_empty() || !entry.cells.is_empty();
        match says_more && entry.text.width() > layout.text {
            true => {
                let text = cut(&Line::raw(entry.text.clone()), layout.text).to_string();
                self.row_of(pointer, entry, &text, layout, theme)
            }
            false => self.row_of(pointer, entry, &entry.text, layout, theme),
        }
    }

    fn row_of(
        &self,
        pointer: &'static str,
        entry: &Entry,
        text: &str,
        layout: &Layout,
        theme: &Theme,
    ) -> Line<'static> {
        let about = self.about(entry, layout);
        let gap = if entry.cells.is_empty() { 2 } else { GAP };
        let blanks = if about.is_empty() { 0 } else { layout.text.saturating_sub(text.width()) + gap };
        let mut spans = match entry.is_heading {
            true => {
                let beneath = if about.is_empty() { 0 } else { layout.mark };
                vec![Span::styled(format!("   {text}"), theme.heading), Span::raw(" ".repeat(beneath))]
            }
            false => {
                let mut spans = vec![Span::styled(pointer, theme.accent.add_modifier(Modifier::BOLD))];
                spans.extend((layout.mark > 0).then(|| mark(entry.mark, theme)));
                spans.extend(lit(text, &self.filter, theme));
                spans
            }
        };
        spans.push(Span::raw(" ".repeat(blanks)));
        spans.push(Span::styled(about, theme.dim));
        Line::from(spans)
    }
}

/// What is told of an entry: what happens to what it names, in a column where that has some, then that and its lines.
fn told_row(told: &Told, label: usize, column: usize, width: usize, theme: &Theme) -> Vec<Line<'static>> {
    let (mark, style) = if told.warns { ("  ! ", theme.warning) } else { ("    ", theme.dim) };
    let text = clean_line(&told.text);
    let before = if told.label.is_empty() { String::new() } else { format!("{}  ", padded(told.label, label)) };
    let hangs = if before.is_empty() || label == 0 { 2 } else { before.width() };
    let rest = " ".repeat(mark.width() + hangs);
    let mut spans = vec![Span::styled(before, style)];
    match told.lines {
        None => spans.push(Span::styled(text, style)),
        Some(lines) => {
            spans.push(Span::styled(padded(&text, column), style));
            spans.push(Span::styled(format!("  +{}", lines.added), Style { bg: None, ..theme.added }));
            spans.push(Span::styled(format!("  −{}", lines.removed), Style { bg: None, ..theme.removed }));
        }
    }
    wrap(&Line::from(spans), width, &Indent { first: vec![Span::styled(mark, style)], rest: vec![Span::raw(rest)] })
}

/// What stands before an entry.
fn mark(mark: Option<Mark>, theme: &Theme) -> Span<'static> {
    match mark {
        None => Span::raw(" ".repeat(MARK)),
        Some(Mark::Work(state, asks)) => {
            let (glyph, style) = panel::mark(state, asks, theme);
            Span::styled(padded(glyph, MARK), style)
        }
        Some(Mark::Used) => Span::styled(padded("•", MARK), theme.accent),
    }
}

#[cfg(test)]
mod tests {
    use neco_proto::LineCount;

    use super::*;
    use crate::app::picker::Letters;
    use crate::theme::ThemeName;

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
    fn the_keys_are_seen_in_every_room_that_has_some_for_them() {
        let entry = |name: String| Entry::aligned(&name, "2 h ago", Picked::Session(name.clone()));
        let theme = Theme::new(ThemeName::Plain);
        for (count, at, told, room) in (1..15).flat_map(|count| {
            let rooms = (3..30).flat_map(move |room| [0, 1, 3, 9].map(|told| (told, room)));
            rooms.flat_map(move |(told, room)| [0, count / 2, count - 1].map(|at| (count, at, told, room)))
        }) {
            let entries = (0..count).map(|number| entry(format!("session {number}"))).collect();
            let mut picker = Picker::new("Search", "Esc back", Letters::Filter, entries).at(at);
            picker.set_preview(vec![Told::plain("words"); told]);
            let rows: Vec<String> = picker.rows(60, room, &theme).iter().map(ToString::to_string).collect();
            assert!(rows.len() <= room, "{count} {at} {told} {room}: {rows:?}");
            assert!(rows.iter().any(|row| row.starts_with(&format!(" ❯ session {at} "))), "{rows:?}");
        }
    }

    #[test]
    fn files_say_in_columns_what_happens_to_them_and_to_their_lines() {
        let lines = |added, removed| Some(LineCount { added, removed });
        let told = vec![
            Told::plain("2 files restored"),
            Told { lines: lines(3, 41), ..Told::plain("src/upload/retry.rs").labelled("Edited back") },
            Told { lines: lines(0, 1), ..Told::warning("a.md").labelled("Yours too") },
            Told::plain("git push; it stays").labelled("Not undone"),
        ];
        let entry = Entry::new("conversation and files", "", Picked::Nothing);
        let mut picker = Picker::new("Rewind", "Esc", Letters::Filter, vec![entry]).with_preview(told);
        let rows: Vec<String> =
            picker.rows(80, 20, &Theme::new(ThemeName::Plain)).iter().map(ToString::to_string).collect();
        assert_eq!(
            rows[1..5],
            [
                "    2 files restored",
                "    Edited back  src/upload/retry.rs  +3  −41",
                "  ! Yours too    a.md                 +0  −1",
                "    Not undone   git push; it stays",
            ]
        );
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

//! The field the person writes in, with everything that helps to fill it.

use crossterm::event::KeyEvent;
use neco_proto::Attachment;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr;

use super::chips::Chips;
use super::completion::Completion;
use super::history::History;
use super::text::{Move, Text};
use super::vi::{Vi, ViMode, ViOutcome};
use crate::term::screen::Cursor;
use crate::text::wrap::{Indent, cut, wrap};
use crate::theme::Theme;

/// A search in the history.
#[derive(Clone, Debug, Default)]
struct Search {
    words: String,
    skip: usize,
    found: bool,
}

/// What was written, ready to be sent.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Written {
    /// The text, pastes put back.
    pub text: String,
    /// The pictures.
    pub pictures: Vec<Attachment>,
}

/// The field.
#[derive(Clone, Debug, Default)]
pub struct Prompt {
    /// What is being written.
    pub text: Text,
    /// What is offered.
    pub completion: Option<Completion>,
    history: History,
    chips: Chips,
    search: Option<Search>,
    vi: Option<Vi>,
}

impl Prompt {
    /// An empty field.
    #[must_use]
    pub fn new(history: History) -> Self {
        Self { history, ..Self::default() }
    }

    /// Whether the keys are those of vi.
    pub fn set_vi(&mut self, on: bool) {
        self.vi = on.then(Vi::default);
    }

    /// The mode of vi, when its keys are on.
    #[must_use]
    pub fn vi_mode(&self) -> Option<ViMode> {
        self.vi.as_ref().map(Vi::mode)
    }

    /// What a key means to vi; none when it is off or does not want it.
    pub fn vi_key(&mut self, key: KeyEvent) -> Option<()> {
        match self.vi.as_mut()?.key(&mut self.text, key) {
            ViOutcome::Taken => {}
            ViOutcome::Up => self.up(),
            ViOutcome::Down => self.down(),
            ViOutcome::Passed => return None,
        }
        Some(())
    }

    /// Something was pasted.
    pub fn paste(&mut self, text: &str) {
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        let folded = self.chips.fold(&text);
        self.text.insert(&folded);
        self.history.leave();
    }

    /// A picture was pasted.
    pub fn picture(&mut self, picture: Attachment) {
        let chip = self.chips.picture(picture);
        self.text.insert(&format!("{chip} "));
        self.history.leave();
    }

    /// What was written; the field is empty then.
    pub fn send(&mut self) -> Written {
        let text = self.text.take();
        let (text, pictures) = self.chips.unfold(&text);
        self.history.push(&text);
        self.emptied();
        Written { text, pictures }
    }

    /// What was written is thrown away.
    pub fn clear(&mut self) {
        self.text.clear();
        self.history.leave();
        self.emptied();
    }

    fn emptied(&mut self) {
        self.completion = None;
        self.search = None;
        if let Some(vi) = &mut self.vi {
            vi.reset();
        }
    }

    /// Another line of the text, or an older message when there is none above.
    pub fn up(&mut self) {
        if self.text.vertical(false) {
            return;
        }
        let present = self.text.as_str().to_owned();
        if let Some(older) = self.history.older(&present).map(str::to_owned) {
            self.text.set(older);
        }
    }

    /// Another line of the text, or a newer message when there is none below.
    pub fn down(&mut self) {
        if self.text.vertical(true) {
            return;
        }
        if let Some(newer) = self.history.newer() {
            self.text.set(newer);
        }
    }

    /// Whether a search goes on.
    #[must_use]
    pub fn searches(&self) -> bool {
        self.search.is_some()
    }

    /// Searches the history; again for the next older one.
    pub fn search(&mut self) {
        match &mut self.search {
            Some(search) => search.skip += 1,
            None => self.search = Some(Search::default()),
        }
        self.find();
    }

    /// A character of what is searched for; none takes the last one away.
    pub fn search_for(&mut self, char: Option<char>) {
        let Some(search) = &mut self.search else { return };
        match char {
            Some(char) => search.words.push(char),
            None => drop(search.words.pop()),
        }
        search.skip = 0;
        self.find();
    }

    /// The search is over; what it found stays.
    pub fn end_search(&mut self) {
        self.search = None;
    }

    fn find(&mut self) {
        let Some(search) = &mut self.search else { return };
        let found = self.history.search(&search.words, search.skip).map(str::to_owned);
        search.found = found.is_some();
        match found {
            Some(found) => self.text.set(found),
            None => search.skip = search.skip.saturating_sub(1),
        }
    }

    /// Accepts the chosen candidate; false when nothing is offered.
    pub fn complete(&mut self) -> bool {
        let Some(completion) = self.completion.take() else { return false };
        let Some(candidate) = completion.chosen() else { return false };
        // A folder is gone into, anything else is done with.
        let end = if candidate.text.ends_with('/') { "" } else { " " };
        self.text.replace(completion.from, &format!("{}{end}", candidate.text));
        true
    }

    /// The word that ends at the cursor and where it begins.
    #[must_use]
    pub fn word(&self) -> (usize, &str) {
        let before = self.text.before_cursor();
        let from = before.rfind(char::is_whitespace).map_or(0, |at| before.ceil_char_boundary(at + 1));
        (from, before.get(from..).unwrap_or_default())
    }

    /// Moves and changes that every editor of lines knows.
    pub fn edit(&mut self, edit: Edit) {
        self.history.leave();
        match edit {
            Edit::Go(to) => self.text.go(to),
            Edit::Delete(Move::Left) => self.backspace(),
            Edit::Delete(to) => self.text.delete(to),
            Edit::Insert(char) => self.text.insert(char.encode_utf8(&mut [0; 4])),
            Edit::Yank => self.text.yank(),
            Edit::Undo => self.text.undo(),
        }
    }

    /// A chip goes as one.
    fn backspace(&mut self) {
        match self.chips.at_end_of(self.text.before_cursor()) {
            Some(chip) => self.text.replace(self.text.cursor() - chip.len(), ""),
            None => self.text.delete(Move::Left),
        }
    }

    /// The rows of the field, at most `most`, and where the cursor is in them.
    #[must_use]
    pub fn rows(&self, width: usize, most: usize, hint: &str, theme: &Theme) -> (Vec<Line<'static>>, Cursor) {
        if let Some(search) = &self.search {
            return self.search_rows(search, width, theme);
        }
        if self.text.is_empty() {
            let row = Line::from(vec![Span::styled("› ", theme.accent), Span::styled(hint.to_owned(), theme.dim)]);
            return (vec![cut(&row, width)], Cursor { row: 0, column: 2 });
        }
        let (rows, cursor) = self.folded(width, theme);
        // The part around the cursor, when not all of it has room.
        let first = cursor.row.saturating_sub(most.saturating_sub(1)).min(rows.len().saturating_sub(1));
        let rows: Vec<Line<'static>> = rows.into_iter().skip(first).take(most.max(1)).collect();
        (rows, Cursor { row: cursor.row - first, ..cursor })
    }

    fn search_rows(&self, search: &Search, width: usize, theme: &Theme) -> (Vec<Line<'static>>, Cursor) {
        let words = format!("search: {}", search.words);
        let column = words.width() + 2;
        let found = match search.found {
            true => self.text.as_str().replace('\n', " ⏎ "),
            false => "nothing fits".to_owned(),
        };
        let rows = [
            Line::from(vec![Span::styled("› ", theme.accent), Span::raw(words)]),
            Line::styled(format!("  {found}"), theme.dim),
        ];
        (rows.iter().map(|row| cut(row, width)).collect(), Cursor { row: 0, column })
    }

    /// What kind of text it is stands before it.
    fn mark(&self, theme: &Theme) -> (&'static str, Style) {
        let text = self.text.as_str();
        match self.vi_mode() {
            _ if text.starts_with('!') => ("! ", theme.warning),
            _ if text.starts_with("# ") && !text.contains('\n') => ("# ", theme.good),
            Some(ViMode::Normal) => (": ", theme.accent),
            Some(ViMode::Insert) | None => ("› ", theme.accent),
        }
    }

    fn folded(&self, width: usize, theme: &Theme) -> (Vec<Line<'static>>, Cursor) {
        let mut rows: Vec<Line<'static>> = Vec::new();
        let mut cursor = Cursor::default();
        let mut at = 0;
        let (mark, style) = self.mark(theme);
        for line in self.text.as_str().split('\n') {
            let before = if at == 0 { Span::styled(mark, style) } else { Span::raw("  ") };
            let indent = Indent { first: vec![before], rest: vec![Span::raw("  ")] };
            // One column is kept free, for the cursor behind the last character.
            let shown: String = line.chars().map(|char| if char == '\t' { ' ' } else { char }).collect();
            let folded = wrap(&Line::raw(shown), width.saturating_sub(1), &indent);
            if (at..=at + line.len()).contains(&self.text.cursor()) {
                cursor = place(&folded, line, self.text.cursor() - at, rows.len());
            }
            rows.extend(folded);
            at += line.len() + 1;
        }
        (rows, cursor)
    }
}

/// Rows lose only blanks at their ends, so the cursor is found by counting what is not blank.
fn place(folded: &[Line<'static>], line: &str, offset: usize, above: usize) -> Cursor {
    let mut left = offset;
    let mut rest = line;
    for (index, row) in folded.iter().enumerate() {
        let text: String = row.spans.iter().skip(1).map(|span| span.content.as_ref()).collect();
        let last = index + 1 == folded.len();
        if left <= text.len() || last {
            let width = rest.get(..left.min(rest.len())).unwrap_or(rest).width();
            return Cursor { row: above + index, column: 2 + width };
        }
        let skipped = rest.get(text.len()..).unwrap_or_default();
        let blanks = skipped.len() - skipped.trim_start_matches(' ').len();
        left = left.saturating_sub(text.len() + blanks);
        rest = rest.get(text.len() + blanks..).unwrap_or_default();
    }
    Cursor { row: above, column: 2 }
}

/// A change of the text or of the cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edit {
    /// Moves.
    Go(Move),
    /// Deletes up to there.
    Delete(Move),
    /// Writes a character.
    Insert(char),
    /// Puts back what was deleted.
    Yank,
    /// Takes back the last change.
    Undo,
}

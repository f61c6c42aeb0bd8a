//! The field the person writes in, with everything that helps to fill it.

use crossterm::event::KeyEvent;
use neco_proto::Attachment;
use ratatui::style::{Modifier, Style};
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

/// A message of before that is longer comes back as a paste.
const LONG: usize = 16 * 1024;

/// A search in the history.
#[derive(Clone, Debug, Default)]
struct Search {
    words: String,
    skip: usize,
    found: bool,
    /// Whether there is no older one than the one that is shown.
    oldest: bool,
    /// What was being written before.
    draft: String,
}

/// What was written, ready to be sent.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Written {
    /// The text, pastes put back.
    pub text: String,
    pub pictures: Vec<Attachment>,
    /// Whether it begins with a big paste: then its first sign means nothing.
    pub begins_with_paste: bool,
}

impl Written {
    /// A picture goes with it, behind the word that names it.
    pub fn add_picture(&mut self, word: &str, picture: Attachment) {
        self.pictures.push(picture);
        let chip = format!(" [image {}]", self.pictures.len());
        // Not where it is the end of another one.
        let begins = |at: &usize| {
            self.text
                .get(..*at)
                .is_some_and(|before| !before.ends_with(|char: char| !char.is_whitespace() && char != '('))
        };
        let place = self.text.match_indices(word).map(|(at, _)| at).filter(begins).last();
        let at = place.map_or(self.text.len(), |at| at + word.len());
        self.text.insert_str(at, &chip);
    }
}

/// Columns before what is written: the edge and the glyph.
const MARGIN: usize = 3;

/// How the field looks now.
#[derive(Clone, Copy, Debug, Default)]
pub struct FieldLook<'a> {
    /// What stands in it while nothing is written.
    pub hint: &'a str,
    /// Whom what is written goes to, where that is not the agent.
    pub to: &'a str,
    /// The style of its edge: whether it has the keys, and what for.
    pub edge: Style,
    /// The style of the sign before an empty field while something else has the keys.
    pub sign: Option<Style>,
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
    /// What stands in the field again when it is given back; none while it is not lent.
    lent: Option<(Text, Chips)>,
    /// What was sent and began with a paste that looks like a command: it comes back as a paste.
    pasted: Vec<String>,
    search: Option<Search>,
    vi: Option<Vi>,
    /// Whether what stood there was put away just now: the next ↑ brings it back.
    put_away: bool,
    /// What was put away last with pictures: they come back with it.
    pictured: Option<(String, Vec<Attachment>)>,
    /// Changes of the text when an old message was brought back that is still as it was.
    brought: Option<u64>,
}

impl Prompt {
    /// An empty field.
    pub fn new(history: History) -> Self {
        Self { history, ..Self::default() }
    }

    /// A field with this in it.
    pub fn of(text: &str) -> Self {
        let mut prompt = Self::default();
        prompt.text.set(text.to_owned());
        prompt
    }

    /// Whether the keys are those of vi.
    pub fn set_vi(&mut self, on: bool) {
        self.vi = on.then(Vi::default);
    }

    /// The mode of vi, when its keys are on.
    pub fn vi_mode(&self) -> Option<ViMode> {
        self.vi.as_ref().map(|vi| vi.mode)
    }

    /// What a key means to vi; none when it is off or does not want it.
    pub fn vi_key(&mut self, key: KeyEvent) -> Option<()> {
        match self.vi.as_mut()?.key(&mut self.text, key) {
            ViOutcome::Taken => {}
            ViOutcome::Up => self.up(),
            ViOutcome::Down => self.down(),
            ViOutcome::Passed => return None,
        }
        if let Some(vi) = &self.vi {
            vi.stay_on_line(&mut self.text);
        }
        Some(())
    }

    /// Something was pasted; gives what stands in the field for it.
    pub fn paste(&mut self, text: &str) -> String {
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        let folded = self.chips.fold(&text);
        self.text.insert(&folded);
        self.history.leave();
        folded
    }

    /// A picture takes the place of what was pasted for it; not when that is not there any more.
    pub fn picture_for(&mut self, pasted: &str, picture: Attachment) {
        let Some(at) = self.text.as_str().rfind(pasted).filter(|_| !pasted.is_empty()) else { return };
        let chip = self.chips.picture(picture);
        self.text.swap(at, at + pasted.len(), &chip);
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
        let begins_with_paste = self.chips.begins(text.trim_start());
        let (text, pictures) = self.chips.unfold(&text);
        self.history.push(&text);
        if begins_with_paste && text.trim_start().starts_with(['!', '/', '#']) {
            self.pasted.push(text.clone());
        }
        self.emptied();
        Written { text, pictures, begins_with_paste }
    }

    /// What is written goes, but can be brought back as what was said before; gives it.
    pub fn put_away(&mut self) -> String {
        let text = self.text.take();
        let (text, pictures) = self.chips.unfold(&text);
        self.history.push(&text);
        if !pictures.is_empty() {
            self.pictured = Some((text.clone(), pictures));
        }
        self.emptied();
        self.put_away = true;
        text
    }

    /// What is written goes, and nothing of it is kept.
    pub fn forget(&mut self) {
        let text = self.text.take();
        self.chips.unfold(&text);
        self.history.leave();
        self.emptied();
    }

    /// Whether what is written, or something that was pasted into it, is such a text.
    pub fn holds(&self, is_such: impl Fn(&str) -> bool) -> bool {
        let text = self.text.as_str();
        is_such(text) || self.chips.pastes(text).any(is_such)
    }

    /// The field is for something else for a while: what is written makes room, as it is, until it is given back.
    pub fn lend(&mut self) {
        let text = std::mem::take(&mut self.text);
        self.text.killed.clone_from(&text.killed);
        self.lent = Some((text, std::mem::take(&mut self.chips)));
        self.brought = None;
        self.history.leave();
        self.emptied();
    }

    /// What made room stands in the field again, and what was written instead is one ↑ away; where nothing did, that
    /// stays. Says whether something was put away.
    pub fn give_back(&mut self) -> bool {
        let Some((text, chips)) = self.lent.take().filter(|(text, _)| !text.is_empty()) else { return false };
        let is_put_away = !self.text.is_empty();
        if is_put_away {
            self.put_away();
        }
        let killed = std::mem::take(&mut self.text.killed);
        (self.text, self.chips) = (text, chips);
        self.text.killed = killed;
        self.completion = None;
        self.history.leave();
        is_put_away
    }

    /// The message that is being written, as it stands in the field or made room in it.
    pub fn draft(&self) -> &str {
        self.lent.as_ref().map_or(&self.text, |(text, _)| text).as_str()
    }

    /// The same with every paste in its place.
    pub fn whole_draft(&self) -> String {
        self.lent.as_ref().map_or(&self.chips, |(_, chips)| chips).unfolded(self.draft())
    }

    /// Whether a message could be put into the field: nothing is written, and it is not lent.
    pub fn is_free(&self) -> bool {
        self.lent.is_none() && self.text.is_empty()
    }

    /// Whether the next ↑ brings back what was put away.
    pub fn has_put_away(&self) -> bool {
        self.put_away && self.text.is_empty()
    }

    /// What was sent comes back, before what was written since; of a field that is lent, before what made room.
    pub fn restore(&mut self, text: &str, pictures: Vec<Attachment>) {
        let (field, chips) = match &mut self.lent {
            Some((text, chips)) => (text, chips),
            None => (&mut self.text, &mut self.chips),
        };
        let mut text = chips.restore(text, pictures);
        let draft = field.as_str();
        if !draft.trim().is_empty() {
            text = format!("{text}\n{draft}");
        }
        field.set(text);
        self.completion = None;
        self.history.leave();
    }

    /// An old message stands in the empty field, to be said better. A command takes its place instead of standing behind it.
    pub fn offer_again(&mut self, text: &str) {
        self.bring_back(text);
        self.brought = Some(self.text.changes);
    }

    /// What was offered so goes again, if it still is as it was.
    pub fn take_offer_back(&mut self) {
        if self.brought.take() == Some(self.text.changes) {
            self.put_away();
        }
    }

    fn emptied(&mut self) {
        self.put_away = false;
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
        self.put_away = false;
        let present = self.text.as_str().to_owned();
        if let Some(older) = self.history.older(&present).map(str::to_owned) {
            self.bring_back(&older);
        }
    }

    /// A message of before stands in the field again; a very long one as a paste does.
    fn bring_back(&mut self, text: &str) {
        let is_paste = text.len() > LONG || self.pasted.iter().any(|pasted| pasted == text);
        let text = match self.pictured.clone().filter(|(pictured, _)| pictured == text) {
            Some((_, pictures)) => self.chips.restore(text, pictures),
            None if is_paste => self.chips.fold_all(text),
            None => text.to_owned(),
        };
        self.text.set(text);
    }

    /// Another line of the text, or a newer message when there is none below.
    pub fn down(&mut self) {
        if self.text.vertical(true) {
            return;
        }
        if let Some(newer) = self.history.newer() {
            self.bring_back(&newer);
        }
    }

    /// Whether a search goes on.
    pub fn searches(&self) -> bool {
        self.search.is_some()
    }

    /// Searches the history; again for the next older one.
    pub fn search(&mut self) {
        match &mut self.search {
            Some(search) => search.skip += 1,
            None => self.search = Some(Search { draft: self.text.as_str().to_owned(), ..Search::default() }),
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

    /// The search is over; what was being written is there again.
    pub fn leave_search(&mut self) {
        if let Some(search) = self.search.take() {
            self.text.set(search.draft);
        }
    }

    fn find(&mut self) {
        let Some(search) = &mut self.search else { return };
        if search.words.is_empty() {
            search.found = false;
            search.skip = 0;
            let draft = search.draft.clone();
            self.text.set(draft);
            return;
        }
        let found = self.history.search(&search.words, search.skip).map(str::to_owned);
        // The last one that fits stays where there is no older one.
        search.oldest = found.is_none() && search.skip > 0;
        search.found = found.is_some() || search.oldest;
        match found {
            Some(found) => self.bring_back(&found),
            None => search.skip = search.skip.saturating_sub(1),
        }
    }

    /// Accepts the chosen candidate; false when nothing is offered.
    pub fn complete(&mut self) -> bool {
        let Some(completion) = self.completion.take() else { return false };
        let Some(candidate) = completion.chosen() else { return false };
        // A folder is gone into, a template is filled in, anything else is done with.
        let is_template = candidate.text.starts_with('@') && !candidate.takes.is_empty();
        let end = if candidate.text.ends_with('/') || is_template { "" } else { " " };
        self.text.replace(completion.from, &format!("{}{end}", quoted(&candidate.text)));
        true
    }

    /// The word that ends at the cursor and where it begins.
    pub fn word(&self) -> (usize, &str) {
        let before = self.text.before_cursor();
        let from = before.rfind(char::is_whitespace).map_or(0, |at| before.ceil_char_boundary(at + 1));
        (from, before.get(from..).unwrap_or_default())
    }

    /// Moves and changes that every editor of lines knows.
    pub fn edit(&mut self, edit: Edit) {
        self.history.leave();
        self.put_away = false;
        let is_untouched = self.brought.take() == Some(self.text.changes);
        if is_untouched && edit == Edit::Insert('/') && self.text.after_cursor().is_empty() {
            self.put_away();
        }
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
    pub fn rows(&self, width: usize, most: usize, look: &FieldLook<'_>, theme: &Theme) -> (Vec<Line<'static>>, Cursor) {
        let edge = Span::styled("▎", look.edge);
        let (rows, cursor) = if let Some(search) = &self.search {
            self.search_rows(search, edge, width, theme)
        } else if self.text.is_empty() {
            let row = Line::from(vec![edge, self.glyph(look.sign), Span::styled(look.hint.to_owned(), theme.dim)]);
            (vec![cut(&row, width)], Cursor { row: 0, column: MARGIN })
        } else {
            let (rows, cursor) = self.folded(&edge, width, most);
            // The part around the cursor, when not all of it has room.
            let first = cursor.row.saturating_sub(most.saturating_sub(1)).min(rows.len().saturating_sub(1));
            let rows: Vec<Line<'static>> = rows.into_iter().skip(first).take(most.max(1)).collect();
            (rows, Cursor { row: cursor.row - first, ..cursor })
        };
        let mut rows: Vec<Line<'static>> = rows.into_iter().map(|row| row.style(theme.panel)).collect();
        // Whom it goes to stands at the right, where there is room.
        if let Some(first) = rows.first_mut()
            && !look.to.is_empty()
            && first.width() + look.to.width() + 3 < width
        {
            let blanks = width - first.width() - look.to.width() - 1;
            first.push_span(Span::raw(" ".repeat(blanks)));
            first.push_span(Span::styled(look.to.to_owned(), theme.dim));
        }
        (rows, cursor)
    }

    fn search_rows(
        &self,
        search: &Search,
        edge: Span<'static>,
        width: usize,
        theme: &Theme,
    ) -> (Vec<Line<'static>>, Cursor) {
        let words = format!("search: {}", search.words);
        let column = words.width() + MARGIN;
        let found = match (search.found, search.words.is_empty()) {
            (true, _) if search.oldest => format!("(no older match) {}", self.text.as_str().replace('\n', " ⏎ ")),
            (true, _) => self.text.as_str().replace('\n', " ⏎ "),
            (false, true) => "search what you wrote before; Esc cancels".to_owned(),
            (false, false) => "No match".to_owned(),
        };
        let rows = [
            Line::from(vec![edge.clone(), self.glyph(None), Span::raw(words)]),
            Line::from(vec![edge, Span::styled(format!("  {found}"), theme.dim)]),
        ];
        (rows.iter().map(|row| cut(row, width)).collect(), Cursor { row: 0, column })
    }

    /// What stands before the first row, in this style while something else has the keys: `›`, or nothing where the text begins with a sign of its own.
    fn glyph(&self, sign: Option<Style>) -> Span<'static> {
        let text = self.text.as_str();
        let own = text.starts_with('!') || text.starts_with("# ") && !text.contains('\n');
        let bold = sign.unwrap_or_else(|| Style::new().add_modifier(Modifier::BOLD));
        match self.vi_mode() {
            _ if own => Span::raw(""),
            Some(ViMode::Normal) => Span::styled(": ", bold),
            Some(ViMode::Insert) | None => Span::styled("› ", bold),
        }
    }

    /// The rows of the lines that can be seen: as many as have room above and below the cursor.
    fn folded(&self, edge: &Span<'static>, width: usize, most: usize) -> (Vec<Line<'static>>, Cursor) {
        let mut rows: Vec<Line<'static>> = Vec::new();
        let mut cursor = Cursor::default();
        let mut at = 0;
        let here = self.text.before_cursor().matches('\n').count();
        let near = here.saturating_sub(most)..=here + most;
        for (index, line) in self.text.as_str().split('\n').enumerate() {
            if !near.contains(&index) {
                at += line.len() + 1;
                continue;
            }
            let before = if at == 0 { self.glyph(None) } else { Span::raw("  ") };
            let indent = Indent { first: vec![edge.clone(), before], rest: vec![edge.clone(), Span::raw("  ")] };
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

/// The name of a file with blanks in it stands in quotes: where it ends is to be seen.
fn quoted(candidate: &str) -> String {
    match candidate.strip_prefix('@').filter(|name| name.contains(char::is_whitespace) && !name.ends_with('/')) {
        Some(name) => format!("@\"{name}\""),
        None => candidate.to_owned(),
    }
}

/// Rows lose only blanks at their ends, so the cursor is found by counting what is not blank.
fn place(folded: &[Line<'static>], line: &str, offset: usize, above: usize) -> Cursor {
    let mut left = offset;
    let mut rest = line;
    for (index, row) in folded.iter().enumerate() {
        let margin: usize = row.spans.iter().take(2).map(Span::width).sum();
        let text: String = row.spans.iter().skip(2).map(|span| span.content.as_ref()).collect();
        let last = index + 1 == folded.len();
        if left <= text.len() || last {
            let width = rest.get(..left.min(rest.len())).unwrap_or(rest).width();
            return Cursor { row: above + index, column: margin + width };
        }
        let skipped = rest.get(text.len()..).unwrap_or_default();
        let blanks = skipped.len() - skipped.trim_start_matches(' ').len();
        left = left.saturating_sub(text.len() + blanks);
        rest = rest.get(text.len() + blanks..).unwrap_or_default();
    }
    Cursor { row: above, column: MARGIN }
}

/// A change of the text or of the cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edit {
    Go(Move),
    /// Deletes up to there.
    Delete(Move),
    Insert(char),
    /// Puts back what was deleted.
    Yank,
    /// Takes back the last change.
    Undo,
}

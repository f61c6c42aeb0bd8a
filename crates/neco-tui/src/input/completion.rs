//! What the person may mean: files after `@`, commands after `/`, skills after `$`.

use neco_proto::clean::clean_line;
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr;

use crate::text::figures::{count, padded};
use crate::text::wrap::cut;
use crate::theme::Theme;
use crate::transcript::ledger;

/// Candidates that are shown.
const SHOWN: usize = 8;

/// Columns of what is put in, and of what may follow it where there is little room, at most.
const WIDEST: usize = 40;
const TAKES: usize = 20;

/// Columns of what it is; what may follow has those that are left.
const HELP: usize = 73;

/// Columns from which on there is room for the latter, and rows from which on the keys stand apart from the list.
const ROOMY: usize = 72;
const TALL: usize = 12;

/// Something that can be put into the text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Candidate {
    /// What is put in.
    pub text: String,
    /// What may follow it.
    pub takes: String,
    /// What it is.
    pub help: String,
}

impl Candidate {
    /// One of these words.
    pub fn new(text: &str, help: &str) -> Self {
        Self { text: clean_line(text), takes: String::new(), help: clean_line(help) }
    }

    /// The same, with what may follow it.
    #[must_use]
    pub fn taking(self, takes: &str) -> Self {
        Self { takes: clean_line(takes), ..self }
    }
}

/// A list to choose from.
#[derive(Clone, Debug, Default)]
pub struct Completion {
    /// Where in the text the word begins that is completed.
    pub from: usize,
    candidates: Vec<Candidate>,
    at: usize,
    /// Whether the person went to one of them.
    pub moved: bool,
}

impl Completion {
    /// The candidates for the word that begins at `from`; none when there are none.
    pub fn new(from: usize, candidates: Vec<Candidate>) -> Option<Self> {
        (!candidates.is_empty()).then_some(Self { from, candidates, at: 0, moved: false })
    }

    /// One row up or down.
    pub fn step(&mut self, down: bool) {
        self.moved = true;
        let count = self.candidates.len().max(1);
        self.at = if down { (self.at + 1) % count } else { (self.at + count - 1) % count };
    }

    pub fn chosen(&self) -> Option<&Candidate> {
        self.candidates.get(self.at)
    }

    /// How many commands there are to choose from; nothing where it is no list of those.
    pub fn commands(&self) -> Option<String> {
        let are_commands = self.from == 0 && self.candidates.iter().all(|candidate| candidate.text.starts_with('/'));
        are_commands.then(|| count(self.candidates.len(), "command", "commands"))
    }

    /// The rows of the list, with what was written of a name standing out in it.
    pub fn rows(&self, word: &str, (width, room): (usize, usize), theme: &Theme) -> Vec<Line<'static>> {
        let word = word.trim_start_matches(['/', '@', '$']);
        let first = self.at.saturating_sub(SHOWN - 1);
        let widest = |of: fn(&Candidate) -> &str, most: usize| {
            self.candidates.iter().map(|candidate| of(candidate).width()).max().unwrap_or_default().min(most)
        };
        // What is said about long names stands in one column, too, where half of the width is enough for them.
        let told = self.candidates.iter().filter(|candidate| !candidate.help.is_empty());
        let longest = told.map(|candidate| candidate.text.width()).max().unwrap_or_default();
        let wide = widest(|candidate| &candidate.text, WIDEST).max(longest.min(width / 2));
        let takes = widest(|candidate| &candidate.takes, TAKES.max(width.saturating_sub(wide + HELP)));
        // What may follow has a column where there is room for it beside what it is.
        let takes = if width < ROOMY { 0 } else { takes };
        let row = |(index, candidate): (usize, &Candidate)| {
            let here = index == self.at;
            let mark = if here { " ❯ " } else { "   " };
            let follows = match takes {
                0 => String::new(),
                _ => format!("  {}", padded(&cut(&Line::raw(candidate.takes.clone()), takes).to_string(), takes)),
            };
            let mut spans = vec![Span::styled(mark, theme.accent.add_modifier(Modifier::BOLD))];
            let text = match candidate.help.is_empty() {
                true => candidate.text.clone(),
                false => cut(&Line::raw(candidate.text.clone()), wide).to_string(),
            };
            spans.extend(lit(&padded(&text, wide), word, theme));
            spans.push(Span::styled(format!("{follows}  {}", candidate.help), theme.dim));
            let row = cut(&Line::from(spans), width);
            if here { theme.choose(row) } else { row }
        };
        let mut rows: Vec<Line<'static>> =
            self.candidates.iter().enumerate().skip(first).take(SHOWN).map(row).collect();
        let beyond = self.candidates.len().saturating_sub(first + SHOWN);
        if beyond > 0 {
            rows.push(Line::styled(format!("   … {beyond} more"), theme.dim));
        }
        if room > TALL {
            rows.push(Line::default());
        }
        let keys = ledger::keys(&[("↑↓ Enter", "choose"), ("Tab", "complete"), ("Esc", "close")], theme);
        rows.push(cut(&Line::from_iter([Span::raw("   ")].into_iter().chain(keys)), width));
        rows
    }
}

/// A text in which what is looked for stands out, if it is there as it was written.
pub fn lit(text: &str, wanted: &str, theme: &Theme) -> Vec<Span<'static>> {
    let low = wanted.to_lowercase();
    let begins = |at: &usize| text.get(*at..).is_some_and(|rest| rest.to_lowercase().starts_with(&low));
    let found = text.char_indices().map(|(at, _)| at).find(begins).filter(|_| !low.is_empty());
    let Some(from) = found else { return vec![Span::raw(text.to_owned())] };
    let (before, rest) = text.split_at_checked(from).unwrap_or((text, ""));
    let until = rest.char_indices().nth(wanted.chars().count()).map_or(rest.len(), |(at, _)| at);
    let (fits, after) = rest.split_at_checked(until).unwrap_or((rest, ""));
    let style = theme.accent.add_modifier(Modifier::BOLD);
    vec![Span::raw(before.to_owned()), Span::styled(fits.to_owned(), style), Span::raw(after.to_owned())]
}

/// How well `word` fits `candidate`: all of its characters in order; more for those at the beginnings of
/// names and for runs. None when it does not.
pub fn fits(word: &str, candidate: &str) -> Option<i64> {
    let mut score = 0;
    let mut run = 0;
    let mut at_start = true;
    let mut wanted = word.chars().filter(|char| !char.is_whitespace()).map(lower).peekable();
    for char in candidate.chars() {
        let Some(next) = wanted.peek() else { break };
        if lower(char) == *next {
            run += 1;
            score += 1 + run * 2 + if at_start { 8 } else { 0 };
            wanted.next();
        } else {
            run = 0;
        }
        at_start = !char.is_alphanumeric();
    }
    let length = i64::try_from(candidate.chars().count()).unwrap_or(i64::MAX);
    wanted.peek().is_none().then_some(score * 16 - length)
}

/// In lower case; quick for most names, and good enough for the others.
fn lower(char: char) -> char {
    if char.is_ascii() { char.to_ascii_lowercase() } else { char.to_lowercase().next().unwrap_or(char) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theme::ThemeName;

    #[test]
    fn what_was_written_stands_out_and_the_keys_stand_apart() {
        let candidates = vec![Candidate::new("/resume", "resume a session"), Candidate::new("/tree", "agents")];
        let theme = Theme::new(ThemeName::Dark);
        let completion = Completion::new(0, candidates).unwrap();
        assert_eq!(completion.commands().as_deref(), Some("2 commands"));
        let rows = completion.rows("/re", (80, 20), &theme);
        let lit = |row: &Line<'static>| {
            let span = row.spans.iter().skip(1).find(|span| span.style.fg == theme.accent.fg);
            span.map(|span| span.content.to_string())
        };
        assert_eq!(rows.iter().take(2).map(lit).collect::<Vec<_>>(), [Some("re".to_owned()), Some("re".to_owned())]);
        let last: Vec<String> = rows.iter().skip(2).map(ToString::to_string).collect();
        assert_eq!(last, ["", "   ↑↓ Enter choose   Tab complete   Esc close"]);
        assert_eq!(completion.rows("/re", (80, 8), &theme).len(), 3, "a small terminal has no row for that");
        assert_eq!(Completion::new(6, vec![Candidate::new("plan", "")]).unwrap().commands(), None);
    }

    #[test]
    fn what_is_said_about_long_names_stands_in_one_column() {
        let names = ["@everything:demo://resource/static/document/architecture.md", "@everything:demo://one"];
        let completion = Completion::new(0, names.map(|name| Candidate::new(name, "a document")).into()).unwrap();
        for width in [60, 80, 160] {
            let rows = completion.rows("@ev", (width, 20), &Theme::new(ThemeName::Plain));
            let row = |index: usize| rows.get(index).map(ToString::to_string).unwrap_or_default();
            let column = |index: usize| row(index).split("a document").next().map(|before| before.width());
            assert_eq!(column(0), column(1), "{width}: {} {}", row(0), row(1));
        }
    }

    #[test]
    fn the_nearest_name_comes_first() {
        let mut names = ["src/runner/agent.rs", "README.md", "src/main.rs", "docs/domain.md"];
        names.sort_by_key(|name| std::cmp::Reverse(fits("main", name)));
        assert_eq!(names[0], "src/main.rs");
        assert_eq!(fits("xyz", "src/main.rs"), None);
    }
}

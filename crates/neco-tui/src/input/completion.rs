//! What the person may mean: files after `@`, commands after `/`.

use neco_proto::clean::clean_line;
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr;

use crate::text::figures::padded;
use crate::text::wrap::cut;
use crate::theme::Theme;

/// Candidates that are shown.
const SHOWN: usize = 8;

/// Columns of what is put in, and of what may follow it, at most.
const WIDEST: usize = 40;
const TAKES: usize = 20;

/// Columns from which on there is room for the latter.
const ROOMY: usize = 72;

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

    /// The rows of the list.
    pub fn rows(&self, width: usize, theme: &Theme) -> Vec<Line<'static>> {
        let first = self.at.saturating_sub(SHOWN - 1);
        let widest = |of: fn(&Candidate) -> &str, most: usize| {
            self.candidates.iter().map(|candidate| of(candidate).width()).max().unwrap_or_default().min(most)
        };
        let (wide, takes) = (widest(|candidate| &candidate.text, WIDEST), widest(|candidate| &candidate.takes, TAKES));
        // What may follow has a column where there is room for it beside what it is.
        let takes = if width < ROOMY { 0 } else { takes };
        let row = |(index, candidate): (usize, &Candidate)| {
            let here = index == self.at;
            let mark = if here { " ❯ " } else { "   " };
            let follows = match takes {
                0 => String::new(),
                _ => format!("  {}", padded(&cut(&Line::raw(candidate.takes.clone()), takes).to_string(), takes)),
            };
            let spans = vec![
                Span::styled(mark, theme.accent.add_modifier(Modifier::BOLD)),
                Span::raw(padded(&candidate.text, wide)),
                Span::styled(format!("{follows}  {}", candidate.help), theme.dim),
            ];
            let row = cut(&Line::from(spans), width);
            if here { theme.choose(row) } else { row }
        };
        let mut rows: Vec<Line<'static>> =
            self.candidates.iter().enumerate().skip(first).take(SHOWN).map(row).collect();
        let beyond = self.candidates.len().saturating_sub(first + SHOWN);
        if beyond > 0 {
            rows.push(Line::styled(format!("   … {beyond} more"), theme.dim));
        }
        rows.push(cut(&Line::styled("   ↑↓ Enter choose   Tab complete   Esc close", theme.dim), width));
        rows
    }
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

    #[test]
    fn the_nearest_name_comes_first() {
        let mut names = ["src/runner/agent.rs", "README.md", "src/main.rs", "docs/domain.md"];
        names.sort_by_key(|name| std::cmp::Reverse(fits("main", name)));
        assert_eq!(names[0], "src/main.rs");
        assert_eq!(fits("xyz", "src/main.rs"), None);
    }
}

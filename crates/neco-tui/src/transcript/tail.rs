//! The end of what a command printed, kept small while it prints.

use neco_proto::clean::Cleaner;
use ratatui::text::{Line, Span};

use super::ledger::hanging;
use crate::text::figures;
use crate::text::wrap::cut;
use crate::theme::Theme;

/// Bytes that are kept at least.
const KEPT: usize = 8 * 1024;

/// The end of an output.
#[derive(Clone, Debug, Default)]
pub struct Tail {
    cleaner: Cleaner,
    text: String,
    /// Lines that are not kept.
    before: usize,
    /// Whether there may have been more of them.
    uncounted: bool,
}

impl Tail {
    pub fn push(&mut self, piece: &str) {
        // Of a flood only the end is ever seen: what comes before it is counted and not read.
        let from = piece.ceil_char_boundary(piece.len().saturating_sub(2 * KEPT));
        if from > 0 {
            self.before += lines_in(&self.text) + lines_in(piece.get(..from).unwrap_or_default());
            self.text.clear();
            self.cleaner = Cleaner::default();
        }
        let piece = self.cleaner.push(piece.get(from..).unwrap_or_default());
        self.text.push_str(&piece);
        if self.text.len() > 2 * KEPT {
            let cut = self.text.ceil_char_boundary(self.text.len() - KEPT);
            let gone: String = self.text.drain(..cut).collect();
            self.before += lines_in(&gone);
        }
    }

    /// So many lines before the next piece are missing.
    pub fn leave_out(&mut self, lines: usize) {
        self.before += lines_in(&self.text) + lines;
        self.text.clear();
        self.cleaner = Cleaner::default();
    }

    /// The end of an output of `all` lines, if that is known.
    pub fn end_of(end: &str, all: Option<usize>) -> Self {
        let mut tail = Self::default();
        tail.push(end);
        tail.uncounted = all.is_none();
        tail.before = all.map_or(tail.before, |all| all.saturating_sub(tail.text.lines().count()));
        tail
    }

    /// The last `limit` lines, a row each.
    pub fn rows(&self, width: usize, limit: usize, theme: &Theme) -> Vec<Line<'static>> {
        let lines: Vec<&str> = self.text.trim_end().lines().collect();
        let hidden = lines.len().saturating_sub(limit);
        let before = self.before + hidden;
        let hung = |text: String| {
            let mut line = Line::from(hanging(theme).first);
            line.push_span(Span::styled(text, theme.dim));
            cut(&line, width)
        };
        let mut rows = Vec::new();
        if before > 0 {
            let counted = figures::count(before, "line above", "lines above");
            let words = if self.uncounted { "lines above".to_owned() } else { counted };
            rows.push(hung(format!("… {words} · Ctrl-O")));
        }
        for line in lines.iter().skip(hidden) {
            rows.push(hung(overwritten(line).replace('\t', "    ")));
        }
        rows
    }
}

fn lines_in(text: &str) -> usize {
    text.bytes().filter(|byte| *byte == b'\n').count()
}

/// What is to be seen of a line that goes back to its beginning, as progress bars do.
fn overwritten(line: &str) -> &str {
    let line = line.trim_end_matches('\r');
    line.rsplit('\r').next().unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theme::ThemeName;

    fn rows(tail: &Tail, limit: usize) -> Vec<String> {
        tail.rows(40, limit, &Theme::new(ThemeName::Plain)).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn the_end_is_kept_and_the_rest_is_counted() {
        let mut tail = Tail::default();
        for line in 1..=5000 {
            tail.push("\x1b[3");
            tail.push(&format!("2mline {line}\n"));
        }
        assert_eq!(
            rows(&tail, 2),
            [" │        … 4998 lines above · Ctrl-O", " │        line 4999", " │        line 5000"]
        );
        tail.push(&"flood\n".repeat(100_000));
        assert_eq!(rows(&tail, 1), [" │        … 104999 lines above · Ctrl-O", " │        flood"]);
        assert!(tail.text.len() <= 2 * KEPT);
    }

    #[test]
    fn a_progress_bar_is_one_line() {
        let mut tail = Tail::default();
        tail.push("10 %\r20 %\r30 %");
        assert_eq!(rows(&tail, 5), [" │        30 %"]);
        tail.push("\r\ndone\r\n");
        assert_eq!(rows(&tail, 5), [" │        30 %", " │        done"]);
    }
}

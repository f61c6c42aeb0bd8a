//! Changes of files, line by line with their numbers, and in changed lines the words that changed.

use std::borrow::Cow;

use neco_view::changed_words::changed_words;
use ratatui::style::{Color, Style};
use ratatui::text::{Line, Span};

use super::highlight::Painter;
use super::wrap::{Indent, cut, wrap};
use crate::theme::Theme;

/// In longer lines no colours are looked for.
const LONGEST_LINE: usize = 2000;

/// A line of a change.
enum Change<'a> {
    Kept(&'a str),
    Removed(&'a str),
    Added(&'a str),
}

/// How a change is drawn.
#[derive(Clone, Debug)]
pub struct Look<'t> {
    /// The colours.
    pub theme: &'t Theme,
    /// Columns of a row.
    pub width: usize,
    /// Lines that are drawn at most.
    pub limit: usize,
    /// What stands before every row; the grounds of lines begin behind it.
    pub edge: Vec<Span<'static>>,
    /// The ending of the file, for the colours of its parts; empty for none.
    pub language: &'t str,
    /// Whether a line that is too long is cut, and not folded.
    pub cuts: bool,
    /// Whether lines that stay as they are stand around those that change.
    pub context: bool,
}

/// `unified` as `look` says, and how many lines there are beyond its limit.
pub fn painted(unified: &str, mut look: Look<'_>) -> (Vec<Line<'static>>, usize) {
    look.edge.iter_mut().for_each(|span| span.style.bg = span.style.bg.or(Some(Color::Reset)));
    let painter = Painter::new(if look.theme.has_washes() { look.language } else { "" });
    let left = look.limit;
    let mut drawing = Drawing { look, painter, rows: Vec::new(), left, beyond: 0, old: 1, new: 1 };
    let unified = match unified.contains('\t') {
        true => Cow::Owned(unified.replace('\t', "    ")),
        false => Cow::Borrowed(unified),
    };
    let mut block: Vec<Change<'_>> = Vec::new();
    let mut hunks = 0;
    for line in unified.lines() {
        if let Some(header) = line.strip_prefix("@@ ") {
            drawing.block(&std::mem::take(&mut block));
            if hunks > 0 && drawing.left > 0 {
                drawing.gap();
            }
            hunks += 1;
            (drawing.old, drawing.new) = starts(header).unwrap_or((drawing.old, drawing.new));
        } else if let Some(text) = line.strip_prefix('-') {
            block.push(Change::Removed(text));
        } else if let Some(text) = line.strip_prefix('+') {
            block.push(Change::Added(text));
        } else if !line.starts_with('\\') {
            drawing.block(&std::mem::take(&mut block));
            drawing.block(&[Change::Kept(line.strip_prefix(' ').unwrap_or(line))]);
        }
    }
    drawing.block(&block);
    (drawing.rows, drawing.beyond)
}

/// The first lines of `-a,b +c,d @@`.
fn starts(header: &str) -> Option<(u64, u64)> {
    let mut parts = header.split_whitespace();
    let old = parts.next()?.strip_prefix('-')?;
    let new = parts.next()?.strip_prefix('+')?;
    let first = |range: &str| range.split(',').next().and_then(|number| number.parse().ok());
    Some((first(old)?, first(new)?))
}

struct Drawing<'t> {
    look: Look<'t>,
    /// Colours a line by itself: what is shown begins in the middle of a file.
    painter: Painter,
    rows: Vec<Line<'static>>,
    /// Lines that may still be drawn.
    left: usize,
    /// Lines that were not.
    beyond: usize,
    old: u64,
    new: u64,
}

/// How a line of a change is drawn: its sign, the style of that, of the line and of the words that changed.
struct Sign(char, Style, Style, Style);

impl Drawing<'_> {
    /// Lines that belong together: removed ones first, then what stands in their place.
    fn block(&mut self, block: &[Change<'_>]) {
        if self.left == 0 {
            self.beyond += block.len();
            return;
        }
        let theme = self.look.theme;
        let removed: Vec<&str> = block.iter().filter_map(removed).collect();
        let added: Vec<&str> = block.iter().filter_map(added).collect();
        let (gone, come) = changed_words(&removed, &added);
        for (line, words) in removed.iter().zip(&gone) {
            self.row(self.old, line, words, &Sign('−', theme.removed, theme.removed_line, theme.removed_word));
            self.old += 1;
        }
        for (line, words) in added.iter().zip(&come) {
            self.row(self.new, line, words, &Sign('+', theme.added, theme.added_line, theme.added_word));
            self.new += 1;
        }
        for change in block {
            if let Change::Kept(line) = change {
                let plain = Style::default();
                if self.look.context {
                    self.row(self.new, line, &[], &Sign(' ', plain, theme.label, plain));
                }
                self.old += 1;
                self.new += 1;
            }
        }
    }

    /// Lines of the file are left out here.
    fn gap(&mut self) {
        let mut spans = self.look.edge.clone();
        spans.push(Span::styled("     ⋯", self.look.theme.dim));
        self.rows.push(Line::from(spans));
    }

    /// A line whose parts at `words` are those that changed.
    fn row(&mut self, number: u64, text: &str, words: &[(usize, usize)], sign: &Sign) {
        if self.left == 0 {
            self.beyond += 1;
            return;
        }
        self.left -= 1;
        let Sign(sign, of_sign, of_line, of_word) = sign;
        let mut spans = Vec::new();
        let mut at = 0;
        let painted = if text.len() > LONGEST_LINE {
            Line::raw(text.to_owned())
        } else {
            self.painter.clone().line(text, self.look.theme)
        };
        for span in &painted.spans {
            let style = of_line.patch(span.style);
            let end = at + span.content.len();
            for (from, to, changed) in parts(at, end, words) {
                let part = span.content.get(from - at..to - at).unwrap_or_default();
                let style = if changed { style.patch(*of_word) } else { style };
                spans.push(Span::styled(part.to_owned(), style));
            }
            at = end;
        }
        let sign = Span::styled(format!("{sign} "), *of_sign);
        let edge = |before: Span<'static>| self.look.edge.iter().cloned().chain([before, sign.clone()]).collect();
        let indent = Indent {
            first: edge(Span::styled(format!("{number:>4} "), self.look.theme.dim)),
            rest: edge(Span::raw("     ")),
        };
        let line = Line::from(spans).style(Style { bg: of_line.bg, ..Style::default() });
        if self.look.cuts {
            let whole = Line::from_iter(indent.first.into_iter().chain(line.spans)).style(line.style);
            self.rows.push(cut(&whole, self.look.width));
        } else {
            self.rows.extend(wrap(&line, self.look.width, &indent));
        }
    }
}

/// The parts of what stands from `begin` to `end`: those in `words` have changed, the others have not.
fn parts(begin: usize, end: usize, words: &[(usize, usize)]) -> Vec<(usize, usize, bool)> {
    let mut parts = Vec::new();
    let mut at = begin;
    for (from, to) in words {
        let (from, to) = ((*from).clamp(at, end), (*to).clamp(at, end));
        parts.extend([(at, from, false), (from, to, true)]);
        at = to;
    }
    parts.push((at, end, false));
    parts.retain(|(from, to, _)| from < to);
    parts
}

fn removed<'a>(change: &Change<'a>) -> Option<&'a str> {
    match change {
        Change::Removed(line) => Some(line),
        Change::Kept(_) | Change::Added(_) => None,
    }
}

fn added<'a>(change: &Change<'a>) -> Option<&'a str> {
    match change {
        Change::Added(line) => Some(line),
        Change::Kept(_) | Change::Removed(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theme::ThemeName;

    fn rows(unified: &str, width: usize, limit: usize, theme: &Theme) -> (Vec<Line<'static>>, usize) {
        painted(
            unified,
            Look { theme, width, limit, edge: vec![Span::raw(" ")], language: "", cuts: false, context: true },
        )
    }

    #[test]
    fn changed_words_stand_out() {
        let theme = Theme::new(ThemeName::Dark);
        let (rows, beyond) =
            rows("@@ -3,3 +3,3 @@\n fn a() {\n-    let x = 1;\n+    let x = 2;\n }\n", 60, 100, &theme);
        let text: Vec<String> = rows.iter().map(ToString::to_string).collect();
        assert_eq!(text, ["    3   fn a() {", "    4 −     let x = 1;", "    4 +     let x = 2;", "    5   }"]);
        assert_eq!(beyond, 0);
        let strong: Vec<&str> = rows[2]
            .spans
            .iter()
            .filter(|span| span.style.bg == theme.added_word.bg)
            .map(|span| span.content.as_ref())
            .collect();
        assert_eq!(strong, ["2"]);
    }

    #[test]
    fn neither_indentation_nor_lines_that_share_little_are_marked() {
        let theme = Theme::new(ThemeName::Dark);
        let strong = |change: &str| -> String {
            let rows = rows(change, 60, 100, &theme).0;
            let marked = [theme.added_word.bg, theme.removed_word.bg];
            let spans = rows.iter().flat_map(|row| &row.spans).filter(|span| marked.contains(&span.style.bg));
            spans.map(|span| span.content.as_ref()).collect()
        };
        assert_eq!(strong("@@ -1 +1 @@\n-  let limit = ten;\n+      let limit = ten;\n"), "");
        assert_eq!(strong("@@ -1 +1 @@\n-  send(part);\n+      retry(|| again);\n"), "");
    }

    #[test]
    fn a_line_that_became_two_is_compared_too() {
        let theme = Theme::new(ThemeName::Dark);
        let change = "@@ -1,1 +1,2 @@\n-name = \"world\"\n+size = 3\n+name = \"wide world\"\n";
        let (rows, _) = rows(change, 60, 100, &theme);
        let strong: Vec<String> = rows
            .iter()
            .flat_map(|row| &row.spans)
            .filter(|span| span.style.bg == theme.added_word.bg)
            .map(|span| span.content.trim().to_owned())
            .collect();
        assert_eq!(strong.concat(), "wide");
    }

    #[test]
    fn a_line_is_compared_with_the_one_it_became() {
        let theme = Theme::new(ThemeName::Dark);
        let change = "@@ -1,1 +1,2 @@\n-let limit = 10;\n+let limit = 20; // more\n+let other = \"x\";\n";
        let (rows, _) = rows(change, 60, 100, &theme);
        let strong = |row: &Line<'static>| -> String {
            let spans = row.spans.iter().filter(|span| span.style.bg == theme.added_word.bg);
            spans.map(|span| span.content.as_ref()).collect()
        };
        assert_eq!(strong(&rows[1]), "20 // more");
        assert_eq!(strong(&rows[2]), "", "it is new as a whole");
    }

    #[test]
    fn a_long_change_is_cut_and_counted() {
        let unified: String =
            std::iter::once("@@ -0,0 +1,9 @@\n".to_owned()).chain((1..=9).map(|n| format!("+line {n}\n"))).collect();
        let (rows, beyond) = rows(&unified, 40, 4, &Theme::new(ThemeName::Plain));
        assert_eq!((rows.len(), beyond), (4, 5));
    }
}

//! Changes of files, line by line with their numbers, and in changed lines the words that changed.

use ratatui::style::Style;
use ratatui::text::{Line, Span};
use similar::{ChangeTag, TextDiff};

use super::wrap::{Indent, wrap};
use crate::theme::Theme;

/// In longer lines no words are compared.
const LONGEST_LINE: usize = 2000;

/// A line of a change.
enum Change<'a> {
    Kept(&'a str),
    Removed(&'a str),
    Added(&'a str),
}

/// `unified` in rows of at most `width` columns, to the last character; at most `limit` lines, and how many
/// there are beyond that.
pub fn rows(unified: &str, width: usize, limit: usize, theme: &Theme) -> (Vec<Line<'static>>, usize) {
    let mut drawing = Drawing { theme, width, rows: Vec::new(), left: limit, beyond: 0, old: 1, new: 1 };
    let mut block: Vec<Change<'_>> = Vec::new();
    let mut hunks = 0;
    for line in unified.lines() {
        if let Some(header) = line.strip_prefix("@@ ") {
            drawing.block(&std::mem::take(&mut block));
            if hunks > 0 && drawing.left > 0 {
                drawing.rows.push(Line::styled("      ⋯", theme.dim));
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

/// How much lines that are compared word by word have in common.
const ALIKE: f32 = 0.4;

/// In a bigger change lines are not looked for that became others.
const COMPARED: usize = 20;

struct Drawing<'t> {
    theme: &'t Theme,
    width: usize,
    rows: Vec<Line<'static>>,
    /// Lines that may still be drawn.
    left: usize,
    /// Lines that were not.
    beyond: usize,
    old: u64,
    new: u64,
}

impl Drawing<'_> {
    /// Lines that belong together: removed ones first, then what stands in their place.
    fn block(&mut self, block: &[Change<'_>]) {
        if self.left == 0 {
            self.beyond += block.len();
            return;
        }
        let removed: Vec<&str> = block.iter().filter_map(removed).collect();
        let added: Vec<&str> = block.iter().filter_map(added).collect();
        let pairs = pairs(&removed, &added);
        for (index, line) in removed.iter().enumerate() {
            let other = pairs.iter().find(|(old, _)| *old == index).and_then(|(_, new)| added.get(*new));
            let spans = match other {
                Some(other) => {
                    changed_words(line, other, ChangeTag::Delete, self.theme.removed, self.theme.removed_word)
                }
                None => vec![Span::styled((*line).to_owned(), self.theme.removed)],
            };
            self.row(self.old, '-', spans, self.theme.removed);
            self.old += 1;
        }
        for (index, line) in added.iter().enumerate() {
            let other = pairs.iter().find(|(_, new)| *new == index).and_then(|(old, _)| removed.get(*old));
            let spans = match other {
                Some(other) => changed_words(other, line, ChangeTag::Insert, self.theme.added, self.theme.added_word),
                None => vec![Span::styled((*line).to_owned(), self.theme.added)],
            };
            self.row(self.new, '+', spans, self.theme.added);
            self.new += 1;
        }
        for change in block {
            if let Change::Kept(line) = change {
                self.row(self.new, ' ', vec![Span::raw((*line).to_owned())], Style::default());
                self.old += 1;
                self.new += 1;
            }
        }
    }

    fn row(&mut self, number: u64, mark: char, spans: Vec<Span<'static>>, style: Style) {
        if self.left == 0 {
            self.beyond += 1;
            return;
        }
        self.left -= 1;
        let spans: Vec<Span<'static>> =
            spans.into_iter().map(|span| Span::styled(span.content.replace('\t', "    "), span.style)).collect();
        let mark = Span::styled(format!("{mark} "), style);
        let indent = Indent {
            first: vec![Span::styled(format!("{number:>5} "), self.theme.dim), mark.clone()],
            rest: vec![Span::raw("      "), mark],
        };
        self.rows.extend(wrap(&Line::from(spans), self.width, &indent));
    }
}

/// Which removed line became which added one, by their places: one after the other where there are as many of both, else
/// those that are alike, in order.
fn pairs(removed: &[&str], added: &[&str]) -> Vec<(usize, usize)> {
    if removed.len() == added.len() {
        return (0..removed.len()).map(|index| (index, index)).collect();
    }
    let mut pairs = Vec::new();
    if removed.len().max(added.len()) > COMPARED {
        return pairs;
    }
    let mut from = 0;
    for (old, line) in removed.iter().enumerate() {
        let likeness = added.iter().enumerate().skip(from).map(|(new, other)| (likeness(line, other), new));
        if let Some((_, new)) =
            likeness.filter(|(like, _)| *like >= ALIKE).max_by(|one, other| one.0.total_cmp(&other.0))
        {
            pairs.push((old, new));
            from = new + 1;
        }
    }
    pairs
}

/// How much two lines have in common, from 0 to 1.
fn likeness(old: &str, new: &str) -> f32 {
    let is_short = old.len().max(new.len()) <= LONGEST_LINE;
    if is_short { TextDiff::from_unicode_words(old, new).ratio() } else { 0.0 }
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

/// The words of one of the lines, those that the other does not have in the stronger style. Lines that
/// have little in common are not compared: a patchwork explains nothing.
fn changed_words(old: &str, new: &str, side: ChangeTag, plain: Style, strong: Style) -> Vec<Span<'static>> {
    let whole = if side == ChangeTag::Delete { old } else { new };
    if old.len().max(new.len()) > LONGEST_LINE {
        return vec![Span::styled(whole.to_owned(), plain)];
    }
    let diff = TextDiff::from_unicode_words(old, new);
    if diff.ratio() < ALIKE {
        return vec![Span::styled(whole.to_owned(), plain)];
    }
    let mut spans = Vec::new();
    for change in diff.iter_all_changes() {
        let style = match change.tag() {
            ChangeTag::Equal => plain,
            tag if tag == side => strong,
            ChangeTag::Delete | ChangeTag::Insert => continue,
        };
        spans.push(Span::styled(change.value().to_owned(), style));
    }
    spans
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theme::ThemeName;

    #[test]
    fn changed_words_stand_out() {
        let theme = Theme::new(ThemeName::Dark);
        let (rows, beyond) =
            rows("@@ -3,3 +3,3 @@\n fn a() {\n-    let x = 1;\n+    let x = 2;\n }\n", 60, 100, &theme);
        let text: Vec<String> = rows.iter().map(ToString::to_string).collect();
        assert_eq!(text, ["    3   fn a() {", "    4 -     let x = 1;", "    4 +     let x = 2;", "    5   }"]);
        assert_eq!(beyond, 0);
        let strong: Vec<&str> = rows[2]
            .spans
            .iter()
            .filter(|span| span.style == theme.added_word)
            .map(|span| span.content.as_ref())
            .collect();
        assert_eq!(strong, ["2"]);
    }

    #[test]
    fn a_line_that_became_two_is_compared_too() {
        let theme = Theme::new(ThemeName::Dark);
        let change = "@@ -1,1 +1,2 @@\n-name = \"world\"\n+size = 3\n+name = \"wide world\"\n";
        let (rows, _) = rows(change, 60, 100, &theme);
        let strong: Vec<String> = rows
            .iter()
            .flat_map(|row| &row.spans)
            .filter(|span| span.style == theme.added_word)
            .map(|span| span.content.trim().to_owned())
            .collect();
        assert_eq!(strong.concat(), "wide");
    }

    #[test]
    fn a_long_change_is_cut_and_counted() {
        let unified: String =
            std::iter::once("@@ -0,0 +1,9 @@\n".to_owned()).chain((1..=9).map(|n| format!("+line {n}\n"))).collect();
        let (rows, beyond) = rows(&unified, 40, 4, &Theme::new(ThemeName::Plain));
        assert_eq!((rows.len(), beyond), (4, 5));
    }
}

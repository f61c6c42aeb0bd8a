//! What of a row is different from what stood there: over a slow line every byte is time.

use ratatui::style::Style;
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthChar;

/// A part of a row that is to be written again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The column where it begins.
    pub column: usize,
    /// What is written there.
    pub text: Line<'static>,
    /// Whether the rest of the row behind it is to be erased.
    pub erases: bool,
}

/// A character with its style and the columns that every terminal gives it.
type Cell = (char, Style, usize);

/// What makes `old` into `new`; none where terminals may not agree on the columns: the whole row is written then.
pub fn change(old: &Line<'_>, new: &Line<'_>) -> Option<Change> {
    let (old, new) = (cells(old)?, cells(new)?);
    let same = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let (before, old) = old.split_at_checked(same)?;
    let (_, new) = new.split_at_checked(same)?;
    let at_end = old.iter().rev().zip(new.iter().rev()).take_while(|(old, new)| old == new).count();
    let (old_part, new_part) = (old.get(..old.len() - at_end)?, new.get(..new.len() - at_end)?);
    let column = measured(before);
    Some(if measured(old_part) == measured(new_part) {
        Change { column, text: line(new_part), erases: false }
    } else {
        Change { column, text: line(new), erases: measured(old) > measured(new) }
    })
}

/// Whether terminals differ in how wide they make what it is part of: joined emoji, flags, signs that may be emoji.
pub fn is_doubtful(char: char) -> bool {
    matches!(char, '\u{200d}' | '\u{fe0f}' | '\u{1f1e6}'..='\u{1f1ff}' | '\u{1f3fb}'..='\u{1f3ff}')
}

fn cells(line: &Line<'_>) -> Option<Vec<Cell>> {
    let spans = line.spans.iter().map(|span| (line.style.patch(span.style), &span.content));
    spans.flat_map(|(style, text)| text.chars().map(move |char| Some((char, style, columns(char)?)))).collect()
}

/// The columns of a character on every terminal; none when they are not sure, and for what belongs to another one.
fn columns(char: char) -> Option<usize> {
    match char {
        ' '..='~' => Some(1),
        // Writing of the far east.
        '\u{2e80}'..='\u{a4cf}' | '\u{ac00}'..='\u{d7a3}' | '\u{f900}'..='\u{faff}' | '\u{ff01}'..='\u{ff60}' => {
            char.width().filter(|width| *width == 2)
        }
        // What is written from right to left is put into order by some terminals.
        '\u{0590}'..='\u{08ff}' | '\u{fb1d}'..='\u{feff}' => None,
        char if is_doubtful(char) => None,
        char => char.width().filter(|width| *width == 1),
    }
}

fn measured(cells: &[Cell]) -> usize {
    cells.iter().map(|(_, _, columns)| columns).sum()
}

fn line(cells: &[Cell]) -> Line<'static> {
    let parts = cells.chunk_by(|(_, one, _), (_, other, _)| one == other);
    let span = |part: &[Cell]| {
        let style = part.first().map(|(_, style, _)| *style).unwrap_or_default();
        Span::styled(part.iter().map(|(char, _, _)| *char).collect::<String>(), style)
    };
    Line::from_iter(parts.map(span))
}

#[cfg(test)]
mod tests {
    use ratatui::style::Stylize;

    use super::*;

    fn written(old: &str, new: &str) -> Option<(usize, String, bool)> {
        let change = change(&Line::raw(old.to_owned()), &Line::raw(new.to_owned()))?;
        Some((change.column, change.text.to_string(), change.erases))
    }

    #[test]
    fn only_what_is_different_is_written() {
        assert_eq!(written("› hell", "› hello"), Some((6, "o".into(), false)));
        assert_eq!(written("› hello", "› hell"), Some((6, String::new(), true)));
        assert_eq!(written("⣾ working 1 s", "⣽ working 1 s"), Some((0, "⣽".into(), false)));
        assert_eq!(written("⣾ working 9 s · Esc", "⣾ working 10 s · Esc"), Some((10, "10 s · Esc".into(), false)));
        assert_eq!(written("汉字", "汉字宽"), Some((4, "宽".into(), false)));
        assert_eq!(written("a👩‍💻b", "a👩‍💻c"), None, "nobody knows where the c stands");
        assert_eq!(written("e\u{301}a", "e\u{301}b"), None);
    }

    #[test]
    fn another_style_is_a_difference() {
        let change =
            change(&Line::from(vec![Span::raw("a"), Span::raw("bc")]), &Line::from(vec!["a".into(), "bc".red()]));
        assert_eq!(change.unwrap(), Change { column: 1, text: Line::from(vec!["bc".red()]), erases: false });
        let same = super::change(&Line::from(vec![Span::raw("a"), Span::raw("b")]), &Line::raw("ab")).unwrap();
        assert_eq!(same.text, Line::default());
    }
}

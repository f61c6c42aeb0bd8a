//! Where a text that is still being written can be cut, so that what is before it leaves and what is behind it stands as
//! it would have stood: at the end of a row of a paragraph, or before an item of a list.

use ratatui::text::Line;

use super::markdown::draft_rows;
use crate::theme::Theme;

/// Places that are tried before it stays whole.
const TRIES: usize = 4;

/// Where `text` can be cut so that at most `most` rows leave, and whether a blank row stands there; none where nothing can
/// leave yet.
pub fn cut_at(text: &str, most: usize, width: usize, theme: &Theme) -> Option<(usize, bool)> {
    let rows = |text: &str| -> Vec<String> { draft_rows(text, width, theme).iter().map(shown).collect() };
    let whole = rows(text);
    let places = places(text);
    let fits = |at: &usize| text.get(..*at).is_some_and(|head| rows(head).len() <= most);
    let fitting = places.get(..places.partition_point(fits)).unwrap_or_default();
    fitting.iter().rev().take(TRIES).find_map(|at| {
        let (head, tail) = text.split_at_checked(*at).filter(|(head, _)| is_whole(head))?;
        let (head, tail) = (rows(head), rows(tail));
        if head.is_empty() || tail.is_empty() {
            return None;
        }
        let apart = [head.as_slice(), &[String::new()], tail.as_slice()].concat();
        if whole == [head, tail].concat() { Some((*at, false)) } else { (whole == apart).then_some((*at, true)) }
    })
}

fn shown(row: &Line<'static>) -> String {
    row.to_string().trim_end().to_owned()
}

/// The beginnings of words inside a line, and of lines that are items of a list at the margin.
fn places(text: &str) -> Vec<usize> {
    let bytes = text.as_bytes();
    let is_place = |at: &usize| match (bytes.get(at - 1), bytes.get(*at)) {
        (Some(b' '), Some(next)) => !next.is_ascii_whitespace(),
        (Some(b'\n'), Some(_)) => text.get(*at..).is_some_and(is_item),
        _ => false,
    };
    (1..text.len()).filter(is_place).collect()
}

fn is_item(line: &str) -> bool {
    let after_number = line.trim_start_matches(|char: char| char.is_ascii_digit());
    let numbered = after_number.len() < line.len() && after_number.starts_with(". ");
    numbered || ["- ", "* ", "+ "].iter().any(|mark| line.starts_with(mark))
}

/// Whether nothing that began in it goes on behind it: code, strong words, the name of a link, a table.
fn is_whole(head: &str) -> bool {
    let even = |mark: &str| head.matches(mark).count().is_multiple_of(2);
    let closed = head.matches('[').count() == head.matches(']').count();
    even("`") && even("**") && even("~~") && closed && !head.lines().any(|line| line.trim_start().starts_with('|'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theme::ThemeName;

    #[test]
    fn paragraphs_are_cut_at_rows_and_lists_at_items() {
        let theme = Theme::new(ThemeName::Plain);
        let cut = |text: &str, most: usize| {
            let at = cut_at(text, most, 12, &theme);
            at.map(|(at, apart)| (text[..at].to_owned(), apart))
        };
        assert_eq!(cut("one two three four five six", 1), Some(("one two ".into(), false)));
        assert_eq!(cut("one two three four five six", 2), Some(("one two three four ".into(), false)));
        assert_eq!(cut("- one\n- two\n- three", 2), Some(("- one\n- two\n".into(), false)));
        assert_eq!(cut("3. one\n\n4. two\n\n5. three", 3), Some(("3. one\n\n4. two\n\n".into(), false)));
        assert_eq!(cut("a `b c d e f g h i j k l m n", 1), None, "code that has not ended");
        assert_eq!(cut("| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |", 2), None);
        assert_eq!(cut("short", 1), None);
    }
}

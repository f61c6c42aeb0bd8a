//! Where the moves of vi go.

use unicode_segmentation::UnicodeSegmentation;

use super::text::{Move, Text};

fn motion(char: char) -> Option<Move> {
    Some(match char {
        'h' => Move::Left,
        'l' | ' ' => Move::Right,
        'w' | 'W' => Move::NextWord,
        'b' | 'B' => Move::WordLeft,
        'e' | 'E' => Move::WordEnd,
        '0' => Move::LineStart,
        '$' => Move::LineEnd,
        _ => return None,
    })
}

/// Where a move goes; sideways it stays in the line.
pub(super) fn moved(text: &Text, char: char, times: usize) -> Option<usize> {
    if char == '^' {
        return Some(first_word(text));
    }
    let (to, (begin, end)) = (motion(char)?, text.line());
    let mut text = text.bare();
    for _ in 0..times {
        let before = text.cursor();
        text.go(to);
        if matches!(to, Move::Left | Move::Right) && !(begin..=end).contains(&text.cursor()) {
            text.go_to(before);
        }
        if text.cursor() == before {
            break;
        }
    }
    Some(text.cursor())
}

/// Where a move goes when something is done up to there. As vi has it: the end of a word goes with it, changing a word
/// leaves the blank behind it, and the last word of a line does not take the line's end along.
pub(super) fn operated(text: &Text, char: char, times: usize, changes: bool) -> Option<usize> {
    let changes_word = changes && matches!(char, 'w' | 'W');
    let from = text.cursor();
    if changes_word || matches!(char, 'e' | 'E') {
        let mut text = text.bare();
        for _ in 0..times {
            let before = text.cursor();
            text.go(Move::WordRight);
            if text.cursor() == before {
                break;
            }
        }
        return Some(text.cursor());
    }
    let place = moved(text, char, times)?;
    let over = text.between(from, place);
    let words = over.trim_end();
    let crosses = over.get(words.len()..).and_then(|blanks| blanks.find('\n'));
    match crosses.filter(|_| matches!(char, 'w' | 'W')) {
        Some(at) if words.is_empty() => Some(from + at),
        Some(_) => Some(from + words.len()),
        None => Some(place),
    }
}

/// Where the first character of the line is that is no blank.
pub(super) fn first_word(text: &Text) -> usize {
    let (begin, end) = text.line();
    let line = text.between(begin, end);
    begin + line.find(|char: char| !char.is_whitespace()).unwrap_or_default()
}

/// Where the next such character of the line is; behind it for changes, which take it with them.
pub(super) fn found(text: &Text, wanted: char, before: bool, behind: bool) -> Option<usize> {
    let line = text.after_cursor().split('\n').next().unwrap_or_default();
    let (at, glyph) = line.grapheme_indices(true).skip(1).find(|(_, glyph)| glyph.chars().eq([wanted]))?;
    let first = line.get(..at).and_then(|part| part.graphemes(true).next_back()).map_or(0, str::len);
    Some(
        text.cursor()
            + match (before, behind) {
                (false, false) => at,
                (false, true) => at + glyph.len(),
                (true, false) => at - first,
                (true, true) => at,
            },
    )
}

/// The same before the cursor.
pub(super) fn found_back(text: &Text, wanted: char, before: bool) -> Option<usize> {
    let line = text.before_cursor().rsplit('\n').next().unwrap_or_default();
    let begin = text.cursor() - line.len();
    let (at, glyph) = line.grapheme_indices(true).rev().find(|(_, glyph)| glyph.chars().eq([wanted]))?;
    Some(begin + if before { at + glyph.len() } else { at })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_beyond_the_text_ends_with_it() {
        let mut text = Text::default();
        text.set("one two three");
        text.go_to(0);
        assert_eq!(operated(&text, 'w', usize::MAX, true), Some(13));
        assert_eq!(moved(&text, 'w', usize::MAX), Some(13));
    }
}

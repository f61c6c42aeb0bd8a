//! What an edit says to the model: the changed lines, how the text was found, what comes nearest.

use std::fmt::Write;
use std::ops::Range;

use super::matching::{Closest, Fit, MOST_PLACES};

/// Unchanged lines around a changed stretch.
const CONTEXT: usize = 3;
/// Lines shown of all changed stretches together, and of the nearest place.
const MOST_LINES: usize = 60;
/// Characters shown of one line.
const LONGEST_LINE: usize = 300;

/// How a looser reading is told; nothing for an exact one.
pub fn fit_words(fit: Fit) -> Option<&'static str> {
    match fit {
        Fit::Exact => None,
        Fit::LineEndings => Some("it was found with other line endings, which were kept"),
        Fit::TrailingSpace => Some("it was found without regard to white space at line ends"),
        Fit::Indentation => Some("it was found with another indentation, which new_string was given too"),
        Fit::Escapes => Some("it was found with its escaped sequences written out, as were those of new_string"),
        Fit::Wrapping => Some(
            "it was found without the blank lines, code fences or marks around it, and new_string was taken so too",
        ),
        Fit::NewMarks => Some(
            "it was found with other white space, line endings or escapes, and new_string was taken without the marks \
             of a search-and-replace block around it",
        ),
    }
}

/// A number of places as words; beyond some they are not counted.
pub fn places_words(count: usize) -> String {
    if count < MOST_PLACES { format!("{count} places") } else { format!("{MOST_PLACES} places or more") }
}

/// Line numbers as words; `count` is how many there are in all.
pub fn line_list(lines: &[usize], count: usize) -> String {
    const SHOWN: usize = 10;
    let numbers: Vec<String> = lines.iter().take(SHOWN).map(ToString::to_string).collect();
    let more = count.saturating_sub(numbers.len());
    let word = if count == 1 { "line" } else { "lines" };
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{word} {}{rest}", numbers.join(", "))
}

/// The changed stretches of the new text with a few lines around them.
pub fn regions(text: &[u8], regions: &[Range<usize>]) -> String {
    let lines: Vec<&[u8]> = text.split(|byte| *byte == b'\n').collect();
    // A final newline ends the last line, it does not begin another.
    let count = if text.ends_with(b"\n") || text.is_empty() { lines.len() - 1 } else { lines.len() };
    let mut words = String::new();
    let (mut next, mut left) = (0, MOST_LINES);
    for region in regions {
        let start = region.start.saturating_sub(CONTEXT).max(next);
        let end = (region.end + CONTEXT).min(count).max(start);
        if start > next && next > 0 {
            words.push_str("…\n");
        }
        for (index, line) in lines.iter().enumerate().take(end).skip(start) {
            if left == 0 {
                words.push_str("… (more was changed)\n");
                return words;
            }
            left -= 1;
            numbered(&mut words, index + 1, line);
        }
        next = end;
    }
    words
}

/// The place that comes nearest, as it is in the file.
pub fn closest_words(closest: &Closest) -> String {
    let (first, last) = (closest.lines.start, closest.lines.end - 1);
    let mut words = if first == last {
        format!("The closest is line {first}:\n")
    } else {
        format!("The closest are lines {first}–{last}:\n")
    };
    for (index, line) in closest.text.split(|byte| *byte == b'\n').enumerate().take(MOST_LINES) {
        numbered(&mut words, first + index, line);
    }
    if let Some((line, found, wanted)) = &closest.difference {
        let (found, wanted) = (cut(found), cut(wanted));
        let _ =
            write!(words, "The first difference is in line {line}: the file has {found:?}, old_string has {wanted:?}");
    }
    words
}

/// The beginning of a line that may have any length.
fn cut(line: &str) -> &str {
    let end = line.char_indices().nth(LONGEST_LINE).map_or(line.len(), |(end, _)| end);
    line.get(..end).unwrap_or(line)
}

fn numbered(words: &mut String, number: usize, line: &[u8]) {
    let line = String::from_utf8_lossy(line.strip_suffix(b"\r").unwrap_or(line));
    let _ = match line.char_indices().nth(LONGEST_LINE) {
        Some((cut, _)) => writeln!(words, "{number}\t{}… [line cut]", line.get(..cut).unwrap_or_default()),
        None => writeln!(words, "{number}\t{line}"),
    };
}

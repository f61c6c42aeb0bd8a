//! The text without regard to white space at the ends of lines.

use std::ops::Range;

use super::apply::{LOOK_AFTER, Place, Places, Replacement, Stop};
use super::lines::{Line, Lines, OldText, trim_end, with_endings_of};

/// Every place whose lines are those of `old` when white space at their ends does not count. Whole
/// lines, but for the indentation of the first, which models tend to leave out.
pub(super) fn find(content: &[u8], lines: &Lines, replacement: &Replacement<'_>, stop: &Stop<'_>) -> Places {
    let mut places = Places::default();
    let old = OldText::of(replacement.old);
    if !old.has_words() {
        return places;
    }
    for (index, window) in lines.windows(old.lines.len()) {
        if places.is_full() || (index % LOOK_AFTER == 0 && stop()) {
            break;
        }
        if let Some(range) = fit(content, window, &old) {
            places
                .add(range.start, || Place { new: fitting_end(content, window, &old, &range, replacement.new), range });
        }
    }
    places
}

fn fit(content: &[u8], window: &[Line], old: &OldText<'_>) -> Option<Range<usize>> {
    let (first, last) = (window.first()?, window.last()?);
    let wanted = trim_end(old.lines.first()?);
    let indentation = trim_end(first.text(content)).strip_suffix(wanted)?;
    let mut rest = window.iter().zip(&old.lines).skip(1);
    let fits =
        indentation.trim_ascii().is_empty() && rest.all(|(line, old)| trim_end(line.text(content)) == trim_end(old));
    let end = if old.ends_with_newline { last.next } else { last.end };
    fits.then(|| first.start + indentation.len()..end)
}

/// A last line without an ending stays without one.
pub(super) fn fitting_end(
    content: &[u8],
    window: &[Line],
    old: &OldText<'_>,
    range: &Range<usize>,
    new: &str,
) -> Vec<u8> {
    let lacks_ending = old.ends_with_newline && window.last().is_some_and(|line| !line.has_ending());
    let new = if lacks_ending { new.strip_suffix('\n').unwrap_or(new) } else { new };
    with_endings_of(content, range, new.as_bytes())
}

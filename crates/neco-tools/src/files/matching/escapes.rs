//! The text with escaped sequences written out: some models escape what they send once too often.

use super::apply::{Places, Replacement};
use super::exact;

/// Every place that holds `old` once its escaped sequences are what they stand for. Only the kinds
/// of sequences that `old` has are written out in the new text, so that a `\n` that belongs into a
/// string literal stays one.
pub(super) fn find(content: &[u8], replacement: &Replacement<'_>) -> Places {
    let mut kinds = Vec::new();
    let old = write_out(replacement.old, |kind| {
        kinds.push(kind);
        true
    });
    if kinds.is_empty() {
        return Places::default();
    }
    let new = write_out(replacement.new, |kind| kinds.contains(&kind));
    let places = exact::find(content, &old, &new);
    if !places.is_empty() { places } else { exact::find_with_any_line_ending(content, &old, &new) }
}

/// The text with the kinds of escaped sequences that are wanted written out.
pub(in crate::files) fn write_out(text: &str, mut wanted: impl FnMut(char) -> bool) -> String {
    let mut result = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let meant = characters.peek().filter(|_| character == '\\').and_then(|kind| stands_for(*kind));
        match (meant, characters.peek()) {
            (Some(meant), Some(kind)) if wanted(*kind) => {
                characters.next();
                result.push(meant);
            }
            _ => result.push(character),
        }
    }
    result
}

fn stands_for(kind: char) -> Option<char> {
    match kind {
        'n' => Some('\n'),
        't' => Some('\t'),
        'r' => Some('\r'),
        '"' | '\'' | '`' | '\\' | '/' => Some(kind),
        _ => None,
    }
}

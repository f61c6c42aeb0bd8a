//! Which words of changed lines are different, so that what changed in a line is seen.

use similar::{ChangeTag, TextDiff};

/// In longer lines no words are compared.
const LONGEST_LINE: usize = 2000;

/// How much lines that are compared word by word have in common.
const ALIKE: f32 = 0.4;

/// How many of their words such lines share at least: blanks and signs make any two lines alike.
const SHARED: f32 = 0.3;

/// In a bigger change lines are not looked for that became others.
const COMPARED: usize = 20;

/// Where words stand in a line: from which byte to which.
pub type Words = Vec<(usize, usize)>;

/// The words of removed lines, and of those that came in their place, that the other line does not have.
///
/// ```
/// use neco_view::changed_words::changed_words;
///
/// let (before, after) = changed_words(&["let x = 1;"], &["let x = 2;"]);
/// assert_eq!((before, after), (vec![vec![(8, 9)]], vec![vec![(8, 9)]]));
/// ```
#[must_use]
pub fn changed_words(removed: &[&str], added: &[&str]) -> (Vec<Words>, Vec<Words>) {
    let mut words = (vec![Words::new(); removed.len()], vec![Words::new(); added.len()]);
    for (old, new) in pairs(removed, added) {
        let (Some(before), Some(after)) = (removed.get(old), added.get(new)) else { continue };
        let Some((gone, come)) = compared(before, after) else { continue };
        words.0.get_mut(old).into_iter().for_each(|words| words.clone_from(&gone));
        words.1.get_mut(new).into_iter().for_each(|words| words.clone_from(&come));
    }
    words
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
        // Of those that are as much alike the first is meant, which is the last from behind.
        let others = added.iter().enumerate().skip(from).rev().filter(|(_, other)| likeness(line, other) >= ALIKE);
        let alike = others.map(|(new, other)| (shared_words(line, other), new));
        if let Some((_, new)) = alike.max_by(|one, other| one.0.total_cmp(&other.0)) {
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

/// How many of their words two lines share, from 0 to 1: blanks and signs, which most lines have, say nothing of what
/// became of one.
fn shared_words(old: &str, new: &str) -> f32 {
    TextDiff::from_slices(&words_of(old), &words_of(new)).ratio()
}

fn words_of(line: &str) -> Vec<&str> {
    line.split(|char: char| !char.is_alphanumeric() && char != '_').filter(|word| !word.is_empty()).collect()
}

/// Where in each of two lines the words stand that the other does not have. Lines that have little in common are not
/// compared: a patchwork explains nothing.
fn compared(old: &str, new: &str) -> Option<(Words, Words)> {
    if old.len().max(new.len()) > LONGEST_LINE {
        return None;
    }
    let diff = TextDiff::from_unicode_words(old, new);
    if diff.ratio() < ALIKE || shared_words(old, new) < SHARED {
        return None;
    }
    let side = |line: &str, side: ChangeTag| {
        let indented = line.len() - line.trim_start().len();
        let mut words = Words::new();
        let mut at = 0;
        for change in diff.iter_all_changes() {
            let changed = change.tag() == side;
            if !changed && change.tag() != ChangeTag::Equal {
                continue;
            }
            let end = at + change.value().len();
            // How far a line is indented is no word of it.
            let changed = changed && end > indented;
            match words.last_mut().filter(|(_, to)| changed && *to == at) {
                Some((_, to)) => *to = end,
                None if changed => words.push((at.max(indented), end)),
                None => {}
            }
            at = end;
        }
        words
    };
    Some((side(old, ChangeTag::Delete), side(new, ChangeTag::Insert)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_paired_by_place_or_by_what_they_share() {
        let marked = |removed: &[&str], added: &[&str]| {
            let text = |lines: &[&str], words: &[Words]| -> Vec<String> {
                let line = |(line, words): (&&str, &Words)| {
                    words.iter().filter_map(|(from, to)| line.get(*from..*to)).collect()
                };
                lines.iter().zip(words).map(line).collect()
            };
            let (before, after) = changed_words(removed, added);
            (text(removed, &before), text(added, &after))
        };
        let one = marked(&["    let x = 1;"], &["        let x = 20;"]);
        assert_eq!(one, (vec!["1".to_owned()], vec!["20".to_owned()]), "indentation is no word");
        let (before, after) = marked(&["let limit = ten;"], &["use std::fs;", "let limit = twenty;"]);
        assert_eq!((before, after), (vec!["ten".to_owned()], vec![String::new(), "twenty".to_owned()]));
        let (before, after) = marked(&["fn first() {}"], &["const OTHER: u8 = 7;"]);
        assert_eq!((before.concat(), after.concat()), (String::new(), String::new()), "they share nothing");
    }
}

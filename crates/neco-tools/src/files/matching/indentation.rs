//! The text shifted as a whole: every line has the same indentation more or less, or tabs for spaces.

use super::apply::{LOOK_AFTER, Place, Places, Replacement, Stop};
use super::lines::{Line, Lines, OldText};
use super::trailing::fitting_end;

/// Every place whose lines are those of `old` but for one and the same shift, which is applied to the
/// new text too. Whole lines only.
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
        let Some(shift) = shift_of(content, window, &old) else { continue };
        let (Some(first), Some(last)) = (window.first(), window.last()) else { continue };
        let range = first.start..if old.ends_with_newline { last.next } else { last.end };
        places.add(range.start, || {
            let shifted = shift.apply(replacement.new);
            Place { new: fitting_end(content, window, &old, &range, &shifted), range }
        });
    }
    places
}

/// How the file's indentation comes from that of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::files) enum Shift {
    Added(Vec<u8>),
    Removed(Vec<u8>),
    SpacesToTabs(usize),
    TabsToSpaces(usize),
}

/// The one shift that makes the lines of `old` those of a window.
pub(in crate::files) fn shift_of(content: &[u8], window: &[Line], old: &OldText<'_>) -> Option<Shift> {
    let pairs = || window.iter().map(|line| line.text(content)).zip(old.lines.iter().copied());
    if !pairs().all(|(line, old)| line.trim_ascii() == old.trim_ascii()) {
        return None;
    }
    let indents: Vec<(&[u8], &[u8])> = pairs()
        .filter(|(line, _)| !line.trim_ascii().is_empty())
        .map(|(line, old)| (indent(line), indent(old)))
        .collect();
    let (file, text) = indents.first()?;
    let mut candidates = Vec::new();
    candidates.extend(file.strip_suffix(*text).map(|more| Shift::Added(more.to_vec())));
    candidates.extend(text.strip_suffix(*file).map(|more| Shift::Removed(more.to_vec())));
    candidates.extend([4, 2, 8, 3, 1].map(Shift::SpacesToTabs));
    candidates.extend([4, 2, 8, 3, 1].map(Shift::TabsToSpaces));
    candidates.into_iter().find(|shift| indents.iter().all(|(file, text)| shift.explains(file, text)))
}

impl Shift {
    fn explains(&self, file: &[u8], text: &[u8]) -> bool {
        match self {
            Self::Added(more) => file.strip_prefix(more.as_slice()) == Some(text),
            Self::Removed(more) => text.strip_prefix(more.as_slice()) == Some(file),
            Self::SpacesToTabs(width) => {
                text.iter().all(|byte| *byte == b' ') && text.len().is_multiple_of(*width) && self.indent(text) == file
            }
            Self::TabsToSpaces(_) => text.iter().all(|byte| *byte == b'\t') && self.indent(text) == file,
        }
    }

    /// The new text, shifted line by line; empty lines stay empty.
    pub(in crate::files) fn apply(&self, new: &str) -> String {
        let mut result = String::with_capacity(new.len() * 2);
        for line in new.split_inclusive('\n') {
            let body = line.trim_start_matches([' ', '\t']);
            if body.trim().is_empty() {
                result.push_str(line);
                continue;
            }
            let own = line.strip_suffix(body).unwrap_or_default();
            result.push_str(&String::from_utf8_lossy(&self.indent(own.as_bytes())));
            result.push_str(body);
        }
        result
    }

    /// What an indentation of the text is in the file.
    fn indent(&self, text: &[u8]) -> Vec<u8> {
        match self {
            Self::Added(more) => [more, text].concat(),
            // A line that has less than the rest has nothing left to lose.
            Self::Removed(more) => {
                let common = more.iter().zip(text).take_while(|(more, text)| more == text).count();
                text.get(common..).unwrap_or_default().to_vec()
            }
            Self::SpacesToTabs(width) => {
                let spaces = text.iter().filter(|byte| **byte == b' ').count();
                let tabs = text.len() - spaces;
                [vec![b'\t'; tabs + spaces / width], vec![b' '; spaces % width]].concat()
            }
            Self::TabsToSpaces(width) => text
                .iter()
                .flat_map(|byte| std::iter::repeat_n(b' ', if *byte == b'\t' { *width } else { 1 }))
                .collect(),
        }
    }
}

fn indent(line: &[u8]) -> &[u8] {
    let length = line.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    line.get(..length).unwrap_or_default()
}

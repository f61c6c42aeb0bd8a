//! The text shifted as a whole: every line has the same indentation more or less, tabs for spaces, or other steps.

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
    /// From the least indented line on, each step of the text is one step of the file.
    Steps {
        text: Steps,
        file: Steps,
    },
}

/// An indentation that deeper ones add steps to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::files) struct Steps {
    base: Vec<u8>,
    step: Vec<u8>,
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
    candidates.extend(steps_of(&indents));
    candidates.into_iter().find(|shift| indents.iter().all(|(file, text)| shift.explains(file, text)))
}

/// The steps of both, as the least indented line and the one that is least deeper than it have them.
fn steps_of(indents: &[(&[u8], &[u8])]) -> Option<Shift> {
    let (file_base, text_base) = indents.iter().min_by_key(|(_, text)| text.len())?;
    let deeper = indents.iter().filter(|(_, text)| text.len() > text_base.len());
    let (file, text) = deeper.min_by_key(|(_, text)| text.len())?;
    let (file, text) = (one_sign(file.strip_prefix(*file_base)?)?, one_sign(text.strip_prefix(*text_base)?)?);
    // It may be deeper by several steps, each of a size that people use.
    let is_step = |sign: u8, length: usize| if sign == b' ' { [2, 4, 8].contains(&length) } else { length == 1 };
    let divides = |count: &usize| {
        [file, text].iter().all(|(sign, length)| length.is_multiple_of(*count) && is_step(*sign, length / count))
    };
    let count = (1..=file.1.min(text.1)).rev().find(divides)?;
    let steps =
        |base: &[u8], (sign, length): (u8, usize)| Steps { base: base.to_vec(), step: vec![sign; length / count] };
    Some(Shift::Steps { text: steps(text_base, text), file: steps(file_base, file) })
}

/// What it is made of and how long it is, if it is all spaces or all tabs.
fn one_sign(indent: &[u8]) -> Option<(u8, usize)> {
    let first = *indent.first()?;
    indent.iter().all(|byte| *byte == first).then_some((first, indent.len()))
}

impl Steps {
    /// How many steps an indentation is deeper than the base, and what is left; negative where it is less deep.
    fn count<'a>(&self, indent: &'a [u8]) -> Option<(i64, &'a [u8])> {
        let length = self.step.len().max(1);
        if let Some(missing) = self.base.strip_prefix(indent).filter(|missing| !missing.is_empty()) {
            let is_whole = missing.len().is_multiple_of(length) && missing.ends_with(&self.step);
            return is_whole.then(|| (-i64::try_from(missing.len() / length).unwrap_or(0), &b""[..]));
        }
        let mut rest = indent.strip_prefix(self.base.as_slice())?;
        let mut count = 0;
        while let Some(less) = rest.strip_prefix(self.step.as_slice()).filter(|_| !self.step.is_empty()) {
            (rest, count) = (less, count + 1);
        }
        Some((count, rest))
    }

    /// The indentation of so many steps.
    fn indent(&self, count: i64) -> Vec<u8> {
        let steps = usize::try_from(count.unsigned_abs()).unwrap_or(0);
        if count >= 0 {
            return [self.base.clone(), self.step.repeat(steps)].concat();
        }
        let kept = self.base.len().saturating_sub(steps * self.step.len());
        self.base.get(..kept).unwrap_or_default().to_vec()
    }
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
            Self::Steps { text: steps, file: to } => {
                steps.count(text).is_some_and(|(count, rest)| count >= 0 && rest.is_empty() && to.indent(count) == file)
            }
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
            Self::Steps { text: steps, file } => match steps.count(text) {
                Some((count, rest)) => [file.indent(count), rest.to_vec()].concat(),
                None => text.to_vec(),
            },
        }
    }
}

fn indent(line: &[u8]) -> &[u8] {
    let length = line.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    line.get(..length).unwrap_or_default()
}

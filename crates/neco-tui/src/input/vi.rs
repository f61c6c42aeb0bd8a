//! The field with the keys of vi: two modes, moves, changes with counts; what most fingers know.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use unicode_segmentation::UnicodeSegmentation;

use super::text::{Move, Text};

/// Which of the two modes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ViMode {
    /// Letters are written.
    #[default]
    Insert,
    /// Letters are commands.
    Normal,
}

/// What a key came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ViOutcome {
    /// It was for vi.
    Taken,
    /// It is for the field, as without vi.
    Passed,
    /// A line up, or an older message.
    Up,
    /// A line down, or a newer message.
    Down,
}

/// What waits for another key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pending {
    /// `d` or `c`: what to do up to where the move goes.
    Change { inserts: bool },
    /// `f`, `t`, `F`, `T`: to which character, with what was to be done up to there.
    Find { before: bool, back: bool, change: Option<bool> },
    /// `r`.
    Replace,
    /// `g`.
    Go,
}

/// The state of vi.
#[derive(Clone, Debug, Default)]
pub struct Vi {
    mode: ViMode,
    pending: Option<Pending>,
    count: usize,
}

impl Vi {
    /// The mode.
    #[must_use]
    pub fn mode(&self) -> ViMode {
        self.mode
    }

    /// A new text begins in the mode in which letters are written.
    pub fn reset(&mut self) {
        *self = Self::default();
    }

    /// A key was pressed.
    pub fn key(&mut self, text: &mut Text, key: KeyEvent) -> ViOutcome {
        let held = key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT);
        match (self.mode, key.code) {
            (ViMode::Insert, KeyCode::Esc) if !text.is_empty() => {
                self.mode = ViMode::Normal;
                text.go(Move::Left);
                ViOutcome::Taken
            }
            (ViMode::Normal, KeyCode::Char(char)) if !held => self.command(text, char),
            (ViMode::Normal, KeyCode::Esc) if self.pending.is_some() || self.count > 0 => {
                self.forget();
                ViOutcome::Taken
            }
            (ViMode::Normal, KeyCode::Backspace) => {
                text.go(Move::Left);
                ViOutcome::Taken
            }
            (ViMode::Insert | ViMode::Normal, _) => ViOutcome::Passed,
        }
    }

    fn command(&mut self, text: &mut Text, char: char) -> ViOutcome {
        if let Some(digit) = char.to_digit(10).filter(|digit| *digit > 0 || self.count > 0)
            && !matches!(self.pending, Some(Pending::Find { .. } | Pending::Replace))
        {
            self.count = (self.count * 10 + digit as usize).min(9999);
            return ViOutcome::Taken;
        }
        match self.pending.take() {
            Some(Pending::Change { inserts }) => self.change(text, char, inserts),
            Some(Pending::Find { before, back, change }) => self.find(text, char, before, back, change),
            Some(Pending::Replace) => self.replace(text, char),
            Some(Pending::Go) => {
                if char == 'g' {
                    text.go(Move::Start);
                }
                self.forget();
            }
            None => return self.plain(text, char),
        }
        ViOutcome::Taken
    }

    /// A command that nothing waits for.
    fn plain(&mut self, text: &mut Text, char: char) -> ViOutcome {
        match char {
            'j' | 'k' => {
                self.forget();
                return if char == 'j' { ViOutcome::Down } else { ViOutcome::Up };
            }
            'd' | 'c' => {
                self.pending = Some(Pending::Change { inserts: char == 'c' });
                return ViOutcome::Taken;
            }
            'f' | 't' | 'F' | 'T' => {
                self.pending = Some(finding(char, None));
                return ViOutcome::Taken;
            }
            'r' => {
                self.pending = Some(Pending::Replace);
                return ViOutcome::Taken;
            }
            'g' => {
                self.pending = Some(Pending::Go);
                return ViOutcome::Taken;
            }
            'i' => self.insert(text, None),
            'a' => self.insert(text, Some(Move::Right)),
            'I' => self.insert(text, Some(Move::LineStart)),
            'A' => self.insert(text, Some(Move::LineEnd)),
            'o' => {
                self.insert(text, Some(Move::LineEnd));
                text.insert("\n");
            }
            'O' => {
                self.insert(text, Some(Move::LineStart));
                text.insert("\n");
                text.go(Move::Left);
            }
            'x' => self.times(|| text.delete(Move::Right)),
            'X' => self.times(|| text.delete(Move::Left)),
            's' => {
                self.times(|| text.delete(Move::Right));
                self.mode = ViMode::Insert;
            }
            'D' => text.delete(Move::LineEnd),
            'C' => {
                text.delete(Move::LineEnd);
                self.mode = ViMode::Insert;
            }
            'S' => self.line(text, true),
            'p' => {
                text.go(Move::Right);
                text.yank();
            }
            'P' => text.yank(),
            'u' => self.times(|| text.undo()),
            'G' => text.go(Move::End),
            _ => {
                if let Some(to) = motion(char) {
                    self.times(|| text.go(to));
                }
            }
        }
        self.count = 0;
        ViOutcome::Taken
    }

    fn change(&mut self, text: &mut Text, char: char, inserts: bool) {
        match char {
            'd' if !inserts => self.line(text, false),
            'c' if inserts => self.line(text, true),
            'f' | 't' | 'F' | 'T' => {
                self.pending = Some(finding(char, Some(inserts)));
                return;
            }
            // As vi has it: the end of a word goes with it, and changing a word leaves the blank behind it.
            'e' | 'E' => self.times(|| text.delete(Move::WordRight)),
            'w' | 'W' if inserts => self.times(|| text.delete(Move::WordRight)),
            _ => {
                if let Some(to) = motion(char) {
                    self.times(|| text.delete(to));
                }
            }
        }
        if inserts {
            self.mode = ViMode::Insert;
        }
        self.forget();
    }

    /// Takes the line away; when something is written in its place, its end stays.
    fn line(&mut self, text: &mut Text, inserts: bool) {
        text.go(Move::LineStart);
        text.delete(Move::LineEnd);
        if inserts {
            self.mode = ViMode::Insert;
        } else if !text.after_cursor().is_empty() {
            text.delete_quietly(Move::Right);
        } else if text.cursor() > 0 {
            text.delete_quietly(Move::Left);
        }
    }

    fn find(&mut self, text: &mut Text, wanted: char, before: bool, back: bool, change: Option<bool>) {
        let target =
            if back { found_back(text, wanted, before) } else { found(text, wanted, before, change.is_some()) };
        if let Some(target) = target {
            match change {
                Some(inserts) => {
                    text.delete_to(target);
                    self.mode = if inserts { ViMode::Insert } else { self.mode };
                }
                None => text.go_to(target),
            }
        }
        self.forget();
    }

    fn replace(&mut self, text: &mut Text, char: char) {
        if !text.after_cursor().is_empty() {
            text.delete_quietly(Move::Right);
            text.insert(char.encode_utf8(&mut [0; 4]));
            text.go(Move::Left);
        }
        self.forget();
    }

    fn insert(&mut self, text: &mut Text, first: Option<Move>) {
        if let Some(to) = first {
            text.go(to);
        }
        self.mode = ViMode::Insert;
    }

    fn times(&mut self, mut act: impl FnMut()) {
        for _ in 0..self.count.max(1) {
            act();
        }
        self.count = 0;
    }

    fn forget(&mut self) {
        self.pending = None;
        self.count = 0;
    }
}

fn finding(char: char, change: Option<bool>) -> Pending {
    Pending::Find { before: matches!(char, 't' | 'T'), back: char.is_uppercase(), change }
}

fn motion(char: char) -> Option<Move> {
    Some(match char {
        'h' => Move::Left,
        'l' | ' ' => Move::Right,
        'w' | 'W' => Move::NextWord,
        'b' | 'B' => Move::WordLeft,
        'e' | 'E' => Move::WordEnd,
        '0' | '^' => Move::LineStart,
        '$' => Move::LineEnd,
        _ => return None,
    })
}

/// Where the next such character of the line is; behind it for changes, which take it with them.
fn found(text: &Text, wanted: char, before: bool, behind: bool) -> Option<usize> {
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

fn found_back(text: &Text, wanted: char, before: bool) -> Option<usize> {
    let line = text.before_cursor().rsplit('\n').next().unwrap_or_default();
    let begin = text.cursor() - line.len();
    let (at, glyph) = line.grapheme_indices(true).rev().find(|(_, glyph)| glyph.chars().eq([wanted]))?;
    Some(begin + if before { at + glyph.len() } else { at })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Types keys; `⎋` is Esc.
    fn after(text: &str, keys: &str) -> (String, usize, ViMode) {
        let mut field = Text::default();
        field.insert(text);
        let mut vi = Vi::default();
        for char in keys.chars() {
            let code = if char == '⎋' { KeyCode::Esc } else { KeyCode::Char(char) };
            if vi.key(&mut field, KeyEvent::new(code, KeyModifiers::NONE)) == ViOutcome::Passed
                && let KeyCode::Char(char) = code
            {
                field.insert(char.encode_utf8(&mut [0; 4]));
            }
        }
        (field.as_str().to_owned(), field.cursor(), vi.mode())
    }

    #[test]
    fn what_fingers_know() {
        for (text, keys, expected) in [
            ("one two three", "⎋0dw", "two three"),
            ("one two three", "⎋02dw", "three"),
            ("one two three", "⎋0wcwTWO⎋", "one TWO three"),
            ("one two", "⎋0x", "ne two"),
            ("one two", "⎋03x", " two"),
            ("one two", "⎋0D", ""),
            ("one two", "⎋A!", "one two!"),
            ("one two", "⎋I> ", "> one two"),
            ("a\nb\nc", "⎋0dd", "a\nb"),
            ("a\nb", "⎋dd", "a"),
            ("one two", "⎋0fox", "one tw"),
            ("one two", "⎋0de", " two"),
            ("a(b)c", "⎋0f(dt)", "a)c"),
            ("a(b)c", "⎋0df)", "c"),
            ("abc", "⎋0rX", "Xbc"),
            ("abc", "⎋0xu", "abc"),
            ("one two", "⎋0dwP", "one two"),
            ("x", "⎋oy", "x\ny"),
            ("漢字", "⎋x", "漢"),
        ] {
            assert_eq!(after(text, keys).0, expected, "{text:?} {keys:?}");
        }
    }

    proptest! {
        #[test]
        fn no_keys_break_the_text(text in "[a漢é👍 \n.]{0,20}", keys in "[⎋hlwbe0$xXdDcCsSpPuiaIAoOrftFTgG29jk漢.]{0,30}") {
            let (text, cursor, _) = after(&text, &keys);
            prop_assert!(text.is_char_boundary(cursor));
        }
    }
}

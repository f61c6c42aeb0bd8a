//! The field with the keys of vi: two modes, moves, changes with counts; what most fingers know.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use unicode_segmentation::UnicodeSegmentation;

use super::reach::{first_word, found, found_back, moved, operated};
use super::text::{Move, Text};

const MOST: usize = 9999;

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

/// What is done up to where a move goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    /// `d`
    Delete,
    /// `c`
    Change,
    /// `y`
    Yank,
}

/// What waits for another key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pending {
    /// `d`, `c` or `y`.
    Operate(Operator),
    /// `f`, `t`, `F`, `T`: to which character, with what is to be done up to there.
    Find { before: bool, back: bool, operator: Option<Operator> },
    /// `r`.
    Replace,
    /// `g`.
    Go(Option<Operator>),
}

/// The state of vi.
#[derive(Clone, Debug, Default)]
pub struct Vi {
    pub(super) mode: ViMode,
    pending: Option<Pending>,
    /// The count that is being typed, and the one before the operator.
    count: usize,
    outer: usize,
    /// The keys of the command that is being typed, and how the text was before it.
    keys: Vec<char>,
    before: String,
    /// How many changes there were when it began; none before the first key.
    since: Option<u64>,
    /// The text and the cursor when writing began.
    begun: Option<(String, usize)>,
    /// The last change: its keys, and what was written with it.
    last: Option<(Vec<char>, String)>,
    /// Whether whole lines were kept last.
    lines: bool,
}

impl Vi {
    /// A new text begins in the mode in which letters are written.
    pub fn reset(&mut self) {
        *self = Self { last: self.last.take(), lines: self.lines, ..Self::default() };
    }

    /// A key was pressed.
    pub fn key(&mut self, text: &mut Text, key: KeyEvent) -> ViOutcome {
        let held = key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT);
        self.since.get_or_insert(text.changes);
        match (self.mode, key.code) {
            (ViMode::Insert, KeyCode::Esc) if !text.is_empty() => {
                self.written(text);
                ViOutcome::Taken
            }
            (ViMode::Normal, KeyCode::Char(char)) if !held => self.command(text, char),
            (ViMode::Normal, KeyCode::Esc) if self.pending.is_some() || self.count > 0 => {
                self.forget();
                ViOutcome::Taken
            }
            (ViMode::Normal, KeyCode::Backspace) => self.command(text, 'h'),
            (ViMode::Insert | ViMode::Normal, _) => ViOutcome::Passed,
        }
    }

    /// In the mode of commands the cursor stands on a character, never behind the line.
    pub fn stay_on_line(&self, text: &mut Text) {
        let (begin, end) = text.line();
        if self.mode == ViMode::Normal && text.cursor() == end && begin < end {
            text.go(Move::Left);
        }
    }

    /// Writing ends: what was written is one change, and can be made again.
    fn written(&mut self, text: &mut Text) {
        self.mode = ViMode::Normal;
        if text.cursor() > text.line().0 {
            text.go(Move::Left);
        }
        if let Some((old, at)) = self.begun.take() {
            let tail = old.get(at..).unwrap_or_default();
            let new = text.as_str().strip_prefix(old.get(..at).unwrap_or_default());
            let new = new.and_then(|rest| rest.strip_suffix(tail)).unwrap_or_default().to_owned();
            self.last = Some((std::mem::take(&mut self.keys), new));
        }
        text.as_one(self.since.take().unwrap_or_default());
        self.forget();
    }

    fn command(&mut self, text: &mut Text, char: char) -> ViOutcome {
        if self.keys.is_empty() {
            self.since = Some(text.changes);
            self.before = text.as_str().to_owned();
        }
        self.keys.push(char);
        self.stay_on_line(text);
        let outcome = self.take(text, char);
        self.stay_on_line(text);
        if self.mode == ViMode::Insert {
            self.begun = Some((text.as_str().to_owned(), text.cursor()));
        } else if self.pending.is_none() && self.count == 0 {
            let keys = std::mem::take(&mut self.keys);
            if text.as_str() != self.before && !matches!(char, 'u' | '.') {
                self.last = Some((keys, String::new()));
            }
            text.as_one(self.since.unwrap_or_default());
        }
        outcome
    }

    fn take(&mut self, text: &mut Text, char: char) -> ViOutcome {
        if let Some(digit) = char.to_digit(10).filter(|digit| *digit > 0 || self.count > 0)
            && !matches!(self.pending, Some(Pending::Find { .. } | Pending::Replace))
        {
            self.count = (self.count * 10 + digit as usize).min(MOST);
            return ViOutcome::Taken;
        }
        match self.pending.take() {
            Some(Pending::Operate(operator)) => self.operate(text, char, operator),
            Some(Pending::Find { before, back, operator }) => self.find(text, char, before, back, operator),
            Some(Pending::Replace) => self.replace(text, char),
            Some(Pending::Go(operator)) => {
                if char == 'g' {
                    self.up_to(text, 0, operator);
                }
                self.forget();
            }
            None => return self.plain(text, char),
        }
        ViOutcome::Taken
    }

    /// A command that nothing waits for.
    fn plain(&mut self, text: &mut Text, char: char) -> ViOutcome {
        let operator = match char {
            'd' => Some(Operator::Delete),
            'c' => Some(Operator::Change),
            'y' => Some(Operator::Yank),
            _ => None,
        };
        let pending = match char {
            'f' | 't' | 'F' | 'T' => Some(finding(char, None)),
            'r' => Some(Pending::Replace),
            'g' => Some(Pending::Go(None)),
            _ => operator.map(Pending::Operate),
        };
        if pending.is_some() {
            if operator.is_some() {
                self.outer = std::mem::take(&mut self.count);
            }
            self.pending = pending;
            return ViOutcome::Taken;
        }
        let (begin, end) = text.line();
        match char {
            'j' | 'k' => {
                self.forget();
                return if char == 'j' { ViOutcome::Down } else { ViOutcome::Up };
            }
            'i' => self.insert(text, text.cursor()),
            'a' => self.insert(text, moved(text, 'l', 1).unwrap_or(end)),
            'I' => self.insert(text, first_word(text)),
            'A' => self.insert(text, end),
            'o' => {
                self.insert(text, end);
                text.insert("\n");
            }
            'O' => {
                self.insert(text, begin);
                text.insert("\n");
                text.go_to(begin);
            }
            'x' => self.operate(text, 'l', Operator::Delete),
            'X' => self.operate(text, 'h', Operator::Delete),
            's' => self.operate(text, 'l', Operator::Change),
            'D' => self.operate(text, '$', Operator::Delete),
            'C' => self.operate(text, '$', Operator::Change),
            'S' => self.operate(text, 'c', Operator::Change),
            'Y' => self.operate(text, 'y', Operator::Yank),
            'p' | 'P' => self.put(text, char == 'p'),
            'u' => (0..self.count.max(1)).for_each(|_| text.undo()),
            '.' => self.again(text),
            'G' => text.go(Move::End),
            _ => {
                if let Some(place) = moved(text, char, self.count.max(1)) {
                    text.go_to(place);
                }
            }
        }
        self.count = 0;
        ViOutcome::Taken
    }

    fn operate(&mut self, text: &mut Text, char: char, operator: Operator) {
        let times = self.count.max(1) * self.outer.max(1);
        match char {
            'd' | 'c' | 'y' if operator == named(char) => self.whole_lines(text, times, operator),
            'f' | 't' | 'F' | 'T' => {
                self.pending = Some(finding(char, Some(operator)));
                return;
            }
            'g' => {
                self.pending = Some(Pending::Go(Some(operator)));
                return;
            }
            'G' => self.up_to(text, text.as_str().len(), Some(operator)),
            _ => {
                if let Some(place) = operated(text, char, times, operator == Operator::Change) {
                    self.up_to(text, place, Some(operator));
                }
            }
        }
        self.forget();
    }

    /// Goes to a place, or does something up to there.
    fn up_to(&mut self, text: &mut Text, place: usize, operator: Option<Operator>) {
        let (from, until) = (place.min(text.cursor()), place.max(text.cursor()));
        match operator {
            None => return text.go_to(place),
            Some(Operator::Yank) => {
                text.killed = text.between(from, until).to_owned();
                text.go_to(from);
            }
            Some(Operator::Delete) => text.delete_to(place),
            Some(Operator::Change) => {
                text.delete_to(place);
                self.mode = ViMode::Insert;
            }
        }
        self.lines = false;
    }

    /// The line of the cursor and those below it; when something is written in their place, the end of the line stays.
    fn whole_lines(&mut self, text: &mut Text, count: usize, operator: Operator) {
        let begin = text.line().0;
        let rest = text.between(begin, text.as_str().len());
        let end = begin + rest.match_indices('\n').nth(count - 1).map_or(rest.len(), |(at, _)| at);
        text.killed = text.between(begin, end).to_owned();
        self.lines = true;
        match operator {
            Operator::Yank => text.go_to(begin),
            Operator::Change => {
                text.remove(begin, end);
                text.go_to(begin);
                self.mode = ViMode::Insert;
            }
            Operator::Delete if end < text.as_str().len() => text.remove(begin, end + 1),
            Operator::Delete => {
                text.remove(begin.saturating_sub(1), end);
                text.go_to(text.line().0);
            }
        }
    }

    /// Puts back what was kept: lines as lines.
    fn put(&mut self, text: &mut Text, behind: bool) {
        let (begin, end) = text.line();
        let kept = text.killed.clone();
        match (self.lines, behind) {
            (true, true) => {
                text.go_to(end);
                text.insert(&format!("\n{kept}"));
                text.go_to(end + 1);
            }
            (true, false) => {
                text.go_to(begin);
                text.insert(&format!("{kept}\n"));
                text.go_to(begin);
            }
            (false, _) => {
                text.go_to(if behind { moved(text, 'l', 1).unwrap_or(end) } else { text.cursor() });
                text.yank();
                text.go(Move::Left);
            }
        }
    }

    /// Makes the last change again.
    fn again(&mut self, text: &mut Text) {
        let Some((keys, written)) = self.last.clone() else { return };
        self.forget();
        for key in &keys {
            self.take(text, *key);
        }
        if self.mode == ViMode::Insert {
            text.insert(&written);
            self.mode = ViMode::Normal;
        }
        self.last = Some((keys, written));
    }

    fn find(&mut self, text: &mut Text, wanted: char, before: bool, back: bool, operator: Option<Operator>) {
        let target =
            if back { found_back(text, wanted, before) } else { found(text, wanted, before, operator.is_some()) };
        if let Some(target) = target {
            self.up_to(text, target, operator);
        }
        self.forget();
    }

    fn replace(&mut self, text: &mut Text, char: char) {
        let (cursor, times) = (text.cursor(), self.count.max(1));
        let line = text.between(cursor, text.line().1);
        if line.graphemes(true).count() >= times {
            let end = cursor + line.graphemes(true).take(times).map(str::len).sum::<usize>();
            text.remove(cursor, end);
            text.insert(&char.to_string().repeat(times));
            text.go(Move::Left);
        }
        self.forget();
    }

    fn insert(&mut self, text: &mut Text, at: usize) {
        text.go_to(at);
        self.mode = ViMode::Insert;
    }

    fn forget(&mut self) {
        self.pending = None;
        self.count = 0;
        self.outer = 0;
    }
}

fn named(char: char) -> Operator {
    match char {
        'c' => Operator::Change,
        'y' => Operator::Yank,
        _ => Operator::Delete,
    }
}

fn finding(char: char, operator: Option<Operator>) -> Pending {
    Pending::Find { before: matches!(char, 't' | 'T'), back: char.is_uppercase(), operator }
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
        (field.as_str().to_owned(), field.cursor(), vi.mode)
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
            ("漢字", "⎋x", "漢"),
            // The cursor stands on the last character of a line, and nothing reaches over its end.
            ("one", "⎋$x", "on"),
            ("ab\ncd", "⎋gg$x", "a\ncd"),
            ("ab\ncd", "⎋gg$a!", "ab!\ncd"),
            ("ab\ncd", "⎋gg$lx", "a\ncd"),
            ("ab\ncd", "⎋0hx", "ab\nd"),
            ("ab\ncd", "⎋0Xi>", "ab\n>cd"),
            ("ab\n", "x⎋0i⎋x", "ab\n"),
            ("ab\ncd", "⎋gg5s-", "-\ncd"),
            ("one\ntwo", "⎋ggdw", "\ntwo"),
            ("one two\nthree", "⎋gg2dw", "\nthree"),
            ("one two\nthree", "⎋gg3dw", ""),
            ("a b c d e f g h", "⎋02d3w", "g h"),
            ("a b c d", "⎋0d3w", "d"),
            ("abc", "⎋0cqx", "bc"),
            ("abc", "⎋0d0x", "bc"),
            // One insertion is taken back as one, also the first.
            ("", "one two⎋u", ""),
            ("one", "⎋A two⎋u", "one"),
            ("one two", "⎋0cwTHREE⎋u", "one two"),
            ("abcd", "⎋03xu", "abcd"),
            // Lines are put back as lines, parts as parts.
            ("a\nb", "⎋ggddp", "b\na"),
            ("a\nb", "⎋yyP", "a\nb\nb"),
            ("a\nb", "⎋gg2yyGp", "a\nb\na\nb"),
            ("ab", "⎋0xp", "ba"),
            ("one two", "⎋0yw$p", "one twoone "),
            ("one two", "⎋0y$P", "one twoone two"),
            ("one two", "⎋0yfeA⎋p", "one twoone"),
            // The last change again.
            ("a b c", "⎋0dw.", "c"),
            ("one two", "⎋0cwx⎋w.", "x x"),
            ("ab", "⎋A!⎋..", "ab!!!"),
            ("abc", "⎋0x.u", "bc"),
            ("one\ntwo", "⎋ddu", "one\ntwo"),
            ("abcd", "⎋02rx", "xxcd"),
            ("abcd", "⎋09rx", "abcd"),
            ("  abc", "⎋^x", "  bc"),
            ("  abc", "⎋I>", "  >abc"),
        ] {
            assert_eq!(after(text, keys).0, expected, "{text:?} {keys:?}");
        }
    }

    proptest! {
        #[test]
        fn no_keys_break_the_text(text in "[a漢é👍 \n.]{0,20}", keys in "[⎋hlwbe0$^xXdDcCsSyYpPuiaIAoOrftFTgG29jk漢.]{0,30}") {
            let (text, cursor, mode) = after(&text, &keys);
            prop_assert!(text.is_char_boundary(cursor));
            let behind = text[cursor..].starts_with('\n') || cursor == text.len();
            let empty = cursor == 0 || text[..cursor].ends_with('\n');
            prop_assert!(mode == ViMode::Insert || !behind || empty, "behind its line: {text:?} {cursor}");
        }
    }
}

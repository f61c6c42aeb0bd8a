//! The answers that one key gives: by number, by letter, or with the arrows and Enter.

use super::question::Place;

const ESCAPE: char = '\u{1b}';

/// Columns before the words of an answer: its number and its letter.
const LEAD: usize = 6;

/// An answer.
pub struct Row {
    /// The letter that means it.
    pub key: char,
    /// Whether it has a number as well.
    pub is_numbered: bool,
    /// What it says.
    pub words: String,
    /// More about it.
    pub about: String,
}

impl Row {
    /// What it says, and more about it.
    fn told(&self) -> String {
        let about = if self.about.is_empty() { String::new() } else { format!(": {}", self.about) };
        format!("{}{about}", self.words)
    }
}

/// The answers in the order in which they are offered; the last one is no.
pub struct Offers(pub Vec<Row>);

impl Offers {
    /// Which one a key means: that of a number or of a letter, the last one for Esc, and for Enter the one that arrows
    /// went to.
    pub fn meant(&self, key: char, at: Option<usize>) -> Option<usize> {
        match key {
            '\n' | '\r' => at,
            ESCAPE => self.0.len().checked_sub(1),
            '1'..='9' => {
                let number = usize::try_from(key.to_digit(10)?).ok()?;
                self.numbered().nth(number.checked_sub(1)?).map(|(index, _)| index)
            }
            key => self.0.iter().position(|row| row.key == key.to_ascii_lowercase()),
        }
    }

    /// Goes one up or down from `at`; gives what to write.
    pub fn step(&self, at: &mut Option<usize>, down: bool, place: &Place) -> String {
        let Some(last) = self.0.len().checked_sub(1) else { return String::new() };
        let next = match (*at, down) {
            (None, true) => 0,
            (None | Some(0), false) => last,
            (Some(at), true) if at >= last => 0,
            (Some(at), true) => at + 1,
            (Some(at), false) => at - 1,
        };
        *at = Some(next);
        self.chosen(next, place)
    }

    /// The one at `index`, with all that is told about it, at the prompt.
    pub fn chosen(&self, index: usize, place: &Place) -> String {
        let row = self.0.get(index).map(|row| format!("{}{} {}", self.number(index), row.key, row.told()));
        let line = format!("{}{}", place.prompt(), row.unwrap_or_default());
        format!("\n{}", place.wrapped_under(&line, LEAD))
    }

    /// A line or more for each.
    pub fn lines(&self, place: &Place) -> String {
        let paint = place.paint;
        let line = |(index, row): (usize, &Row)| {
            let number = self.number(index);
            let number = if number.is_empty() { "  ".to_owned() } else { paint.bold(&number) };
            let line = format!("  {number}{} {}", paint.bold(&row.key.to_string()), row.told());
            place.wrapped_under(&line, LEAD)
        };
        self.0.iter().enumerate().map(line).collect::<Vec<_>>().join("\n")
    }

    /// The keys that mean one of them, in words.
    pub fn keys(&self) -> String {
        let letters: Vec<String> = self.0.iter().map(|row| row.key.to_string()).collect();
        format!("1–{}, {}", self.numbered().count(), letters.join(", "))
    }

    fn numbered(&self) -> impl Iterator<Item = (usize, &Row)> {
        self.0.iter().enumerate().filter(|(_, row)| row.is_numbered)
    }

    /// The number of the one at `index`, with a blank behind it; empty for one without.
    fn number(&self, index: usize) -> String {
        let place = self.numbered().position(|(numbered, _)| numbered == index);
        place.map(|place| format!("{} ", place + 1)).unwrap_or_default()
    }
}

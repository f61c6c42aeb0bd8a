//! Numbers and times in the few characters that a row has for them.

pub use neco_view::figures::{
    ago, bytes, counted as count, short_duration as duration, short_elapsed as seconds, short_tokens as tokens,
};
use unicode_width::UnicodeWidthStr;

/// `<$0.01`, `$0.05`, `$1.50`: digits do not come and go while it grows.
pub fn cost(dollars: f64) -> String {
    if dollars > 0.0 && dollars < 0.005 { "<$0.01".to_owned() } else { format!("${dollars:.2}") }
}

/// `text` with blanks behind it up to `wide` columns.
pub fn padded(text: &str, wide: usize) -> String {
    format!("{text}{}", " ".repeat(wide.saturating_sub(text.width())))
}

/// The mark of something that runs, in a frame: it turns four times a second.
pub fn turning(frame: usize) -> &'static str {
    const MARKS: [&str; 4] = ["◔", "◑", "◕", "●"];
    MARKS.get(frame / 2 % MARKS.len()).copied().unwrap_or("◔")
}

/// A time that goes on: `0:14`, `5:12`, `1:02:03`.
pub fn clock(milliseconds: u64) -> String {
    let seconds = milliseconds / 1000;
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    if hours > 0 { format!("{hours}:{minutes:02}:{seconds:02}") } else { format!("{minutes}:{seconds:02}") }
}

/// A time that is over, for people: `38 ms`, `6.2 s`, `5 min 12 s`.
pub fn lasted(milliseconds: u64) -> String {
    match milliseconds / 1000 {
        0..=59 => duration(milliseconds),
        seconds @ 60..=3599 => format!("{} min {:02} s", seconds / 60, seconds % 60),
        seconds => format!("{} h {:02} min", seconds / 3600, seconds % 3600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_counted_and_not_characters() {
        assert_eq!((padded("漢字", 6), padded("long", 2)), ("漢字  ".to_owned(), "long".to_owned()));
    }

    #[test]
    fn money_has_two_digits() {
        let costs = [0.0, 0.0032, 0.0056, 0.02, 1.5].map(cost);
        assert_eq!(costs, ["$0.00", "<$0.01", "$0.01", "$0.02", "$1.50"]);
    }

    #[test]
    fn times_are_told_as_people_do() {
        assert_eq!((clock(14_500), clock(312_000), clock(3_723_000)), ("0:14".into(), "5:12".into(), "1:02:03".into()));
        assert_eq!((lasted(38), lasted(6230), lasted(312_000)), ("38 ms".into(), "6.2 s".into(), "5 min 12 s".into()));
    }
}

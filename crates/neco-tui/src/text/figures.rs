//! Numbers and times in the few characters that a row has for them.

pub use neco_view::figures::{
    ago, bytes, counted as count, short_dollars as cost, short_duration as duration, short_elapsed as seconds,
    short_tokens as tokens,
};
use unicode_width::UnicodeWidthStr;

/// `text` with blanks behind it up to `wide` columns.
pub fn padded(text: &str, wide: usize) -> String {
    format!("{text}{}", " ".repeat(wide.saturating_sub(text.width())))
}

/// The mark of something that runs, in a frame.
pub fn turning(frame: usize) -> &'static str {
    const MARKS: [&str; 8] = ["⣾", "⣽", "⣻", "⢿", "⡿", "⣟", "⣯", "⣷"];
    MARKS.get(frame % MARKS.len()).copied().unwrap_or("·")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_counted_and_not_characters() {
        assert_eq!((padded("漢字", 6), padded("long", 2)), ("漢字  ".to_owned(), "long".to_owned()));
    }
}

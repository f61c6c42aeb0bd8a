//! Numbers and times in the few characters that a row has for them.

pub use neco_view::figures::{
    ago, bytes, counted as count, short_dollars as cost, short_duration as duration, short_elapsed as seconds,
    short_tokens as tokens,
};
use unicode_width::UnicodeWidthStr;

/// `text` with blanks behind it up to `wide` columns.
#[must_use]
pub fn padded(text: &str, wide: usize) -> String {
    format!("{text}{}", " ".repeat(wide.saturating_sub(text.width())))
}

/// The mark of something that runs, in a frame.
#[must_use]
pub fn turning(frame: usize) -> &'static str {
    const MARKS: [&str; 8] = ["⣾", "⣽", "⣻", "⢿", "⡿", "⣟", "⣯", "⣷"];
    MARKS.get(frame % MARKS.len()).copied().unwrap_or("·")
}

/// `just now`, `3 min ago`, `5 h ago`, `2 d ago`, or the day.
#[must_use]
pub fn ago(millis: i64, now: Timestamp) -> String {
    let seconds = now.as_millisecond().saturating_sub(millis) / 1000;
    match seconds {
        i64::MIN..60 => "just now".to_owned(),
        60..3600 => format!("{} min ago", seconds / 60),
        3600..86_400 => format!("{} h ago", seconds / 3600),
        86_400..2_592_000 => format!("{} d ago", seconds / 86_400),
        _ => Timestamp::from_millisecond(millis)
            .map(|time| time.strftime("%Y-%m-%d").to_string())
            .unwrap_or_else(|_| "long ago".to_owned()),
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
    fn times_are_as_coarse_as_they_are_old() {
        let now: Timestamp = "2026-11-15T12:00:00Z".parse().unwrap();
        for (seconds, shown) in [
            (-5, "just now"),
            (59, "just now"),
            (61, "1 min ago"),
            (7200, "2 h ago"),
            (86_400 * 3, "3 d ago"),
            (86_400 * 40, "2026-10-06"),
        ] {
            assert_eq!(ago(now.as_millisecond() - seconds * 1000, now), shown);
        }
    }
}

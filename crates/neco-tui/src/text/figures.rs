//! Numbers and times as people read them.

use jiff::Timestamp;
use unicode_width::UnicodeWidthStr;

/// A number of tokens in few characters.
#[must_use]
pub fn tokens(count: u64) -> String {
    match count {
        0..=999 => count.to_string(),
        1_000..=99_999 => format!("{}.{}k", count / 1000, count % 1000 / 100),
        100_000..=999_999 => format!("{}k", count / 1000),
        _ => format!("{}.{}M", count / 1_000_000, count % 1_000_000 / 100_000),
    }
}

/// A time in few characters.
#[must_use]
pub fn duration(milliseconds: u64) -> String {
    let seconds = milliseconds / 1000;
    match seconds {
        0 => format!("{milliseconds} ms"),
        1..=9 => format!("{seconds}.{} s", milliseconds % 1000 / 100),
        10..=59 => format!("{seconds} s"),
        60..=3599 => format!("{}m {:02}s", seconds / 60, seconds % 60),
        _ => format!("{}h {:02}m", seconds / 3600, seconds % 3600 / 60),
    }
}

/// A time that goes on, in whole seconds, with a blank before it; nothing in the first second.
#[must_use]
pub fn seconds(milliseconds: u64) -> String {
    match milliseconds / 1000 {
        0 => String::new(),
        seconds @ 1..=59 => format!(" {seconds} s"),
        _ => format!(" {}", duration(milliseconds)),
    }
}

/// Money in US dollars.
#[must_use]
pub fn cost(dollars: f64) -> String {
    if dollars > 0.0 && dollars < 0.01 { format!("${dollars:.4}") } else { format!("${dollars:.2}") }
}

/// `1 file`, `2 files`.
#[must_use]
pub fn count(number: usize, one: &str, many: &str) -> String {
    if number == 1 { format!("1 {one}") } else { format!("{number} {many}") }
}

/// `text` with blanks behind it up to `wide` columns.
#[must_use]
pub fn padded(text: &str, wide: usize) -> String {
    format!("{text}{}", " ".repeat(wide.saturating_sub(text.width())))
}

/// A size in few characters.
#[must_use]
pub fn bytes(count: usize) -> String {
    match count {
        0..=999 => format!("{count} B"),
        1_000..=999_999 => format!("{}.{} kB", count / 1000, count % 1000 / 100),
        _ => format!("{}.{} MB", count / 1_000_000, count % 1_000_000 / 100_000),
    }
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
    fn figures_stay_short() {
        assert_eq!(tokens(999), "999");
        assert_eq!(tokens(12_345), "12.3k");
        assert_eq!(tokens(2_500_000), "2.5M");
        assert_eq!(duration(340), "340 ms");
        assert_eq!(duration(3_240), "3.2 s");
        assert_eq!(duration(75_000), "1m 15s");
        assert_eq!(cost(0.0032), "$0.0032");
        assert_eq!(cost(1.5), "$1.50");
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

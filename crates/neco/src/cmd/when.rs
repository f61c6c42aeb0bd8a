//! How long ago something was, as people say it.

use jiff::Timestamp;

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

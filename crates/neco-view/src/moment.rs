//! Times as people write them.

use jiff::civil::Date;
use jiff::{SignedDuration, Timestamp, Zoned};

/// What was written is no time.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a time; write 30min, 12h, 7d, 4w, today, yesterday, or a day as 2026-11-15")]
pub struct NoMoment(String);

/// The time that is meant by `30min`, `12h`, `7d`, `4w`, `today`, `yesterday`, a day or a moment.
///
/// # Errors
/// When it is no time.
pub fn moment(text: &str, now: &Zoned) -> Result<Timestamp, NoMoment> {
    let text = text.trim();
    let wrong = || NoMoment(text.to_owned());
    let midnight = |day: Date| day.to_zoned(now.time_zone().clone()).map(|time| time.timestamp());
    match text {
        "today" => return midnight(now.date()).map_err(|_| wrong()),
        "yesterday" => return now.date().yesterday().and_then(midnight).map_err(|_| wrong()),
        _ => {}
    }
    if let Ok(time) = text.parse::<Timestamp>() {
        return Ok(time);
    }
    if let Ok(day) = text.parse::<Date>() {
        return midnight(day).map_err(|_| wrong());
    }
    let letters = text.find(|char: char| !char.is_ascii_digit()).ok_or_else(wrong)?;
    let (number, unit) = text.split_at_checked(letters).ok_or_else(wrong)?;
    let seconds: i64 = match unit.trim() {
        "s" | "sec" => 1,
        "m" | "min" => 60,
        "h" => 3600,
        "d" | "day" | "days" => 86_400,
        "w" | "week" | "weeks" => 604_800,
        _ => return Err(wrong()),
    };
    let back = number.parse::<i64>().ok().and_then(|number| number.checked_mul(seconds)).ok_or_else(wrong)?;
    Ok(now.timestamp().checked_sub(SignedDuration::from_secs(back)).unwrap_or(Timestamp::MIN))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_in_many_ways() {
        let now: Zoned = "2026-11-15T12:00:00+00:00[UTC]".parse().unwrap();
        let at = |text: &str| moment(text, &now).unwrap().to_string();
        for (text, time) in [
            ("30min", "2026-11-15T11:30:00Z"),
            ("12h", "2026-11-15T00:00:00Z"),
            ("7d", "2026-11-08T12:00:00Z"),
            ("1w", "2026-11-08T12:00:00Z"),
            ("today", "2026-11-15T00:00:00Z"),
            ("yesterday", "2026-11-14T00:00:00Z"),
            ("2026-11-01", "2026-11-01T00:00:00Z"),
            ("2026-11-01T08:00Z", "2026-11-01T08:00:00Z"),
        ] {
            assert_eq!(at(text), time, "{text}");
        }
        for text in ["", "soon", "7", "7x", "-3d", "99999999999999999999d", "漢字"] {
            assert!(moment(text, &now).is_err(), "{text}");
        }
    }
}

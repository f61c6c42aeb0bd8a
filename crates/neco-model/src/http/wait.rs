//! How long a vendor asks to wait, from all the places where vendors say it.

use std::time::{Duration, SystemTime};

use http::HeaderMap;

/// Whether a limit of the rate is what stopped the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Limit {
    /// The vendor says so.
    Hit,
    /// Only if nothing is left of one: many vendors tell their limits with every answer.
    PerhapsHit,
}

/// The wait the vendor asks for: `retry-after-ms`, `retry-after` (seconds or a date), the reset of
/// the limit that was hit, or else what the message says.
pub(super) fn asked_for(headers: &HeaderMap, limit: Limit, message: &str) -> Option<Duration> {
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    header("retry-after-ms")
        .and_then(|text| text.parse().ok())
        .and_then(|milliseconds: f64| seconds(milliseconds / 1000.0))
        .or_else(|| header("retry-after").and_then(seconds_or_date))
        .or_else(|| limit_reset(header, limit))
        .or_else(|| in_message(message))
}

/// Whether the vendor says that trying again is no use.
pub(super) fn forbidden(headers: &HeaderMap) -> bool {
    headers.get("x-should-retry").is_some_and(|value| value == "false")
}

fn seconds(seconds: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(seconds).ok()
}

fn seconds_or_date(text: &str) -> Option<Duration> {
    if let Ok(number) = text.parse() {
        return seconds(number);
    }
    let date = httpdate::parse_http_date(text).ok()?;
    // A date that has passed asks for no wait; ours is taken then.
    Some(date.duration_since(SystemTime::now()).unwrap_or_default())
}

fn limit_reset<'a>(header: impl Fn(&str) -> Option<&'a str>, limit: Limit) -> Option<Duration> {
    let used_up = |name: &str| header(name).is_some_and(|left| left == "0");
    for limit in ["requests", "tokens"] {
        if used_up(&format!("x-ratelimit-remaining-{limit}")) {
            return header(&format!("x-ratelimit-reset-{limit}")).and_then(duration);
        }
    }
    let left = header("x-ratelimit-remaining").is_some_and(|left| left != "0");
    let is_hit = used_up("x-ratelimit-remaining") || (limit == Limit::Hit && !left);
    header("x-ratelimit-reset").filter(|_| is_hit).and_then(reset_time)
}

/// A duration, or a moment in seconds or milliseconds since 1970.
fn reset_time(text: &str) -> Option<Duration> {
    let Ok(number) = text.parse::<f64>() else { return duration(text) };
    let since_1970 = match number {
        number if number > 1e12 => number / 1000.0,
        number if number > 1e9 => number,
        number => return seconds(number),
    };
    let moment = SystemTime::UNIX_EPOCH.checked_add(seconds(since_1970)?)?;
    Some(moment.duration_since(SystemTime::now()).unwrap_or_default())
}

fn in_message(message: &str) -> Option<Duration> {
    let message = message.to_lowercase();
    let phrases = ["try again in ", "retry after ", "retry in "];
    phrases.into_iter().find_map(|phrase| message.split_once(phrase).and_then(|(_, rest)| duration(rest)))
}

/// Reads `20s`, `250ms`, `6m0s`, `1.5 seconds`, `7`; stops at the first thing that is none of it.
fn duration(text: &str) -> Option<Duration> {
    let mut total = 0.0;
    let mut rest = text.trim_start();
    let mut found = false;
    while let Some((number, after)) = leading(rest, |c| c.is_ascii_digit() || c == '.') {
        let Ok(number) = number.trim_end_matches('.').parse::<f64>() else { break };
        let (unit, after) = leading(after.trim_start(), |c| c.is_ascii_alphabetic()).unwrap_or(("", after));
        total += number * unit_seconds(unit)?;
        found = true;
        rest = after;
    }
    if found { seconds(total) } else { None }
}

fn unit_seconds(unit: &str) -> Option<f64> {
    match unit {
        "ms" | "millisecond" | "milliseconds" => Some(0.001),
        "" | "s" | "sec" | "second" | "seconds" => Some(1.0),
        "m" | "min" | "minute" | "minutes" => Some(60.0),
        "h" | "hour" | "hours" => Some(3600.0),
        "d" | "day" | "days" => Some(86400.0),
        _ => None,
    }
}

/// What stands at the beginning as long as `is` holds; nothing when that is nothing.
fn leading(text: &str, is: impl Fn(char) -> bool) -> Option<(&str, &str)> {
    let end = text.find(|c| !is(c)).unwrap_or(text.len());
    text.split_at_checked(end).filter(|(begin, _)| !begin.is_empty())
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.parse().unwrap(), HeaderValue::from_static(value))).collect()
    }

    #[test]
    fn durations_as_vendors_write_them() {
        for (text, milliseconds) in [
            ("20s.", 20_000),
            ("250ms", 250),
            ("6m0s", 360_000),
            ("1.5 seconds", 1500),
            ("7 seconds.", 7000),
            ("2", 2000),
        ] {
            assert_eq!(duration(text), Some(Duration::from_millis(milliseconds)), "{text}");
        }
        assert_eq!(duration("soon"), None);
        assert_eq!(duration("3 attempts"), None);
    }

    #[test]
    fn the_limit_that_was_hit_counts() {
        let headers = headers(&[
            ("x-ratelimit-remaining-requests", "499"),
            ("x-ratelimit-reset-requests", "120ms"),
            ("x-ratelimit-remaining-tokens", "0"),
            ("x-ratelimit-reset-tokens", "1m2s"),
        ]);
        assert_eq!(asked_for(&headers, Limit::PerhapsHit, ""), Some(Duration::from_secs(62)));
    }

    #[test]
    fn a_reset_counts_only_when_the_limit_was_hit() {
        let told = |left: &'static str| headers(&[("x-ratelimit-remaining", left), ("x-ratelimit-reset", "30")]);
        let thirty = Some(Duration::from_secs(30));
        assert_eq!(asked_for(&told("0"), Limit::PerhapsHit, ""), thirty);
        assert_eq!(asked_for(&told("17"), Limit::Hit, ""), None);
        let reset = headers(&[("x-ratelimit-reset", "30")]);
        assert_eq!(asked_for(&reset, Limit::Hit, ""), thirty);
        assert_eq!(asked_for(&reset, Limit::PerhapsHit, ""), None);
        let asked = headers(&[("x-ratelimit-reset", "30"), ("retry-after", "2")]);
        assert_eq!(asked_for(&asked, Limit::PerhapsHit, ""), Some(Duration::from_secs(2)));
    }

    #[test]
    fn a_moment_that_has_passed_asks_for_nothing() {
        let past = headers(&[("x-ratelimit-reset", "1600000000000")]);
        assert_eq!(asked_for(&past, Limit::Hit, ""), Some(Duration::ZERO));
        assert_eq!(asked_for(&headers(&[("retry-after", "-3")]), Limit::Hit, ""), None);
        assert_eq!(asked_for(&headers(&[]), Limit::Hit, "no hint"), None);
    }

    #[test]
    fn a_header_may_forbid_another_try() {
        assert!(forbidden(&headers(&[("x-should-retry", "false")])));
        assert!(!forbidden(&headers(&[("x-should-retry", "true")])));
    }
}

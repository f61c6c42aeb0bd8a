//! Numbers, times and money as people read them.
//!
//! What begins with `short_` is for a row that has little room, such as that of a call in a window or its status line:
//! fewer digits, and hours where others count minutes on. Everything else is for text that is kept or read at leisure.

use std::time::Duration;

use jiff::Timestamp;
use neco_proto::Usage;
use neco_proto::event::BudgetReached;

/// `12 ms`, `3.4 s`, `2 m 05 s`.
pub fn duration(duration: Duration) -> String {
    let millis = duration.as_millis();
    match millis {
        0..1000 => format!("{millis} ms"),
        1000..60_000 => format!("{:.1} s", duration.as_secs_f64()),
        _ => format!("{} m {:02} s", duration.as_secs() / 60, duration.as_secs() % 60),
    }
}

/// `340 ms`, `3.2 s`, `12 s`, `1m 15s`, `1h 02m`.
pub fn short_duration(milliseconds: u64) -> String {
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
pub fn short_elapsed(milliseconds: u64) -> String {
    match milliseconds / 1000 {
        0 => String::new(),
        seconds @ 1..=59 => format!(" {seconds} s"),
        _ => format!(" {}", short_duration(milliseconds)),
    }
}

/// `just now`, `3 min ago`, `5 h ago`, `2 d ago`, or the day.
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

/// `812`, `12.4k`, `3.1M`.
pub fn tokens(count: u64) -> String {
    match count {
        0..1000 => count.to_string(),
        1000..1_000_000 => format!("{:.1}k", count as f64 / 1e3),
        _ => format!("{:.1}M", count as f64 / 1e6),
    }
}

/// `812`, `12.3k`, `171k`, `2.5M`.
pub fn short_tokens(count: u64) -> String {
    match count {
        0..=999 => count.to_string(),
        1_000..=99_999 => format!("{}.{}k", count / 1000, count % 1000 / 100),
        100_000..=999_999 => format!("{}k", count / 1000),
        _ => format!("{}.{}M", count / 1_000_000, count % 1_000_000 / 100_000),
    }
}

/// `812 bytes`, `1.2 kB`, `3.1 MB`.
pub fn bytes(count: u64) -> String {
    match count {
        1 => "1 byte".to_owned(),
        0..1000 => format!("{count} bytes"),
        1000..1_000_000 => format!("{:.1} kB", count as f64 / 1e3),
        1_000_000..10_000_000_000 => format!("{:.1} MB", count as f64 / 1e6),
        _ => format!("{:.0} GB", count as f64 / 1e9),
    }
}

/// `7 s`, `2 m 05 s`: time that still runs.
pub fn elapsed(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..60 => format!("{seconds} s"),
        seconds => format!("{} m {:02} s", seconds / 60, seconds % 60),
    }
}

/// `$0.0123`, `$4.20`.
pub fn dollars(amount: f64) -> String {
    if amount < 1.0 { format!("${amount:.4}") } else { format!("${amount:.2}") }
}

/// `$0.0032`, `$0.05`, `$1.50`.
pub fn short_dollars(amount: f64) -> String {
    if amount > 0.0 && amount < 0.01 { format!("${amount:.4}") } else { format!("${amount:.2}") }
}

/// `12.4k in (8.1k cached) · 1.2k out · $0.0123`; nothing when nothing is known.
pub fn usage(usage: &Usage) -> Option<String> {
    let mut parts = Vec::new();
    if usage.input > 0 || usage.output > 0 {
        let cached = match usage.cache_read {
            0 => String::new(),
            cached => format!(" ({} cached)", tokens(cached)),
        };
        parts.push(format!("{} in{cached}", tokens(usage.input)));
        parts.push(format!("{} out", tokens(usage.output)));
    }
    parts.extend(cost(usage));
    (!parts.is_empty()).then(|| parts.join(" · "))
}

/// `$0.0123`, or `at least $0.0123 (2 turns without a known price)`; nothing when no price is known.
fn cost(usage: &Usage) -> Option<String> {
    let known = dollars(usage.cost?);
    Some(match usage.unpriced {
        0 => known,
        unpriced => format!("at least {known} ({})", without_price(unpriced)),
    })
}

/// `$4.20 in this session`; nothing when the run is all there was.
pub fn session_cost(run: &Usage, session: &Usage) -> Option<String> {
    let cost = session.cost?;
    // Less than that can't be seen in what is shown.
    let spent_before = cost - run.cost.unwrap_or(0.0) > 0.000_05;
    let known = dollars(cost);
    match session.unpriced {
        0 => spent_before.then(|| format!("{known} in this session")),
        unpriced => (spent_before || unpriced > run.unpriced)
            .then(|| format!("at least {known} in this session ({})", without_price(unpriced))),
    }
}

fn without_price(turns: u32) -> String {
    format!("{} without a known price", count(turns.into(), "turn"))
}

/// `Budget of $0.05 reached: $0.0580 spent …`, with the way out.
pub fn budget(reached: &BudgetReached) -> String {
    match reached {
        BudgetReached::Cost { limit, used } => format!(
            "Budget of {} reached: {} spent in this session. Raise it with --max-cost USD",
            exact_dollars(*limit),
            dollars(*used)
        ),
        BudgetReached::Tokens { limit, used } => format!(
            "Budget of {limit} tokens reached: {used} used in this session. Raise it with -c agent.max_tokens=N"
        ),
        BudgetReached::Time { limit, used } => format!(
            "Time limit of {limit} s reached: {} s worked in this session. Raise it with -c agent.max_seconds=N",
            if *used < 10.0 { format!("{used:.2}") } else { format!("{used:.0}") }
        ),
    }
}

/// `$3.00`, `$0.075`: an amount that somebody set, with all of its digits and no needless ones.
pub fn exact_dollars(amount: f64) -> String {
    match (amount * 100.0).round() / 100.0 - amount {
        near if near.abs() < 1e-9 => format!("${amount:.2}"),
        _ => format!("${amount}"),
    }
}

/// `context 12.4k of 200.0k (6%)`.
pub fn context(count: u64, window: u64) -> String {
    let share = 100.0 * count as f64 / window.max(1) as f64;
    format!("context {} of {} ({share:.0}%)", tokens(count), tokens(window))
}

/// `1 turn`, `3 turns`.
pub fn count(number: u64, thing: &str) -> String {
    if number == 1 { format!("1 {thing}") } else { format!("{number} {thing}s") }
}

/// `1 message counts`, `3 messages count`: where more than an s tells several from one.
pub fn counted(number: usize, one: &str, many: &str) -> String {
    if number == 1 { format!("1 {one}") } else { format!("{number} {many}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        for (millis, shown) in
            [(0, "0 ms"), (999, "999 ms"), (1000, "1.0 s"), (59_940, "59.9 s"), (125_000, "2 m 05 s")]
        {
            assert_eq!(duration(Duration::from_millis(millis)), shown);
        }
        assert_eq!((tokens(999), tokens(12_400), tokens(3_100_000)), ("999".into(), "12.4k".into(), "3.1M".into()));
        assert_eq!((dollars(0.01234), dollars(4.2)), ("$0.0123".into(), "$4.20".into()));
        assert_eq!((exact_dollars(0.075), exact_dollars(0.004)), ("$0.075".into(), "$0.004".into()));
        assert_eq!((exact_dollars(0.28), exact_dollars(3.0)), ("$0.28".into(), "$3.00".into()));
        assert_eq!((bytes(999), bytes(1234), bytes(3_100_000)), ("999 bytes".into(), "1.2 kB".into(), "3.1 MB".into()));
        assert_eq!(
            (elapsed(Duration::from_secs(7)), elapsed(Duration::from_secs(125))),
            ("7 s".into(), "2 m 05 s".into())
        );
        assert_eq!((short_tokens(999), short_tokens(12_345)), ("999".into(), "12.3k".into()));
        assert_eq!((short_tokens(171_230), short_tokens(2_500_000)), ("171k".into(), "2.5M".into()));
        assert_eq!((short_duration(340), short_duration(3_240)), ("340 ms".into(), "3.2 s".into()));
        assert_eq!((short_duration(75_000), short_duration(3_720_000)), ("1m 15s".into(), "1h 02m".into()));
        assert_eq!((short_dollars(0.0032), short_dollars(1.5)), ("$0.0032".into(), "$1.50".into()));
        assert_eq!(context(12_400, 200_000), "context 12.4k of 200.0k (6%)");
        assert_eq!((count(1, "turn"), count(0, "turn")), ("1 turn".into(), "0 turns".into()));
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

    #[test]
    fn usage_shows_what_is_known() {
        let used = Usage { input: 12_400, output: 1200, cache_read: 8100, cost: Some(0.0123), ..Usage::default() };
        assert_eq!(usage(&used).unwrap(), "12.4k in (8.1k cached) · 1.2k out · $0.0123");
        assert_eq!(usage(&Usage { input: 5, output: 1, ..Usage::default() }).unwrap(), "5 in · 1 out");
        assert_eq!(usage(&Usage::default()), None);
    }

    #[test]
    fn the_session_is_told_apart_from_the_run() {
        let cost = |cost| Usage { cost, ..Usage::default() };
        assert_eq!(session_cost(&cost(Some(0.5)), &cost(Some(0.5))), None);
        assert_eq!(session_cost(&cost(None), &cost(None)), None);
        assert_eq!(session_cost(&cost(Some(0.25)), &cost(Some(1.5))).as_deref(), Some("$1.50 in this session"));
        assert_eq!(session_cost(&cost(None), &cost(Some(0.5))).as_deref(), Some("$0.5000 in this session"));
    }

    #[test]
    fn what_has_no_price_is_not_taken_for_free() {
        let some = Usage { cost: Some(0.058), unpriced: 2, ..Usage::default() };
        assert_eq!(usage(&some).unwrap(), "at least $0.0580 (2 turns without a known price)");
        assert_eq!(usage(&Usage { cost: None, ..some }), None);
        let run = Usage { cost: Some(0.058), ..Usage::default() };
        let switched = Usage { cost: Some(0.058), unpriced: 1, ..Usage::default() };
        assert_eq!(
            session_cost(&run, &switched).as_deref(),
            Some("at least $0.0580 in this session (1 turn without a known price)")
        );
        assert_eq!(session_cost(&switched, &switched), None);
    }

    #[test]
    fn a_budget_says_its_limit_and_the_way_out() {
        let cost = |limit| budget(&BudgetReached::Cost { limit, used: 0.058 });
        let words = "Budget of $0.05 reached: $0.0580 spent in this session. Raise it with --max-cost USD";
        assert_eq!(cost(0.05), words);
        assert!(cost(0.005).contains("of $0.005 reached") && cost(2.0).contains("of $2.00 reached"));
        let tokens = budget(&BudgetReached::Tokens { limit: 1000, used: 1200 });
        assert!(tokens.contains("1000 tokens reached: 1200 used") && tokens.contains("agent.max_tokens"), "{tokens}");
    }
}

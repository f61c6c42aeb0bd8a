//! Numbers as people read them.

use jiff::Timestamp;
use neco_proto::Usage;

/// `12 ms`, `3.4 s`, `2 min 5 s`, `3 h 12 min`.
pub fn duration(ms: u64) -> String {
    let seconds = ms / 1000;
    match ms {
        0..1000 => format!("{ms} ms"),
        1000..60_000 => format!("{:.1} s", ms as f64 / 1e3),
        60_000..3_600_000 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3600, seconds / 60 % 60),
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

/// `12.4k in (8.1k cached) · 1.2k out`; nothing when nothing was used.
pub fn used(usage: &Usage) -> Option<String> {
    if usage.input == 0 && usage.output == 0 {
        return None;
    }
    let cached = match usage.cache_read {
        0 => String::new(),
        cached => format!(" ({} cached)", tokens(cached)),
    };
    Some(format!("{} in{cached} · {} out", tokens(usage.input), tokens(usage.output)))
}

/// `$0.0123`, `at least $4.20`; nothing when no price is known.
pub fn cost(usage: &Usage) -> Option<String> {
    let cost = usage.cost?;
    let at_least = if usage.unpriced > 0 { "at least " } else { "" };
    Some(if cost < 1.0 { format!("{at_least}${cost:.4}") } else { format!("{at_least}${cost:.2}") })
}

/// `2026-11-15 12:49`, in UTC.
pub fn minute(at: Timestamp) -> String {
    at.strftime("%Y-%m-%d %H:%M").to_string()
}

/// `12:49:31`, in UTC.
pub fn clock(at: Timestamp) -> String {
    at.strftime("%H:%M:%S").to_string()
}

/// `1 turn`, `3 turns`.
pub fn count(number: u64, thing: &str) -> String {
    if number == 1 { format!("1 {thing}") } else { format!("{number} {thing}s") }
}

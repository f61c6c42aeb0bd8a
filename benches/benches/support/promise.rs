//! What was promised of a small benchmark, printed below its table with what was measured.

use std::io::Write;
use std::time::{Duration, Instant};

/// How often something is measured; the median counts.
const RUNS: usize = 101;

/// Whether benchmarks are run, and not listed or tried once as a test.
pub fn is_asked_for() -> bool {
    std::env::args().any(|argument| argument == "--bench")
}

/// The median time that `measured` takes with what `input` makes, which is not counted.
pub fn median<T, R>(mut input: impl FnMut() -> T, mut measured: impl FnMut(&mut T) -> R) -> Duration {
    let mut times: Vec<Duration> = (0..RUNS)
        .map(|_| {
            let mut given = input();
            let start = Instant::now();
            divan::black_box(measured(&mut given));
            start.elapsed()
        })
        .collect();
    times.sort_unstable();
    times[RUNS / 2]
}

/// Prints one line; `limit` says what was promised and whether it `holds`.
pub fn report(name: &str, value: &str, limit: &str, holds: bool) {
    let verdict = if holds { "holds" } else { "MISSED" };
    // Nobody is left to be told when nobody reads it.
    let _ = writeln!(std::io::stdout(), "{name}: {value} (promised: {limit}; {verdict})");
}

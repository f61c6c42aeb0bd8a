//! From the start of the process to the first request, and what a hello takes.

use anyhow::Context as _;

use super::Setting;
use crate::answer::Turn;
use crate::clock::milliseconds;
use crate::figure::{Figure, Target, Unit};
use crate::processes;
use crate::program::Run;
use crate::report::Report;
use crate::samples::Samples;
use crate::stage::Stage;

const FRESH_RUNS: usize = 10;
const RUNS: usize = 30;

/// Measures it.
pub fn measure(setting: &Setting<'_>, report: &mut Report) -> anyhow::Result<()> {
    let turns = [Turn::Text("Hello! What shall we work on?")];
    let stage = Stage::new(setting.folder)?;
    setting.program.rehearse(&stage, &turns)?;

    let runs = repeat(RUNS, || setting.program.run(&stage, &turns))?;
    let first = runs.first().and_then(|run| run.exchanges.first()).context("no request")?;
    let bytes = first.size as f64;
    report.add(times("start_to_first_request", &runs, to_first_request)?.promised(Target::AtMost(15.0)));
    let fresh = repeat(FRESH_RUNS, || setting.program.run(&Stage::new(setting.folder)?, &turns))?;
    report.add(times("start_with_empty_home", &fresh, to_first_request)?.promised(Target::AtMost(40.0)));
    report.add(times("hello_wall", &runs, |run| milliseconds(run.used.ended.since(run.used.started)))?);
    report.add(times("hello_cpu", &runs, |run| milliseconds(run.used.processor))?);
    report.add(Figure::info("first_request_size", Unit::Kilobytes, bytes / 1e3).promised(Target::AtMost(12.0)));
    let peak = Samples::of(runs.iter().map(|run| run.used.peak as f64 / 1e6)).context("no runs")?;
    report.add(Figure::median("hello_peak_memory", Unit::Megabytes, peak).promised(Target::AtMost(25.0)));

    let (count, how) = processes::count(setting.program, &stage, &turns)?;
    report.add(Figure::info("hello_processes", Unit::Count, count as f64).promised(Target::Exactly(1.0)));
    if let Some(weakness) = how.weakness() {
        report.skip("hello_processes, exactly", weakness);
    }
    Ok(())
}

/// Runs something so many times.
pub(super) fn repeat<T>(count: usize, run: impl Fn() -> anyhow::Result<T>) -> anyhow::Result<Vec<T>> {
    (0..count).map(|_| run()).collect()
}

/// From the start of the process to the first request, in milliseconds.
pub(super) fn to_first_request(run: &Run) -> f64 {
    run.exchanges.first().map_or(f64::NAN, |first| milliseconds(first.complete.since(run.used.started)))
}

fn times(name: &'static str, runs: &[Run], time: impl Fn(&Run) -> f64) -> anyhow::Result<Figure> {
    Ok(Figure::median(name, Unit::Milliseconds, Samples::of(runs.iter().map(time)).context("no runs")?))
}

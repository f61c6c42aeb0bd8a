//! An answer that comes in thousands of pieces: what reading it costs.

use std::sync::LazyLock;

use anyhow::Context as _;

use super::Setting;
use crate::answer::Turn;
use crate::figure::{Figure, Target, Unit};
use crate::report::Report;
use crate::samples::Samples;
use crate::stage::Stage;

const RUNS: usize = 10;
const DELTAS: usize = 4000;

/// One delta a word. No two are the same, so that nothing looks like going in circles.
static LONG: LazyLock<String> = LazyLock::new(|| (0..DELTAS).map(|number| format!("word{number} ")).collect());

/// Measures it.
pub fn measure(setting: &Setting<'_>, report: &mut Report) -> anyhow::Result<()> {
    let (hello, long) = ([Turn::Text("Hello!")], [Turn::Text(LONG.as_str())]);
    let stage = Stage::new(setting.folder)?;
    setting.program.rehearse(&stage, &hello)?;
    let (mut short_runs, mut long_runs) = (Vec::new(), Vec::new());
    for _ in 0..RUNS {
        short_runs.push(setting.program.run(&stage, &hello)?.used.processor.as_secs_f64());
        long_runs.push(setting.program.run(&stage, &long)?.used.processor.as_secs_f64());
    }
    let short = Samples::of(short_runs).context("no runs")?;
    let long = Samples::of(long_runs).context("no runs")?;
    let more = Figure::info("deltas_cpu_over_hello", Unit::Seconds, long.median - short.median);
    report.add(more.promised(Target::AtMost(0.05)));
    Ok(())
}

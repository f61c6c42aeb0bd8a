//! A run of 200 turns whose results are 5 KB each: does a turn get slower, and what does it all take?

use std::ops::RangeInclusive;
use std::time::Duration;

use anyhow::Context as _;
use serde_json::json;

use super::Setting;
use crate::answer::{self, Turn};
use crate::clock::milliseconds;
use crate::figure::{Figure, Target, Unit};
use crate::program::Run;
use crate::reference;
use crate::report::Report;
use crate::samples::Samples;
use crate::server::{Exchange, gaps, gaps_to_first_bytes};
use crate::stage::Stage;

const RUNS: usize = 3;
const TURNS: usize = 200;
const RESULT: usize = 5000;

/// Turns around the tenth and around the 190th, counted from 1.
const EARLY: RangeInclusive<usize> = 6..=14;
const LATE: RangeInclusive<usize> = 186..=194;

/// Measures it.
pub fn measure(setting: &Setting<'_>, report: &mut Report) -> anyhow::Result<()> {
    let turns = script();
    setting.program.rehearse(&stage(setting)?, &turns)?;
    let mut runs = Vec::new();
    let mut bare = Vec::new();
    for _ in 0..RUNS {
        let run = setting.program.run(&stage(setting)?, &turns)?;
        let sizes: Vec<usize> = run.exchanges.iter().map(|exchange| exchange.size).collect();
        bare.push(reference::run(answer::encode(&turns), &sizes)?);
        runs.push(run);
    }
    let exchanges: Vec<&[Exchange]> = runs.iter().map(|run| run.exchanges.as_slice()).collect();
    let bare: Vec<&[Exchange]> = bare.iter().map(Vec::as_slice).collect();
    add_slope(&exchanges, &bare, report)?;
    add_totals(&runs, report)
}

fn add_slope(runs: &[&[Exchange]], bare: &[&[Exchange]], report: &mut Report) -> anyhow::Result<()> {
    let (early, late) = (around(runs, EARLY, gaps)?, around(runs, LATE, gaps)?);
    report.add(Figure::median("turn_10", Unit::Milliseconds, early));
    report.add(Figure::median("turn_190", Unit::Milliseconds, late));
    let growth = Figure::info("turn_190_to_turn_10", Unit::Ratio, late.median / early.median);
    report.add(growth.promised(Target::AtMost(1.2)));
    for (name, turns) in [("turn_10_to_first_bytes", EARLY), ("turn_190_to_first_bytes", LATE)] {
        report.add(Figure::median(name, Unit::Milliseconds, around(runs, turns, gaps_to_first_bytes)?));
    }
    // The whole conversation goes over the wire in every turn, whoever sends it.
    let (bare_early, bare_late) = (around(bare, EARLY, gaps)?, around(bare, LATE, gaps)?);
    report.add(Figure::median("turn_10_bare_client", Unit::Milliseconds, bare_early));
    report.add(Figure::median("turn_190_bare_client", Unit::Milliseconds, bare_late));
    let own = (late.median - bare_late.median) / (early.median - bare_early.median);
    report.add(Figure::info("turn_190_to_turn_10_less_bare", Unit::Ratio, own));
    Ok(())
}

fn add_totals(runs: &[Run], report: &mut Report) -> anyhow::Result<()> {
    let samples = |of: fn(&Run) -> f64| Samples::of(runs.iter().map(of)).context("no runs");
    let wall = samples(|run| run.used.ended.since(run.used.started).as_secs_f64())?;
    report.add(Figure::median("long_wall", Unit::Seconds, wall).promised(Target::AtMost(2.5)));
    let processor = samples(|run| run.used.processor.as_secs_f64())?;
    report.add(Figure::median("long_cpu", Unit::Seconds, processor).promised(Target::AtMost(1.6)));
    let peak = samples(|run| run.used.peak as f64 / 1e6)?;
    report.add(Figure::median("long_peak_memory", Unit::Megabytes, peak).promised(Target::AtMost(35.0)));
    let last = samples(|run| run.exchanges.last().map_or(0.0, |last| last.size as f64 / 1e6))?;
    report.add(Figure::median("long_last_request_size", Unit::Megabytes, last));
    let connections =
        samples(|run| run.exchanges.iter().map(|exchange| exchange.connection + 1).max().unwrap_or_default() as f64)?;
    report.add(Figure::median("long_connections", Unit::Count, connections));
    Ok(())
}

fn around(
    runs: &[&[Exchange]],
    turns: RangeInclusive<usize>,
    times: fn(&[Exchange]) -> Vec<Duration>,
) -> anyhow::Result<Samples> {
    let of_run = |exchanges: &&[Exchange]| -> Vec<f64> {
        let (from, count) = (turns.start() - 1, turns.clone().count());
        times(exchanges).into_iter().skip(from).take(count).map(milliseconds).collect()
    };
    Samples::of(runs.iter().flat_map(of_run)).context("the run has too few turns")
}

fn stage(setting: &Setting<'_>) -> anyhow::Result<Stage> {
    let stage = Stage::new(setting.folder)?;
    for number in 0..TURNS {
        stage.write(&file(number), &content(number))?;
    }
    Ok(stage)
}

/// A file for every turn, so that no result can be a note that it was read before.
fn file(number: usize) -> String {
    format!("chapter{number:03}.txt")
}

fn content(number: usize) -> String {
    let line = |at: usize| format!("chapter {number}, line {at}: what stands here is read once and then only sent.\n");
    let mut text = String::new();
    for at in 1.. {
        text.push_str(&line(at));
        if text.len() >= RESULT {
            break;
        }
    }
    text
}

fn script() -> Vec<Turn> {
    let read = |number| Turn::call("read_file", json!({ "path": file(number) }));
    (0..TURNS).map(read).chain([Turn::Text("Done.")]).collect()
}

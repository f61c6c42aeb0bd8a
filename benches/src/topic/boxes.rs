//! What the box of commands costs a turn: the same command in the box that is there by default, and in none.

use anyhow::Context as _;
use serde_json::json;

use super::Setting;
use crate::answer::Turn;
use crate::clock::milliseconds;
use crate::figure::{Figure, Unit};
use crate::report::Report;
use crate::samples::Samples;
use crate::server::gaps;
use crate::stage::Stage;

const RUNS: usize = 3;
const TURNS: usize = 20;

/// What is added to the command line for each.
const BOXES: [(&str, &[&str]); 2] = [("bash_in_box", &[]), ("bash_in_no_box", &["--sandbox", "full"])];

/// Measures it.
pub fn measure(setting: &Setting<'_>, report: &mut Report) -> anyhow::Result<()> {
    let turns = script();
    let mut times = [Vec::new(), Vec::new()];
    for (_, more) in BOXES {
        setting.program.rehearse_with(more, &Stage::new(setting.folder)?, &turns)?;
    }
    for _ in 0..RUNS {
        for ((_, more), times) in BOXES.into_iter().zip(&mut times) {
            let run = setting.program.run_with(more, &Stage::new(setting.folder)?, &turns)?;
            times.extend(gaps(&run.exchanges).into_iter().map(milliseconds));
        }
    }
    for ((name, _), times) in BOXES.into_iter().zip(times) {
        report.add(Figure::median(name, Unit::Milliseconds, Samples::of(times).context("no turns")?));
    }
    Ok(())
}

/// No two commands say the same, so that nothing looks like going in circles.
fn script() -> Vec<Turn> {
    let run = |number| Turn::call("bash", json!({ "command": format!("echo {number}") }));
    (0..TURNS).map(run).chain([Turn::Text("Done.")]).collect()
}

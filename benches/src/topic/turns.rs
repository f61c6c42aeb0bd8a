//! What one small turn costs besides the model: a mix of reading, editing and running.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::Context as _;
use serde_json::json;

use super::Setting;
use crate::answer::{self, Turn};
use crate::clock::{Moment, milliseconds};
use crate::figure::{Figure, Target, Unit};
use crate::reference;
use crate::report::Report;
use crate::samples::Samples;
use crate::server::gaps;
use crate::stage::Stage;

const RUNS: usize = 3;
const ROUNDS: usize = 20;

/// The kinds, in the order of a round.
const KINDS: [&str; 3] = ["turn_read", "turn_edit", "turn_bash"];

/// Measures it.
pub fn measure(setting: &Setting<'_>, report: &mut Report) -> anyhow::Result<()> {
    let turns = script(ROUNDS);
    setting.program.rehearse(&stage(setting.folder)?, &turns)?;
    let (mut times, mut floor) = (Vec::new(), Vec::new());
    for _ in 0..RUNS {
        let run = setting.program.run(&stage(setting.folder)?, &turns)?;
        times.extend(gaps(&run.exchanges).into_iter().map(milliseconds));
        let sizes: Vec<usize> = run.exchanges.iter().map(|exchange| exchange.size).collect();
        let bare = reference::run(answer::encode(&turns), &sizes)?;
        floor.extend(gaps(&bare).into_iter().map(milliseconds));
    }
    let all = Samples::of(times.iter().copied()).context("no turns")?;
    report.add(Figure::mean("turn_mean", Unit::Milliseconds, all));
    report.add(Figure::median("turn_median", Unit::Milliseconds, all).promised(Target::AtMost(2.0)));
    for (at, kind) in KINDS.into_iter().enumerate() {
        let of_kind = times.iter().skip(at).step_by(KINDS.len()).copied();
        report.add(Figure::median(kind, Unit::Milliseconds, Samples::of(of_kind).context("no turns")?));
    }
    let bash = bash_alone(&stage(setting.folder)?)?;
    report.add(Figure::median("bash_alone", Unit::Milliseconds, bash));
    let floor = Samples::of(floor).context("no turns")?;
    report.add(Figure::median("turn_bare_client", Unit::Milliseconds, floor));
    report.add(Figure::info("turn_median_to_bare_client", Unit::Ratio, all.median / floor.median));
    Ok(())
}

/// The same command without Neco: what of a turn that runs something is the shell's own.
fn bash_alone(stage: &Stage) -> anyhow::Result<Samples> {
    let mut times = Vec::new();
    for _ in 0..RUNS * ROUNDS {
        let mut command = Command::new("bash");
        command.args(["-c", "true"]).current_dir(stage.workspace()).env_clear().envs(stage.environment());
        let begun = Moment::now();
        let status = command.stdin(Stdio::null()).status()?;
        times.push(milliseconds(Moment::now().since(begun)));
        anyhow::ensure!(status.success(), "bash: {status}");
    }
    Samples::of(times).context("no runs")
}

/// Where it is played, below `folder`.
pub fn stage(folder: &Path) -> anyhow::Result<Stage> {
    let stage = Stage::new(folder)?;
    stage.write("notes.txt", "# Notes\n\nvalue = 0\n\nThe value above counts the edits.\n")?;
    Ok(stage)
}

/// Rounds of a read, an edit and a command.
pub fn script(rounds: usize) -> Vec<Turn> {
    let round = |number: usize| {
        let (old, new) = (format!("value = {number}\n"), format!("value = {}\n", number + 1));
        [
            Turn::call("read_file", json!({ "path": "notes.txt" })),
            Turn::call("edit_file", json!({ "path": "notes.txt", "old_string": old, "new_string": new })),
            Turn::call("bash", json!({ "command": "true" })),
        ]
    };
    (0..rounds).flat_map(round).chain([Turn::Text("Done.")]).collect()
}

//! Eight reads in one turn.

use anyhow::Context as _;
use serde_json::json;

use super::Setting;
use crate::answer::{Call, Turn};
use crate::clock::milliseconds;
use crate::figure::{Figure, Target, Unit};
use crate::report::Report;
use crate::samples::Samples;
use crate::server::gaps;
use crate::stage::Stage;

const READS: usize = 8;
const ROUNDS: usize = 30;

/// Measures it.
pub fn measure(setting: &Setting<'_>, report: &mut Report) -> anyhow::Result<()> {
    let turns = script();
    let stage = Stage::new(setting.folder)?;
    for number in 0..READS {
        stage.write(&format!("part{number}.txt"), &format!("This is part {number} of eight.\n").repeat(40))?;
    }
    setting.program.rehearse(&stage, &turns)?;
    let run = setting.program.run(&stage, &turns)?;
    let times = Samples::of(gaps(&run.exchanges).into_iter().map(milliseconds)).context("no turns")?;
    report.add(Figure::median("eight_reads_in_one_turn", Unit::Milliseconds, times).promised(Target::AtMost(4.0)));
    Ok(())
}

fn script() -> Vec<Turn> {
    let read = |number| Call { name: "read_file", arguments: json!({ "path": format!("part{number}.txt") }) };
    let round = |_| Turn::Calls((0..READS).map(read).collect());
    (0..ROUNDS).map(round).chain([Turn::Text("Done.")]).collect()
}

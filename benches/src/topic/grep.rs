//! Searching 20,000 files, beside ripgrep on the same files in the same minute.
//!
//! Three times for each pattern: the tool called in process (its own time, which the promise is
//! about), ripgrep as a process, and a whole turn of the binary that does one search.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context as _;
use neco_bench::toolbox::Toolbox;
use serde_json::json;
use tokio::runtime::Runtime;

use super::Setting;
use crate::answer::Turn;
use crate::clock::{Moment, milliseconds};
use crate::figure::{Figure, Target, Unit};
use crate::report::Report;
use crate::samples::Samples;
use crate::server::gaps;
use crate::stage::Stage;
use crate::tree;

const WARMING: usize = 2;
const ROUNDS: usize = 15;
const TURNS: usize = 7;

/// A pattern and the names of its figures.
struct Search {
    pattern: &'static str,
    tool: &'static str,
    ripgrep: &'static str,
    ratio: &'static str,
    turn: &'static str,
}

const SEARCHES: [Search; 2] = [
    // Has a literal to look for first, as most patterns do.
    Search {
        pattern: r"needle_\d{4}",
        tool: "grep_tool",
        ripgrep: "grep_ripgrep",
        ratio: "grep_tool_to_ripgrep",
        turn: "grep_turn",
    },
    // Has none: the regex engine sees every byte.
    Search {
        pattern: r"\b[a-z]+_\d{4}\b",
        tool: "grep_hard_tool",
        ripgrep: "grep_hard_ripgrep",
        ratio: "grep_hard_tool_to_ripgrep",
        turn: "grep_hard_turn",
    },
];

/// Measures it.
pub fn measure(setting: &Setting<'_>, report: &mut Report) -> anyhow::Result<()> {
    let stage = Stage::new(setting.folder)?;
    let workspace = stage.workspace();
    tree::write(&workspace)?;
    let ripgrep = find_ripgrep();
    if ripgrep.is_none() {
        report.skip("grep beside ripgrep", "there is no rg in the PATH");
    }
    let toolbox = Toolbox::new(&workspace)?;
    let runtime = Runtime::new()?;
    for search in &SEARCHES {
        compare(search, &toolbox, &runtime, ripgrep.as_deref(), &workspace, report)?;
        whole_turn(search, setting, &stage, report)?;
    }
    Ok(())
}

fn compare(
    search: &Search,
    toolbox: &Toolbox,
    runtime: &Runtime,
    ripgrep: Option<&Path>,
    workspace: &Path,
    report: &mut Report,
) -> anyhow::Result<()> {
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    // In turn, so that whatever else happens on the machine happens to both.
    for round in 0..WARMING + ROUNDS {
        let our_time = timed(|| {
            let output = runtime.block_on(toolbox.call("grep", json!({ "pattern": search.pattern })))?;
            check(&output.model)
        })?;
        let their_time = ripgrep.map(|program| timed(|| check(&run_ripgrep(program, search.pattern, workspace)?)));
        if round >= WARMING {
            ours.push(our_time);
            theirs.extend(their_time.transpose()?);
        }
    }
    let ours = Samples::of(ours).context("no rounds")?;
    report.add(Figure::median(search.tool, Unit::Milliseconds, ours));
    if let Some(theirs) = Samples::of(theirs) {
        report.add(Figure::median(search.ripgrep, Unit::Milliseconds, theirs));
        let ratio = Figure::info(search.ratio, Unit::Ratio, ours.median / theirs.median);
        report.add(ratio.promised(Target::AtMost(1.1)));
    }
    Ok(())
}

fn whole_turn(search: &Search, setting: &Setting<'_>, stage: &Stage, report: &mut Report) -> anyhow::Result<()> {
    let call = || Turn::call("grep", json!({ "pattern": search.pattern }));
    let turns: Vec<Turn> = (0..TURNS).map(|_| call()).chain([Turn::Text("Done.")]).collect();
    setting.program.rehearse(stage, &turns)?;
    let run = setting.program.run(stage, &turns)?;
    let times = Samples::of(gaps(&run.exchanges).into_iter().map(milliseconds)).context("no turns")?;
    report.add(Figure::median(search.turn, Unit::Milliseconds, times));
    Ok(())
}

fn timed(work: impl FnOnce() -> anyhow::Result<()>) -> anyhow::Result<f64> {
    let begun = Moment::now();
    work()?;
    Ok(milliseconds(Moment::now().since(begun)))
}

fn check(output: &str) -> anyhow::Result<()> {
    let found = output.matches("needle_").count();
    anyhow::ensure!(found == tree::NEEDLES, "{found} matches instead of {}", tree::NEEDLES);
    Ok(())
}

fn run_ripgrep(program: &Path, pattern: &str, workspace: &Path) -> anyhow::Result<String> {
    let arguments = ["--no-config", "--line-number", "--no-heading", "--color", "never", "--regexp", pattern, "."];
    let output = Command::new(program).args(arguments).current_dir(workspace).output()?;
    anyhow::ensure!(output.status.success(), "rg: {}", output.status);
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn find_ripgrep() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join("rg")).find(|file| file.is_file())
}

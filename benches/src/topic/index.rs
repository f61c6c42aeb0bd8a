//! The index of a repository of 50,000 files: building it, following changes, asking it.

use std::fs;
use std::process::Command;

use anyhow::Context as _;

use super::Setting;
use crate::code_tree;
use crate::figure::{Figure, Target, Unit};
use crate::indexing::{self, Indexed};
use crate::report::Report;
use crate::samples::Samples;
use crate::stage::Stage;

/// Measures it.
pub fn measure(setting: &Setting<'_>, report: &mut Report) -> anyhow::Result<()> {
    let stage = Stage::new(setting.folder)?;
    code_tree::write(&stage.workspace())?;
    let (indexes, figures) = (stage.notes("indexes"), stage.notes("figures"));
    let mut command = Command::new(std::env::current_exe()?);
    let status = command.arg(indexing::MARK).args([&stage.workspace(), &indexes, &figures]).status()?;
    anyhow::ensure!(status.success(), "the index could not be measured: {status}");
    add(serde_json::from_slice(&fs::read(figures)?)?, report)
}

fn add(found: Indexed, report: &mut Report) -> anyhow::Result<()> {
    let samples = |values: Vec<f64>| Samples::of(values).context("nothing was measured");
    report.add(Figure::info("index_files", Unit::Count, found.files as f64));
    report.add(Figure::info("index_first_build", Unit::Seconds, found.first_build).promised(Target::AtMost(60.0)));
    let changed = samples(found.changed)?;
    let figure = Figure::median("index_after_10_changes", Unit::Milliseconds, changed);
    report.add(figure.promised(Target::AtMost(200.0)));
    report.add(Figure::median("index_unchanged", Unit::Milliseconds, samples(found.unchanged)?));
    report.add(Figure::info("index_opened", Unit::Milliseconds, found.opened));
    let worst = found.search.iter().copied().fold(0.0, f64::max);
    let figure = Figure::median("index_search", Unit::Milliseconds, samples(found.search)?);
    report.add(figure.promised(Target::AtMost(20.0)));
    report.add(Figure::info("index_search_worst", Unit::Milliseconds, worst).promised(Target::AtMost(20.0)));
    report.add(Figure::median("index_names", Unit::Milliseconds, samples(found.names)?));
    let figure = Figure::median("index_tool_after_10_changes", Unit::Milliseconds, samples(found.tool_changed)?);
    report.add(figure.promised(Target::AtMost(200.0)));
    let worst = found.tool_search.iter().copied().fold(0.0, f64::max);
    let figure = Figure::median("index_tool_search", Unit::Milliseconds, samples(found.tool_search)?);
    report.add(figure.promised(Target::AtMost(20.0)));
    report.add(Figure::info("index_tool_search_worst", Unit::Milliseconds, worst).promised(Target::AtMost(20.0)));
    report.add(Figure::median("index_tool_names", Unit::Milliseconds, samples(found.tool_names)?));
    report.add(Figure::info("index_tool_first", Unit::Milliseconds, found.tool_first));
    report.add(Figure::info("index_map", Unit::Milliseconds, found.map));
    report.add(Figure::info("index_peak_memory", Unit::Megabytes, found.peak as f64 / 1e6));
    report.add(Figure::info("index_memory", Unit::Megabytes, found.resident as f64 / 1e6));
    report.add(Figure::info("index_size", Unit::Megabytes, found.size as f64 / 1e6));
    report.add(Figure::info("index_idle_cpu", Unit::Milliseconds, found.idle).promised(Target::Below(1.0)));
    Ok(())
}

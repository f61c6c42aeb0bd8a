//! The size of the binary.

use std::fs;

use super::Setting;
use crate::figure::{Figure, Target, Unit};
use crate::report::Report;

/// Measures it.
pub fn measure(setting: &Setting<'_>, report: &mut Report) -> anyhow::Result<()> {
    let bytes = fs::metadata(setting.program.path())?.len();
    report.add(Figure::info("binary_size", Unit::Megabytes, bytes as f64 / 1e6).promised(Target::AtMost(50.0)));
    Ok(())
}

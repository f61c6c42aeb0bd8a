//! The report: a table for people, JSON for comparing.

use std::io::{self, Write};

use serde::Serialize;

use crate::figure::{Figure, Target, Unit, Verdict};
use crate::machine::Machine;

/// Everything one invocation found out.
#[derive(Debug, Serialize)]
pub struct Report {
    /// When it began.
    pub date: String,
    /// What the program under test calls itself.
    pub program: String,
    /// What it ran on.
    pub machine: Machine,
    /// The figures.
    pub figures: Vec<Figure>,
    /// What was left out because something optional is not there.
    pub skipped: Vec<Gap>,
    /// What could not be measured.
    pub failed: Vec<Gap>,
}

/// A figure that is not there.
#[derive(Debug, Serialize)]
pub struct Gap {
    /// What is missing.
    pub what: String,
    /// Why.
    pub why: String,
}

impl Report {
    /// Adds a figure.
    pub fn add(&mut self, figure: Figure) {
        self.figures.push(figure);
    }

    /// Notes what was left out.
    pub fn skip(&mut self, what: &str, why: &str) {
        self.skipped.push(Gap { what: what.to_owned(), why: why.to_owned() });
    }

    /// Notes what could not be measured.
    pub fn fail(&mut self, what: &str, why: &anyhow::Error) {
        self.failed.push(Gap { what: what.to_owned(), why: format!("{why:#}") });
    }

    /// Writes it as JSON.
    pub fn write_json(&self, out: &mut impl Write) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut *out, self)?;
        writeln!(out)
    }

    /// Writes it as a table.
    pub fn write_table(&self, out: &mut impl Write) -> io::Result<()> {
        self.write_machine(out)?;
        writeln!(out, "{:<34} {:>11} {:>11}  {:<5} range of the samples", "figure", "value", "target", "")?;
        for figure in &self.figures {
            writeln!(
                out,
                "{:<34} {:>11} {:>11}  {:<5} {}",
                figure.name,
                written(figure.value, figure.unit),
                figure.target.map(|target| promised(target, figure.unit)).unwrap_or_default(),
                word(figure.verdict),
                range(figure),
            )?;
        }
        for Gap { what, why } in &self.skipped {
            writeln!(out, "skipped: {what}: {why}")?;
        }
        for Gap { what, why } in &self.failed {
            writeln!(out, "NOT MEASURED: {what}: {why}")?;
        }
        let missed = self.figures.iter().filter(|figure| figure.verdict == Verdict::Miss).count();
        let kept = self.figures.iter().filter(|figure| figure.verdict == Verdict::Ok).count();
        writeln!(out, "\n{kept} kept, {missed} missed, {} not measured", self.failed.len())
    }

    fn write_machine(&self, out: &mut impl Write) -> io::Result<()> {
        let machine = &self.machine;
        writeln!(out, "{} on {}", self.program, self.date)?;
        writeln!(
            out,
            "{} × {}, {} MB, Linux {}, {}, a durable write takes {:.2} ms, {:.0} % busy, load {:.2} before and {:.2} after",
            machine.processors,
            machine.processor,
            machine.memory_mb,
            machine.kernel,
            machine.file_system,
            machine.sync_ms,
            machine.busy * 100.0,
            machine.load_before,
            machine.load_after,
        )?;
        if machine.is_busy() {
            writeln!(out, "The machine was busy: times say little.")?;
        }
        writeln!(out)
    }
}

/// A value with its unit.
pub fn written(value: f64, unit: Unit) -> String {
    let number = match unit {
        Unit::Count => format!("{value:.0}"),
        Unit::Milliseconds | Unit::Seconds | Unit::Ratio => format!("{value:.2}"),
        Unit::Megabytes | Unit::Kilobytes => format!("{value:.1}"),
    };
    format!("{number} {}", unit.symbol()).trim_end().to_owned()
}

fn promised(target: Target, unit: Unit) -> String {
    let (sign, value) = match target {
        Target::AtMost(value) => ("≤ ", value),
        Target::Below(value) => ("< ", value),
        Target::Exactly(value) => ("= ", value),
    };
    format!("{sign}{value} {}", unit.symbol()).trim_end().to_owned()
}

fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Ok => "ok",
        Verdict::Miss => "MISS",
        Verdict::Info => "",
    }
}

fn range(figure: &Figure) -> String {
    figure.samples.map_or_else(String::new, |samples| {
        let (min, p90) = (written(samples.min, figure.unit), written(samples.p90, figure.unit));
        format!("{min} … {p90} (90 %), {} samples", samples.count)
    })
}

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
    /// The program beside others.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub peers: Vec<PeerRow>,
    /// What was left out because something optional is not there.
    pub skipped: Vec<Gap>,
    /// What could not be measured.
    pub failed: Vec<Gap>,
}

/// What one agent takes with the scripted model.
#[derive(Debug, Serialize)]
pub struct PeerRow {
    /// Its name and version.
    pub name: String,
    /// From its start to its first request, complete at the server.
    pub start_ms: f64,
    /// Its own time in a turn that runs a small command.
    pub turn_ms: f64,
    /// The most memory of one of its processes in a hello.
    pub hello_mb: f64,
    /// How many turns the long run has.
    pub turns: usize,
    /// The same in that run.
    pub turns_mb: f64,
    /// Processor time of that run.
    pub turns_cpu_s: f64,
    /// Size of its first request.
    pub request_kb: f64,
    /// Tools in that.
    pub tools: usize,
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
        if !self.figures.is_empty() {
            writeln!(out, "{:<34} {:>11} {:>11}  {:<5} range of the samples", "figure", "value", "target", "")?;
        }
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
        self.write_peers(out)?;
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

    /// The program beside others, one row each.
    fn write_peers(&self, out: &mut impl Write) -> io::Result<()> {
        let Some(first) = self.peers.first() else { return Ok(()) };
        let (memory, time) = (format!("{} turns", first.turns), format!("{} turns, CPU", first.turns));
        writeln!(
            out,
            "{:<18} {:>10} {:>10} {:>10} {:>10} {:>13} {:>10} {:>6}",
            "agent", "start", "turn", "hello", memory, time, "request", "tools"
        )?;
        for row in &self.peers {
            writeln!(
                out,
                "{:<18} {:>10} {:>10} {:>10} {:>10} {:>13} {:>10} {:>6}",
                row.name,
                written(row.start_ms, Unit::Milliseconds),
                written(row.turn_ms, Unit::Milliseconds),
                written(row.hello_mb, Unit::Megabytes),
                written(row.turns_mb, Unit::Megabytes),
                written(row.turns_cpu_s, Unit::Seconds),
                written(row.request_kb, Unit::Kilobytes),
                row.tools,
            )?;
        }
        Ok(())
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
        Unit::Megabytes | Unit::Kilobytes | Unit::Each => format!("{value:.1}"),
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

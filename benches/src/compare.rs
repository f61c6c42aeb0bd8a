//! The figures of this run beside those of an earlier one.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use anyhow::Context as _;
use serde::Deserialize;

use crate::figure::{Figure, Unit};
use crate::report::{Report, written};

/// A report that was saved before, as far as it is compared.
#[derive(Debug, Deserialize)]
pub struct Earlier {
    date: String,
    program: String,
    machine: EarlierMachine,
    figures: Vec<EarlierFigure>,
}

#[derive(Debug, Deserialize)]
struct EarlierMachine {
    processor: String,
}

#[derive(Debug, Deserialize)]
struct EarlierFigure {
    name: String,
    value: f64,
}

/// What became of a figure. Less is better for each of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    Better,
    Same,
    Worse,
}

impl Earlier {
    /// Reads what `--save` or `--json` wrote.
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        let text = fs::read(path).with_context(|| format!("can't read {}", path.display()))?;
        serde_json::from_slice(&text)
            .with_context(|| format!("{} is no report; `--save FILE` writes one", path.display()))
    }

    /// Writes a row for every figure that either run has.
    pub fn write_table(&self, report: &Report, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "\ncompared with {} on {}", self.program, self.date)?;
        if self.machine.processor != report.machine.processor {
            writeln!(out, "That was another machine ({}): times say little.", self.machine.processor)?;
        }
        writeln!(out, "\n{:<34} {:>11} {:>11} {:>9}", "figure", "before", "now", "change")?;
        for figure in &report.figures {
            let now = written(figure.value, figure.unit);
            match self.value(figure.name) {
                Some(before) => writeln!(
                    out,
                    "{:<34} {:>11} {:>11} {:>9}  {}",
                    figure.name,
                    written(before, figure.unit),
                    now,
                    percent(before, figure.value),
                    change(before, figure).word(),
                )?,
                None => writeln!(out, "{:<34} {:>11} {:>11} {:>9}  new", figure.name, "", now, "")?,
            }
        }
        let measured = |name: &str| report.figures.iter().any(|figure| figure.name == name);
        for figure in self.figures.iter().filter(|figure| !measured(&figure.name)) {
            writeln!(out, "{:<34} {:>11.2} {:>11} {:>9}  not measured now", figure.name, figure.value, "", "")?;
        }
        let worse: Vec<&str> = self.worse(report).collect();
        match worse.as_slice() {
            [] => writeln!(out, "\nnothing got worse"),
            names => writeln!(out, "\n{} got worse: {}", names.len(), names.join(", ")),
        }
    }

    fn worse<'r>(&self, report: &'r Report) -> impl Iterator<Item = &'r str> {
        let is_worse =
            |figure: &&Figure| self.value(figure.name).is_some_and(|before| change(before, figure) == Change::Worse);
        report.figures.iter().filter(is_worse).map(|figure| figure.name)
    }

    fn value(&self, name: &str) -> Option<f64> {
        self.figures.iter().find(|figure| figure.name == name).map(|figure| figure.value)
    }
}

impl Change {
    fn word(self) -> &'static str {
        match self {
            Self::Better => "better",
            Self::Same => "",
            Self::Worse => "WORSE",
        }
    }
}

fn change(before: f64, figure: &Figure) -> Change {
    let noise = before.abs() * share_of_noise(figure.unit);
    if figure.value > before + noise {
        Change::Worse
    } else if figure.value < before - noise {
        Change::Better
    } else {
        Change::Same
    }
}

/// How much two runs of the same program differ: times do, counts don't.
fn share_of_noise(unit: Unit) -> f64 {
    match unit {
        Unit::Milliseconds | Unit::Seconds | Unit::Ratio => 0.10,
        Unit::Megabytes | Unit::Each => 0.02,
        Unit::Kilobytes | Unit::Count => 0.0,
    }
}

fn percent(before: f64, now: f64) -> String {
    if before == 0.0 {
        return String::new();
    }
    format!("{:+.1} %", (now / before - 1.0) * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Machine;

    const EARLIER: &str = r#"{"date":"2026-01-02 03:04","program":"neco 0.0.9","machine":{"processor":"old"},
        "figures":[{"name":"turn_mean","value":2.0},{"name":"first_request_size","value":10.0},
                   {"name":"hello_wall","value":30.0},{"name":"gone","value":1.0}]}"#;

    fn report(figures: Vec<Figure>) -> Report {
        let machine = Machine::look(&std::env::temp_dir()).unwrap();
        Report {
            date: String::new(),
            program: String::new(),
            machine,
            figures,
            peers: Vec::new(),
            skipped: Vec::new(),
            failed: Vec::new(),
        }
    }

    #[test]
    fn what_got_worse_is_named_and_noise_is_not() {
        let earlier: Earlier = serde_json::from_str(EARLIER).unwrap();
        let report = report(vec![
            Figure::info("turn_mean", Unit::Milliseconds, 2.1),
            Figure::info("first_request_size", Unit::Kilobytes, 10.1),
            Figure::info("hello_wall", Unit::Milliseconds, 20.0),
            Figure::info("fresh", Unit::Count, 1.0),
        ]);
        let mut out = Vec::new();
        earlier.write_table(&report, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        let row = |name: &str| text.lines().find(|line| line.starts_with(name)).unwrap().trim_end().to_owned();
        assert!(row("turn_mean").ends_with("+5.0 %"), "{text}");
        assert!(row("first_request_size").ends_with("WORSE"), "{text}");
        assert!(row("hello_wall").ends_with("better"), "{text}");
        assert!(row("fresh").ends_with("new"), "{text}");
        assert!(row("gone").ends_with("not measured now"), "{text}");
        assert!(text.contains("That was another machine (old)"), "{text}");
        assert!(text.ends_with("\n1 got worse: first_request_size\n"), "{text}");
    }

    #[test]
    fn a_file_that_is_no_report_is_told() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let error = Earlier::read(file.path()).unwrap_err();
        assert!(error.to_string().contains("--save FILE"), "{error}");
    }
}

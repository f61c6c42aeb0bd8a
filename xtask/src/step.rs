//! One step of a run: started, watched, timed, and told about in the table at the end.

use std::fmt::Write;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How a step ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// As it should.
    Passed,
    /// Not as it should; the reason in a few words.
    Failed(String),
    /// It was not run, or not all of it; the reason in a few words.
    Noted(String),
}

/// A finished step.
#[derive(Clone, Debug)]
pub struct Report {
    name: &'static str,
    outcome: Outcome,
    took: Duration,
}

/// The steps of one run, in order.
#[derive(Default)]
pub struct Reports(Vec<Report>);

impl Reports {
    /// Runs a command with its output passed through and without input.
    pub fn run(&mut self, name: &'static str, command: &mut Command) {
        let line = command_line(command);
        self.measure(name, || {
            println!("  $ {line}");
            match command.stdin(Stdio::null()).status() {
                Ok(status) if status.success() => Outcome::Passed,
                Ok(status) => Outcome::Failed(status.to_string()),
                Err(error) => Outcome::Failed(format!("not started: {error}")),
            }
        });
    }

    /// Runs something that is no command.
    pub fn measure(&mut self, name: &'static str, work: impl FnOnce() -> Outcome) {
        println!("\n== {name}");
        let start = Instant::now();
        let outcome = work();
        let report = Report { name, outcome, took: start.elapsed() };
        println!("== {name}: {} after {}", report.outcome.words(), in_words(report.took));
        self.0.push(report);
    }

    /// Leaves a step out, visibly.
    pub fn leave_out(&mut self, name: &'static str, reason: &str) {
        println!("\n== {name}: left out, {reason}");
        self.0.push(Report { name, outcome: Outcome::Noted(format!("left out, {reason}")), took: Duration::ZERO });
    }

    /// Whether nothing failed.
    pub fn passed(&self) -> bool {
        !self.0.iter().any(|report| matches!(report.outcome, Outcome::Failed(_)))
    }

    /// The table that ends a run.
    pub fn table(&self) -> String {
        let width = self.0.iter().map(|report| report.name.len()).max().unwrap_or_default();
        let mut table = String::new();
        for Report { name, outcome, took } in &self.0 {
            // Writing to a string does not fail.
            let _ = writeln!(table, "  {name:width$}  {:>9}  {}", in_words(*took), outcome.words());
        }
        table
    }
}

impl Outcome {
    fn words(&self) -> String {
        match self {
            Self::Passed => "ok".to_owned(),
            Self::Failed(reason) => format!("FAILED ({reason})"),
            Self::Noted(reason) => format!("note: {reason}"),
        }
    }
}

fn command_line(command: &Command) -> String {
    let program = std::path::Path::new(command.get_program()).file_name().unwrap_or(command.get_program());
    let words = std::iter::once(program).chain(command.get_args());
    let set = command.get_envs().filter_map(|(name, value)| Some((name, value?)));
    let set = set.map(|(name, value)| format!("{}={:?}", name.display(), value.display().to_string()));
    set.chain(words.map(|word| word.display().to_string())).collect::<Vec<_>>().join(" ")
}

fn in_words(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    if seconds < 60.0 {
        format!("{seconds:.1} s")
    } else {
        format!("{} m {:02} s", time.as_secs() / 60, time.as_secs() % 60)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_failed_step_fails_the_run_and_the_others_are_told_too() {
        let mut reports = Reports::default();
        reports.run("good", &mut Command::new("true"));
        assert!(reports.passed());
        reports.leave_out("absent", "not installed");
        assert!(reports.passed());
        reports.run("bad", &mut Command::new("false"));
        reports.run("unknown", &mut Command::new("/no/such/program"));
        assert!(!reports.passed());
        let table = reports.table();
        let lines: Vec<&str> = table.lines().collect();
        assert_eq!(lines.len(), 4);
        assert!(lines[0].starts_with("  good ") && lines[0].ends_with(" ok"), "{table}");
        assert!(lines[1].ends_with("note: left out, not installed"), "{table}");
        assert!(lines[2].contains("FAILED (exit status: 1)"), "{table}");
        assert!(lines[3].contains("FAILED (not started: "), "{table}");
    }

    #[test]
    fn a_command_is_shown_with_what_is_set_for_it() {
        let mut command = Command::new("/usr/bin/cargo");
        command.args(["doc", "--workspace"]).env("RUSTDOCFLAGS", "-D warnings").env_remove("CARGO_PKG_NAME");
        assert_eq!(command_line(&command), "RUSTDOCFLAGS=\"-D warnings\" cargo doc --workspace");
    }

    #[test]
    fn times_are_short_to_read() {
        assert_eq!(in_words(Duration::from_millis(1250)), "1.2 s");
        assert_eq!(in_words(Duration::from_secs(125)), "2 m 05 s");
    }
}

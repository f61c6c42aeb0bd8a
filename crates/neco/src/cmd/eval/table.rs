//! Evaluations as lines for people.

use std::collections::{BTreeMap, BTreeSet};

use neco_app::eval::results::{Limit, Outcome, RunResult};
use neco_app::eval::summary::{Group, Summary};
use neco_app::eval::{RunKey, Task};
use neco_config::Env;
use neco_proto::Mode;
use neco_view::figures::{short_dollars, short_tokens};
use neco_view::short_id::short_id;

/// Most characters of a reason in a list.
const MOST_REASON: usize = 160;

/// What an evaluation came to.
pub fn summary(summary: &Summary) -> String {
    let heads = ["model", "level", "mode", "passed", "turns", "tokens", "cost", "time", "failed edits", "limits"];
    let mut rows = vec![heads.map(str::to_owned).to_vec()];
    rows.extend(summary.groups.iter().map(row));
    let mut text = aligned(&rows);
    for group in &summary.groups {
        let by: Vec<String> =
            group.languages.iter().map(|(name, tally)| format!("{name} {}/{}", tally.passed, tally.ran)).collect();
        if group.languages.len() > 1 {
            text.push_str(&format!("{}: {}\n", with(group), by.join(", ")));
        }
    }
    let told: Vec<String> =
        summary.runs.iter().filter(|run| is_told(run)).map(not_passed).chain(skipped(summary)).collect();
    if !told.is_empty() {
        text.push_str(&format!("\n{}\n", told.join("\n")));
    }
    text
}

/// How one run went, in a line.
pub fn ended(run: &RunResult) -> String {
    let tokens = run.usage.input.saturating_add(run.usage.output);
    let figures = format!(
        "{}, {} tokens, {:.1} s",
        neco_view::figures::count(u64::from(run.turns), "turn"),
        short_tokens(tokens),
        run.seconds
    );
    let why = run.reason.as_deref().map(|reason| format!(": {}", short(reason))).unwrap_or_default();
    match run.outcome {
        Outcome::Passed => format!("passed after {figures}"),
        Outcome::Failed => format!("failed after {figures}{}{why}", limited(run)),
        Outcome::Error => format!("could not be run{why}"),
        Outcome::Skipped => format!("skipped{why}"),
    }
}

/// The tasks there are.
pub fn tasks(tasks: &[Task], env: &Env) -> String {
    let mut rows = vec![["task", "language", ""].map(str::to_owned).to_vec()];
    rows.extend(tasks.iter().map(|task| {
        let missing = task.missing(env);
        let note = if missing.is_empty() { String::new() } else { format!("needs {}", missing.join(", ")) };
        vec![task.name.clone(), task.language.clone(), note]
    }));
    aligned(&rows)
}

fn row(group: &Group) -> Vec<String> {
    let average = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| format!("{value:.1}"));
    let percent = group.success.map(|share| format!(" ({:.0}%)", share * 100.0)).unwrap_or_default();
    let mut passed = format!("{}/{}{percent}", group.passed, group.ran);
    for (number, words) in [(group.errors, "not run"), (group.skipped, "skipped")] {
        if number > 0 {
            passed.push_str(&format!(", {number} {words}"));
        }
    }
    let unpriced = if group.usage.unpriced > 0 { "+" } else { "" };
    vec![
        group.model.clone(),
        level(group.level, group.used_level),
        group.mode.to_string(),
        passed,
        average(group.turns),
        short_tokens(group.usage.input.saturating_add(group.usage.output)),
        group.usage.cost.map_or_else(|| "-".to_owned(), |cost| format!("{}{unpriced}", short_dollars(cost))),
        group.seconds.map_or_else(|| "-".to_owned(), |seconds| format!("{seconds:.1} s")),
        group.failed_edits.to_string(),
        group.limited.to_string(),
    ]
}

fn level(asked: Option<u8>, used: Option<u8>) -> String {
    match (asked, used) {
        (Some(level), _) => level.to_string(),
        (None, Some(level)) => format!("auto ({level})"),
        (None, None) => "auto".to_owned(),
    }
}

fn with(group: &Group) -> String {
    let mode = if group.mode == Mode::Agent { String::new() } else { format!(", {} mode", group.mode) };
    format!("{}, level {}{mode}", group.model, level(group.level, group.used_level))
}

/// Whether a run has a line of its own; those that were skipped are told together.
fn is_told(run: &RunResult) -> bool {
    matches!(run.outcome, Outcome::Failed | Outcome::Error)
}

/// The tasks that were skipped, a line for each reason.
fn skipped(summary: &Summary) -> Vec<String> {
    let mut reasons: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for run in summary.runs.iter().filter(|run| run.outcome == Outcome::Skipped) {
        reasons.entry(run.reason.as_deref().unwrap_or_default()).or_default().insert(&run.key.task);
    }
    let line = |(reason, tasks): (&str, BTreeSet<&str>)| {
        format!("skipped ({reason}): {}", tasks.into_iter().collect::<Vec<_>>().join(", "))
    };
    reasons.into_iter().map(line).collect()
}

fn not_passed(run: &RunResult) -> String {
    let RunKey { task, .. } = &run.key;
    let session = run.session.map(|id| format!(" [neco session show {}]", short_id(id))).unwrap_or_default();
    let kept = run.folder.as_deref().map(|folder| format!(" in {folder}")).unwrap_or_default();
    format!("{task} ({}) {}{kept}{session}", run.key.with(), ended(run))
}

fn limited(run: &RunResult) -> &'static str {
    match run.limit {
        None => "",
        Some(Limit::Turns) => " (limit of turns)",
        Some(Limit::Seconds) => " (limit of time)",
        Some(Limit::Tokens) => " (limit of tokens)",
        Some(Limit::Cost) => " (limit of money)",
    }
}

/// A reason in one line; the end of what was printed says most.
fn short(reason: &str) -> String {
    let line = reason.split_whitespace().collect::<Vec<_>>().join(" ");
    let count = line.chars().count();
    if count <= MOST_REASON {
        return line;
    }
    let half = MOST_REASON / 2;
    let (start, end): (String, String) = (line.chars().take(half).collect(), line.chars().skip(count - half).collect());
    format!("{start} … {end}")
}

/// Rows under each other, each column as wide as its widest cell.
fn aligned(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
    let wide = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max();
    let widths: Vec<usize> = (0..columns).map(|column| wide(column).unwrap_or_default()).collect();
    let mut text = String::new();
    for row in rows {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
        text.push_str(cells.collect::<Vec<_>>().join("  ").trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_skipped_is_told_once() {
        let key = |task: &str, repetition| RunKey {
            task: task.to_owned(),
            fingerprint: String::new(),
            model: "m/a".to_owned(),
            level: Some(1),
            mode: Mode::Agent,
            repetition,
        };
        let reason = Some("needs go, which is not installed".to_owned());
        let run = |task, time| RunResult::new(key(task, time), "go".to_owned(), Outcome::Skipped, reason.clone());
        let runs = [run("b", 1), run("a", 1), run("b", 2)];
        let told = summary(&Summary::of(runs.iter().map(|run| (&run.key, Some(run)))));
        assert!(told.ends_with("\n\nskipped (needs go, which is not installed): a, b\n"), "{told}");
        assert_eq!(told.lines().count(), 4, "{told}");
    }

    #[test]
    fn a_long_reason_keeps_its_beginning_and_its_end() {
        let told = short(&format!("begin {} end", "x ".repeat(300)));
        assert!(told.starts_with("begin ") && told.ends_with(" end") && told.contains(" … "), "{told}");
        assert_eq!(short("a\n  b"), "a b");
    }

    #[test]
    fn columns_stand_under_each_other() {
        let rows = [["a", "long"], ["wide", "b"]].map(|row| row.map(str::to_owned).to_vec());
        assert_eq!(aligned(&rows), "a     long\nwide  b\n");
    }
}

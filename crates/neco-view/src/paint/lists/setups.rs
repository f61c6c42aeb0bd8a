//! Set-ups of other agents: those that there are, and what became of each piece of one.

use std::fmt::Write;

use neco_proto::app::Known;
use neco_proto::app::setups::{FoundSetup, SetupOutcome, SetupReport, SetupRow};
use neco_proto::clean::clean_line;

use crate::figures::count;

/// The outcomes in the order that they are told in, each as people call it.
const OUTCOMES: [(SetupOutcome, &str); 7] = [
    (SetupOutcome::Taken, "taken"),
    (SetupOutcome::Changed, "changed"),
    (SetupOutcome::InPlace, "read in place"),
    (SetupOutcome::Already, "already there"),
    (SetupOutcome::Yours, "up to you"),
    (SetupOutcome::NotSupported, "not supported"),
    (SetupOutcome::Failed, "failed"),
];

/// Columns of the kind and of the name of a piece.
const KIND: usize = 11;
const NAME: usize = 24;

/// The set-ups there are, numbered.
pub fn found(setups: &[FoundSetup]) -> String {
    let line = |(setup, number): (&FoundSetup, usize)| {
        format!("{number:>4}  {:<12}  {}\n", setup.title, clean_line(&setup.places.join(", ")))
    };
    setups.iter().zip(1..).map(line).collect()
}

/// One line that offers to take set-ups over.
pub fn offer(titles: &[&str]) -> String {
    format!("Found settings of {}: `neco import` takes them over", named(titles))
}

/// The same as a question that a key answers.
pub fn question(titles: &[&str]) -> String {
    format!(
        "Found settings of {}. Take them over? What would come in is shown first.\n  y yes, show it   l later   n never \
         (`neco import` at any time)",
        named(titles)
    )
}

fn named(titles: &[&str]) -> String {
    match titles.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
        None => String::new(),
    }
}

/// A report as a table, one section for each outcome.
pub fn as_lines(report: &SetupReport, title: &str) -> String {
    let mut text = String::new();
    for (outcome, words) in OUTCOMES {
        let rows: Vec<&SetupRow> = report.rows.iter().filter(|row| row.outcome == outcome).collect();
        if !rows.is_empty() {
            let _ = writeln!(text, "{words}");
            rows.iter().for_each(|row| text.push_str(&line(row)));
        }
    }
    let newer: Vec<&SetupRow> = report.rows.iter().filter(|row| matches!(row.outcome, Known::Newer(_))).collect();
    newer.iter().for_each(|row| text.push_str(&line(row)));
    text.push_str(&summary(report, title));
    text
}

fn line(row: &SetupRow) -> String {
    let (kind, name) = (row.kind.to_string(), clean_line(&row.name));
    let place = match &row.to {
        Some(to) => format!("→ {}", clean_line(to)),
        None => clean_line(&row.from),
    };
    let first = format!("  {kind:<KIND$}  {name:<NAME$}  {place}\n");
    match row.words.is_empty() {
        true => first,
        false => format!("{first}  {:KIND$}  {}\n", "", clean_line(&row.words)),
    }
}

/// How many pieces of a report came to what, in one line.
pub fn in_one_line(report: &SetupReport, title: &str) -> String {
    summary(report, title).trim_start().to_owned()
}

fn summary(report: &SetupReport, title: &str) -> String {
    if report.rows.is_empty() {
        return format!("nothing of {title} was found here\n");
    }
    let of = |(outcome, words): &(SetupOutcome, &str)| {
        let rows = report.rows.iter().filter(|row| row.outcome == *outcome).count();
        (rows > 0).then(|| format!("{rows} {words}"))
    };
    let parts: Vec<String> = OUTCOMES.iter().filter_map(of).collect();
    let pieces = count(report.rows.len() as u64, "piece");
    let nothing = if report.preview { "Nothing was written.\n" } else { "" };
    format!("\n{title}: {pieces}: {}\n{nothing}", parts.join(", "))
}

#[cfg(test)]
mod tests {
    use neco_proto::app::setups::{SetupAgent, SetupKind};

    use super::*;

    #[test]
    fn a_report_is_a_table_by_outcome() {
        let row = |kind: SetupKind, name: &str, outcome: SetupOutcome, to: Option<&str>, words: &str| SetupRow {
            add: None,
            kind: kind.into(),
            name: name.to_owned(),
            from: "~/.codex/config.toml".to_owned(),
            outcome: outcome.into(),
            to: to.map(str::to_owned),
            words: words.to_owned(),
        };
        let rows = vec![
            row(SetupKind::Hook, "Odd", SetupOutcome::NotSupported, None, "Neco has no such moment"),
            row(SetupKind::Server, "docs", SetupOutcome::Taken, Some("~/.config/neco/config.toml"), ""),
        ];
        let report = SetupReport { agent: SetupAgent::Codex.into(), preview: true, rows };
        let expected = "\
taken
  server       docs                      → ~/.config/neco/config.toml
not supported
  hook         Odd                       ~/.codex/config.toml
               Neco has no such moment

Codex: 2 pieces: 1 taken, 1 not supported
Nothing was written.
";
        assert_eq!(as_lines(&report, "Codex"), expected);
        assert_eq!(offer(&["Codex", "Cursor"]), "Found settings of Codex and Cursor: `neco import` takes them over");
    }
}

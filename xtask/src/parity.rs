//! `cargo xtask parity`: the score of the founding designs, from their acceptance cases and the tools that they count.
//!
//! 40 points are for tools, 30 for cases that are met, 30 for a person's grade of how it feels to use.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::cargo::cargo;

/// Points for tools, for cases, and for the grade.
const POINTS: [f64; 3] = [40.0, 30.0, 30.0];

/// What a score is worth.
const GATES: [(&str, f64); 3] = [("MVP", 50.0), ("beta", 75.0), ("parity", 90.0)];

/// Plays the cases, looks at the tools, and prints the score; `grade` is a person's, from 1 to 10.
pub fn run(root: &Path, grade: Option<&str>) -> Result<ExitCode> {
    let grade = grade.map(read_grade).transpose()?;
    let folder = tempfile::tempdir()?;
    let report = folder.path().join("report.json");
    let arguments = ["test", "--quiet", "--package", "neco-testkit", "--test", "acceptance"];
    println!("$ cargo {}", arguments.join(" "));
    let status = cargo(root).args(arguments).env("ACCEPTANCE_REPORT", &report).status()?;
    let text = std::fs::read_to_string(&report).context("the acceptance cases could not be played; see above")?;
    print!("\n{}", table(&serde_json::from_str(&text)?, grade));
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn read_grade(text: &str) -> Result<f64> {
    match text.parse::<f64>() {
        Ok(grade) if (1.0..=10.0).contains(&grade) => Ok(grade),
        Ok(_) | Err(_) => bail!("a grade is a number from 1 to 10, not {text:?}"),
    }
}

/// What came of it, with the score and what is missing.
fn table(report: &Value, grade: Option<f64>) -> String {
    let rows = |name: &str| report[name].as_array().cloned().unwrap_or_default();
    let (tools, cases) = (rows("tools"), rows("cases"));
    let is = |row: &&Value, field: &str| row[field].as_bool() == Some(true);
    let there = tools.iter().filter(|row| is(row, "there")).count();
    let met = cases.iter().filter(|row| is(row, "met")).count();
    let mut text = String::from("Tools\n");
    for row in &tools {
        let own = row["own"].as_str().unwrap_or("missing");
        let line = format!("  {:<18} {own:<16} {}", word(row, "name"), word(row, "note"));
        text.push_str(&format!("{}\n", line.trim_end()));
    }
    text.push_str("\nCases\n");
    for row in &cases {
        let how = if is(&row, "met") { "met" } else { "NOT MET" };
        let note = word(row, "note");
        let note = if note.is_empty() { String::new() } else { format!(" ({note})") };
        text.push_str(&format!("  {:<6} {how:<8} {}{note}\n", word(row, "name").to_uppercase(), word(row, "title")));
    }
    let [for_tools, for_cases, for_grade] = POINTS;
    let of_tools = share(there, tools.len()) * for_tools;
    let of_cases = share(met, cases.len()) * for_cases;
    let known = of_tools + of_cases;
    text.push_str(&format!("\ntools       {there} of {}: {of_tools:.1} of {for_tools}\n", tools.len()));
    text.push_str(&format!("behaviour   {met} of {}: {of_cases:.1} of {for_cases}\n", cases.len()));
    match grade {
        Some(grade) => {
            let of_grade = grade / 10.0 * for_grade;
            let score = known + of_grade;
            text.push_str(&format!("experience  grade {grade}: {of_grade:.1} of {for_grade}\n"));
            let passed = GATES.iter().filter(|(_, from)| score >= *from).map(|(name, _)| *name).collect::<Vec<_>>();
            let passed = if passed.is_empty() { "no gate".to_owned() } else { passed.join(", ") };
            text.push_str(&format!("score       {score:.1} of 100: {passed}\n"));
        }
        None => {
            text.push_str("experience  not graded: that is a person's, `cargo xtask parity GRADE` with 1 to 10\n");
            text.push_str(&format!(
                "score       {known:.1} of 70, with the grade {:.1} to {:.1}\n",
                known + 3.0,
                known + for_grade
            ));
        }
    }
    text
}

fn word<'a>(row: &'a Value, field: &str) -> &'a str {
    row[field].as_str().unwrap_or_default()
}

fn share(part: usize, whole: usize) -> f64 {
    part as f64 / whole.max(1) as f64
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_score_is_40_30_30_and_what_is_missing_is_told() {
        let report = json!({
            "tools": [{ "name": "a", "there": true, "own": "b" }, { "name": "c", "there": false }],
            "cases": [{ "name": "ac-01", "met": true, "title": "One" }, { "name": "ac-02", "met": false, "title": "Two", "note": "why" }],
        });
        let graded = table(&report, Some(8.0));
        for words in [
            "c                  missing\n",
            "AC-02  NOT MET  Two (why)",
            "20.0 of 40",
            "15.0 of 30",
            "24.0 of 30",
            "59.0 of 100: MVP\n",
        ] {
            assert!(graded.contains(words), "{words}\n{graded}");
        }
        assert!(table(&report, None).contains("35.0 of 70, with the grade 38.0 to 65.0"));
    }

    #[test]
    fn a_grade_is_from_1_to_10() {
        assert_eq!(read_grade("7.5").unwrap(), 7.5);
        for wrong in ["0", "11", "good", "NaN"] {
            assert!(read_grade(wrong).is_err(), "{wrong}");
        }
    }
}

//! `cargo xtask coverage`: how much of the code the tests run, where `cargo llvm-cov` is installed.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::cargo::{cargo, has_subcommand};

/// What the founding designs ask for: more than this share of lines.
const GATES: [(&str, f64); 2] = [("MVP", 50.0), ("beta", 70.0)];

const INSTALL: &str = "\
cargo-llvm-cov is not installed, so coverage can't be measured. Install it with
  rustup component add llvm-tools
  cargo install cargo-llvm-cov --locked";

/// Runs all tests and prints which share of the code they ran.
pub fn run(root: &Path) -> Result<ExitCode> {
    if !has_subcommand(root, "llvm-cov") {
        bail!("{INSTALL}");
    }
    let folder = tempfile::tempdir()?;
    let report = folder.path().join("coverage.json");
    // A failing test leaves what the others ran.
    let arguments = ["llvm-cov", "--workspace", "--no-fail-fast", "--json", "--summary-only", "--output-path"];
    println!("$ cargo {} {}", arguments.join(" "), report.display());
    let status = cargo(root).args(arguments).arg(&report).status()?;
    let text = std::fs::read_to_string(&report).context("nothing was measured; see above")?;
    println!("\n{}", told(&serde_json::from_str(&text)?)?);
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The shares, and the gates they pass.
fn told(report: &Value) -> Result<String> {
    let totals = &report["data"][0]["totals"];
    let share = |what: &str| totals[what]["percent"].as_f64().with_context(|| format!("the report has no {what}"));
    let (lines, functions) = (share("lines")?, share("functions")?);
    let gates =
        GATES.map(|(name, from)| format!("{name} (over {from} %): {}", if lines > from { "yes" } else { "NO" }));
    Ok(format!("lines {lines:.1} %, functions {functions:.1} %\n{}", gates.join("\n")))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn gates_are_for_lines() {
        let report = |lines: f64| {
            let totals = json!({ "lines": { "percent": lines }, "functions": { "percent": 99.0 } });
            told(&json!({ "data": [{ "totals": totals }] })).unwrap()
        };
        assert_eq!(report(60.0), "lines 60.0 %, functions 99.0 %\nMVP (over 50 %): yes\nbeta (over 70 %): NO");
        assert!(report(71.0).ends_with("beta (over 70 %): yes"));
        assert!(told(&json!({})).is_err());
    }
}

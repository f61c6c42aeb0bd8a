//! `cargo xtask bench`: the small measurements, then the figures of the release binary.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Result, bail};

use crate::cargo::cargo;

/// Where cargo finds the small measurements by itself.
const SMALL: &str = "benches/benches";

/// Builds the release binary and measures it; `arguments` go to neco-bench.
pub fn run(root: &Path, arguments: &[&str]) -> Result<ExitCode> {
    start(root, &["build", "--release", "--package", "neco"])?;
    if root.join(SMALL).is_dir() {
        start(root, &["bench", "--package", "neco-bench"])?;
    }
    figures(root, arguments)
}

/// Builds the release binary and measures it beside other agents.
pub fn peers(root: &Path, arguments: &[&str]) -> Result<ExitCode> {
    start(root, &["build", "--release", "--package", "neco"])?;
    figures(root, &[&["--only", "peers"], arguments].concat())
}

fn figures(root: &Path, arguments: &[&str]) -> Result<ExitCode> {
    // The MCP server that is measured lies beside neco-bench.
    start(root, &["build", "--release", "--package", "neco-testkit", "--bin", "fake-mcp"])?;
    start(root, &[&["run", "--release", "--package", "neco-bench", "--"], arguments].concat())?;
    Ok(ExitCode::SUCCESS)
}

/// Runs cargo, and fails as it does.
pub fn start(root: &Path, arguments: &[&str]) -> Result<()> {
    println!("$ cargo {}", arguments.join(" "));
    let status = cargo(root).args(arguments).status()?;
    if !status.success() {
        bail!("cargo {}: {status}", arguments.join(" "));
    }
    Ok(())
}

//! `cargo xtask dist`: the binary for download.
//!
//! It is built twice. The first has symbols and is watched while it starts and works a few turns; the second is linked
//! with the functions that were seen side by side, so that what is mapped of the program is what runs.

use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context, Result, ensure};

use crate::bench::start;
use crate::cargo::target;

/// Both builds have the same profile: the names of functions hold a mark of it.
const NECO: &[&str] = &["rustc", "--profile", "dist", "--package", "neco", "--bin", "neco", "--"];

/// Builds it.
pub fn run(root: &Path) -> Result<ExitCode> {
    let valgrind = Command::new("valgrind").arg("--version").stdout(Stdio::null()).status();
    ensure!(
        valgrind.is_ok_and(|status| status.success()),
        "valgrind is not installed: it finds out which functions a start uses"
    );
    let target = target(root);
    let (binary, functions) = (target.join("dist/neco"), target.join("dist/functions.txt"));
    let (binary, functions) = (binary.to_string_lossy(), functions.to_string_lossy());
    start(root, &[NECO, &["-C", "strip=none"]].concat())?;
    let watch = ["run", "--release", "--package", "neco-bench", "--", "--bin", &binary, "--functions", &functions];
    start(root, &watch)?;
    let order = format!("link-arg=-Wl,--symbol-ordering-file={functions}");
    // The list also names functions of the system's libraries, which are not in the binary.
    let quiet = "link-arg=-Wl,--no-warn-symbol-ordering";
    start(root, &[NECO, &["-C", &order, "-C", quiet]].concat())?;
    let bytes = fs::metadata(&*binary).with_context(|| format!("can't look at {binary}"))?.len();
    println!("{binary}: {:.1} MB", bytes as f64 / 1e6);
    Ok(ExitCode::SUCCESS)
}

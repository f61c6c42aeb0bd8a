//! The page: its packages, its checks, its bundle, and journeys through it with the real program and a real browser.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Result, bail};

use crate::bench::start;
use crate::cargo::target;
use crate::machine::started;
use crate::mcp_servers::is_there;
use crate::step::{Outcome, Reports};

/// The oldest Node.js that builds it.
const NODE: (u32, u32) = (20, 19);

/// Builds the bundle that the next build of the program brings along.
pub fn build(root: &Path) -> Result<ExitCode> {
    if let Some(why) = unfit() {
        bail!("the page can't be built here: {why}");
    }
    if !packages(root) {
        bail!("the packages of the page can't be installed; npm says above why");
    }
    match npm(root, "build").status()?.success() {
        true => Ok(ExitCode::SUCCESS),
        false => bail!("the page was not built"),
    }
}

/// Checks the page and builds it, before the program is built that brings it along.
pub fn check(root: &Path, reports: &mut Reports) {
    if let Some(why) = unfit() {
        return reports.measure("page", || missing(&why));
    }
    reports.measure("page packages", || match packages(root) {
        true => Outcome::Passed,
        false => Outcome::Failed("not installed".to_owned()),
    });
    reports.run("page lints", &mut npm(root, "lint"));
    reports.run("page tests", &mut npm(root, "test"));
    // This checks its types, too.
    reports.run("page", &mut npm(root, "build"));
}

/// Plays journeys through the page of the program that was built for the tests.
pub fn journeys(root: &Path, reports: &mut Reports) {
    let Some(browser) = browser().filter(|_| unfit().is_none()) else {
        return reports.measure("journeys", || missing("there is no Chromium, or no Node.js"));
    };
    match target(root) {
        Ok(target) => {
            let program = target.join("debug/neco");
            reports.run("journeys", npm(root, "journeys").env("NECO_BIN", program).env("CHROMIUM", browser));
        }
        Err(error) => reports.measure("journeys", || Outcome::Failed(format!("{error:#}"))),
    }
}

/// Measures the page of the release binary in a browser, after building both.
pub fn figures(root: &Path) -> Result<ExitCode> {
    build(root)?;
    let Some(browser) = browser() else { bail!("there is no Chromium") };
    start(root, &["build", "--release", "--package", "neco"])?;
    let program = target(root)?.join("release/neco");
    match npm(root, "figures").env("NECO_BIN", program).env("CHROMIUM", browser).status()?.success() {
        true => Ok(ExitCode::SUCCESS),
        false => bail!("a figure is over its limit, or could not be measured"),
    }
}

/// The browser that plays journeys.
fn browser() -> Option<PathBuf> {
    ["chromium", "chromium-browser", "google-chrome"].into_iter().find_map(found)
}

/// What can't be checked here is left out, and said; in CI it would only seem to pass.
fn missing(why: &str) -> Outcome {
    match std::env::var_os("CI") {
        Some(_) => Outcome::Failed(why.to_owned()),
        None => Outcome::Noted(format!("left out, {why}")),
    }
}

/// Why the page can't be built here, if so.
fn unfit() -> Option<String> {
    let output = Command::new("node").arg("--version").stdin(Stdio::null()).output();
    let (Ok(output), Some(_)) = (output, found("npm")) else { return Some("there is no Node.js with npm".to_owned()) };
    let version = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    let (major, minor) = NODE;
    let is_fit = numbers(&version).is_some_and(|numbers| numbers >= NODE);
    (!is_fit).then(|| format!("Node.js {major}.{minor} or later is needed, and this is {version}"))
}

/// The first two numbers of a version such as `v20.20.2`.
fn numbers(version: &str) -> Option<(u32, u32)> {
    let mut parts = version.trim_start_matches('v').split('.').map(str::parse);
    Some((parts.next()?.ok()?, parts.next()?.ok()?))
}

/// Where a program is.
fn found(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
}

/// Installs exactly the packages of the lock file, unless they are there.
fn packages(root: &Path) -> bool {
    let folder = root.join("web");
    let Ok(lock) = std::fs::read_to_string(folder.join("package-lock.json")) else { return false };
    let mut install = Command::new("npm");
    // `npm ci` would refuse a lock file without those of other systems.
    let quietly = ["--no-audit", "--no-fund", "--ignore-scripts", "--loglevel", "error"];
    install.args(["install", "--no-save"]).args(quietly).current_dir(&folder);
    is_there(&folder.join("node_modules/.installed"), &[lock.as_str()], || started(&mut install))
}

fn npm(root: &Path, script: &str) -> Command {
    let mut npm = Command::new("npm");
    npm.args(["run", "--silent", script]).current_dir(root.join("web"));
    npm
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_by_their_numbers() {
        assert_eq!(numbers("v20.20.2"), Some((20, 20)));
        assert!(numbers("v9.11.0") < Some(NODE) && numbers("v22.1.0") > Some(NODE));
        assert_eq!(numbers("nothing"), None);
    }
}

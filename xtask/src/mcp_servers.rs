//! The MCP servers that tests talk to: real ones, from npm and PyPI, below the target folder; and beside them what else
//! tests take from there.
//!
//! `crates/neco-testkit/tests/mcp/real.rs` starts the servers, `crates/neco/tests/cli/acp_library.rs` uses the library. What is installed is written down beside them, so that another
//! version in these lists is installed anew.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::cargo::target;
use crate::machine::started;
use crate::step::Outcome;

/// Where they are below the target folder.
const FOLDER: &str = "mcp-servers";

/// Servers that run on Node.js, and the client library of editors with what that needs.
const OF_NPM: &[&str] = &[
    "@modelcontextprotocol/server-everything@2026.8.31",
    "@modelcontextprotocol/server-filesystem@2026.8.31",
    "@modelcontextprotocol/server-memory@2026.8.31",
    "@agentclientprotocol/sdk@2.4.0",
    "zod@4.6.7",
];

/// Servers that run on Python, and the validator of skills.
const OF_PYPI: &[&str] =
    &["mcp-server-time==2026.10.19", "mcp-server-git==2026.10.19", "mcp-server-fetch==2026.10.24", "skills-ref==0.1.1"];

/// Installs the servers that are missing. Tests of those that can't be had here are left out and say so; in CI that is
/// a failure, since the tests would only seem to pass.
pub fn set_up(root: &Path) -> Outcome {
    let folder = match target(root) {
        Ok(target) => target.join(FOLDER),
        Err(error) => return Outcome::Failed(format!("{error:#}")),
    };
    let mut missing = Vec::new();
    if !npm(&folder, OF_NPM) {
        missing.push("npm");
    }
    if !is_there(&folder.join("pypi.txt"), OF_PYPI, || of_pypi(&folder)) {
        missing.push("PyPI");
    }
    match (missing.as_slice(), std::env::var_os("CI")) {
        ([], _) => Outcome::Passed,
        (names, Some(_)) => Outcome::Failed(format!("can't be installed from {}", names.join(" and "))),
        (names, None) => Outcome::Noted(format!("tests of servers from {} are left out", names.join(" and "))),
    }
}

/// Whether packages are installed, which a list beside them says; installs them where it says something else.
pub fn is_there(list: &Path, packages: &[&str], install: impl FnOnce() -> bool) -> bool {
    let wanted = packages.join("\n");
    let said = fs::read_to_string(list).unwrap_or_default();
    if said == wanted {
        return true;
    }
    // A list of what was there before would be wrong if this is interrupted.
    let _ = fs::remove_file(list);
    install() && fs::write(list, wanted).is_ok()
}

/// Installs packages of npm below a folder, unless they are there; says whether they are.
pub fn npm(folder: &Path, packages: &[&str]) -> bool {
    let mut npm = Command::new("npm");
    npm.args(["install", "--no-audit", "--no-fund", "--loglevel", "error", "--prefix"]).arg(folder).args(packages);
    is_there(&folder.join("npm.txt"), packages, || fs::create_dir_all(folder).is_ok() && started(&mut npm))
}

/// Into an environment of its own. It gets no pip: Debian has the module that would put one there in another package.
fn of_pypi(folder: &Path) -> bool {
    let environment = folder.join("python");
    if !started(Command::new("python3").args(["-m", "venv", "--clear", "--without-pip"]).arg(&environment)) {
        return false;
    }
    let python = environment.join("bin/python3");
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "--disable-pip-version-check", "--python"]).arg(&python).args(["install", "--quiet"]);
    let mut uv = Command::new("uv");
    uv.args(["pip", "install", "--quiet", "--python"]).arg(&python);
    started(pip.args(OF_PYPI)) || started(uv.args(OF_PYPI))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_listed_is_not_installed_again_and_another_version_is() {
        let folder = tempfile::tempdir().unwrap();
        let list = folder.path().join("npm.txt");
        assert!(!is_there(&list, &["a@1"], || false) && !list.exists());
        assert!(is_there(&list, &["a@1"], || true));
        assert!(is_there(&list, &["a@1"], || panic!("it is there")));
        assert!(!is_there(&list, &["a@2"], || false), "another version is missing");
        assert!(!is_there(&list, &["a@1"], || false), "the list is gone with what it was about");
    }
}

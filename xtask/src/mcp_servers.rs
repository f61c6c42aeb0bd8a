//! The MCP servers that tests talk to: real ones, from npm and PyPI, below the target folder.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::step::Outcome;

/// Servers that run on Node.js.
const OF_NPM: &[&str] = &[
    "@modelcontextprotocol/server-everything@2026.8.31",
    "@modelcontextprotocol/server-filesystem@2026.8.31",
    "@modelcontextprotocol/server-memory@2026.8.31",
];

/// Servers that run on Python.
const OF_PYPI: &[&str] = &["mcp-server-time", "mcp-server-git", "mcp-server-fetch"];

/// Installs the servers that are missing. Tests of those that can't be had here are left out, and say so.
pub fn set_up(root: &Path) -> Outcome {
    let folder = root.join("target/mcp-servers");
    let mut missing = Vec::new();
    if !folder.join("node_modules/.bin/mcp-server-everything").exists() {
        let install = Command::new("npm").args(["install", "--no-audit", "--no-fund", "--prefix"]).arg(&folder).args(OF_NPM).status_of();
        missing.extend((!install).then_some("those of npm"));
    }
    if !folder.join("python/bin/mcp-server-time").exists() {
        let made = Command::new("python3").args(["-m", "venv"]).arg(folder.join("python")).status_of();
        let pip = folder.join("python/bin/pip");
        let install = made && Command::new(pip).args(["install", "--quiet"]).args(OF_PYPI).status_of();
        missing.extend((!install).then_some("those of PyPI"));
    }
    match missing.as_slice() {
        [] => Outcome::Passed,
        missing => Outcome::Noted(format!("tests of real MCP servers leave out {}", missing.join(" and "))),
    }
}

trait Succeeds {
    fn status_of(&mut self) -> bool;
}

impl Succeeds for Command {
    /// Whether it ran and succeeded.
    fn status_of(&mut self) -> bool {
        self.stdin(Stdio::null()).stdout(Stdio::null()).status().is_ok_and(|status| status.success())
    }
}

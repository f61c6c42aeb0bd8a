//! `cargo xtask conformance`: the official conformance suite of MCP, for Neco as a client and as a server.
//!
//! As a client it plays every scenario that a revision of the protocol requires, and those that it only reports; as a
//! server those that ask for nothing but what every server has, through a [bridge](crate::bridge): the suite knows only
//! HTTP. Most of the others call tools that a server for tests would have.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::bench::start;
use crate::bridge::Bridge;
use crate::cargo::target;
use crate::mcp_servers::npm;

/// The suite, and the Node.js that it wants; the packages of Node.js are named after machines.
const SUITE: &str = "@modelcontextprotocol/conformance@0.2.0-alpha.12";
const NODE: &str = "22.23.3";

/// The revisions of the protocol, each with its scenarios for every server.
const REVISIONS: [(&str, &[&str]); 2] =
    [("2025-11-25", &["server-initialize", "ping", "tools-list"]), ("2026-07-28", &["tools-list", OF_THE_BRIDGE])];

/// Half of its checks are about HTTP, which is the bridge's.
const OF_THE_BRIDGE: &str = "server-stateless";

/// What the suite says of one scenario.
struct Played {
    name: String,
    /// Whether the revision requires it.
    required: bool,
    /// How many checks held.
    held: usize,
    /// Those that did not: their names, and why.
    failures: Vec<(String, String)>,
    /// Whether the suite was content in the end: a client that fails is a failure too.
    passed: bool,
}

/// Plays the scenarios whose names contain `part` and prints what came of them.
pub fn run(root: &Path, part: &str) -> Result<ExitCode> {
    let folder = target(root)?.join("conformance");
    let suite = Suite::install(&folder)?;
    start(root, &["build", "--package", "neco"])?;
    let neco = target(root)?.join("debug/neco");
    let mut failed = false;
    for (revision, for_servers) in REVISIONS {
        let scenarios = scenarios(&suite.output(&["list", "--requirements", revision])?);
        let scenarios = scenarios.into_iter().filter(|(name, _)| name.contains(part));
        let as_client: Vec<Played> =
            scenarios.map(|(name, required)| suite.client(&neco, revision, name, required)).collect::<Result<_>>()?;
        print!("\n{}", table(&format!("Neco as a client of {revision}"), &as_client));
        let bridge = Bridge::open(&neco, &["mcp", "serve"], &suite.results)?;
        let for_servers = for_servers.iter().filter(|name| name.contains(part));
        let as_server: Vec<Played> =
            for_servers.map(|name| suite.server(&bridge.url(), revision, name)).collect::<Result<_>>()?;
        print!("\n{}", table(&format!("Neco as a server of {revision}"), &as_server));
        failed |= as_client.iter().chain(&as_server).any(|played| played.required && !played.passed);
    }
    println!("\nWhat was checked is in {}", suite.results.display());
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// The suite, installed.
struct Suite {
    node: PathBuf,
    program: PathBuf,
    results: PathBuf,
}

impl Suite {
    fn install(folder: &Path) -> Result<Self> {
        let system = if cfg!(target_os = "macos") { "darwin" } else { "linux" };
        let machine = if cfg!(target_arch = "aarch64") { "arm64" } else { "x64" };
        let node = format!("node-{system}-{machine}");
        ensure!(npm(folder, &[SUITE, &format!("{node}@{NODE}")]), "npm could not install the conformance suite");
        let (modules, results) = (folder.join("node_modules"), folder.join("results"));
        // What an earlier run left would be taken for this one's.
        let _ = fs::remove_dir_all(&results);
        fs::create_dir_all(&results)?;
        let program = modules.join("@modelcontextprotocol/conformance/dist/index.js");
        Ok(Self { node: modules.join(node).join("bin/node"), program, results })
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.node);
        command.arg(&self.program).args(arguments).stdin(Stdio::null()).current_dir(&self.results);
        // Nothing of the person's own is used.
        command.env("NECO_HOME", self.results.join("home"));
        command
    }

    fn output(&self, arguments: &[&str]) -> Result<String> {
        let output = self.command(arguments).output().context("the conformance suite can't be started")?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    fn client(&self, neco: &Path, revision: &str, name: String, required: bool) -> Result<Played> {
        let command = format!("{} mcp conformance", neco.display());
        // Extensions belong to no revision; without being forced to, the suite would leave them out.
        let arguments = ["client", "--scenario", &name, "--spec-version", revision, "--force", "--command", &command];
        self.play(&arguments, &format!("client/{revision}"), name.clone(), required)
    }

    fn server(&self, url: &str, revision: &str, name: &str) -> Result<Played> {
        let arguments = ["server", "--scenario", name, "--spec-version", revision, "--url", url];
        self.play(&arguments, &format!("server/{revision}"), name.to_owned(), name != OF_THE_BRIDGE)
    }

    fn play(&self, arguments: &[&str], below: &str, name: String, required: bool) -> Result<Played> {
        let results = self.results.join(below).join(name.replace('/', "-"));
        let mut command = self.command(arguments);
        command.arg("--output-dir").arg(&results).stdout(Stdio::null()).stderr(Stdio::null());
        let passed = command.status().context("the conformance suite can't be started")?.success();
        let checks = checks_in(&results).and_then(|file| fs::read(file).ok());
        let checks = checks.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
        let (held, failures) = read_checks(&checks);
        println!("  {} {name}", if passed { "ok    " } else { "FAILED" });
        Ok(Played { name, required, held, failures, passed })
    }
}

/// The file with the checks; the suite makes a folder for every run.
fn checks_in(folder: &Path) -> Option<PathBuf> {
    let mut paths = fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path());
    paths.find_map(|path| match path.is_dir() {
        true => checks_in(&path),
        false => path.ends_with("checks.json").then_some(path),
    })
}

/// How many checks held, and what was wrong with the others. A warning fails a scenario too.
fn read_checks(checks: &Value) -> (usize, Vec<(String, String)>) {
    let checks = checks.as_array().map(Vec::as_slice).unwrap_or_default();
    let text = |check: &Value, field: &str| check[field].as_str().map(str::to_owned);
    let held = checks.iter().filter(|check| check["status"] == "SUCCESS").count();
    let failed = checks.iter().filter(|check| check["status"] == "FAILURE" || check["status"] == "WARNING");
    let failure = |check: &Value| {
        let why = text(check, "errorMessage").or_else(|| text(check, "description")).unwrap_or_default();
        (text(check, "id").unwrap_or_default(), why)
    };
    (held, failed.map(failure).collect())
}

/// The scenarios for clients in a list of requirements, and whether they are required.
fn scenarios(list: &str) -> Vec<(String, bool)> {
    let (mut of_clients, mut found) = (false, Vec::new());
    for line in list.lines() {
        match line.trim().strip_prefix("- ") {
            Some(name) => match name.strip_suffix(" [client]") {
                Some(name) => found.push((name.to_owned(), false)),
                None if of_clients => found.push((name.to_owned(), true)),
                None => {}
            },
            None => of_clients = line.starts_with("Client scenarios"),
        }
    }
    found
}

/// What came of the scenarios, and what is wrong where something is.
fn table(title: &str, all: &[Played]) -> String {
    let required = all.iter().filter(|played| played.required);
    let passed = required.clone().filter(|played| played.passed).count();
    let mut text = format!("{title}: {passed} of {} required scenarios pass\n", required.count());
    for Played { name, required, held, failures, passed } in all {
        let verdict = match (passed, required) {
            (true, _) => "ok",
            (false, true) => "FAILED",
            (false, false) => "failed, not required",
        };
        let checks = held + failures.len();
        // Writing to a string does not fail.
        let _ = writeln!(text, "  {name:<40} {held:>3} of {checks:<3} {verdict}");
        for (id, why) in failures {
            let why: String = why.lines().next().unwrap_or_default().chars().take(160).collect();
            let _ = writeln!(text, "      {id}: {why}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const LIST: &str = "\
Required for 2025-11-25 (48 scenarios):

Server scenarios (test against a server):
  - ping

Client scenarios (test against a client):
  - initialize
  - auth/metadata-default

Run and reported, but never scored:
  extension (2):
    - auth/dpop [client]
    - tasks [server]
";

    #[test]
    fn the_scenarios_of_clients_are_found_with_those_that_are_not_required() {
        let found = scenarios(LIST);
        let found: Vec<(&str, bool)> = found.iter().map(|(name, required)| (name.as_str(), *required)).collect();
        assert_eq!(found, [("initialize", true), ("auth/metadata-default", true), ("auth/dpop", false)]);
    }

    #[test]
    fn a_table_says_what_is_wrong() {
        let checks = json!([
            { "id": "a", "status": "SUCCESS" },
            { "id": "b", "status": "INFO" },
            { "id": "c", "status": "FAILURE", "errorMessage": "It did not.\nMore." },
            { "id": "d", "status": "WARNING", "description": "It should." },
        ]);
        let (held, failures) = read_checks(&checks);
        assert_eq!((held, failures.len()), (1, 2));
        let name = "x".to_owned();
        let played =
            |required| Played { name: name.clone(), required, held, failures: failures.clone(), passed: false };
        let table = table("A client", &[played(true), played(false)]);
        for words in ["0 of 1 required", "1 of 3   FAILED\n", "c: It did not.\n", "d: It should.\n", "not required"] {
            assert!(table.contains(words), "{words}\n{table}");
        }
    }

    #[test]
    fn checks_are_found_in_the_folder_of_the_run() {
        let folder = tempfile::tempdir().unwrap();
        let deep = folder.path().join("auth/metadata-1");
        fs::create_dir_all(&deep).unwrap();
        assert_eq!(checks_in(folder.path()), None);
        fs::write(deep.join("checks.json"), "[]").unwrap();
        assert_eq!(checks_in(folder.path()), Some(deep.join("checks.json")));
    }
}

//! The program under test, run as a user would run it.

use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::Value;
use tempfile::TempDir;

use crate::answer::{self, Turn};
use crate::measured::{self, Used};
use crate::server::{Exchange, Server};
use crate::stage::Stage;

const PATIENCE: Duration = Duration::from_secs(120);

/// The program under test: a copy of it, written just now. How much of a program counts as its memory depends on how
/// its file lies in the system's cache, which is the same for all that were just written.
#[derive(Debug)]
pub struct Program {
    path: PathBuf,
    _folder: TempDir,
}

/// A finished run.
pub struct Run {
    /// What the program used.
    pub used: Used,
    /// What it asked the model.
    pub exchanges: Vec<Exchange>,
}

impl Program {
    /// The program at `path`.
    pub fn new(path: &Path) -> anyhow::Result<Self> {
        let path = fs::canonicalize(path).with_context(|| {
            format!("there is no program {}: build it with `cargo build --release`", path.display())
        })?;
        let folder = tempfile::tempdir()?;
        let copy = folder.path().join("neco");
        fs::copy(&path, &copy).with_context(|| format!("{} can't be copied", path.display()))?;
        Ok(Self { path: copy, _folder: folder })
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What it calls itself.
    pub fn version(&self) -> anyhow::Result<String> {
        let output = Command::new(&self.path).arg("--version").stdin(Stdio::null()).output()?;
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }

    /// Plays `turns` to it on `stage` and measures.
    pub fn run(&self, stage: &Stage, turns: &[Turn]) -> anyhow::Result<Run> {
        self.run_with(&[], stage, turns)
    }

    /// The same with more on its command line.
    pub fn run_with(&self, more: &[&str], stage: &Stage, turns: &[Turn]) -> anyhow::Result<Run> {
        let server = Server::start(answer::encode(turns))?;
        stage.configure(server.address())?;
        let used = measure(stage, &self.path, question(more), &[])?;
        Ok(Run { used, exchanges: server.finish()? })
    }

    /// Plays `turns` once without measuring, to be sure that every call does what it is meant to do:
    /// the time that a refusal takes says nothing.
    pub fn rehearse(&self, stage: &Stage, turns: &[Turn]) -> anyhow::Result<()> {
        self.rehearse_with(&[], stage, turns)
    }

    /// The same with more on its command line.
    pub fn rehearse_with(&self, more: &[&str], stage: &Stage, turns: &[Turn]) -> anyhow::Result<()> {
        let server = Server::start(answer::encode(turns))?;
        stage.configure(server.address())?;
        let events = stage.notes("events");
        let arguments = question(&[&["--output-format", "stream-json"], more].concat());
        let status = run(stage, &self.path, &arguments, &[], File::create(&events)?.into())?;
        anyhow::ensure!(status.success(), failed(stage, &format!("rehearsal: {status}")));
        let calls = succeeded(&fs::read_to_string(&events)?)?;
        let expected: usize = turns.iter().map(calls_of).sum();
        anyhow::ensure!(calls == expected, "{calls} calls instead of {expected} in the rehearsal");
        server.finish()?;
        Ok(())
    }

    /// Plays `turns` to it under another program, which gets `before` and then the program's own
    /// command line.
    pub fn run_under(&self, other: &Path, before: &[OsString], stage: &Stage, turns: &[Turn]) -> anyhow::Result<()> {
        let server = Server::start(answer::encode(turns))?;
        stage.configure(server.address())?;
        let mut arguments = before.to_vec();
        arguments.push(self.path.clone().into());
        arguments.extend(question(&[]));
        let status = run(stage, other, &arguments, &[], Stdio::null())?;
        anyhow::ensure!(status.success(), failed(stage, &format!("{}: {status}", other.display())));
        server.finish()?;
        Ok(())
    }
}

/// Runs a program on `stage` to its end, with more in its environment, and says what it used.
pub fn measure(
    stage: &Stage,
    program: &Path,
    arguments: Vec<OsString>,
    environment: &[(&str, &str)],
) -> anyhow::Result<Used> {
    let figures = stage.notes("figures");
    let mut all: Vec<OsString> = vec![measured::MARK.into(), figures.clone().into(), program.into()];
    all.extend(arguments);
    let status = run(stage, &std::env::current_exe()?, &all, environment, Stdio::null())?;
    let used: Option<Used> = fs::read(&figures).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
    let used = used.filter(|_| status.success()).with_context(|| failed(stage, "the run was not measured"))?;
    anyhow::ensure!(used.exit == Some(0), failed(stage, &format!("exit code {:?}", used.exit)));
    fs::remove_file(&figures)?;
    Ok(used)
}

fn question(more: &[&str]) -> Vec<OsString> {
    ["-m", "Do what the script says.", "--yes"].iter().chain(more).map(OsString::from).collect()
}

fn calls_of(turn: &Turn) -> usize {
    match turn {
        Turn::Calls(calls) => calls.len(),
        Turn::Text(_) => 0,
    }
}

/// Starts a program on `stage` with an environment that holds nothing of the user's, and waits.
fn run(
    stage: &Stage,
    program: &Path,
    arguments: &[OsString],
    environment: &[(&str, &str)],
    stdout: Stdio,
) -> anyhow::Result<ExitStatus> {
    use std::os::unix::process::CommandExt as _;
    let child = Command::new(program)
        .args(arguments)
        .current_dir(stage.workspace())
        .env_clear()
        .envs(stage.environment())
        .envs(environment.iter().copied())
        .stdin(Stdio::null())
        .stdout(stdout)
        .stderr(File::create(stage.notes("stderr"))?)
        .process_group(0)
        .spawn()
        .with_context(|| format!("can't start {}", program.display()))?;
    wait(child)
}

fn wait(mut child: Child) -> anyhow::Result<ExitStatus> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if Instant::now() > deadline {
            if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
                let _ = kill_process_group(group, Signal::KILL);
            }
            child.wait()?;
            anyhow::bail!("it did not end within {} seconds", PATIENCE.as_secs());
        }
        thread::sleep(Duration::from_millis(2));
    }
}

/// Counts the calls that succeeded; anything else is an error.
fn succeeded(events: &str) -> anyhow::Result<usize> {
    let mut calls = 0;
    for line in events.lines() {
        let event: Value = serde_json::from_str(line).with_context(|| format!("not an event: {line}"))?;
        if event["type"] == "tool_call_end" {
            anyhow::ensure!(event["status"] == "success", "a call failed: {}", event["output"]);
            calls += 1;
        }
    }
    Ok(calls)
}

fn failed(stage: &Stage, what: &str) -> String {
    let stderr = fs::read_to_string(stage.notes("stderr")).unwrap_or_default();
    let last: Vec<&str> = stderr.trim().lines().rev().take(5).collect();
    format!("{what}; it said: {}", last.into_iter().rev().collect::<Vec<_>>().join(" / "))
}

//! What MCP servers cost: a hundred that nobody needs, and one call of one that runs.
//!
//! The servers are the fake one of the tests. A hundred of them are started once, so that it is known what they offer;
//! then they stay as they are. The cost of a call is what the same question takes less on the bare pipe.

use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead as _, BufReader, Lines, Write as _};
use std::path::Path;
use std::process::{ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use neco_bench::toolbox::Toolbox;
use neco_ext::mcp::{MakeProcesses, McpSetup, Reach, ServerProgram, ServerSettings, Servers};
use neco_safety::secrets::Redactor;
use neco_safety::world::Processes;
use neco_sandbox::Spawner;
use serde_json::{Value, json};

use super::Setting;
use super::start::{repeat, to_first_request};
use crate::answer::Turn;
use crate::clock::milliseconds;
use crate::figure::{Figure, Target, Unit};
use crate::program::Run;
use crate::report::Report;
use crate::samples::Samples;
use crate::stage::Stage;

const SERVERS: usize = 100;
const RUNS: usize = 30;
const CALLS: usize = 500;
const ERA: [&str; 2] = ["--era", "legacy"];
const TEXT: &str = "The quick brown fox jumps over the lazy dog.";
const PATIENCE: Duration = Duration::from_secs(20);

/// Measures it.
pub fn measure(setting: &Setting<'_>, report: &mut Report) -> anyhow::Result<()> {
    let fake = std::env::current_exe()?.with_file_name("fake-mcp");
    if !fake.is_file() {
        report.skip("MCP servers", "fake-mcp is not built: `cargo build --release --package neco-testkit`");
        return Ok(());
    }
    hundred(setting, &fake, report)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let stage = Stage::new(setting.folder)?;
    let with = runtime.block_on(calls(&stage, &fake))?;
    let bare = bare_calls(&fake)?;
    report.add(Figure::median("mcp_call", Unit::Milliseconds, with));
    report.add(Figure::median("mcp_call_on_the_pipe", Unit::Milliseconds, bare));
    let own = Figure::info("mcp_call_own_cost", Unit::Milliseconds, with.median - bare.median);
    report.add(own.promised(Target::Below(1.0)));
    Ok(())
}

/// What a start takes with a hundred servers of which none is started, beside one without any.
fn hundred(setting: &Setting<'_>, fake: &Path, report: &mut Report) -> anyhow::Result<()> {
    let turns = [Turn::Text("Hello! What shall we work on?")];
    let (without, mut with) = (Stage::new(setting.folder)?, Stage::new(setting.folder)?);
    let record = with.notes("record");
    with.also_configure(settings(&fake.display().to_string(), &record));
    setting.program.rehearse(&without, &turns)?;
    setting.program.rehearse(&with, &turns)?;
    anyhow::ensure!(started(&record) == SERVERS, "{} servers were started at first", started(&record));
    // By turns, so that both have the same machine.
    let both = repeat(RUNS, || Ok((setting.program.run(&without, &turns)?, setting.program.run(&with, &turns)?)))?;
    anyhow::ensure!(started(&record) == SERVERS, "a server was started that nobody needs");
    let more = |of: fn(&Run) -> f64| Samples::of(both.iter().map(|(without, with)| of(with) - of(without)));
    let time = more(to_first_request).context("no runs")?;
    report.add(Figure::median("mcp_100_known_start", Unit::Milliseconds, time).promised(Target::Below(2.0)));
    let memory = more(|run| run.used.peak as f64 / 1e6).context("no runs")?;
    report.add(Figure::median("mcp_100_known_memory", Unit::Megabytes, memory).promised(Target::Below(1.0)));
    Ok(())
}

/// A hundred servers as settings name them; each brings one of its tools.
fn settings(fake: &str, record: &Path) -> String {
    let mut text = String::new();
    for number in 0..SERVERS {
        // Writing to a string does not fail.
        let _ = write!(
            text,
            "\n[mcp_servers.s{number}]\ncommand = {fake:?}\nargs = [\"--era\", \"modern\", \"--record\", {:?}]\n\
             sandbox = false\ntools.include = [\"echo\"]\n",
            record.display().to_string()
        );
    }
    text
}

/// How many servers were started so far.
fn started(record: &Path) -> usize {
    let record = fs::read_to_string(record).unwrap_or_default();
    record.lines().filter(|line| line.starts_with("started ")).count()
}

/// What a call takes as agents make it: planned, run, and its result read.
async fn calls(stage: &Stage, fake: &Path) -> anyhow::Result<Samples> {
    let spawner: Arc<dyn Processes> = Arc::new(Spawner::new(Vec::new(), &[]));
    let processes: MakeProcesses = Arc::new(move |_: &ServerProgram| Ok(Arc::clone(&spawner)));
    let setup = McpSetup {
        folder: stage.workspace(),
        data_dir: stage.home(),
        processes,
        redactor: Redactor::default(),
        logins: Arc::new(()),
    };
    let servers = Servers::new(setup, vec![server(fake)]);
    servers.learn("x").await?;
    let toolbox = Toolbox::new(&stage.workspace())?.following(servers.plugged());
    let mut times = Vec::with_capacity(CALLS);
    for _ in 0..CALLS {
        let start = Instant::now();
        let output = toolbox.call("mcp__x__echo", json!({ "text": TEXT })).await?;
        times.push(milliseconds(start.elapsed()));
        anyhow::ensure!(output.model == TEXT, "it answered {}", output.model);
    }
    servers.close().await;
    Samples::of(times).context("no calls")
}

/// The fake server in settings.
fn server(fake: &Path) -> ServerSettings {
    let arguments = ERA.map(str::to_owned).to_vec();
    let program = ServerProgram { unboxed: true, ..ServerProgram::new(fake.display().to_string(), arguments) };
    let settings = ServerSettings::new("x", Reach::Program(program));
    ServerSettings { start_timeout: PATIENCE, call_timeout: PATIENCE, ..settings }
}

/// What the same call takes on the pipe: the server's own time, and that of the system between two processes.
fn bare_calls(fake: &Path) -> anyhow::Result<Samples> {
    let mut child = Command::new(fake).args(ERA).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let input = child.stdin.take().context("it has no input")?;
    let output = child.stdout.take().context("it has no output")?;
    let mut pipe = Pipe { input, lines: BufReader::new(output).lines() };
    let about = json!({ "name": "bench", "version": "1" });
    pipe.ask("initialize", json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": about }))?;
    pipe.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
    let mut times = Vec::with_capacity(CALLS);
    for _ in 0..CALLS {
        let start = Instant::now();
        let answer = pipe.ask("tools/call", json!({ "name": "echo", "arguments": { "text": TEXT } }))?;
        times.push(milliseconds(start.elapsed()));
        anyhow::ensure!(answer.pointer("/result/content/0/text") == Some(&json!(TEXT)), "it answered {answer}");
    }
    // The end of its input ends it.
    drop(pipe);
    child.wait()?;
    Samples::of(times).context("no calls")
}

/// The pipe to a server.
struct Pipe {
    input: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Pipe {
    fn send(&mut self, message: &Value) -> anyhow::Result<()> {
        Ok(self.input.write_all(format!("{message}\n").as_bytes())?)
    }

    /// Asks something and waits for the answer; one question at a time needs no number of its own.
    fn ask(&mut self, method: &str, params: Value) -> anyhow::Result<Value> {
        self.send(&json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }))?;
        Ok(serde_json::from_str(&self.lines.next().context("it is gone")??)?)
    }
}

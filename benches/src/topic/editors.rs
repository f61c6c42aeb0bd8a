//! Neco in an editor: from the start of the process to its first answer, and a long session that is loaded.

use std::io::{BufRead, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};

use super::Setting;
use super::start::repeat;
use crate::clock::milliseconds;
use crate::figure::{Figure, Target, Unit};
use crate::report::Report;
use crate::samples::Samples;
use crate::stage::Stage;

const RUNS: usize = 30;
const LOADS: usize = 5;
const MESSAGES: usize = 5000;

/// Measures it.
pub fn measure(setting: &Setting<'_>, report: &mut Report) -> anyhow::Result<()> {
    let stage = Stage::new(setting.folder)?;
    stage.configure(([127, 0, 0, 1], 9).into())?;
    let starts = repeat(RUNS, || {
        let (began, mut editor) = (Instant::now(), Editor::start(setting, &stage)?);
        editor.initialize()?;
        let took = milliseconds(began.elapsed());
        editor.end()?;
        Ok(took)
    })?;
    let starts = Samples::of(starts).context("no starts")?;
    report.add(Figure::median("editor_initialize", Unit::Milliseconds, starts).promised(Target::Below(30.0)));
    let file = stage.notes("long.jsonl");
    std::fs::write(&file, long_session(&stage))?;
    let imports = Command::new(setting.program.path())
        .args(["session", "import"])
        .arg(&file)
        .env_clear()
        .envs(stage.environment())
        .current_dir(stage.workspace())
        .stdin(Stdio::null())
        .output()?;
    ensure!(imports.status.success(), "the session is not taken in: {}", String::from_utf8_lossy(&imports.stderr));
    let loads = repeat(LOADS, || load(setting, &stage))?;
    let rates = Samples::of(loads.iter().map(|(updates, ms)| *updates as f64 / ms)).context("no loads")?;
    let took = Samples::of(loads.iter().map(|(_, ms)| *ms)).context("no loads")?;
    // 20,000 updates a second.
    let limit = MESSAGES as f64 / 20.0;
    report.add(Figure::median("editor_load_5000", Unit::Milliseconds, took).promised(Target::AtMost(limit)));
    report.add(Figure::median("editor_updates_a_millisecond", Unit::Each, rates));
    Ok(())
}

/// Loads the long session; how many updates came, and how long that took.
fn load(setting: &Setting<'_>, stage: &Stage) -> anyhow::Result<(usize, f64)> {
    let mut editor = Editor::start(setting, stage)?;
    editor.initialize()?;
    let listed = editor.ask("session/list", json!({ "cwd": stage.workspace() }))?.0;
    let session = listed["sessions"][0]["sessionId"].clone();
    ensure!(session.is_string(), "there is no session: {listed}");
    let began = Instant::now();
    let params = json!({ "sessionId": session, "cwd": stage.workspace(), "mcpServers": [] });
    let (_, updates) = editor.ask("session/load", params)?;
    let took = milliseconds(began.elapsed());
    ensure!(updates >= MESSAGES, "only {updates} updates came");
    editor.end()?;
    Ok((updates, took))
}

/// A session as another agent keeps it.
fn long_session(stage: &Stage) -> String {
    let line = |at: usize| {
        let (role, words) =
            if at.is_multiple_of(2) { ("user", "What about this part?") } else { ("assistant", "It is fine.") };
        let id = |at: usize| format!("00000000-0000-4000-8000-{at:012}");
        let content = json!([{ "type": "text", "text": format!("{words} ({at})") }]);
        let message = json!({ "role": role, "content": content, "model": "claude-sonnet-4-5" });
        let parent = at.checked_sub(1).map(id);
        let (minute, second) = (at / 60 % 60, at % 60);
        let when = format!("2026-01-01T{:02}:{minute:02}:{second:02}.000Z", at / 3600);
        let line = json!({
            "type": role, "message": message, "uuid": id(at), "parentUuid": parent, "timestamp": when,
            "sessionId": "11111111-0000-4000-8000-000000000000", "cwd": stage.workspace(), "version": "2.0.0",
            "userType": "external", "isSidechain": false,
        });
        format!("{line}\n")
    };
    (0..MESSAGES).map(line).collect()
}

/// An editor that has started the program.
struct Editor {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    requests: u64,
}

impl Editor {
    fn start(setting: &Setting<'_>, stage: &Stage) -> anyhow::Result<Self> {
        let mut child = Command::new(setting.program.path())
            .arg("acp")
            .env_clear()
            .envs(stage.environment())
            .current_dir(stage.workspace())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let input = child.stdin.take().context("no input")?;
        let output = BufReader::with_capacity(1 << 16, child.stdout.take().context("no output")?);
        Ok(Self { child, input, output, requests: 0 })
    }

    fn initialize(&mut self) -> anyhow::Result<()> {
        let answer = self.ask("initialize", json!({ "protocolVersion": 1, "clientCapabilities": {} }))?.0;
        ensure!(answer["protocolVersion"] == 1, "it speaks another version: {answer}");
        Ok(())
    }

    /// A request and its result, and how many messages came before it.
    fn ask(&mut self, method: &str, params: Value) -> anyhow::Result<(Value, usize)> {
        self.requests += 1;
        let request = json!({ "jsonrpc": "2.0", "id": self.requests, "method": method, "params": params });
        writeln!(self.input, "{request}")?;
        let answers = format!("\"id\":{}", self.requests);
        let mut line = String::new();
        for before in 0.. {
            line.clear();
            ensure!(self.output.read_line(&mut line)? > 0, "it ended before it answered {method}");
            // Updates are only counted: reading them is the editor's work.
            if line.contains("\"method\"") || !line.contains(&answers) {
                continue;
            }
            let mut answer: Value = serde_json::from_str(&line)?;
            ensure!(answer.get("error").is_none(), "{method}: {answer}");
            return Ok((answer["result"].take(), before));
        }
        anyhow::bail!("{method} was not answered")
    }

    fn end(self) -> anyhow::Result<()> {
        let Self { mut child, input, .. } = self;
        drop(input);
        ensure!(child.wait()?.success(), "it failed");
        Ok(())
    }
}

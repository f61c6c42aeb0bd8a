//! `process`: looks after processes in the background.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use neco_proto::{Display, ErrorCode, Risk};
use neco_safety::command::{Place, examine};
use neco_safety::world::{Stop, World};
use neco_toolkit::{Plan, SideEffect, Tool, ToolContext, ToolError, ToolOutput};
use neco_workspace::tracked_file;
use regex::Regex;
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::time::Instant;

use super::background::{Background, Processes};
use super::bash::off_the_runtime;
use super::box_words::acting_files;
use super::follow::GRACE;
use super::wording::{exit_code, one_line};

const DEFAULT_LINES: usize = 40;
const DEFAULT_WAIT: f64 = 30.0;
const LONGEST_WAIT: f64 = 600.0;

/// How long an answer to what was written is waited for.
const ANSWER: Duration = Duration::from_millis(300);

/// How long a process may leave its input unread.
const UNREAD: Duration = Duration::from_secs(10);

/// Output that comes in pieces is looked at this often at most.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Action {
    List,
    Tail,
    Wait,
    Write,
    Kill,
}

/// A signal to kill with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Signal {
    Term,
    Int,
    Hup,
    Kill,
}

/// Arguments of `process`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ProcessArgs {
    action: Action,
    /// Which process, such as bg-1; not needed when there is only one.
    id: Option<String>,
    /// Lines to show.
    lines: Option<usize>,
    /// wait: seconds at most.
    seconds: Option<f64>,
    /// wait: a regex that the output must match.
    pattern: Option<String>,
    /// write: the text.
    input: Option<String>,
    /// write: end it with a newline; default true.
    newline: Option<bool>,
    /// write: close the input afterwards.
    eof: Option<bool>,
    /// kill: default term, followed by kill.
    signal: Option<Signal>,
}

/// Looks after processes in the background.
pub(super) struct Process {
    processes: Arc<Processes>,
}

impl Process {
    /// The tool over the processes of one agent.
    pub(super) fn new(processes: Arc<Processes>) -> Self {
        Self { processes }
    }

    fn find(&self, id: Option<&str>) -> Result<Arc<Background>, ToolError> {
        let all = self.processes.all();
        let invalid = |message: String| ToolError::new(ErrorCode::InvalidArguments, message);
        if all.is_empty() {
            return Err(invalid("no process was started in the background".to_owned()));
        }
        let known = || all.iter().map(|process| process.id()).collect::<Vec<_>>().join(", ");
        if let Some(id) = id {
            // The number alone is enough.
            let wanted = id.trim();
            let is_it = |process: &str| process == wanted || process.strip_prefix("bg-") == Some(wanted);
            let found = all.iter().find(|process| is_it(process.id()));
            return found
                .cloned()
                .ok_or_else(|| invalid(format!("id: there is no process {id:?}; there are: {}", known())));
        }
        let running: Vec<_> = all.iter().filter(|process| process.exit().is_none()).collect();
        match (running.as_slice(), all.as_slice()) {
            ([only], _) => Ok(Arc::clone(only)),
            (_, [only]) => Ok(Arc::clone(only)),
            _ => Err(invalid(format!("id: say which one; there are: {}", known()))),
        }
    }

    fn list(&self) -> ToolOutput {
        let items: Vec<String> = self.processes.all().iter().map(|process| process.describe()).collect();
        let text =
            if items.is_empty() { "no process was started in the background".to_owned() } else { items.join("\n") };
        let total = items.len() as u64;
        ToolOutput::text(text).with_display(Display::List { title: "Background processes".to_owned(), items, total })
    }
}

impl Tool for Process {
    type Args = ProcessArgs;
    const NAME: &'static str = "process";
    const DESCRIPTION: &'static str = include_str!("process.txt");
    const TOUCH: SideEffect = SideEffect::Runs;

    fn touch(&self, args: &ProcessArgs) -> SideEffect {
        match args.action {
            Action::List | Action::Tail | Action::Wait => SideEffect::Reads,
            Action::Write | Action::Kill => SideEffect::Runs,
        }
    }

    fn timeout(&self, args: &ProcessArgs) -> Option<Duration> {
        let own = match args.action {
            Action::Wait => wait_time(args),
            Action::List | Action::Tail | Action::Write | Action::Kill => UNREAD,
        };
        Some(own + Duration::from_secs(15))
    }

    fn summary(&self, args: &ProcessArgs) -> String {
        let id = args.id.as_deref().unwrap_or("the background process");
        match args.action {
            Action::List => "List background processes".to_owned(),
            Action::Tail => format!("Look at {id}"),
            Action::Wait => format!("Wait for {id}"),
            Action::Write => format!("Write to {id}: {}", one_line(args.input.as_deref().unwrap_or_default(), 60)),
            Action::Kill => format!("Kill {id}"),
        }
    }

    async fn plan(&self, args: &ProcessArgs, ctx: &ToolContext) -> Result<Plan, ToolError> {
        pattern(args)?;
        match args.action {
            Action::List => Ok(Plan::of(Risk::Safe)),
            Action::Tail | Action::Wait => self.find(args.id.as_deref()).map(|_| Plan::of(Risk::Safe)),
            Action::Kill => self.find(args.id.as_deref()).map(|_| Plan::of(Risk::Low)),
            Action::Write => {
                let process = self.find(args.id.as_deref())?;
                // What a shell reads is a command like any other, and all that rules forbid is forbidden there too.
                // Whatever reads it, it is granted word for word.
                let command = args.input.clone().filter(|_| reads_commands(&process.command));
                let because = match &command {
                    Some(line) => may_show_closed(line, None, ctx).await,
                    None => None,
                };
                let risk = if because.is_some() { Risk::Critical } else { Risk::High };
                Ok(Plan { command, because, ..Plan::of(risk) })
            }
        }
    }

    async fn run(&self, args: ProcessArgs, ctx: &ToolContext) -> Result<ToolOutput, ToolError> {
        let find = || self.find(args.id.as_deref());
        let (process, note) = match args.action {
            Action::List => return Ok(self.list()),
            Action::Tail => (find()?, None),
            Action::Wait => {
                let process = find()?;
                let note = wait(&process, &args, ctx).await?;
                if ctx.cancel.is_cancelled() {
                    let note = Some("waiting was stopped".to_owned());
                    return Ok(shown(&process, args.lines.unwrap_or(DEFAULT_LINES), note, ctx).interrupted());
                }
                (process, note)
            }
            Action::Write => {
                let process = find()?;
                let note = write(&process, &args).await?;
                wait_for_answer(&process, ctx).await;
                (process, Some(note))
            }
            Action::Kill => {
                let process = find()?;
                kill(&process, args.signal, ctx).await;
                (process, None)
            }
        };
        Ok(shown(&process, args.lines.unwrap_or(DEFAULT_LINES), note, ctx))
    }
}

/// The state of a process and the end of its output.
fn shown(process: &Background, lines: usize, note: Option<String>, ctx: &ToolContext) -> ToolOutput {
    let look = process.look(lines, ctx.max_output);
    let note = note.map(|note| format!("; {note}")).unwrap_or_default();
    let count = match (look.lines, look.text.is_empty()) {
        (0, true) => "no output".to_owned(),
        (all, _) => format!("{all} lines of output, {} of them new", look.new_lines),
    };
    let head = format!("[{}; {count}{note}]\n", look.state);
    let text = format!("{head}{}", look.text);
    let acting = acting_files(&process.take_changed_later(), ctx.world.files());
    let output = ToolOutput { acting, ..ToolOutput::text(text.trim_end()) };
    output.outside(head.len().., process.id()).with_display(Display::Terminal {
        command: process.command.clone(),
        tail: look.text,
        exit_code: look.exit.and_then(exit_code),
        background: look.exit.is_none().then(|| process.id().to_owned()),
    })
}

/// Whether a command line starts a shell, here or elsewhere, as far as it says so.
fn reads_commands(line: &str) -> bool {
    const SHELLS: &[&str] =
        &["sh", "bash", "dash", "zsh", "ksh", "ash", "fish", "ssh", "su", "sudo", "busybox", "pwsh"];
    line.split(|character: char| !character.is_alphanumeric()).any(|word| SHELLS.contains(&word))
}

fn wait_time(args: &ProcessArgs) -> Duration {
    let seconds = args.seconds.unwrap_or(DEFAULT_WAIT).clamp(0.0, LONGEST_WAIT);
    Duration::try_from_secs_f64(seconds).unwrap_or_default()
}

fn pattern(args: &ProcessArgs) -> Result<Option<Regex>, ToolError> {
    let compiled = args.pattern.as_deref().map(Regex::new).transpose();
    compiled.map_err(|error| ToolError::new(ErrorCode::InvalidArguments, format!("pattern: {error}")))
}

fn matching(process: &Background, pattern: &Regex) -> Option<String> {
    process.text().lines().rfind(|line| pattern.is_match(line)).map(|line| one_line(line, 200))
}

async fn kill(process: &Background, signal: Option<Signal>, ctx: &ToolContext) {
    let (first, then) = match signal {
        None | Some(Signal::Term) => (Stop::Terminate, Some(Stop::Kill)),
        Some(Signal::Int) => (Stop::Interrupt, None),
        Some(Signal::Hup) => (Stop::HangUp, None),
        Some(Signal::Kill) => (Stop::Kill, None),
    };
    process.stop(first);
    if !wait_for(process, GRACE, None, ctx).await
        && let Some(then) = then
    {
        process.stop(then);
        wait_for(process, GRACE, None, ctx).await;
    }
}

/// Waits as the arguments say; says how that went where the state alone does not.
async fn wait(process: &Background, args: &ProcessArgs, ctx: &ToolContext) -> Result<Option<String>, ToolError> {
    let pattern = pattern(args)?;
    let came = wait_for(process, wait_time(args), pattern.as_ref(), ctx).await;
    let Some(pattern) = pattern else { return Ok((!came).then(|| "waited in vain".to_owned())) };
    Ok(Some(match matching(process, &pattern) {
        Some(line) => format!("matched: {line}"),
        None => "no line matched".to_owned(),
    }))
}

/// Waits for the end, or for a line that matches. Says whether it came.
async fn wait_for(process: &Background, limit: Duration, pattern: Option<&Regex>, ctx: &ToolContext) -> bool {
    let mut changes = process.changes();
    let there = || process.exit().is_some() || pattern.is_some_and(|pattern| matching(process, pattern).is_some());
    let deadline = Instant::now() + limit;
    loop {
        if there() {
            return true;
        }
        tokio::select! {
            changed = changes.changed() => {
                if changed.is_err() {
                    return there();
                }
            }
            () = tokio::time::sleep_until(deadline) => return there(),
            () = ctx.cancel.cancelled() => return false,
        }
        tokio::time::sleep(LOOK_AGAIN).await;
    }
}

async fn wait_for_answer(process: &Background, ctx: &ToolContext) {
    let mut changes = process.changes();
    tokio::select! {
        _ = changes.changed() => tokio::time::sleep(LOOK_AGAIN).await,
        () = tokio::time::sleep(ANSWER) => {}
        () = ctx.cancel.cancelled() => {}
    }
}

/// Writes to a process; says what was done.
async fn write(process: &Background, args: &ProcessArgs) -> Result<String, ToolError> {
    let mut text = args.input.clone().unwrap_or_default();
    let eof = args.eof.unwrap_or(false);
    if text.is_empty() && !eof && args.newline != Some(true) {
        return Err(ToolError::new(ErrorCode::InvalidArguments, "input: there is nothing to write"));
    }
    let newline = args.newline.unwrap_or(!text.is_empty());
    if newline && !text.ends_with('\n') {
        text.push('\n');
    }
    let mut slot = process.input.lock().await;
    let Some(input) = slot.as_mut() else {
        return Err(ToolError::failed(format!("the input of {} is closed", process.id())));
    };
    match tokio::time::timeout(UNREAD, input.write_all(text.as_bytes())).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => return Err(ToolError::failed(format!("{} does not read: {error}", process.state()))),
        Err(_) => {
            return Err(ToolError::failed(format!("{} did not read all of it; a part was written", process.id())));
        }
    }
    if !eof {
        return Ok(format!("{} bytes written", text.len()));
    }
    if let Some(input) = slot.take() {
        input.end().await.map_err(|error| ToolError::failed(format!("{}: {error}", process.state())))?;
    }
    Ok(format!("{} bytes written, input closed", text.len()))
}

/// Why a person is asked about a line in which git may tell or bring back what a rule closes to reading.
pub(super) async fn may_show_closed(line: &str, folder: Option<PathBuf>, ctx: &ToolContext) -> Option<String> {
    let closed = ctx.world.files().closed();
    if !closed.keeps_something_from_commands() || !examine(line, &Place::new("/")).committed {
        return None;
    }
    let world = Arc::clone(&ctx.world);
    let looked = off_the_runtime(move || tracked(world.as_ref(), folder.as_deref())).await;
    let path = looked.unwrap_or_else(|_| Some(PathBuf::from(".git")))?;
    Some(format!(
        "git may show what was committed of {}, which a rule closes to reading; the git tool leaves that out",
        path.display()
    ))
}

/// A closed file that is tracked, of the repositories that are worked in.
fn tracked(world: &dyn World, folder: Option<&Path>) -> Option<PathBuf> {
    let files = world.files();
    let is_closed = |path: &Path| files.closed().keeps_from_commands(path);
    let folders: BTreeSet<&Path> = files.writable().chain(folder).collect();
    folders.into_iter().find_map(|folder| tracked_file(folder, is_closed))
}

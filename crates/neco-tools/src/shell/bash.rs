//! `bash`: runs a command.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use neco_config::section::ToolsSection;
use neco_proto::{Display, ErrorCode, Risk};
use neco_safety::command::{LedOut, Place, examine, led_out};
use neco_safety::path::Access;
use neco_safety::world::{Allowance, Exit, Freedom, Launch, Leftovers, SpawnError, Stdin, World};
use neco_toolkit::{InBackground, Outside, Plan, SideEffect, Tool, ToolContext, ToolError, ToolOutput};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::background::Processes;
use super::box_words::{
    NO_NETWORK, OWN_NETWORK, OWN_TMP, STAYS_IN_TMP, Stopped, acting_files, has_own_network, has_own_tmp, names_tmp,
    own_network_words, stopped_by_box, unreached_words, waited_words, writes_tmp,
};
use super::folder::ShellFolder;
use super::follow::{Followed, GRACE, Outcome, OwnWords, follow};
use super::interpreter::{Interpreter, quoted};
use super::plain_text::plain_text;
use super::process::may_show_closed;
use super::wording::{SHOWN_LINES, ending, exit_code, last_lines, one_line, seconds};
use crate::files::foreign;

/// What the scheduler's clock leaves us beyond our own, so that it is never first.
const SLACK: Duration = Duration::from_secs(15);

/// What the model is told of where output came from: it knows the command.
const COMMAND: &str = "command";

/// A success that took less says nothing about its time.
const WORTH_SAYING: Duration = Duration::from_secs(10);

/// Nobody waits for so many seconds: a timeout of this or more is in milliseconds.
const LEAST_MILLISECONDS: f64 = 10_000.0;

/// Arguments of tools that count milliseconds.
const OF_MILLISECONDS: [&str; 3] = ["working_directory", "is_background", "run_in_background"];

/// The same where the other arguments are those of a tool that counts milliseconds.
const LEAST_MILLISECONDS_OF_OTHERS: f64 = 1_000.0;

/// Arguments of `bash`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct BashArgs {
    command: String,
    /// Seconds.
    timeout: Option<f64>,
    /// Folder for this call only.
    cwd: Option<String>,
    background: Option<bool>,
    /// For programs that want a terminal.
    pty: Option<bool>,
    /// What it is for, in a few words.
    description: Option<String>,
    /// Reach the network; asks the user.
    network: Option<bool>,
    /// Asks the user.
    unsandboxed: Option<bool>,
}

impl BashArgs {
    fn freedom(&self) -> Freedom {
        match (self.unsandboxed.unwrap_or(false), self.network.unwrap_or(false)) {
            (true, _) => Freedom::Unboxed,
            (false, true) => Freedom::Network,
            (false, false) => Freedom::AsConfigured,
        }
    }
}

pub(super) struct Bash {
    shell: Arc<Shell>,
    processes: Arc<Processes>,
    timeout: Duration,
    max_timeout: Duration,
    /// Whether the model was told whose `/tmp` is.
    told_of_tmp: AtomicBool,
}

/// What the commands of one agent share.
struct Shell {
    wanted: String,
    found: OnceLock<Option<Interpreter>>,
    folder: ShellFolder,
}

/// A command that is ready to start.
struct Prepared {
    launch: Launch,
    /// The file in which the shell says where it ended.
    report: Option<PathBuf>,
    own_words: OwnWords,
    notes: Vec<String>,
}

impl Bash {
    /// The tool of one agent.
    pub(super) fn new(settings: &ToolsSection, processes: Arc<Processes>) -> Self {
        let max_timeout = positive(settings.max_command_timeout).unwrap_or(Duration::from_secs(600));
        let wanted = if settings.shell.is_empty() { "bash" } else { &settings.shell };
        Self {
            shell: Arc::new(Shell {
                wanted: wanted.to_owned(),
                found: OnceLock::new(),
                folder: ShellFolder::default(),
            }),
            processes,
            timeout: positive(settings.command_timeout).unwrap_or(Duration::from_secs(120)).min(max_timeout),
            max_timeout,
            told_of_tmp: AtomicBool::default(),
        }
    }

    /// A wish for more than is allowed gets what is allowed: it is often meant in milliseconds.
    fn limit(&self, args: &BashArgs) -> Duration {
        let Some(wished) = args.timeout else { return self.timeout };
        positive(wished).unwrap_or(self.timeout).min(self.max_timeout)
    }

    /// What is said of a time that it was not given.
    fn limit_words(&self, args: &BashArgs) -> Option<String> {
        let (wished, limit) = (args.timeout?, self.limit(args));
        let is_as_wished = positive(wished).is_some_and(|wished| wished == limit);
        (!is_as_wished).then(|| format!("timeout: {wished} s can't be given; it had {}", seconds(limit)))
    }

    async fn run_here(&self, args: &BashArgs, ctx: &ToolContext) -> Result<ToolOutput, ToolError> {
        let others = Arc::clone(&self.processes);
        ctx.background.open(move || {
            let words = |running| format!("{running} commands run in the background already; end one of them first");
            let full = |running| ToolError::failed(words(running));
            others.check_room().map_err(full)
        });
        let Prepared { launch, report, own_words, mut notes } = self.prepare(args, ctx).await?;
        notes.extend(self.limit_words(args));
        let allowance = granted(args, &launch.folder, ctx);
        let (freedom, folder) = (allowance.freedom, launch.folder.clone());
        let running = ctx.world.processes().run(launch, allowance).await.map_err(refused)?;
        let limit = self.limit(args);
        let (followed, goes_on) = follow(running, own_words, limit, ctx).await;
        let process = goes_on.map(|running| self.processes.add(&args.command, running));
        if let Some(report) = report {
            let counts =
                matches!(followed.outcome, Outcome::Ended(_)) && args.cwd.as_ref().is_none_or(String::is_empty);
            notes.extend(self.after(report, counts, ctx).await);
        }
        if let Some(process) = process {
            return Ok(self.sent_away(args, followed, process.id(), &notes));
        }
        let stopped = stopped_by_box(&followed, freedom, ctx).await;
        notes.extend(waited_words(&args.command, followed.outcome, freedom, ctx).await);
        notes.extend(stopped.as_ref().map(|stopped| stopped.words().to_owned()));
        let (files, own_tmp) = (ctx.world.files(), has_own_tmp(followed.outcome, freedom, ctx));
        let wrote_tmp = own_tmp && writes_tmp(&args.command, &folder, files);
        let used_tmp = wrote_tmp || own_tmp && names_tmp(&args.command, files.workspace());
        if used_tmp && !self.told_of_tmp.swap(true, Ordering::Relaxed) {
            notes.push(OWN_TMP.to_owned());
        }
        let unanswered = match &stopped {
            Some(_) => None,
            None => self.unanswered(&args.command, &followed, freedom, ctx).await,
        };
        notes.extend(unanswered.clone());
        let acting = acting_files(&followed.changed_later, ctx.world.files());
        let mut output = ToolOutput { acting, ..self.output(args, followed, limit, &notes) };
        if matches!(stopped, Some(Stopped::Denied(_))) {
            output.error_code = Some(ErrorCode::SandboxDenied);
        }
        if let Some(Display::Terminal { tail, .. }) = &mut output.display {
            let seen = [wrote_tmp.then_some(STAYS_IN_TMP), unanswered.map(|_| NO_NETWORK)];
            seen.into_iter().flatten().for_each(|words| add_line(tail, Some(format!("[{words}]"))));
        }
        Ok(output)
    }

    /// What is said of a command that nobody answered, in a box that has a network of its own.
    async fn unanswered(&self, line: &str, followed: &Followed, freedom: Freedom, ctx: &ToolContext) -> Option<String> {
        if self.processes.running() > 0
            && let Some(words) = own_network_words(line, followed, freedom, ctx).await
        {
            return Some(words);
        }
        unreached_words(line, followed.outcome, freedom, ctx).await
    }

    /// What is told of a command that the person sent to the background.
    fn sent_away(&self, args: &BashArgs, followed: Followed, id: &str, notes: &[String]) -> ToolOutput {
        let words = format!(
            "the user sent it to the background, where it goes on as {id}; process shows its output from now on"
        );
        let notes: Vec<String> = std::iter::once(words).chain(notes.iter().cloned()).collect();
        let mut output = self.output(args, followed, Duration::ZERO, &notes);
        if let Some(Display::Terminal { background, .. }) = &mut output.display {
            *background = Some(id.to_owned());
        }
        output
    }

    async fn run_in_background(&self, args: &BashArgs, ctx: &ToolContext) -> Result<ToolOutput, ToolError> {
        let Prepared { launch, notes, .. } = self.prepare(args, ctx).await?;
        self.processes.check_room().map_err(|running| {
            ToolError::failed(format!("{running} processes run in the background already: kill some with `process`"))
        })?;
        let allowance = granted(args, &launch.folder, ctx);
        let freedom = allowance.freedom;
        let running = ctx.world.processes().run(launch, allowance).await.map_err(refused)?;
        let process = self.processes.add(&args.command, running);
        process.settle(&ctx.cancel).await;
        let look = process.look(SHOWN_LINES, ctx.max_output);
        let mut text = look.text.trim_start().to_owned();
        let printed = text.len();
        add_line(
            &mut text,
            Some(match look.exit {
                Some(_) => format!("[{}]", look.state),
                None => format!("[runs in the background as {}]", process.id()),
            }),
        );
        add_notes(&mut text, &notes);
        if look.exit.is_none() && has_own_network(freedom, ctx).await {
            add_notes(&mut text, &[OWN_NETWORK.to_owned()]);
        }
        let display = Display::Terminal {
            command: args.command.clone(),
            tail: look.text,
            exit_code: look.exit.and_then(exit_code),
            background: look.exit.is_none().then(|| process.id().to_owned()),
        };
        Ok(ToolOutput::text(text).outside(..printed, COMMAND).with_display(display))
    }

    async fn prepare(&self, args: &BashArgs, ctx: &ToolContext) -> Result<Prepared, ToolError> {
        check(args)?;
        let (shell, world, args) = (Arc::clone(&self.shell), Arc::clone(&ctx.world), args.clone());
        off_the_runtime(move || shell.prepare(world.as_ref(), args)).await?
    }

    /// Takes up where the shell ended, if that counts.
    async fn after(&self, report: PathBuf, counts: bool, ctx: &ToolContext) -> Option<String> {
        let (shell, world) = (Arc::clone(&self.shell), Arc::clone(&ctx.world));
        let taken = off_the_runtime(move || {
            if counts {
                return shell.folder.take_report(world.files(), &report);
            }
            shell.folder.drop_report(&report);
            None
        });
        taken.await.ok().flatten()
    }

    fn output(&self, args: &BashArgs, followed: Followed, limit: Duration, notes: &[String]) -> ToolOutput {
        let Followed { output, outcome, took, .. } = followed;
        // Cleaned after it was cut: the file keeps every byte.
        let shown = plain_text(output.text.as_bytes());
        let mut text = shown.trim_end_matches('\n').to_owned();
        let printed = text.len();
        let last_word = self.last_word(outcome, took, limit, text.is_empty());
        add_line(&mut text, last_word);
        add_notes(&mut text, notes);
        ToolOutput {
            outside: Some(Outside { source: COMMAND.to_owned(), part: 0..printed }),
            display: Some(Display::Terminal {
                command: args.command.clone(),
                tail: last_lines(&shown, SHOWN_LINES).to_owned(),
                exit_code: outcome_code(outcome),
                background: None,
            }),
            spilled_to: output.spilled_to,
            error_code: match outcome {
                Outcome::Ended(_) | Outcome::GoesOn => None,
                Outcome::TimedOut => Some(ErrorCode::CommandTimedOut),
                Outcome::Cancelled => Some(ErrorCode::ToolFailed),
            },
            ..ToolOutput::text(text)
        }
    }

    fn last_word(&self, outcome: Outcome, took: Duration, limit: Duration, silent: bool) -> Option<String> {
        let took = seconds_if_worth(took, outcome);
        match outcome {
            Outcome::Ended(end) => {
                let left = if end.left_others {
                    "; what it left running was ended with it: use background for what must go on"
                } else {
                    ""
                };
                let plain_success = end.exit == Exit::Code(0) && !silent && left.is_empty() && took.is_empty();
                let silence = if silent { "no output, " } else { "" };
                (!plain_success).then(|| format!("[{silence}{}{took}{left}]", ending(end.exit)))
            }
            Outcome::TimedOut if limit < self.max_timeout => Some(format!(
                "[killed: not done after {}; give a longer timeout (at most {}) or run it in the background]",
                seconds(limit),
                seconds(self.max_timeout)
            )),
            Outcome::TimedOut => Some(format!(
                "[killed: not done after {}, the longest timeout; run it in the background]",
                seconds(limit)
            )),
            Outcome::Cancelled => Some(format!("[cancelled{took}]")),
            // Said with the name that it goes on by.
            Outcome::GoesOn => None,
        }
    }
}

impl Tool for Bash {
    type Args = BashArgs;
    const NAME: &'static str = "bash";
    const DESCRIPTION: &'static str = include_str!("bash.txt");
    const TOUCH: SideEffect = SideEffect::Runs;

    fn in_background(&self) -> Vec<Arc<dyn InBackground>> {
        self.processes.all().into_iter().map(|process| process as Arc<dyn InBackground>).collect()
    }

    /// Others have other names, give the words of a command one by one, and count its time in milliseconds.
    fn adapt(arguments: &mut Value) {
        let is_theirs = OF_MILLISECONDS.iter().any(|theirs| arguments.get(theirs).is_some());
        foreign::rename(arguments, foreign::COMMAND);
        let Some(fields) = arguments.as_object_mut() else { return };
        if let Some(script) = fields.get("command").and_then(script_of) {
            fields.insert("command".to_owned(), Value::from(script));
        }
        let given = fields.remove("timeout_ms").and_then(|given| given.as_f64());
        let least = if is_theirs { LEAST_MILLISECONDS_OF_OTHERS } else { LEAST_MILLISECONDS };
        let meant = || fields.get("timeout").and_then(Value::as_f64).filter(|timeout| *timeout >= least);
        if let Some(milliseconds) = given.or_else(meant) {
            fields.insert("timeout".to_owned(), Value::from(milliseconds / 1000.0));
        }
    }

    fn timeout(&self, args: &BashArgs) -> Option<Duration> {
        Some(self.limit(args) + GRACE + SLACK)
    }

    fn summary(&self, args: &BashArgs) -> String {
        let command = one_line(&args.command, 80);
        match args.description.as_deref().map(|text| one_line(text, 60)).filter(|text| !text.is_empty()) {
            Some(purpose) => format!("Run {command} ({purpose})"),
            None => format!("Run {command}"),
        }
    }

    async fn plan(&self, args: &BashArgs, ctx: &ToolContext) -> Result<Plan, ToolError> {
        check(args)?;
        let (shell, world, cwd) = (Arc::clone(&self.shell), Arc::clone(&ctx.world), args.cwd.clone());
        let folder = off_the_runtime(move || shell.starts_in(world.as_ref(), cwd.as_deref())).await??;
        let leaves = leaves_box(args.freedom(), ctx.world.as_ref()).map(str::to_owned);
        let shows = may_show_closed(&args.command, Some(folder.clone()), ctx).await;
        if let Some(because) = leaves.into_iter().chain(shows).reduce(|one, other| format!("{one}; also {other}")) {
            let because = Some(because);
            let command = Some(args.command.clone());
            let freedom = args.freedom();
            return Ok(Plan { command, folder: Some(folder), because, freedom, ..Plan::of(Risk::Critical) });
        }
        // What the command itself could do is for the policy to find out, but for what only the disk tells.
        let (world, line, start) = (Arc::clone(&ctx.world), args.command.clone(), folder.clone());
        let led_out = off_the_runtime(move || looked_out(world.as_ref(), &line, start)).await?;
        let (risk, because) = led_out.map_or((Risk::Low, None), |led| (led.risk, Some(led.because)));
        Ok(Plan { command: Some(args.command.clone()), folder: Some(folder), because, ..Plan::of(risk) })
    }

    async fn run(&self, args: BashArgs, ctx: &ToolContext) -> Result<ToolOutput, ToolError> {
        let mut output = if args.background.unwrap_or(false) {
            self.run_in_background(&args, ctx).await?
        } else {
            self.run_here(&args, ctx).await?
        };
        // Of those that are over in the background, too: nobody may ask about them.
        output.acting.extend(acting_files(&self.processes.take_changed_later(), ctx.world.files()));
        Ok(output)
    }
}

/// The script of a command that is given word by word, such as `["bash", "-lc", "ls"]`.
fn script_of(command: &Value) -> Option<String> {
    let words: Vec<&str> = command.as_array()?.iter().map(Value::as_str).collect::<Option<_>>()?;
    match words.as_slice() {
        [] => None,
        ["bash" | "sh" | "zsh" | "/bin/bash" | "/bin/sh" | "/bin/zsh", "-c" | "-lc", script] => {
            Some((*script).to_owned())
        }
        words => Some(words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")),
    }
}

impl Shell {
    /// The folder that a command will start in.
    fn starts_in(&self, world: &dyn World, cwd: Option<&str>) -> Result<PathBuf, ToolError> {
        match cwd.filter(|cwd| !cwd.is_empty()) {
            Some(cwd) => wanted_folder(world, cwd),
            None => Ok(self.folder.stands(world.files())),
        }
    }

    fn prepare(&self, world: &dyn World, args: BashArgs) -> Result<Prepared, ToolError> {
        let found = self.found.get_or_init(|| Interpreter::find(&self.wanted, world.processes()));
        let Some(interpreter) = found else {
            return Err(ToolError::failed(format!(
                "there is no shell to run commands: neither {:?} nor sh",
                self.wanted
            )));
        };
        let background = args.background.unwrap_or(false);
        let (folder, note) = match args.cwd.as_ref().filter(|cwd| !cwd.is_empty()) {
            Some(cwd) => (wanted_folder(world, cwd)?, None),
            None => self.folder.start(world.files()),
        };
        let report =
            if background { None } else { self.folder.report_file(&world.processes().temporary_folder()).ok() };
        let own_words = report.as_deref().and_then(Interpreter::reporting);
        let report = report.filter(|_| own_words.is_some());
        let own_words = own_words.unwrap_or_default();
        let launch = Launch {
            program: interpreter.program.clone().into_os_string(),
            arguments: vec![OsString::from("-c"), OsString::from(format!("{own_words}{}", args.command))],
            folder,
            stdin: if background { Stdin::Piped } else { Stdin::Closed },
            terminal: args.pty.unwrap_or(false),
            leftovers: if background { Leftovers::WaitFor } else { Leftovers::End },
            variables: Vec::new(),
            errors: None,
        };
        let notes = interpreter.note.iter().cloned().chain(note).collect();
        Ok(Prepared { launch, report, own_words: OwnWords::new(own_words), notes })
    }
}

fn check(args: &BashArgs) -> Result<(), ToolError> {
    let invalid = |message: &str| Err(ToolError::new(ErrorCode::InvalidArguments, message));
    if args.command.trim().is_empty() {
        return invalid("command: there is nothing to run");
    }
    if args.command.contains('\0') {
        return invalid("command: a zero byte can't be part of a command");
    }
    Ok(())
}

/// What a command reaches outside by links that it names.
fn looked_out(world: &dyn World, line: &str, folder: PathBuf) -> Option<LedOut> {
    let files = world.files();
    let place = Place {
        workspace: files.workspace().to_path_buf(),
        folder,
        home: world.processes().variable("HOME").map(PathBuf::from),
        roots: files.writable().map(Path::to_path_buf).collect(),
        readable: files.read_only().map(Path::to_path_buf).collect(),
    };
    led_out(&examine(line, &place), &place)
}

/// A folder to start in must be one that commands may write to.
fn wanted_folder(world: &dyn World, cwd: &str) -> Result<PathBuf, ToolError> {
    let located = world.files().locate(Path::new(cwd), Access::Write)?;
    if !located.path().is_dir() {
        return Err(ToolError::new(ErrorCode::FileNotFound, format!("cwd: there is no folder {}", located.shown())));
    }
    Ok(located.path().to_path_buf())
}

/// What a command gets: what it asks for, and where a person said yes to the line, the network that it plainly
/// needs and the closed files that it names. They were told of both, so their yes is about that too.
fn granted(args: &BashArgs, folder: &Path, ctx: &ToolContext) -> Allowance {
    let asked = Allowance::from(args.freedom());
    if !ctx.approved || !ctx.world.processes().is_boxed() {
        return asked;
    }
    let home = ctx.world.processes().variable("HOME").map(PathBuf::from);
    let place = Place { home, ..Place::new(folder) };
    let examined = examine(&args.command, &place);
    let freedom = match asked.freedom {
        Freedom::AsConfigured if examined.network => Freedom::Network,
        Freedom::AsConfigured | Freedom::Network | Freedom::Unboxed => asked.freedom,
    };
    Allowance { freedom, opens: if examined.risk == Risk::Critical { examined.opens } else { Vec::new() } }
}

/// What a command asks for beyond its box, where there is one to leave.
fn leaves_box(freedom: Freedom, world: &dyn World) -> Option<&'static str> {
    match freedom {
        Freedom::Unboxed if world.processes().is_boxed() => Some("it runs without the sandbox"),
        Freedom::Network if world.processes().is_boxed() => Some("it reaches the network"),
        Freedom::Unboxed | Freedom::Network | Freedom::AsConfigured => None,
    }
}

fn positive(seconds: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(seconds).ok().filter(|time| !time.is_zero())
}

fn refused(error: SpawnError) -> ToolError {
    ToolError::new(error.code(), error.to_string())
}

fn outcome_code(outcome: Outcome) -> Option<i32> {
    match outcome {
        Outcome::Ended(end) => exit_code(end.exit),
        Outcome::TimedOut | Outcome::Cancelled | Outcome::GoesOn => None,
    }
}

fn seconds_if_worth(took: Duration, outcome: Outcome) -> String {
    let success = matches!(outcome, Outcome::Ended(end) if end.exit == Exit::Code(0));
    if success && took < WORTH_SAYING { String::new() } else { format!(" after {}", seconds(took)) }
}

fn add_notes(text: &mut String, notes: &[String]) {
    for note in notes {
        add_line(text, Some(format!("[{note}]")));
    }
}

fn add_line(text: &mut String, line: Option<String>) {
    let Some(line) = line else { return };
    if !text.is_empty() {
        text.push('\n');
    }
    text.push_str(&line);
}

pub(super) async fn off_the_runtime<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, ToolError> {
    tokio::task::spawn_blocking(work).await.map_err(|error| ToolError::failed(error.to_string()))
}

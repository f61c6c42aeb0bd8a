//! The commands after a slash that reach beyond the session.

use std::ffi::OsString;
use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

use clap::Parser;
use jiff::Timestamp;
use neco_app::workspace::plugged::Plugged;
use neco_app::workspace::sandbox;
use neco_proto::app::agents::{ListAgents, ShowAgent};
use neco_proto::app::doctor::Examine;
use neco_proto::app::history::DiffSession;
use neco_proto::app::memory::{ListMemory, MemoryWords};
use neco_proto::app::models::ListModels;
use neco_proto::app::sessions::{ForkSession, ListSessions};
use neco_proto::app::settings::ListSettings;
use neco_proto::app::workflows::{CheckWorkflows, ListWorkflows, ShowWorkflow};
use neco_proto::app::{AppError, Caller, Trouble};
use neco_proto::{Answer, CheckpointInfo, Client, Command, PromptReport, Query, SessionSnapshot};
use neco_safety::sandbox::Ask;
use neco_tui::host::{CommandOutcome, Wanted};
use neco_tui::told::fenced;
use neco_view::agent_ask::AgentAsk;
use neco_view::paint::lists::{agents, doctor, memory, models, rules, sessions, settings, workflows};
use neco_view::slash::Outside;
use neco_view::wording::prompts;
use serde_json::Value;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::host::TerminalHost;
use crate::agent_orders;
use crate::cmd::session;
use crate::cmd::session::Desk;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::port_args::ExportArgs;
use crate::print::clean::clean_line;
use crate::print::figures;
use crate::print::paint::Paint;
use crate::short_id::{ShortIds, short_id};

/// How long a look at everything may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// Entries of the memory that are found at most.
const MEMORIES: usize = 20;

/// All sessions that there are.
const ALL: usize = usize::MAX >> 1;

/// What is written behind `/export`, as on the command line.
#[derive(Parser)]
#[command(name = "/export", no_binary_name = true)]
struct ExportLine {
    #[command(flatten)]
    args: ExportArgs,
}

impl TerminalHost {
    /// Carries out a command of the table that a session can't carry out by itself.
    ///
    /// # Errors
    /// When it can't be done.
    pub async fn beyond(
        &self,
        client: Arc<dyn Client>,
        what: Outside,
        argument: &str,
    ) -> Result<CommandOutcome, Failure> {
        let one: &str = argument.trim();
        Ok(match what {
            Outside::Init => CommandOutcome::Prompt(prompts::init(one)),
            Outside::Review => CommandOutcome::Prompt(prompts::review(one)),
            Outside::Fork => self.fork(&client, one).await?,
            Outside::Checkpoints => checkpoints(&client).await?,
            Outside::Diff => self.diff(&client).await?,
            Outside::Prompt => prompt(&client).await?,
            Outside::Export => self.export(&client, one).await?,
            Outside::Agents => self.agents(&client, one).await?,
            Outside::Workflow => self.workflow(one).await?,
            Outside::Memory => self.memory(one).await?,
            Outside::Config => {
                let list = self.ask_storeless(ListSettings { folder: self.folder_name() }).await?;
                print(&settings::as_lines(&list.settings, true))
            }
            Outside::Doctor => self.doctor().await?,
            Outside::Sessions => self.all_sessions().await?,
            Outside::Models => {
                let list = ListModels { folder: self.folder_name(), all: false, own_servers: false };
                print(&models::as_lines(&self.ask_storeless(list).await?, Paint::default()))
            }
            Outside::Permissions => print(&rules::as_lines(&self.rules_here().await?)),
            Outside::Hooks => self.hooks()?,
            Outside::Sandbox => self.sandbox().await?,
            Outside::Bug => CommandOutcome::Show(self.bug(&client).await),
        })
    }

    /// The same as the command says, but for the terminal, which the window has.
    async fn doctor(&self) -> Result<CommandOutcome, Failure> {
        let examined = timeout(PATIENCE, self.ask_storeless(Examine { folder: self.folder_name() })).await;
        let examined = examined.map_err(|_| Failure::new(Exit::Failed, "it takes too long"))??;
        let lines = doctor::as_lines(&examined.findings, Paint::default());
        Ok(print(&format!("neco {}\n{lines}{}", examined.version, doctor::end(&examined.findings))))
    }

    /// The sessions of this folder.
    async fn all_sessions(&self) -> Result<CommandOutcome, Failure> {
        let here = ListSessions { folder: Some(self.folder_name()), limit: ALL, states: true, ..Default::default() };
        let found = self.ask(&here).await?.sessions;
        let all = self.ask(&ListSessions { limit: ALL, ..Default::default() }).await?.sessions;
        let ids = ShortIds::of(all.iter().map(|session| session.id));
        let now = Timestamp::now();
        let shape = sessions::Shape { all: false, home: self.env().home(), now, width: usize::MAX, sizes: false };
        Ok(print(&sessions::as_lines(&found, &ids, &shape)))
    }

    /// What is remembered, or what of it fits some words.
    async fn memory(&self, words: &str) -> Result<CommandOutcome, Failure> {
        let none = if words.is_empty() { memory::NOTHING } else { memory::NO_HIT };
        let words = (!words.is_empty()).then(|| MemoryWords { text: words.to_owned(), limit: MEMORIES });
        let list = self.ask(&ListMemory { folder: self.folder_name(), words, only: None }).await?;
        Ok(print(&memory::as_lines(&list.entries, none, Timestamp::now())))
    }

    /// `/agents`, `/agents show NAME`, and what is asked of one that works: `/agents pause NAME`…
    async fn agents(&self, client: &Arc<dyn Client>, text: &str) -> Result<CommandOutcome, Failure> {
        let folder = self.folder_name();
        if matches!(text, "" | "list") {
            return Ok(print(&agents::all(&self.ask(&ListAgents { folder }).await?, self.env().home())));
        }
        let ask = AgentAsk::parse(text).map_err(Failure::usage)?;
        let shows = match &ask {
            AgentAsk::Status { agent } => Some(agent.clone()),
            AgentAsk::Order { .. } => None,
        };
        match (agent_orders::carry_out(client.as_ref(), ask, usize::MAX, Paint::default()).await, shows) {
            (Ok(text), Some(_)) => Ok(print(&text)),
            (Ok(words), None) => Ok(CommandOutcome::Say(words)),
            // Nobody of that name works; perhaps somebody can be asked who has it.
            (Err(words), Some(Some(name))) => match self.ask(&ShowAgent { folder, name }).await {
                Ok(shown) => Ok(print(&agents::one(&shown, self.env().home()))),
                Err(_) => Err(Failure::usage(words)),
            },
            (Err(words), _) => Err(Failure::usage(words)),
        }
    }

    async fn fork(&self, client: &Arc<dyn Client>, at: &str) -> Result<CommandOutcome, Failure> {
        let standing = snapshot(client).await?;
        if standing.state.is_at_work() {
            let words = "it is at work, and going to a fork would stop it: Esc stops it, then /fork";
            return Err(Failure::usage(words));
        }
        let session = standing.session_id;
        let request = ForkSession {
            session: Some(session.to_string()),
            at: (!at.is_empty()).then(|| at.to_owned()),
            ..ForkSession::default()
        };
        let fork = self.ask(&request).await?.session.id;
        let from = if at.is_empty() { String::new() } else { format!(" from before message {at}") };
        let words = format!(
            "from here on this is session {}, a fork of {}{from}; /resume {} goes back to that",
            short_id(fork),
            short_id(session),
            short_id(session)
        );
        Ok(CommandOutcome::GoOn(Wanted::Id(fork.to_string()), words))
    }

    async fn diff(&self, client: &Arc<dyn Client>) -> Result<CommandOutcome, Failure> {
        let session = snapshot(client).await?.session_id.to_string();
        let request = DiffSession { session, folder: self.folder_name(), from: None, to: None };
        let files = self.ask(&request).await?.files;
        Ok(if files.is_empty() {
            CommandOutcome::Say("this session changed no file".to_owned())
        } else {
            CommandOutcome::Show(fenced(session::texts(&files, Paint::default()).trim_end(), "diff"))
        })
    }

    async fn export(&self, client: &Arc<dyn Client>, argument: &str) -> Result<CommandOutcome, Failure> {
        let id = snapshot(client).await?.session_id.to_string();
        let (file, flags) = file_and_flags(argument);
        let file = if file.is_empty() { format!("neco-{}.md", id.chars().take(13).collect::<String>()) } else { file };
        let file = self.folder().join(file);
        let words = [OsString::from(id), "-o".into(), file.clone().into()];
        let line = ExportLine::try_parse_from(words.into_iter().chain(flags.into_iter().map(OsString::from)));
        let line = line.map_err(|error| Failure::usage(error.to_string().trim().to_owned()))?;
        let everywhere = self.everywhere_here();
        let desk = Desk::open_to_read(&everywhere, self.env()).await?;
        let exported = session::export(&line.args, &desk).await;
        desk.close().await?;
        exported?;
        Ok(CommandOutcome::Say(format!("the session is in {}", file.display())))
    }

    /// `/workflow`, `/workflow show NAME`, `/workflow run NAME`.
    async fn workflow(&self, argument: &str) -> Result<CommandOutcome, Failure> {
        let words: Vec<&str> = argument.split_whitespace().collect();
        let folder = self.folder_name();
        let text = match words.as_slice() {
            [] | ["list"] => {
                let list = self.ask(&ListWorkflows { folder, all: false }).await?;
                workflows::as_lines(&list, false, Timestamp::now())
            }
            ["show", name] => {
                let shape = workflows::Shape { task: None, json: false, paint: Paint::default() };
                workflows::text(ShowWorkflow { folder, name: (*name).to_owned() }, &shape, self.app().as_ref()).await?
            }
            ["validate", name] => {
                let request = CheckWorkflows { folder, files: vec![(*name).to_owned()] };
                workflows::checked(&self.ask(&request).await?.workflows)
            }
            ["run", name, inputs @ ..] => return self.run_workflow(name, inputs).await,
            _ => return Err(Failure::usage("/workflow, /workflow show NAME or /workflow run NAME")),
        };
        Ok(print(&text))
    }

    async fn run_workflow(&self, name: &str, inputs: &[&str]) -> Result<CommandOutcome, Failure> {
        let wanted = ShowWorkflow { folder: self.folder_name(), name: name.to_owned() };
        let shown = self.app().ask(&Caller::person(), &wanted).await;
        let unknown = || Failure::usage(format!("there is no workflow `{name}`: /workflow lists those there are"));
        let failed = |error: AppError| if error.trouble == Trouble::NotFound { unknown() } else { error.into() };
        let shown = shown.map_err(failed)?;
        // As behind `neco workflow run`, too.
        let inputs = inputs.iter().filter(|word| **word != "--input").copied();
        let input = |text: &str| {
            let text = text.strip_prefix("--input=").unwrap_or(text);
            let wrong = || Failure::usage(format!("{text}: inputs are written NAME=VALUE"));
            let (name, value) = text.split_once('=').ok_or_else(wrong)?;
            Ok((name.to_owned(), Value::from(value)))
        };
        let inputs = inputs.map(input).collect::<Result<serde_json::Map<String, Value>, Failure>>()?;
        let definition = shown.definition;
        Ok(CommandOutcome::Send(Command::RunWorkflow { definition, inputs: Value::Object(inputs) }))
    }

    /// Every hook that is plugged in.
    fn hooks(&self) -> Result<CommandOutcome, Failure> {
        let loaded = self.load()?;
        let plugged = Plugged::look(self.env(), &self.folder(), &loaded);
        let mut text = String::new();
        for hook in plugged.hooks() {
            let matcher = hook.matcher.pattern();
            let _ = writeln!(text, "{:<18} {matcher:<16} {}", hook.event.to_string(), clean_line(&hook.command));
            let _ = writeln!(text, "    {}", self.env().shown(hook.origin.file()));
        }
        if let Some(note) = plugged.note() {
            let _ = writeln!(text, "{note}");
        }
        let none = "no hooks; docs/reference/config.md, [hooks], says how to write one";
        Ok(if text.is_empty() { CommandOutcome::Say(none.to_owned()) } else { print(&text) })
    }

    /// What commands run in.
    async fn sandbox(&self) -> Result<CommandOutcome, Failure> {
        let (loaded, env) = (self.load()?, self.env().clone());
        let opened = spawn_blocking(move || {
            let sandbox = sandbox::open(&loaded.config, &env, Ask::IfChanged)?;
            Ok::<_, Failure>(sandbox.report().clone())
        });
        let report = opened.await.map_err(|error| Failure::new(Exit::Failed, error.to_string()))??;
        let mut text = format!("commands run in: {}\n", report.in_short());
        report.gaps.iter().for_each(|gap| text.push_str(&format!("open: {gap}\n")));
        Ok(print(&text))
    }

    async fn bug(&self, client: &Arc<dyn Client>) -> String {
        let session = snapshot(client).await.ok();
        let mut text = String::from("What a report of a defect needs:\n\n");
        let _ = writeln!(text, "- neco {}, {}", env!("CARGO_PKG_VERSION"), std::env::consts::OS);
        if let Some(session) = session {
            let (model, mode) = (clean_line(&session.model), session.mode);
            let _ = writeln!(text, "- model {model}, mode {mode}, generation {}", session.generation);
            let _ = writeln!(text, "- the session: `/export bug.md` (keys are taken out; read it before you send it)");
        }
        let log = crate::log::path(self.env());
        let _ = writeln!(text, "- what `/doctor` says");
        let _ = writeln!(text, "- the log of a run with `--debug`: {}", self.env().shown(&log));
        let _ = writeln!(text, "- what you did, what happened, and what you expected instead");
        text
    }
}

/// Text as a program prints it.
fn print(text: &str) -> CommandOutcome {
    match text.trim_end() {
        "" => CommandOutcome::Say("nothing to tell".to_owned()),
        text => CommandOutcome::Print(text.to_owned()),
    }
}

async fn snapshot(client: &Arc<dyn Client>) -> Result<SessionSnapshot, Failure> {
    match client.ask(Query::Snapshot).await? {
        Answer::Snapshot(snapshot) => Ok(snapshot),
        _ => Err(Failure::new(Exit::Failed, "the session does not say how it stands")),
    }
}

/// The file that is named behind `/export`, and what is said of it as on the command line.
fn file_and_flags(argument: &str) -> (String, Vec<String>) {
    let (mut file, mut flags) = (Vec::new(), Vec::new());
    let mut words = argument.split_whitespace();
    while let Some(word) = words.next() {
        match word {
            "--format" => flags.extend([word.to_owned()].into_iter().chain(words.next().map(str::to_owned))),
            _ if word.starts_with("--") => flags.push(word.to_owned()),
            _ => file.push(word),
        }
    }
    (file.join(" "), flags)
}

async fn checkpoints(client: &Arc<dyn Client>) -> Result<CommandOutcome, Failure> {
    let answer = client.ask(Query::Checkpoints).await?;
    let Answer::Checkpoints { checkpoints } = answer else { return Err(says_nothing()) };
    if checkpoints.is_empty() {
        let words = "nothing was kept yet: the first call of a turn that writes or runs something makes a checkpoint";
        return Ok(CommandOutcome::Say(words.to_owned()));
    }
    let line = |info: &CheckpointInfo| {
        let rev: String = info.rev.chars().take(10).collect();
        let files = figures::count(info.changed, "file");
        let when = format!("{:?}", info.when).to_lowercase();
        format!(
            "{rev:<10}  {}  {when:<7} {files:>8} changed  {}",
            info.ts.strftime("%H:%M:%S"),
            clean_line(&info.label)
        )
    };
    let lines: Vec<String> = checkpoints.iter().map(line).collect();
    let hint = "/rewind NAME puts the files back into one; /diff shows all that changed";
    Ok(CommandOutcome::Print(format!("{}\n{hint}", lines.join("\n"))))
}

async fn prompt(client: &Arc<dyn Client>) -> Result<CommandOutcome, Failure> {
    let Answer::Prompt(report) = client.ask(Query::Prompt).await? else { return Err(says_nothing()) };
    Ok(CommandOutcome::Print(told(&report)))
}

fn says_nothing() -> Failure {
    Failure::new(Exit::Failed, "the session does not say")
}

fn told(report: &PromptReport) -> String {
    let mut text = String::new();
    for layer in &report.system {
        let _ = writeln!(text, "── {} ──\n{}\n", layer.layer, layer.text.trim_end());
    }
    let tools: Vec<&str> = report.tools.iter().map(|tool| tool.name.as_str()).collect();
    let _ = writeln!(text, "── tools ──\n{}\n", tools.join(", "));
    let messages = figures::count(report.messages.len() as u64, "message");
    let _ = write!(text, "and {messages}; `neco prompt show` prints all of it");
    text
}

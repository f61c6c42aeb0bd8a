//! The commands after a slash that reach beyond the session.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use neco_proto::app::agents::{ListAgents, ShowAgent};
use neco_proto::app::doctor::Examine;
use neco_proto::app::folders::AddFolder;
use neco_proto::app::history::DiffSession;
use neco_proto::app::keys::{KeyPlace, ListKeys, RemoveKeys};
use neco_proto::app::memory::{ListMemory, MemoryWords};
use neco_proto::app::models::ListModels;
use neco_proto::app::rules::ListRules;
use neco_proto::app::sessions::{ForkSession, ListSessions};
use neco_proto::app::trust::{DecideTrust, ShowTrust};
use neco_proto::app::workflows::{CheckWorkflows, ListWorkflows, ShowWorkflow};
use neco_proto::app::{App, AppError, Caller, Request, Trouble};
use neco_proto::clean::{clean, clean_line};
use neco_proto::{Answer, CheckpointInfo, Client, Command, PromptReport, Query, SessionRules, SessionSnapshot};
use neco_view::agent_ask::AgentAsk;
use neco_view::paint::colour::Paint;
use neco_view::paint::lists::sessions::below_home;
use neco_view::paint::lists::{agents, doctor, memory, models, rules, sessions, workflows};
use neco_view::short_id::{ShortIds, short_id};
use neco_view::slash::Outside;
use neco_view::wording::rewind::moment;
use neco_view::wording::{layers, notices, prompts};
use neco_view::{agent_orders, figures, workflow_inputs};
use serde_json::Value;
use tokio::time::timeout;

use crate::extensions;
use crate::host::{CommandOutcome, Host, Wanted};
use crate::in_background;
use crate::servers;
use crate::what_holds::{self, Freer};

/// How long a look at everything may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// Entries of the memory that are found at most.
const MEMORIES: usize = 20;

/// All sessions that there are.
const ALL: usize = usize::MAX >> 1;

/// What a session does without asking because of rules; nothing where it does not say, such as one of an older process.
pub(crate) async fn session_rules(client: &dyn Client) -> SessionRules {
    match client.ask(Query::Rules).await {
        Ok(Answer::Rules(rules)) => rules,
        Ok(_) | Err(_) => SessionRules::default(),
    }
}

/// The setting of the window's colours.
pub const THEME: &str = "tui.theme";

/// Carries out a command that a session can't carry out by itself. `client` is the session on the screen.
pub async fn carry_out(
    app: &dyn App,
    host: &dyn Host,
    client: &dyn Client,
    what: Outside,
    argument: &str,
) -> Result<CommandOutcome, AppError> {
    Beyond { app, host, client, folder: host.folder() }.carry_out(what, argument.trim()).await
}

/// What such a command can reach.
pub(crate) struct Beyond<'a> {
    app: &'a dyn App,
    host: &'a dyn Host,
    pub(crate) client: &'a dyn Client,
    folder: String,
}

impl Beyond<'_> {
    async fn carry_out(&self, what: Outside, one: &str) -> Result<CommandOutcome, AppError> {
        Ok(match what {
            Outside::Init => CommandOutcome::Prompt(prompts::init(one)),
            Outside::Review => CommandOutcome::Prompt(prompts::review(one)),
            Outside::Fork => self.fork(one).await?,
            Outside::Checkpoints => self.checkpoints().await?,
            Outside::Diff => self.diff().await?,
            Outside::Prompt => self.prompt().await?,
            Outside::Export => self.export(one).await?,
            Outside::Background => in_background::ps(self, one).await?,
            Outside::Agents => self.agents(one).await?,
            Outside::Workflow => self.workflow(one).await?,
            Outside::State => self.state().await?,
            Outside::Memory => self.memory(one).await?,
            Outside::Mcp => servers::mcp(self, one).await?,
            Outside::Config => what_holds::config(self, one).await?,
            Outside::FreerConfig => what_holds::set(self, one, Freer::Agreed).await?,
            Outside::Doctor => self.doctor().await?,
            Outside::Sessions => self.all_sessions().await?,
            Outside::Models => {
                let list = ListModels { folder: self.folder(), all: false, own_servers: true };
                print(&models::as_lines(&self.ask(&list).await?, Paint::default()))
            }
            Outside::Effort => self.effort(one).await?,
            Outside::Permissions => {
                let request = ListRules { folder: self.folder(), given: self.host.given() };
                let in_force = rules::as_lines(&self.ask(&request).await?);
                print(&format!("{}{in_force}", rules::for_session(&self.session_rules().await.granted)))
            }
            Outside::Hooks => what_holds::hooks(self).await?,
            Outside::Skills => extensions::skills(self, one).await?,
            Outside::Plugins => extensions::plugins(self, one).await?,
            Outside::Sandbox => what_holds::sandbox(self, one).await?,
            Outside::FreerSandbox => what_holds::set_sandbox(self, one).await?,
            Outside::Bug => CommandOutcome::Show(self.bug().await),
            Outside::Status => what_holds::status(self).await?,
            Outside::AddDir => self.add_dir(one).await?,
            Outside::Trust => self.trust(one).await?,
            Outside::Login => self.login(one).await?,
            Outside::Logout => self.logout(one).await?,
        })
    }

    /// `/effort` tells how much the model thinks, and `/effort high` has it think as much as that: a short form of
    /// `/model PROVIDER/MODEL?reasoning=high`.
    async fn effort(&self, wanted: &str) -> Result<CommandOutcome, AppError> {
        let asked = self.snapshot().await?.model;
        let model = if asked.contains('/') { asked } else { self.only_model(&asked).await? };
        let (name, parameters) = model.split_once('?').unwrap_or((model.as_str(), ""));
        if wanted.is_empty() {
            let set = parameters.split('&').find_map(|parameter| parameter.strip_prefix("reasoning="));
            let now = set.map_or_else(|| "as it does unless told".to_owned(), clean_line);
            return Ok(CommandOutcome::Say(format!("{} thinks: {now}; /effort high sets it", clean_line(name))));
        }
        let others = parameters.split('&').filter(|parameter| !parameter.is_empty());
        let others = others.filter(|parameter| !parameter.starts_with("reasoning=")).map(str::to_owned);
        let parameters: Vec<String> = others.chain([format!("reasoning={wanted}")]).collect();
        let model = format!("{name}?{}", parameters.join("&"));
        let words = format!("From the next turn on: {}", clean_line(&model));
        self.client.send(Command::SetModel { model }).await.map_err(AppError::from)?;
        Ok(CommandOutcome::Say(words))
    }

    /// The model of a group that has no other: parameters belong to a model.
    async fn only_model(&self, group: &str) -> Result<String, AppError> {
        let list = ListModels { folder: self.folder(), all: false, own_servers: false };
        let models = self.ask(&list).await?.groups.remove(group).map(|group| group.models).unwrap_or_default();
        match models.as_slice() {
            [only] => Ok(only.clone()),
            [first, ..] => Err(usage(format!(
                "{} is a group of models; /model {}?reasoning=high sets it for one of them",
                clean_line(group),
                clean_line(first)
            ))),
            [] => Err(usage(format!(
                "{} is a group of models; /model PROVIDER/MODEL?reasoning=high sets it for one model",
                clean_line(group)
            ))),
        }
    }

    /// The same as the command says, but for the terminal, which the window has.
    async fn doctor(&self) -> Result<CommandOutcome, AppError> {
        let examined = timeout(PATIENCE, self.ask(&Examine { folder: self.folder() })).await;
        let examined = examined.map_err(|_| AppError::new(Trouble::Failed, "no answer in time"))??;
        let lines = doctor::as_lines(&examined.findings, Paint::default());
        Ok(print(&format!("neco {}\n{lines}{}", examined.version, doctor::end(&examined.findings))))
    }

    /// The sessions of this folder.
    async fn all_sessions(&self) -> Result<CommandOutcome, AppError> {
        let here = ListSessions { folder: Some(self.folder()), limit: ALL, states: true, ..Default::default() };
        let found = self.ask(&here).await?.sessions;
        let all = self.ask(&ListSessions { limit: ALL, ..Default::default() }).await?.sessions;
        let ids = ShortIds::of(all.iter().map(|session| session.id));
        let now = Timestamp::now();
        let shape = sessions::Shape { all: false, home: &self.host.home(), now, width: usize::MAX, sizes: false };
        Ok(print(&sessions::as_lines(&found, &ids, &shape)))
    }

    /// What is remembered, or what of it fits some words.
    async fn memory(&self, words: &str) -> Result<CommandOutcome, AppError> {
        let none = if words.is_empty() { memory::NOTHING } else { memory::NO_HIT };
        let words = (!words.is_empty()).then(|| MemoryWords { text: words.to_owned(), limit: MEMORIES });
        let list = self.ask(&ListMemory { folder: self.folder(), words, ..ListMemory::default() }).await?;
        Ok(print(&memory::as_lines(&list.entries, none, Timestamp::now())))
    }

    /// `/agents`, `/agents show NAME`, and what is asked of one that works: `/agents pause NAME`…
    async fn agents(&self, text: &str) -> Result<CommandOutcome, AppError> {
        let folder = self.folder();
        if matches!(text, "" | "list") {
            return Ok(print(&agents::all(&self.ask(&ListAgents { folder }).await?, &self.host.home())));
        }
        let ask = AgentAsk::parse(text).map_err(|error| usage(error.to_string()))?;
        let shows = match &ask {
            AgentAsk::Status { agent } => Some(agent.clone()),
            AgentAsk::Order { .. } => None,
        };
        match (agent_orders::carry_out(self.client, ask, "/agents", usize::MAX, Paint::default()).await, shows) {
            (Ok(text), Some(_)) => Ok(print(&text)),
            (Ok(words), None) => Ok(CommandOutcome::Say(words)),
            // Nobody of that name works; perhaps somebody can be asked who has it.
            (Err(error), Some(Some(name))) => match self.ask(&ShowAgent { folder, name }).await {
                Ok(shown) => Ok(print(&agents::one(&shown, &self.host.home()))),
                Err(_) => Err(usage(error.to_string())),
            },
            (Err(error), _) => Err(usage(error.to_string())),
        }
    }

    async fn fork(&self, at: &str) -> Result<CommandOutcome, AppError> {
        let standing = self.snapshot().await?;
        if standing.state.is_at_work() {
            let words = "Still working: Esc stops it first";
            return Err(usage(words));
        }
        let session = standing.session_id;
        let request = ForkSession {
            session: Some(session.to_string()),
            at: (!at.is_empty()).then(|| at.to_owned()),
            ..ForkSession::default()
        };
        let fork = self.ask(&request).await?.session.id;
        let from = if at.is_empty() { String::new() } else { format!(" from before message {at}") };
        let words = format!("Forked{from}: this is {} now · /resume {} goes back", short_id(fork), short_id(session));
        Ok(CommandOutcome::GoOn(Wanted::Id(fork.to_string()), words))
    }

    async fn diff(&self) -> Result<CommandOutcome, AppError> {
        let session = self.snapshot().await?.session_id.to_string();
        let request = DiffSession { session, folder: self.folder(), from: None, to: None };
        let files = self.ask(&request).await?.files;
        Ok(match files.is_empty() {
            true => CommandOutcome::Say("No files changed in this session.".to_owned()),
            false => CommandOutcome::Changes(files),
        })
    }

    async fn export(&self, argument: &str) -> Result<CommandOutcome, AppError> {
        let session = self.snapshot().await?.session_id;
        let file = self.host.export(session, argument.to_owned()).await?;
        Ok(CommandOutcome::Say(format!("Exported to {file}")))
    }

    /// `/workflow`, `/workflow show NAME`, `/workflow run NAME`.
    async fn workflow(&self, argument: &str) -> Result<CommandOutcome, AppError> {
        let words: Vec<&str> = argument.split_whitespace().collect();
        let folder = self.folder();
        let text = match words.as_slice() {
            [] | ["list"] => {
                let list = self.ask(&ListWorkflows { folder, ..ListWorkflows::default() }).await?;
                workflows::as_lines(&list, false, Timestamp::now())
            }
            ["show", name] => {
                let shape = workflows::Shape { task: None, json: false, paint: Paint::default() };
                workflows::text(ShowWorkflow { folder, name: (*name).to_owned() }, &shape, self.app).await?
            }
            ["validate", name] => {
                let request = CheckWorkflows { folder, files: vec![(*name).to_owned()] };
                workflows::checked(&self.ask(&request).await?.workflows)
            }
            ["run", name, inputs @ ..] => return self.run_workflow(name, inputs).await,
            _ => return Err(usage("/workflow, /workflow show NAME or /workflow run NAME")),
        };
        Ok(print(&text))
    }

    async fn run_workflow(&self, name: &str, inputs: &[&str]) -> Result<CommandOutcome, AppError> {
        let wanted = ShowWorkflow { folder: self.folder(), name: name.to_owned() };
        let shown = self.ask(&wanted).await;
        let unknown = || usage(format!("no workflow `{name}`; /workflow lists them"));
        let failed = |error: AppError| if error.trouble == Trouble::NotFound { unknown() } else { error };
        let shown = shown.map_err(failed)?;
        // As behind `neco workflow run`, too.
        let inputs = inputs.iter().filter(|word| **word != "--input").copied();
        let inputs: Vec<String> = inputs.map(|text| text.strip_prefix("--input=").unwrap_or(text).to_owned()).collect();
        let inputs = workflow_inputs::read(&inputs, &shown.inputs)?;
        let definition = shown.definition;
        Ok(CommandOutcome::Send(Command::RunWorkflow { definition, inputs: Value::Object(inputs) }))
    }

    /// Opens another folder to the session.
    async fn add_dir(&self, folder: &str) -> Result<CommandOutcome, AppError> {
        let session = self.snapshot().await?.session_id.to_string();
        let folder = match folder.strip_prefix('~').filter(|rest| rest.is_empty() || rest.starts_with('/')) {
            Some(rest) => self.host.home().join(rest.trim_start_matches('/')),
            None => Path::new(&self.folder()).join(folder),
        };
        let open = self.ask(&AddFolder { session, folder: folder.display().to_string() }).await?;
        let added = open.folders.last().map(|folder| self.shown(folder)).unwrap_or_default();
        Ok(CommandOutcome::Say(format!(
            "{added} can be read and written from the next turn on, while this session is open"
        )))
    }

    /// What the folder would switch on by itself, and whether it may.
    async fn trust(&self, word: &str) -> Result<CommandOutcome, AppError> {
        let folder = self.folder();
        let shown = self.ask(&ShowTrust { folder: folder.clone() }).await?;
        if shown.described.is_empty() {
            return Ok(CommandOutcome::Say("This folder switches nothing on by itself.".to_owned()));
        }
        if matches!(word, "" | "show") {
            let now =
                if shown.all_on { "All of it is on; /trust no switches it off" } else { "/trust yes switches it on" };
            let (list, more) = match word {
                "show" => (&shown.described, ""),
                _ => (&shown.names, "/trust show shows what all of it says and runs\n"),
            };
            return Ok(print(&format!("{}\n{more}{now}", clean(list).trim_end())));
        }
        let trusted = word == "yes";
        self.ask(&DecideTrust { folder, seen: shown.seen, trusted, only: None }).await?;
        let words = if trusted { "Trusted; in effect from the next turn on." } else { "Not trusted any more." };
        Ok(CommandOutcome::Say(words.to_owned()))
    }

    /// Who has a key, and how one is added: it is typed unseen, which plain lines can't do.
    async fn login(&self, provider: &str) -> Result<CommandOutcome, AppError> {
        let list = self.ask(&ListKeys { folder: self.folder() }).await?;
        let provider = if provider.is_empty() { "PROVIDER" } else { provider };
        let mut text: String =
            list.keys.iter().filter(|row| row.keys > 0 || row.login).fold(String::new(), |text, row| {
                format!("{text}{:<16} {}\n", clean_line(&row.provider), figures::count(row.keys as u64, "key"))
            });
        let _ = write!(text, "Add one in another terminal: neco login {}", clean_line(provider));
        Ok(print(&text))
    }

    /// The provider of which something is kept, where that is one alone.
    async fn only_kept(&self) -> Result<String, AppError> {
        let list = self.ask(&ListKeys { folder: self.folder() }).await?;
        let kept = list.keys.into_iter().filter(|row| row.source == KeyPlace::File).map(|row| row.provider);
        match kept.collect::<Vec<_>>().as_slice() {
            [] => Err(usage("No key and no login is kept")),
            [one] => Ok(one.clone()),
            several => Err(usage(format!("/logout takes one of {}", several.join(", ")))),
        }
    }

    async fn logout(&self, provider: &str) -> Result<CommandOutcome, AppError> {
        let provider = if provider.is_empty() { self.only_kept().await? } else { provider.to_owned() };
        let request = RemoveKeys { folder: self.folder(), provider: provider.clone(), number: None };
        let removed = self.ask(&request).await?;
        let keys = figures::count(removed.keys as u64, "key");
        Ok(CommandOutcome::Say(format!("Removed {keys} of {provider} from {}", self.shown(&removed.file))))
    }

    async fn bug(&self) -> String {
        let session = self.snapshot().await.ok();
        let mut text = String::from("What a bug report needs:\n\n");
        let _ = writeln!(text, "- neco {}, {}", env!("CARGO_PKG_VERSION"), std::env::consts::OS);
        if let Some(session) = session {
            let (model, mode) = (clean_line(&session.model), session.mode);
            let _ = writeln!(text, "- model {model}, mode {mode}, tool level {}", session.generation);
            let _ = writeln!(text, "- the session: `/export bug.md` (keys are taken out; read it before you send it)");
        }
        let _ = writeln!(text, "- what `/doctor` says");
        let _ = writeln!(text, "- the log of a run with `--debug`: {}", self.shown(&self.host.log_file()));
        let _ = writeln!(text, "- what you did, what happened, and what you expected instead");
        text
    }

    async fn checkpoints(&self) -> Result<CommandOutcome, AppError> {
        let answer = self.client.ask(Query::Checkpoints).await.map_err(AppError::from)?;
        let Answer::Checkpoints { checkpoints } = answer else { return Err(says_nothing()) };
        if checkpoints.is_empty() {
            let words = "No checkpoint yet: the first edit or command makes one.";
            return Ok(CommandOutcome::Say(words.to_owned()));
        }
        let zone = TimeZone::system();
        let line = |info: &CheckpointInfo| {
            let rev: String = info.rev.chars().take(10).collect();
            let files = figures::count(info.changed, "file");
            let moment = moment(info.when, &info.label);
            let time = info.ts.to_zoned(zone.clone()).strftime("%H:%M:%S");
            format!("{rev:<10}  {time}  {files:>8} changed  {moment}")
        };
        let lines: Vec<String> = checkpoints.iter().map(line).collect();
        let hint = "/rewind NAME restores the files of one; /diff shows all changes";
        Ok(CommandOutcome::Print(format!("{}\n{hint}", lines.join("\n"))))
    }

    async fn prompt(&self) -> Result<CommandOutcome, AppError> {
        let answer = self.client.ask(Query::Prompt).await.map_err(AppError::from)?;
        let Answer::Prompt(report) = answer else { return Err(says_nothing()) };
        Ok(CommandOutcome::Print(told(&report)))
    }

    /// The values that the agents share, a line each.
    async fn state(&self) -> Result<CommandOutcome, AppError> {
        let shared = self.snapshot().await?.shared;
        if shared.is_empty() {
            let words = "The agents of this session share no values; state_set is their tool for it.";
            return Ok(CommandOutcome::Say(words.to_owned()));
        }
        let lines: Vec<String> = shared.iter().map(notices::shared).collect();
        Ok(CommandOutcome::Print(lines.join("\n")))
    }

    /// What is done without asking because of rules.
    pub(crate) async fn session_rules(&self) -> SessionRules {
        session_rules(self.client).await
    }

    pub(crate) async fn snapshot(&self) -> Result<SessionSnapshot, AppError> {
        match self.client.ask(Query::Snapshot).await.map_err(AppError::from)? {
            Answer::Snapshot(snapshot) => Ok(snapshot),
            _ => Err(AppError::new(Trouble::Failed, "the session does not answer")),
        }
    }

    pub(crate) async fn ask<R: Request>(&self, request: &R) -> Result<R::Answer, AppError> {
        self.app.ask(&Caller::person(), request).await
    }

    pub(crate) fn folder(&self) -> String {
        self.folder.clone()
    }

    /// The person's home folder.
    pub(crate) fn home(&self) -> PathBuf {
        self.host.home()
    }

    /// A file as people write it.
    pub(crate) fn shown(&self, file: &str) -> String {
        below_home(file, &self.host.home())
    }
}

/// Text as a program prints it.
pub(crate) fn print(text: &str) -> CommandOutcome {
    match text.trim_end() {
        "" => CommandOutcome::Say("Nothing to show.".to_owned()),
        text => CommandOutcome::Print(text.to_owned()),
    }
}

fn says_nothing() -> AppError {
    AppError::new(Trouble::Failed, "the session does not answer")
}

pub(crate) fn usage(words: impl Into<String>) -> AppError {
    AppError::new(Trouble::Invalid, words)
}

fn told(report: &PromptReport) -> String {
    let mut text = String::new();
    for layer in &report.system {
        let _ = writeln!(text, "── {} ──\n{}\n", layers::name(layer.layer), layer.text.trim_end());
    }
    let tools: Vec<&str> = report.tools.iter().map(|tool| tool.name.as_str()).collect();
    let _ = writeln!(text, "── tools ──\n{}", tools.join(", "));
    if let Some(looked_up) = notices::looked_up(&report.context.tools) {
        let _ = writeln!(text, "{looked_up}");
    }
    text.push('\n');
    let messages = figures::count(report.messages.len() as u64, "message");
    let _ = write!(text, "and {messages}; `neco prompt show` prints all of it");
    text
}

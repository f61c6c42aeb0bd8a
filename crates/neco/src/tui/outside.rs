//! The commands after a slash that reach beyond the session.

use std::fmt::Write;
use std::sync::Arc;

use neco_app::workspace::plugged::Plugged;
use neco_app::workspace::sandbox;
use neco_proto::agent_ask::AgentAsk;
use neco_proto::app::agents::{ListAgents, ShowAgent};
use neco_proto::app::memory::{ListMemory, MemoryWords};
use neco_proto::app::sessions::ForkSession;
use neco_proto::app::workflows::{CheckWorkflows, ListWorkflows, ShowWorkflow};
use neco_proto::app::{Caller, Trouble};
use neco_proto::slash::Outside;
use neco_proto::{Answer, CheckpointInfo, Client, Command, PromptReport, Query, SessionId, SessionSnapshot};
use neco_safety::sandbox::Ask;
use neco_tui::host::{CommandOutcome, Wanted};
use neco_tui::told::fenced;
use serde_json::Value;

use super::host::{SHORT_ID, TerminalHost};
use super::{own_self, prompts};
use crate::agent_orders;
use crate::cmd::agents::show as agents;
use crate::cmd::memory::list as memory;
use crate::cmd::workflow;
use crate::cmd::workflow::show::Shape;
use crate::failure::Failure;
use crate::print::clean::clean_line;
use crate::print::figures;
use crate::print::paint::Paint;

/// Entries of the memory that are found at most.
const MEMORIES: usize = 20;

impl TerminalHost {
    /// Carries out a command of the table that a session can't carry out by itself.
    ///
    /// # Errors
    /// In words for the person.
    pub async fn beyond(
        &self,
        client: Arc<dyn Client>,
        what: Outside,
        argument: &str,
    ) -> Result<CommandOutcome, String> {
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
            Outside::Config => self.own(&["config", "show", "--origin"]).await?,
            Outside::Doctor => self.doctor().await?,
            Outside::Sessions => self.own(&["session", "list"]).await?,
            Outside::Models => self.own(&["model", "list"]).await?,
            Outside::Permissions => self.own(&["policy", "list"]).await?,
            Outside::Hooks => self.hooks().await?,
            Outside::Sandbox => self.sandbox().await?,
            Outside::Bug => CommandOutcome::Show(self.bug(&client).await),
        })
    }

    /// What a subcommand of this program prints, as it is.
    async fn own(&self, arguments: &[&str]) -> Result<CommandOutcome, String> {
        let told = own_self::run(arguments, self.overrides(), &self.folder()).await?;
        let text = if told.out.trim().is_empty() { told.err } else { told.out };
        match text.trim_end() {
            "" => Ok(CommandOutcome::Say("nothing to tell".to_owned())),
            text => Ok(CommandOutcome::Print(text.to_owned())),
        }
    }

    /// The same as the command says, but for the terminal: that one has none.
    async fn doctor(&self) -> Result<CommandOutcome, String> {
        let outcome = self.own(&["doctor"]).await?;
        let CommandOutcome::Print(text) = outcome else { return Ok(outcome) };
        let about_terminal = |line: &str| line.split_whitespace().take(2).any(|word| word == "terminal");
        let lines: Vec<&str> = text.lines().filter(|line| !about_terminal(line)).collect();
        Ok(CommandOutcome::Print(lines.join("\n")))
    }

    /// What is remembered, or what of it fits some words.
    async fn memory(&self, words: &str) -> Result<CommandOutcome, String> {
        let none = if words.is_empty() { memory::NOTHING } else { memory::NO_HIT };
        let words = (!words.is_empty()).then(|| MemoryWords { text: words.to_owned(), limit: MEMORIES });
        let request = ListMemory { folder: self.folder().display().to_string(), words, only: None };
        let list = self.ask(&request).await.map_err(|failure| failure.words())?;
        Ok(CommandOutcome::Print(memory::as_lines(&list.entries, none).trim_end().to_owned()))
    }

    /// `/agents`, `/agents show NAME`, and what is asked of one that works: `/agents pause NAME`…
    async fn agents(&self, client: &Arc<dyn Client>, text: &str) -> Result<CommandOutcome, String> {
        let folder = self.folder().display().to_string();
        if matches!(text, "" | "list") {
            let list = self.ask(&ListAgents { folder }).await.map_err(|failure| failure.words())?;
            return Ok(CommandOutcome::Print(agents::all(&list, self.env()).trim_end().to_owned()));
        }
        let ask = AgentAsk::parse(text)?;
        let shows = match &ask {
            AgentAsk::Status { agent } => Some(agent.clone()),
            AgentAsk::Order { .. } => None,
        };
        match (agent_orders::carry_out(client.as_ref(), ask, usize::MAX, Paint::default()).await, shows) {
            (Ok(text), Some(_)) => Ok(CommandOutcome::Print(text.trim_end().to_owned())),
            (Ok(words), None) => Ok(CommandOutcome::Say(words)),
            // Nobody of that name works; perhaps somebody can be asked who has it.
            (Err(words), Some(Some(name))) => match self.ask(&ShowAgent { folder, name }).await {
                Ok(shown) => Ok(CommandOutcome::Print(agents::one(&shown, self.env()).trim_end().to_owned())),
                Err(_) => Err(words),
            },
            (Err(words), _) => Err(words),
        }
    }

    async fn fork(&self, client: &Arc<dyn Client>, at: &str) -> Result<CommandOutcome, String> {
        let standing = snapshot(client).await?;
        if standing.state.is_at_work() {
            return Err("it is at work, and going to a fork would stop it: Esc stops it, then /fork".to_owned());
        }
        let (session, short) =
            (standing.session_id, |id: SessionId| id.to_string().chars().take(SHORT_ID).collect::<String>());
        let request =
            ForkSession { session: session.to_string(), at: (!at.is_empty()).then(|| at.to_owned()), title: None };
        let fork = self.ask(&request).await.map_err(|failure| failure.words())?.session.id;
        let from = if at.is_empty() { String::new() } else { format!(" from before message {at}") };
        let words = format!(
            "from here on this is session {}, a fork of {}{from}; /resume {} goes back to that",
            short(fork),
            short(session),
            short(session)
        );
        Ok(CommandOutcome::GoOn(Wanted::Id(fork.to_string()), words))
    }

    async fn diff(&self, client: &Arc<dyn Client>) -> Result<CommandOutcome, String> {
        let id = snapshot(client).await?.session_id.to_string();
        let told = own_self::run(&["session", "diff", &id], self.overrides(), &self.folder()).await?;
        match (told.done, told.out.trim_end()) {
            (true, "nothing changed" | "") => Ok(CommandOutcome::Say("this session changed no file".to_owned())),
            (true, text) => Ok(CommandOutcome::Show(fenced(text, "diff"))),
            (false, _) if told.err.contains("no message") => {
                Ok(CommandOutcome::Say("this session changed no file".to_owned()))
            }
            (false, _) => Err(told.words()),
        }
    }

    async fn export(&self, client: &Arc<dyn Client>, argument: &str) -> Result<CommandOutcome, String> {
        let id = snapshot(client).await?.session_id.to_string();
        let short: String = id.chars().take(13).collect();
        let (file, flags) = file_and_flags(argument);
        let file = if file.is_empty() { format!("neco-{short}.md") } else { file };
        let arguments: Vec<&str> =
            ["session", "export", &id, "-o", &file].into_iter().chain(flags.iter().map(String::as_str)).collect();
        let told = own_self::run(&arguments, self.overrides(), &self.folder()).await?;
        match told.done {
            true => Ok(CommandOutcome::Say(format!("the session is in {}", self.folder().join(file).display()))),
            false => Err(told.words()),
        }
    }

    /// `/workflow`, `/workflow show NAME`, `/workflow run NAME`.
    async fn workflow(&self, argument: &str) -> Result<CommandOutcome, String> {
        let words: Vec<&str> = argument.split_whitespace().collect();
        let folder = self.folder().display().to_string();
        let text = match words.as_slice() {
            [] | ["list"] => {
                let list = self.ask(&ListWorkflows { folder, all: false }).await;
                list.map(|list| workflow::list::as_lines(&list, false))
            }
            ["show", name] => {
                let shape = Shape { task: None, json: false, paint: Paint::default() };
                workflow::show::text(ShowWorkflow { folder, name: (*name).to_owned() }, &shape, self.app()).await
            }
            ["validate", name] => {
                let checked = self.ask(&CheckWorkflows { folder, files: vec![(*name).to_owned()] }).await;
                checked.map(|checked| workflow::check::as_lines(&checked.workflows))
            }
            ["run", name, inputs @ ..] => return self.run_workflow(name, inputs).await,
            _ => return Err("/workflow, /workflow show NAME or /workflow run NAME".to_owned()),
        };
        Ok(CommandOutcome::Print(text.map_err(|failure| failure.words())?.trim_end().to_owned()))
    }

    async fn run_workflow(&self, name: &str, inputs: &[&str]) -> Result<CommandOutcome, String> {
        let wanted = ShowWorkflow { folder: self.folder().display().to_string(), name: name.to_owned() };
        let shown = self.app().ask(&Caller::person(), &wanted).await;
        let definition = shown.map_err(|error| match error.trouble {
            Trouble::NotFound => format!("there is no workflow `{name}`: /workflow lists those there are"),
            _ => Failure::from(error).words(),
        })?;
        let definition = definition.definition;
        // As behind `neco workflow run`, too.
        let inputs = inputs.iter().filter(|word| **word != "--input").copied();
        let input = |text: &str| {
            let text = text.strip_prefix("--input=").unwrap_or(text);
            let (name, value) = text.split_once('=').ok_or_else(|| format!("{text}: inputs are written NAME=VALUE"))?;
            Ok((name.to_owned(), Value::from(value)))
        };
        let inputs = inputs.map(input).collect::<Result<serde_json::Map<String, Value>, String>>()?;
        Ok(CommandOutcome::Send(Command::RunWorkflow { definition, inputs: Value::Object(inputs) }))
    }

    /// Every hook that is plugged in.
    async fn hooks(&self) -> Result<CommandOutcome, String> {
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
        match text.trim_end() {
            "" => {
                Ok(CommandOutcome::Say("no hooks; docs/reference/config.md, [hooks], says how to write one".to_owned()))
            }
            text => Ok(CommandOutcome::Print(text.to_owned())),
        }
    }

    /// What commands run in.
    async fn sandbox(&self) -> Result<CommandOutcome, String> {
        let (loaded, env) = (self.load()?, self.env().clone());
        let opened = tokio::task::spawn_blocking(move || {
            let sandbox = sandbox::open(&loaded.config, &env, Ask::IfChanged)?;
            Ok::<_, Failure>(sandbox.report().clone())
        });
        let report = opened.await.map_err(|error| error.to_string())?.map_err(|failure| failure.words())?;
        let mut text = format!("commands run in: {}\n", report.in_short());
        report.gaps.iter().for_each(|gap| text.push_str(&format!("open: {gap}\n")));
        Ok(CommandOutcome::Print(text.trim_end().to_owned()))
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

async fn snapshot(client: &Arc<dyn Client>) -> Result<SessionSnapshot, String> {
    match client.ask(Query::Snapshot).await {
        Ok(Answer::Snapshot(snapshot)) => Ok(snapshot),
        Ok(_) => Err("the session does not say how it stands".to_owned()),
        Err(error) => Err(error.to_string()),
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

async fn checkpoints(client: &Arc<dyn Client>) -> Result<CommandOutcome, String> {
    let answer = client.ask(Query::Checkpoints).await.map_err(|error| error.to_string())?;
    let Answer::Checkpoints { checkpoints } = answer else { return Err("the session does not say".to_owned()) };
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

async fn prompt(client: &Arc<dyn Client>) -> Result<CommandOutcome, String> {
    let answer = client.ask(Query::Prompt).await.map_err(|error| error.to_string())?;
    let Answer::Prompt(report) = answer else { return Err("the session does not say".to_owned()) };
    Ok(CommandOutcome::Print(told(&report)))
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

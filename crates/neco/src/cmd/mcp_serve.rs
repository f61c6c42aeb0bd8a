//! `neco mcp serve`: Neco's tools and tasks for other agents, by MCP on stdin and stdout, or at an address of the server.
//!
//! Invariants: on stdin and stdout, nothing but messages is written to stdout, and the end of stdin ends everything that
//! was begun.

use std::io::{self, IsTerminal};
use std::os::fd::AsFd;
use std::sync::{Arc, OnceLock};

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use neco_app::shared::SharedApp;
use neco_config::Env;
use neco_proto::ApprovalMode;
use neco_proto::app::rules::GivenRules;
use neco_proto::app::tools::ListTools;
use neco_server::http::mcp::PATH;
use neco_server::mcp::{McpSetup, serve};
use neco_tui::line::run::listen;
use neco_tui::line::signals::{InterruptMask, Signal};
use tokio::fs::File;
use tokio_util::sync::CancellationToken;
use url::form_urlencoded;

use super::program::{ask_of, block_on, folder};
use crate::args::{APPROVALS, BoxArgs, EverywhereArgs, RuleArgs, RunArgs, at_least_one, dollars, one_of};
use crate::compose;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::run::opener::{TerminalOpener, wanted};
use crate::say;
use crate::server::{here, reach, start};

/// How other agents are told of it.
pub const SERVE: &str = "\
Other agents start it themselves, in the folder that it works in:
  claude mcp add neco -- neco mcp serve
  codex mcp add neco -- neco mcp serve -C /srv/project
  {\"mcpServers\": {\"neco\": {\"command\": \"neco\", \"args\": [\"mcp\", \"serve\"]}}}
Or they reach it at an address of `neco serve`:
  neco mcp serve --http -C /srv/project        prints the address, and how it is set up";

/// `neco mcp serve …`
#[derive(Clone, Debug, Default, Args)]
pub struct ServeArgs {
    /// Prints an address of the server for it instead, and how other agents are told of that; starts the server if none
    /// runs
    #[arg(long)]
    pub http: bool,
    /// Offers only these tools: names, in which * stands for anything
    #[arg(long, value_name = "GLOB", value_delimiter = ',', num_args = 1..)]
    pub tools: Vec<String>,
    /// Offers no run_task, which has Neco's own agent do a whole task
    #[arg(long)]
    pub no_run_task: bool,
    /// The model or model group of tasks: provider/model, or a group's name
    #[arg(long, value_name = "MODEL", value_parser = NonEmptyStringValueParser::new())]
    pub model: Option<String>,
    /// When you are asked
    #[arg(long, value_parser = one_of(APPROVALS))]
    pub approval: Option<ApprovalMode>,
    /// Asks only about what is high risk; the same as --approval auto
    #[arg(short, long, conflicts_with = "approval")]
    pub yes: bool,
    /// The rules of all calls and the folders that are open
    #[command(flatten)]
    pub rules: RuleArgs,
    /// The box that commands run in
    #[command(flatten)]
    pub box_args: BoxArgs,
    /// Stops a task after this many turns
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub max_turns: Option<u32>,
    /// Stops a task when it has cost this much, as far as prices are known
    #[arg(long, value_name = "USD", value_parser = dollars, allow_negative_numbers = true)]
    pub max_cost: Option<f64>,
}

impl ServeArgs {
    /// The same as a run would have it.
    fn as_run(&self) -> RunArgs {
        RunArgs {
            model: self.model.clone(),
            approval: self.approval,
            yes: self.yes,
            rules: self.rules.clone(),
            box_args: self.box_args.clone(),
            max_turns: self.max_turns,
            max_cost: self.max_cost,
            ..RunArgs::default()
        }
    }

    /// The same as the address of a client says it.
    fn query(&self, folder: &str) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        query.append_pair("folder", folder);
        let mut say = |name: &str, value: Option<String>| {
            query.extend_pairs(value.map(|value| (name, value)));
        };
        say("tools", (!self.tools.is_empty()).then(|| self.tools.join(",")));
        say("run_task", self.no_run_task.then(|| "false".to_owned()));
        say("model", self.model.clone());
        let approval = self.approval.or(self.yes.then_some(ApprovalMode::Auto));
        say("approval", approval.map(|approval| approval.to_string()));
        say("max_turns", self.max_turns.map(|turns| turns.to_string()));
        say("max_cost", self.max_cost.map(|cost| cost.to_string()));
        query.finish()
    }
}

/// Runs `neco mcp serve …`.
pub fn run(args: &ServeArgs, everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
    if args.http {
        return over_http(args, everywhere, env);
    }
    if io::stdin().is_terminal() {
        return Err(Failure::usage("this speaks MCP with another agent on stdin and stdout, and nobody can type that")
            .hint(SERVE));
    }
    let run = args.as_run();
    let (opens_as, caller) = McpSetup::callers();
    let app = Arc::new(TerminalOpener::new(env, false, false)).program(&run, everywhere);
    let setup = McpSetup {
        app: Arc::clone(&app) as _,
        wanted: wanted(&run, everywhere, folder(everywhere)?)?,
        only: args.tools.clone(),
        tasks: !args.no_run_task,
        version: env!("CARGO_PKG_VERSION"),
        opens_as,
        caller,
    };
    let (input, output) = (copied(io::stdin())?, copied(io::stdout())?);
    let runtime = compose::runtime()?;
    let (stop, stopped) = (CancellationToken::new(), Arc::<OnceLock<Signal>>::default());
    let mut signals = listen(&runtime, &InterruptMask::default())?;
    let (stops, heard) = (stop.clone(), Arc::clone(&stopped));
    runtime.spawn(async move {
        let _ = heard.set(signals.next().await);
        stops.cancel();
        compose::quit(signals.next().await);
    });
    let served = runtime.block_on(serve(setup, input, output, stop));
    let exit = stopped.get().map_or(Exit::Done, |signal| Exit::Stopped(*signal));
    compose::stop(runtime, end(&app), served.map(|()| exit).map_err(Failure::from))
}

/// Says where the server has it.
fn over_http(args: &ServeArgs, everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
    let given = args.rules.given();
    if given != GivenRules::default() || !args.box_args.overrides().is_empty() || !everywhere.overrides.is_empty() {
        return Err(Failure::usage(
            "rules, the box and -c are of the process that runs sessions, and that is the server",
        )
        .hint("Set them in your settings, or say -c and --sandbox with `neco serve`."));
    }
    let folder = folder(everywhere)?;
    let found = match here(env)? {
        Some(found) => found,
        None => start(&[], env)?,
    };
    let list = ListTools { folder: folder.clone(), only: args.tools.clone(), all: false };
    // What can't be offered is said here, and not only to the client.
    block_on(async { ask_of(&reach(&found.url, env).await?, &list).await })?;
    let url = format!("{}{PATH}?{}", found.url, args.query(&folder));
    say::out(&format!(
        "{url}\n\n\
         Other agents reach it with a token, such as `neco serve token --name NAME --scope steer` makes:\n  \
         claude mcp add --transport http neco '{url}' --header \"Authorization: Bearer $(neco serve token)\"\n  \
         codex mcp add neco --url '{url}' --bearer-token-env-var NECO_SERVER_TOKEN\n  \
         {{\"mcpServers\": {{\"neco\": {{\"type\": \"http\", \"url\": \"{url}\", \
         \"headers\": {{\"Authorization\": \"Bearer ${{NECO_SERVER_TOKEN}}\"}}}}}}}}\n"
    ))?;
    Ok(Exit::Done)
}

/// Sessions that the server did not hand back, and the store.
pub async fn end(app: &SharedApp) -> Result<(), neco_proto::app::AppError> {
    app.stop_all().await;
    let closed = app.close_all().await;
    let stopped = app.stop().await;
    closed.into_iter().map(|closed| closed.map(drop)).chain([stopped]).collect()
}

/// A stream of this process, for the runtime.
pub fn copied(stream: impl AsFd) -> Result<File, Failure> {
    let file = stream.as_fd().try_clone_to_owned();
    let file = file.map_err(|error| Failure::new(Exit::Failed, format!("stdin and stdout can't be used: {error}")))?;
    Ok(File::from_std(std::fs::File::from(file)))
}

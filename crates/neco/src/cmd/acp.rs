//! `neco acp`: Neco in an editor, by the Agent Client Protocol on stdin and stdout.
//!
//! Invariants: nothing but messages is written to stdout; the end of stdin ends everything that was begun.

use std::io::{self, IsTerminal};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Subcommand};
use neco_acp::{AcpSetup, serve};
use neco_app::picture;
use neco_config::Env;
use neco_proto::{ApprovalMode, Mode};
use neco_tui::line::run::listen;
use neco_tui::line::signals::{InterruptMask, Signal};
use tokio_util::sync::CancellationToken;

use super::auth;
use super::mcp_serve::{copied, end};
use super::program::folder;
use crate::args::{APPROVALS, BoxArgs, EverywhereArgs, MODES, RuleArgs, RunArgs, one_of};
use crate::compose;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::run::opener::{TerminalOpener, wanted};

/// How long the end of everything may take, once no session does anything any more.
const SOON: Duration = Duration::from_millis(700);

/// How editors are told of it.
pub const ACP: &str = "\
Editors start it themselves; what each of them is told stands in docs/editors.md. In Zed:
  {\"agent_servers\": {\"Neco\": {\"type\": \"custom\", \"command\": \"neco\", \"args\": [\"acp\"]}}}";

/// `neco acp …`
#[derive(Clone, Debug, Default, Args)]
pub struct AcpArgs {
    /// What is done in a terminal that the editor opens.
    #[command(subcommand)]
    pub command: Option<AcpCommand>,
    /// The model or model group of new sessions: provider/model, or a group's name
    #[arg(long, value_name = "MODEL", value_parser = NonEmptyStringValueParser::new())]
    pub model: Option<String>,
    /// The mode of new sessions
    #[arg(long, value_parser = one_of(MODES))]
    pub mode: Option<Mode>,
    /// When you are asked
    #[arg(long, value_parser = one_of(APPROVALS))]
    pub approval: Option<ApprovalMode>,
    /// The rules of all sessions and the folders that are open
    #[command(flatten)]
    pub rules: RuleArgs,
    /// The box that commands run in
    #[command(flatten)]
    pub box_args: BoxArgs,
}

impl AcpArgs {
    /// The same as a run would have it.
    fn as_run(&self) -> RunArgs {
        RunArgs {
            model: self.model.clone(),
            mode: self.mode,
            approval: self.approval,
            rules: self.rules.clone(),
            box_args: self.box_args.clone(),
            ..RunArgs::default()
        }
    }
}

/// What an editor runs in a terminal.
#[derive(Clone, Debug, Subcommand)]
pub enum AcpCommand {
    /// Adds a key, or logs in with a browser, as neco login does: editors run it
    Login {
        /// The provider, such as openai, anthropic or github-copilot
        provider: Option<String>,
    },
}

/// Runs `neco acp …`.
pub fn run(args: &AcpArgs, everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
    if let Some(AcpCommand::Login { provider }) = &args.command {
        return auth::log_in(provider.as_deref(), everywhere, env);
    }
    serve_editor(&args.as_run(), everywhere, env)
}

/// Speaks with an editor; `run` says how sessions are opened.
pub fn serve_editor(run: &RunArgs, everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
    if io::stdin().is_terminal() {
        return Err(
            Failure::usage("this speaks with an editor on stdin and stdout, and nobody can type that").hint(ACP)
        );
    }
    let app = Arc::new(TerminalOpener::new(env, false, false)).program(run, everywhere);
    let setup = AcpSetup {
        app: Arc::clone(&app) as _,
        wanted: wanted(run, everywhere, folder(everywhere)?)?,
        pictures: picture::sent,
        version: env!("CARGO_PKG_VERSION"),
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
    let ends = async {
        // The editor is gone, and what hangs must not outlive it.
        match tokio::time::timeout(SOON, end(&app)).await {
            Ok(ended) => ended,
            Err(_) => {
                app.write_all().await;
                Ok(())
            }
        }
    };
    compose::stop(runtime, ends, served.map(|()| exit).map_err(Failure::from))
}

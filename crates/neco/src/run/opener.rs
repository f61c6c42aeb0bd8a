//! This process, as the program that opens sessions meets it: what is told and asked at its terminal, and its way to
//! other processes.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use neco_app::opening::Opener;
use neco_app::other_processes::{Attached, Served, Unattached};
use neco_app::shared::SharedApp;
use neco_app::workspace::Workspaces;
use neco_config::Env;
use neco_proto::app::App;
use neco_proto::app::opening::{OpenSession, WhichSession};
use neco_proto::app::trust::{FolderTrust, TrustAnswer};
use neco_proto::{Client, SessionId};
use neco_safety::secrets::Redactor;
use neco_server::{AttachError, RemoteClient, Server};
use neco_store::{SessionRecord, SqliteStore};

use crate::args::{EverywhereArgs, RunArgs};
use crate::ask::{self, Tty};
use crate::compose;
use crate::failure::Failure;
use crate::log;
use crate::say;
use crate::server::run_folder;
use crate::tui::ahead;

/// What takes no longer at the end of a session is not spoken of.
const SOON: Duration = Duration::from_millis(1500);

/// This process, at its terminal.
pub struct TerminalOpener {
    env: Env,
    /// Whether a person can be asked while a session is opened: nothing else has the terminal.
    asks: AtomicBool,
    /// Whether more than a single request is meant.
    interactive: bool,
    /// Whether sessions work while nobody looks.
    gives_notice: bool,
}

impl TerminalOpener {
    /// With a person who can be asked, or without.
    pub fn new(env: &Env, asks: bool, interactive: bool) -> Self {
        Self { env: env.clone(), asks: AtomicBool::new(asks), interactive, gives_notice: false }
    }

    /// The same for a process whose sessions work while nobody looks: it tells the person what they ask.
    pub fn giving_notice(self) -> Self {
        Self { gives_notice: true, ..self }
    }

    /// Something else has the terminal from now on.
    pub fn ask_no_more(&self) {
        self.asks.store(false, Ordering::Relaxed);
    }

    /// The program that opens sessions for this process, with what `args` say of all of them.
    pub fn program(self: &Arc<Self>, args: &RunArgs, everywhere: &EverywhereArgs) -> Arc<SharedApp> {
        // What was said of the sandbox on the command line holds for what is asked, too.
        let overrides = [everywhere.overrides.clone(), args.box_args.overrides()].concat();
        let here = everywhere.cwd.clone().or_else(|| std::env::current_dir().ok()).unwrap_or_default();
        let workspaces = Arc::new(Workspaces::new(self.env.clone()));
        Arc::new(SharedApp::new(workspaces, overrides, &here, Arc::clone(self) as _))
    }
}

impl Opener for TerminalOpener {
    fn tell(&self, words: &str) {
        say::note(words);
    }

    fn asks(&self) -> bool {
        self.asks.load(Ordering::Relaxed)
    }

    fn trusts(&self, told: FolderTrust) -> BoxFuture<'_, Option<TrustAnswer>> {
        let env = self.env.clone();
        let asked = tokio::task::spawn_blocking(move || {
            // No session is open yet that would have to be ended.
            ask::trusts(&Tty::open()?, &told, &env).unwrap_or_else(|signal| {
                compose::quit(signal);
                None
            })
        });
        asked.map(|answer| answer.ok().flatten()).boxed()
    }

    fn found(&self, store: &Arc<SqliteStore>, record: &SessionRecord) {
        if self.interactive {
            ahead::look(store, record, &self.env);
        }
    }

    fn hide(&self, redactor: Redactor) {
        log::hide(&redactor);
    }

    fn attach(&self, session: SessionId) -> BoxFuture<'_, Result<Attached, Unattached>> {
        async move {
            match RemoteClient::attach(&compose::sockets(&self.env), session).await {
                Ok(client) => Ok(Attached { owner: client.owner().pid, client: Arc::new(client) }),
                Err(AttachError::NotThere) => Err(Unattached::NotThere),
                Err(error) => Err(Unattached::Failed(error.to_string())),
            }
        }
        .boxed()
    }

    /// Where that is not possible the session works all the same, alone.
    fn serve(&self, session: SessionId, client: Arc<dyn Client>, app: Arc<dyn App>) -> Option<Arc<dyn Served>> {
        let opened = Server::open(client, app, session, &compose::sockets(&self.env), env!("CARGO_PKG_VERSION"));
        match opened {
            Ok(server) => Some(Arc::new(SocketServer(server))),
            Err(error) => {
                tracing::warn!(%error, "other windows can't attach to the session");
                None
            }
        }
    }

    fn gives_notice(&self) -> bool {
        self.gives_notice
    }

    fn keeps_openings(&self) -> Option<PathBuf> {
        self.gives_notice.then(|| run_folder(&self.env).join("openings"))
    }

    fn hurry(&self) -> BoxFuture<'_, ()> {
        async {
            tokio::time::sleep(SOON).await;
            say::note("Saving what is worth remembering; Ctrl-C skips it");
            let _ = tokio::signal::ctrl_c().await;
        }
        .boxed()
    }
}

/// Windows of other processes, until the session ends.
struct SocketServer(Server);

impl Served for SocketServer {
    fn hold(&self) -> BoxFuture<'_, bool> {
        self.0.hold().boxed()
    }

    fn release(&self) -> BoxFuture<'_, ()> {
        self.0.release().boxed()
    }

    fn is_watched(&self) -> bool {
        self.0.is_watched()
    }

    fn leave(&self) {
        self.0.leave();
    }

    fn end(&self) -> BoxFuture<'_, ()> {
        self.0.end().boxed()
    }
}

/// What the system prompt says of this run: who the agent is, and what was added to it.
fn role(args: &RunArgs) -> Option<String> {
    let added = args.append_system_prompt.as_ref().filter(|text| !text.trim().is_empty());
    let parts: Vec<&str> = args.role.iter().chain(added).map(String::as_str).collect();
    (!parts.is_empty()).then(|| parts.join("\n\n"))
}

/// The session that `args` ask for, for work in `folder`.
pub fn wanted(args: &RunArgs, everywhere: &EverywhereArgs, folder: String) -> Result<OpenSession, Failure> {
    let start = crate::folder(everywhere)?;
    let mut given = args.rules.given();
    given.add_dir = args.rules.add_dir.iter().map(|folder| start.join(folder).display().to_string()).collect();
    Ok(OpenSession {
        which: match (&args.session, args.continue_latest) {
            (Some(id), _) => WhichSession::Id(id.clone()),
            (None, true) => WhichSession::Latest,
            (None, false) => WhichSession::New,
        },
        folder,
        chose_folder: everywhere.cwd.is_some(),
        given,
        tools: args.tools.clone().unwrap_or_default(),
        model: args.model.clone(),
        mode: args.mode,
        generation: args.generation,
        approval: args.approval(),
        max_turns: args.max_turns,
        max_cost: args.max_cost,
        role: role(args),
        ..OpenSession::default()
    })
}

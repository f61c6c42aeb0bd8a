//! What a window at this terminal stands on: the program, the machine, the person's programs.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use neco_app::loosening::held_back;
use neco_app::persons_shell::PersonsShell;
use neco_app::shared::SharedApp;
use neco_app::workspace::FolderState;
use neco_config::Env;
use neco_proto::app::opening::OpenSession;
use neco_proto::app::{App, AppError, Caller, Trouble};
use neco_proto::{Attachment, Client, SessionId};
use neco_safety::secrets::Scope;
use neco_server::RemoteClient;
use neco_tui::clipboard::PicturePrinter;
use neco_tui::draft_files::DraftFiles;
use neco_tui::history_file::HistoryFile;
use neco_tui::host::{LineOf, Printed};
use neco_tui::terminal_host::{HostSetup, Machine, TerminalHost};
use sha2::{Digest, Sha256};
use tokio::sync::Notify;

use crate::args::{EverywhereArgs, RuleArgs, RunArgs};
use crate::ask::{self, Tty};
use crate::failure::Failure;
use crate::log;
use crate::run::opener::{TerminalOpener, wanted};
use crate::run::{attach, picture};
use crate::say;
use crate::server;
use crate::signals::InterruptMask;

/// How long sessions may take to end when the process does.
const LAST_WORDS: Duration = Duration::from_secs(30);

/// The program around a window, with what ends it.
pub struct Surroundings {
    pub host: Arc<TerminalHost>,
    /// What is shown: the program of a server that was named, else the one here.
    program: Arc<dyn App>,
    /// This process, which has the sessions that are not of a server.
    app: Arc<SharedApp>,
    opener: Arc<TerminalOpener>,
}

impl Surroundings {
    /// For work in `folder`, with the program of a server where one is.
    pub fn new(
        (args, everywhere, env): (&RunArgs, &EverywhereArgs, &Env),
        folder: &Path,
        mask: InterruptMask,
        status_line: Option<String>,
        server: Option<RemoteClient>,
    ) -> Result<Self, Failure> {
        let opener = Arc::new(TerminalOpener::new(env, Tty::open().is_some(), true));
        let app = opener.program(args, everywhere);
        let mut wanted = wanted(args, everywhere, folder.display().to_string())?;
        let settings = [everywhere.overrides.clone(), args.box_args.overrides()].concat();
        let of_server = server.is_some();
        if of_server && !server::is_elsewhere(everywhere, env)? {
            wanted = server::along(wanted, (settings.clone(), everywhere), env)?;
        }
        let machine = ThisMachine {
            start: crate::folder(everywhere)?,
            rules: args.rules.clone(),
            overrides: settings,
            env: env.clone(),
            app: Arc::clone(&app),
            shell: tokio::sync::Mutex::default(),
            told_of_masks: AtomicBool::default(),
        };
        let program: Arc<dyn App> = match server {
            Some(server) => Arc::new(server),
            None => Arc::clone(&app) as _,
        };
        let host = TerminalHost::new(HostSetup {
            app: Arc::clone(&program),
            machine: Arc::new(machine),
            of_server,
            wanted: OpenSession { attended: true, interactive: true, ..wanted },
            left_out: attach::left_out(args),
            editor: ask::programs(env).editor,
            mask,
            clipboard: PicturePrinter::find(|name| env.is_set(name), |name| env.find_program(name)),
            status_line,
            history: HistoryFile::new(history_of(folder, env.data_dir()), without_secrets),
            drafts: DraftFiles::new(env.data_dir().join("drafts"), without_secrets),
            home: env.home().to_owned(),
            log_file: log::path(env).display().to_string(),
        });
        Ok(Self { host: Arc::new(host), program, app, opener })
    }

    /// Opens the session of the command line, while the terminal is free: the person may be asked.
    pub async fn open_first(&self) -> Result<Arc<dyn Client>, Failure> {
        let opened = self.host.open_first().await;
        self.opener.ask_no_more();
        Ok(opened?)
    }

    /// The whole program, on the store of the sessions.
    pub fn app(&self) -> Arc<dyn App> {
        Arc::clone(&self.program)
    }

    /// Stops everything that sessions do.
    pub async fn stop_all(&self) {
        self.app.stop_all().await;
    }

    /// Ends all sessions that are still open.
    pub async fn close_all(&self) {
        let Ok(all) = tokio::time::timeout(LAST_WORDS, self.app.close_all()).await else {
            return say::note("Not everything could be stopped in time; the conversation is saved");
        };
        all.into_iter().for_each(|left| self.host.left(left));
        // What could not be written is told already, with the end of its session.
        if let Err(error) = self.app.stop().await {
            tracing::warn!(%error, "the store could not be closed");
        }
    }
}

/// What a person is told once whose command lists what is not as it looks.
const MASKED: &str = "(in the sandbox files with secrets look empty unless the command names them, and so does .neco \
    where there is none)\n";

/// This machine, with what the command line says of commands.
struct ThisMachine {
    /// Where the command line was typed.
    start: PathBuf,
    rules: RuleArgs,
    overrides: Vec<String>,
    env: Env,
    app: Arc<SharedApp>,
    /// The person's shell, and what it was made of.
    shell: tokio::sync::Mutex<Option<(Arc<FolderState>, Arc<PersonsShell>)>>,
    /// Whether the person was told what a box hides.
    told_of_masks: AtomicBool,
}

impl ThisMachine {
    async fn persons_shell(&self, folder: PathBuf, loosened: bool) -> Result<Arc<PersonsShell>, AppError> {
        let (mut overrides, mut args) = (self.overrides.clone(), self.rules.clone());
        if !loosened {
            (overrides, _) = held_back(overrides, &folder, &self.env).await?;
            (args.allow, args.add_dir) = (Vec::new(), Vec::new());
        }
        let state = self.app.workspaces().at(&folder, &overrides).await?.now();
        let mut kept = self.shell.lock().await;
        if let Some((made_of, shell)) = kept.as_ref()
            && Arc::ptr_eq(made_of, &state)
        {
            return Ok(Arc::clone(shell));
        }
        let (rules, brought, env) = (args.flags(&self.start), Arc::clone(&state), self.env.clone());
        let opened = tokio::task::spawn_blocking(move || PersonsShell::open(&folder, &rules, &brought, &env)).await;
        let shell = Arc::new(opened.map_err(failed)??);
        *kept = Some((state, Arc::clone(&shell)));
        Ok(shell)
    }
}

impl Machine for ThisMachine {
    fn shell(
        &self,
        folder: PathBuf,
        loosened: bool,
        (command, of): (String, LineOf),
        output: Printed,
    ) -> BoxFuture<'_, Result<Option<i32>, AppError>> {
        async move {
            let shell = self.persons_shell(folder, loosened).await?;
            let ran = match of {
                LineOf::Person => shell.run(&command, Arc::clone(&output)).await?,
                LineOf::File(mode) => shell.run_of_file(&command, mode, Arc::clone(&output)).await?,
            };
            // A `cd` holds for the commands after it, which nobody sees otherwise.
            if let Some(folder) = ran.folder {
                output(format!("(your ! commands run in {} now)\n", folder.display()));
            }
            if ran.masked && !self.told_of_masks.swap(true, Ordering::Relaxed) {
                output(MASKED.to_owned());
            }
            Ok(ran.code)
        }
        .boxed()
    }

    fn hand_over<'a>(&'a self, session: SessionId, hurry: &'a Notify) -> BoxFuture<'a, Result<(), AppError>> {
        async move {
            let env = self.env.clone();
            // First, so that it stays where there is no server.
            let found = tokio::task::spawn_blocking(move || server::started(&env)).await.map_err(failed)?;
            let found = found.map_err(refused)?;
            let server = server::reach(&found.url, &self.env).await.map_err(refused)?;
            if found.version != env!("CARGO_PKG_VERSION") {
                let words = format!("the server is neco {}, and this is another version", found.version);
                return Err(failed(words).hint("`neco serve take-over` has this one take its place."));
            }
            let wanted = self.app.hand_over(session, hurry.notified()).await?;
            server.open(&Caller::person(), wanted).await?;
            Ok(())
        }
        .boxed()
    }

    fn picture(&self, bytes: &[u8], shown: &str) -> Result<Attachment, AppError> {
        picture::attachment(bytes, shown)
    }

    fn picture_file(&self, file: PathBuf) -> BoxFuture<'static, Result<Option<Attachment>, AppError>> {
        async move {
            let read = tokio::task::spawn_blocking(move || picture::attachments(&[file]));
            Ok(read.await.map_err(failed)??.into_iter().next())
        }
        .boxed()
    }
}

fn refused(failure: Failure) -> AppError {
    let error = AppError::new(Trouble::Failed, failure.message);
    failure.hint.into_iter().fold(error, AppError::hint)
}

fn failed(error: impl ToString) -> AppError {
    AppError::new(Trouble::Failed, error.to_string())
}

/// The file of what was written in earlier windows of a folder.
fn history_of(folder: &Path, data_dir: &Path) -> PathBuf {
    let hash = Sha256::digest(folder.as_os_str().as_encoded_bytes());
    let name: String = hash.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    data_dir.join("history").join(format!("{name}.jsonl"))
}

/// What looks like a secret in a command mostly is one; in a sentence only what can be nothing else is taken out.
fn without_secrets(text: &str) -> String {
    log::redacted(text, if text.starts_with('!') { Scope::Outside } else { Scope::Said })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_secret_is_kept_in_the_history() {
        let key = format!("sk-ant-api03-{}", "aB3".repeat(30));
        assert!(!without_secrets(&format!("use {key} please")).contains(&key));
        assert!(!without_secrets("!export TOKEN=q8Zr5tLw0xYb7NcVd2Kf").contains("q8Zr5tLw0xYb7NcVd2Kf"));
    }
}

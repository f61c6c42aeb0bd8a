//! What stands around a window: sessions that are opened, an editor, a clipboard, a shell, a history.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use clap::Parser;
use futures::future::BoxFuture;
use futures::{FutureExt, TryFutureExt};
use neco_app::loosening::held_back;
use neco_app::persons_shell::PersonsShell;
use neco_app::shared::SharedApp;
use neco_app::workspace::FolderState;
use neco_config::Env;
use neco_proto::app::opening::{OpenSession, OpenedSession};
use neco_proto::app::port::{ExportFormat, ExportSession};
use neco_proto::app::rules::GivenRules;
use neco_proto::app::{App, AppError, Caller, Trouble};
use neco_proto::{Attachment, Client, SessionId};
use neco_safety::secrets::Scope;
use neco_tui::clipboard::{self, PicturePrinter};
use neco_tui::editing::Editing;
use neco_tui::history_file::HistoryFile;
use neco_tui::host::{Edited, Host, ImageSource, Printed, Wanted};
use neco_tui::status_line;
use neco_view::export_line::format_of;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::args::{EverywhereArgs, RunArgs, one_of};
use crate::ask::{self, Tty};
use crate::cmd::session::FORMATS;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::log;
use crate::run::opener::{TerminalOpener, wanted};
use crate::run::{attach, picture};
use crate::say;
use crate::short_id::short_id;
use crate::signals::InterruptMask;

/// How long sessions may take to end when the process does.
const LAST_WORDS: Duration = Duration::from_secs(30);

/// How long a picture may take to be read.
const PICTURE: Duration = Duration::from_secs(5);

/// The program around a window.
pub struct TerminalHost {
    args: RunArgs,
    everywhere: EverywhereArgs,
    env: Env,
    /// What is asked of the whole program.
    app: Arc<SharedApp>,
    opener: Arc<TerminalOpener>,
    /// The sessions that were opened, and not handed back yet.
    opened: Mutex<Vec<OpenedSession>>,
    /// The one on the screen.
    shown: Mutex<Option<OpenedSession>>,
    /// The last session that was left and in which something was said.
    said: Mutex<Option<SessionId>>,
    editing: Editing,
    /// The person's command for the status line.
    status_line: Option<String>,
    history: HistoryFile,
    /// Where work begins, before there is a session.
    start: PathBuf,
    /// Where the first session works, of which the command line was said.
    said_of: Mutex<Option<String>>,
    /// What was opened before there was a window.
    first: Mutex<Option<Arc<dyn Client>>>,
    /// The person's shell, and what it was made of.
    shell: tokio::sync::Mutex<Option<(Arc<FolderState>, Arc<PersonsShell>)>>,
}

impl TerminalHost {
    /// For work in `folder`, with sessions that run on `runtime`.
    pub fn new(
        args: &RunArgs,
        everywhere: &EverywhereArgs,
        env: &Env,
        folder: PathBuf,
        mask: InterruptMask,
        status_line: Option<String>,
    ) -> Self {
        let opener = Arc::new(TerminalOpener::new(env, Tty::open().is_some(), true));
        Self {
            args: args.clone(),
            everywhere: everywhere.clone(),
            env: env.clone(),
            app: opener.program(args, everywhere),
            opener,
            opened: Mutex::default(),
            shown: Mutex::default(),
            said: Mutex::default(),
            editing: Editing::new(ask::programs(env).editor, mask),
            status_line,
            history: HistoryFile::new(history_of(&folder, env.data_dir()), without_secrets),
            start: folder,
            said_of: Mutex::default(),
            first: Mutex::default(),
            shell: tokio::sync::Mutex::default(),
        }
    }

    /// Opens the session of the command line, while the terminal is free: the person may be asked.
    pub async fn open_first(&self) -> Result<Arc<dyn Client>, Failure> {
        let opened = self.open_session(&self.args, None).await;
        self.opener.ask_no_more();
        let OpenedSession { client, folder, .. } = opened?;
        Host::shown(self, &client);
        *locked(&self.said_of) = Some(folder);
        *locked(&self.first) = Some(Arc::clone(&client));
        Ok(client)
    }

    /// The whole program, on the store of the sessions.
    pub fn app(&self) -> Arc<dyn App> {
        Arc::clone(&self.app) as _
    }

    /// Stops everything that they do.
    pub async fn stop_all(&self) {
        self.app.stop_all().await;
    }

    /// Ends all sessions that are still open.
    pub async fn close_all(&self) {
        let Ok(all) = tokio::time::timeout(LAST_WORDS, self.app.close_all()).await else {
            return say::note("Not everything could be stopped in time; the conversation is saved");
        };
        all.into_iter().for_each(|left| self.left(left));
        // What could not be written is told already, with the end of its session.
        if let Err(error) = self.app.stop().await {
            tracing::warn!(%error, "the store could not be closed");
        }
    }

    /// A session was handed back.
    fn left(&self, left: Result<Option<SessionId>, AppError>) {
        let said = left.unwrap_or_else(|error| {
            say::note(&error.message);
            error.session
        });
        if said.is_some() {
            *locked(&self.said) = said;
        }
    }

    /// The last session that was left and in which something was said, as people write it.
    pub fn last_said(&self) -> Option<String> {
        locked(&self.said).map(short_id)
    }

    /// Where the session on the screen works.
    pub fn folder(&self) -> PathBuf {
        locked(&self.shown).as_ref().map_or_else(|| self.start.clone(), |shown| PathBuf::from(&shown.folder))
    }

    /// The session on the screen, when another process has it open.
    fn attached(&self) -> Option<String> {
        locked(&self.shown).as_ref().filter(|shown| shown.owner.is_some()).map(|shown| short_id(shown.id))
    }

    async fn open_wanted(&self, wanted: Wanted) -> Result<Arc<dyn Client>, Failure> {
        if let Some(first) = locked(&self.first).take() {
            return Ok(first);
        }
        let said_of = locked(&self.said_of).clone();
        Ok(self.open_session(&self.args_for(wanted), said_of).await?.client)
    }

    /// Opens the session that `args` ask for, or attaches to the process that has it open. What the person should know is
    /// said; `loosens_in` is the only folder in which what `args` loosen holds.
    async fn open_session(&self, args: &RunArgs, loosens_in: Option<String>) -> Result<OpenedSession, Failure> {
        let wanted = wanted(args, &self.everywhere, self.folder().display().to_string())?;
        let wanted = OpenSession { loosens_in, attended: true, interactive: true, ..wanted };
        let opened = self.app.open(&Caller::person(), wanted).await?;
        match opened.owner {
            Some(owner) if owner == std::process::id() => {
                self.app.close(opened.client).await?;
                return Err(Failure::usage("This window is already in that session".to_owned()));
            }
            Some(_) => {
                attach::left_out(args).iter().for_each(|words| say::note(words));
                say::note("Also open in another window; both show the same");
            }
            None => opened.notes.iter().for_each(|words| say::note(words)),
        }
        locked(&self.opened).push(opened.clone());
        Ok(opened)
    }

    /// What the command line said about the first session holds for new ones; others have their own.
    fn args_for(&self, wanted: Wanted) -> RunArgs {
        let base = RunArgs {
            session: None,
            continue_latest: false,
            resume: None,
            message: None,
            words: Vec::new(),
            ..self.args.clone()
        };
        let theirs = RunArgs { model: None, mode: None, generation: None, ..base.clone() };
        match wanted {
            Wanted::New => base,
            Wanted::Latest => RunArgs { continue_latest: true, ..theirs },
            Wanted::Id(id) => RunArgs { session: Some(id), ..theirs },
        }
    }

    /// Writes a session to the file that is named behind `/export`.
    async fn write(&self, session: SessionId, argument: &str) -> Result<String, Failure> {
        let line = ExportLine::try_parse_from(argument.split_whitespace());
        let line = line.map_err(|error| Failure::usage(error.to_string().trim().to_owned()))?;
        let id = session.to_string();
        let file = match line.file.join(" ") {
            named if named.is_empty() => format!("neco-{}.md", short_id(session)),
            named => named,
        };
        let file = self.folder().join(file);
        let request = ExportSession {
            session: Some(id),
            folder: self.folder().display().to_string(),
            format: format_of(line.format, Some(&file))?,
            file: file.display().to_string(),
            over: line.force,
            with_keys: line.no_redact,
        };
        let app: &dyn App = self.app.as_ref();
        app.ask(&Caller::person(), &request).await?;
        Ok(file.display().to_string())
    }

    async fn persons_shell(&self) -> Result<Arc<PersonsShell>, Failure> {
        let folder = self.folder();
        let mut overrides = [self.everywhere.overrides.clone(), self.args.box_args.overrides()].concat();
        let mut args = self.args.rules.clone();
        // What loosens holds where it was said.
        let said_of = locked(&self.said_of).clone();
        if said_of.is_some_and(|said_of| Path::new(&said_of) != folder) {
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
        let (brought, env, rules) =
            (Arc::clone(&state), self.env.clone(), args.flags(&crate::folder(&self.everywhere)?));
        let opened = tokio::task::spawn_blocking(move || PersonsShell::open(&folder, &rules, &brought, &env)).await;
        let shell = Arc::new(opened.map_err(|error| Failure::new(Exit::Failed, error.to_string()))??);
        *kept = Some((state, Arc::clone(&shell)));
        Ok(shell)
    }

    async fn read_picture(&self, source: ImageSource) -> Result<Option<Attachment>, AppError> {
        match source {
            ImageSource::Clipboard => {
                let printer = PicturePrinter::find(|name| self.env.is_set(name), |name| self.env.find_program(name));
                let Some(bytes) = clipboard::picture(printer).await.map_err(failed)? else { return Ok(None) };
                picture::attachment(&bytes, "the picture in the clipboard").map(Some)
            }
            ImageSource::File(name) => {
                let path = self.folder().join(name.strip_prefix("file://").unwrap_or(&name));
                let read = tokio::task::spawn_blocking(move || picture::attachments(&[path]));
                // What has the name of a picture may be a pipe that never ends.
                let read = tokio::time::timeout(PICTURE, read)
                    .await
                    .map_err(|_| failed(format!("{name} takes too long to be read")))?;
                Ok(read.map_err(failed)??.into_iter().next())
            }
        }
    }
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

/// What is written behind `/export`, with flags as on the command line.
#[derive(Parser)]
#[command(name = "/export", no_binary_name = true)]
struct ExportLine {
    /// The words of the file's name.
    file: Vec<String>,
    #[arg(long, value_parser = one_of(FORMATS))]
    format: Option<ExportFormat>,
    #[arg(long)]
    force: bool,
    #[arg(long)]
    no_redact: bool,
}

impl Host for TerminalHost {
    fn open(&self, wanted: Wanted) -> BoxFuture<'_, Result<Arc<dyn Client>, AppError>> {
        self.open_wanted(wanted).map_err(AppError::from).boxed()
    }

    fn shown(&self, client: &Arc<dyn Client>) {
        let opened = locked(&self.opened).iter().find(|opened| Arc::ptr_eq(&opened.client, client)).cloned();
        *locked(&self.shown) = opened;
    }

    /// The one on the screen stays open until the process ends: what is done at its end may take a while, and the person
    /// is told of it once the terminal is free.
    fn close(&self, client: Arc<dyn Client>) -> BoxFuture<'_, ()> {
        if locked(&self.shown).as_ref().is_some_and(|shown| Arc::ptr_eq(&shown.client, &client)) {
            return async {}.boxed();
        }
        locked(&self.opened).retain(|opened| !Arc::ptr_eq(&opened.client, &client));
        async move { self.left(self.app.close(client).await) }.boxed()
    }

    fn folder(&self) -> String {
        Self::folder(self).display().to_string()
    }

    fn home(&self) -> PathBuf {
        self.env.home().to_owned()
    }

    fn given(&self) -> GivenRules {
        self.args.rules.given()
    }

    fn log_file(&self) -> String {
        log::path(&self.env).display().to_string()
    }

    fn edit_text(&self, text: String) -> BoxFuture<'_, Result<Option<String>, AppError>> {
        self.editing.text(text).map_err(failed).boxed()
    }

    fn edit_call(&self, tool: String, arguments: Value) -> BoxFuture<'_, Result<Option<Edited>, AppError>> {
        let folder = self.folder();
        async move { self.editing.call(&tool, arguments, &folder).await.map_err(failed) }.boxed()
    }

    fn edit_file(&self, file: String) -> BoxFuture<'_, Result<bool, AppError>> {
        async move { self.editing.file(Path::new(&file)).await.map_err(failed) }.boxed()
    }

    fn end_editor(&self) {
        self.editing.end();
    }

    fn history(&self) -> Vec<String> {
        self.history.read()
    }

    fn remember(&self, text: &str) {
        self.history.remember(text);
    }

    fn notes(&self) -> Vec<String> {
        say::held_notes()
    }

    fn successor(&self) -> Option<(Wanted, String)> {
        let id = self.attached()?;
        Some((Wanted::Id(id), "The other window is gone; this one took over".to_owned()))
    }

    fn ended(&self) -> Option<String> {
        Some(match self.attached() {
            Some(id) => {
                format!("The other window closed this session. Resume it with  neco resume {id}")
            }
            None => "the session has ended".to_owned(),
        })
    }

    fn shell(&self, command: String, output: Printed) -> BoxFuture<'_, Result<Option<i32>, AppError>> {
        async move { self.persons_shell().await?.run(&command, output).await }.boxed()
    }

    fn image(&self, source: ImageSource) -> BoxFuture<'_, Result<Option<Attachment>, AppError>> {
        self.read_picture(source).boxed()
    }

    fn export(&self, session: SessionId, argument: String) -> BoxFuture<'_, Result<String, AppError>> {
        async move { Ok(self.write(session, &argument).await?) }.boxed()
    }

    fn has_status(&self) -> bool {
        self.status_line.is_some()
    }

    fn status(&self, standing: Value) -> BoxFuture<'_, Option<String>> {
        async move { status_line::line(self.status_line.as_ref()?, &standing, &self.folder()).await }.boxed()
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn failed(error: impl ToString) -> AppError {
    AppError::new(Trouble::Failed, error.to_string())
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

//! What stands around a window: sessions that are opened, files, an editor, commands that reach beyond the session.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use futures::future::BoxFuture;
use futures::{FutureExt, TryFutureExt};
use neco_app::StorelessApp;
use neco_app::rules::kept_in;
use neco_app::workspace::FolderState;
use neco_app::workspace::own_commands::{self, OwnCommand};
use neco_app::workspace::plugged::Plugged;
use neco_config::{Env, LoadOptions, Loaded};
use neco_proto::app::models::ListModels;
use neco_proto::app::rules::{AddRule, ListKeptRules, ListRules, RemoveRules, RuleList};
use neco_proto::app::{App, AppError, Caller, Request};
use neco_proto::{Attachment, Client};
use neco_session::memory::{kept_words, to_remember};
use neco_tui::host::{CommandOutcome, Edited, Host, ImageSource, ModelEntry, Printed, RuleEntry, Wanted};
use neco_view::slash::{Custom, Outside};
use neco_workspace::{GitFacts, Head};
use serde_json::Value;
use tokio::task::block_in_place;

use super::editing::Editing;
use super::history::HistoryFile;
use super::opened::OpenSessions;
use super::program::WindowApp;
use super::shell::PersonsShell;
use super::{clipboard, files, model_list, rule_list, status};
use crate::args::{EverywhereArgs, RunArgs};
use crate::ask::Tty;
use crate::cmd::{self, program};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::run::picture;
use crate::say;
use crate::signals::InterruptMask;

/// How long a picture may take to be read.
const PICTURE: Duration = Duration::from_secs(5);

/// The program around a window.
pub struct TerminalHost {
    args: RunArgs,
    everywhere: EverywhereArgs,
    env: Env,
    /// What is asked of the whole program.
    app: Arc<WindowApp>,
    sessions: OpenSessions,
    editing: Editing,
    /// The person's command for the status line.
    status_line: Option<String>,
    history: HistoryFile,
    /// Where the session on the screen works.
    folder: Mutex<PathBuf>,
    /// What was opened before there was a window.
    first: Mutex<Option<Arc<dyn Client>>>,
    /// The person's shell, and what it was made of.
    shell: tokio::sync::Mutex<Option<(Arc<FolderState>, Arc<PersonsShell>)>>,
}

impl TerminalHost {
    /// For work in `folder`.
    #[must_use]
    pub fn new(
        args: RunArgs,
        everywhere: EverywhereArgs,
        env: Env,
        folder: PathBuf,
        sessions: OpenSessions,
        mask: InterruptMask,
        status_line: Option<String>,
    ) -> Self {
        let history = HistoryFile::of(&folder, env.data_dir());
        let folder = Mutex::new(folder);
        let editing = Editing::new(env.clone(), mask);
        let app = Arc::new(WindowApp::new(everywhere.clone(), Arc::clone(sessions.workspaces())));
        Self {
            args,
            everywhere,
            env,
            app,
            sessions,
            editing,
            status_line,
            history,
            folder,
            first: Mutex::default(),
            shell: tokio::sync::Mutex::default(),
        }
    }

    /// Opens the session of the command line, while the terminal is free: the person may be asked.
    ///
    /// # Errors
    /// When it can't be opened.
    pub async fn open_first(&self, tty: Option<&Tty>) -> Result<Arc<dyn Client>, Failure> {
        let fresh = self.sessions.open(&self.args, &self.folder(), tty).await?;
        *self.folder.lock().unwrap_or_else(PoisonError::into_inner) = fresh.folder;
        *self.first.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&fresh.client));
        Ok(fresh.client)
    }

    /// Stops everything that they do.
    pub async fn stop_all(&self) {
        self.sessions.stop_all().await;
    }

    /// Ends all sessions that are still open.
    pub async fn close_all(&self) {
        self.app.let_go().await;
        self.sessions.close_all().await;
    }

    /// The last session that was left and in which something was said, as people write it.
    #[must_use]
    pub fn last_said(&self) -> Option<String> {
        self.sessions.last_said()
    }

    /// Where the session on the screen works.
    #[must_use]
    pub fn folder(&self) -> PathBuf {
        self.folder.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What is asked of the whole program.
    #[must_use]
    pub fn app(&self) -> Arc<dyn App> {
        self.app.clone()
    }

    /// The same as it goes over wires.
    pub(super) fn folder_name(&self) -> String {
        self.folder().display().to_string()
    }

    /// What holds for subcommands, in that folder.
    pub(super) fn everywhere_here(&self) -> EverywhereArgs {
        EverywhereArgs { cwd: Some(self.folder()), ..self.everywhere.clone() }
    }

    /// The environment.
    #[must_use]
    pub fn env(&self) -> &Env {
        &self.env
    }

    /// The settings for work in the folder.
    pub(super) fn load(&self) -> Result<Loaded, Failure> {
        let overrides = &[self.everywhere.overrides.clone(), self.args.box_args.overrides()].concat();
        Ok(neco_config::load(LoadOptions { env: &self.env, cwd: &self.folder(), overrides })?)
    }

    async fn open_wanted(&self, wanted: Wanted) -> Result<Arc<dyn Client>, Failure> {
        if let Some(first) = self.first.lock().unwrap_or_else(PoisonError::into_inner).take() {
            return Ok(first);
        }
        let args = self.args_for(wanted);
        let fresh = self.sessions.open(&args, &self.folder(), None).await?;
        *self.folder.lock().unwrap_or_else(PoisonError::into_inner) = fresh.folder;
        Ok(fresh.client)
    }

    /// What the command line said about the first session holds for new ones; others have their own.
    fn args_for(&self, wanted: Wanted) -> RunArgs {
        let base =
            RunArgs { session: None, continue_latest: false, message: None, words: Vec::new(), ..self.args.clone() };
        let theirs = RunArgs { model: None, mode: None, generation: None, ..base.clone() };
        match wanted {
            Wanted::New => base,
            Wanted::Latest => RunArgs { continue_latest: true, ..theirs },
            Wanted::Id(id) => RunArgs { session: Some(id), ..theirs },
        }
    }

    /// Asks the program.
    pub(super) async fn ask<R: Request>(&self, request: &R) -> Result<R::Answer, Failure> {
        program::ask_of(self.app.as_ref(), request).await
    }

    /// The program without its store, with the settings of this window.
    fn storeless(&self) -> StorelessApp {
        let overrides = [self.everywhere.overrides.clone(), self.args.box_args.overrides()].concat();
        StorelessApp::new(self.env.clone(), overrides)
    }

    /// Asks the program what needs no store. Files may be read for it, so it is done on another thread.
    pub(super) async fn ask_storeless<R: Request>(&self, request: R) -> Result<R::Answer, Failure> {
        let app = self.storeless();
        let asked = tokio::spawn(async move { (&app as &dyn App).ask(&Caller::person(), &request).await });
        Ok(asked.await.map_err(|error| Failure::new(Exit::Failed, error.to_string()))??)
    }

    /// The rules in force.
    pub(super) async fn rules_here(&self) -> Result<RuleList, Failure> {
        self.ask_storeless(ListRules { folder: self.folder_name(), given: self.args.rules.given() }).await
    }

    /// The kept rules changed: they hold at once, for the agents and for what the person runs.
    async fn renewed(&self, words: String) -> Result<String, Failure> {
        let kept = kept_in(&self.storeless(), &self.folder_name(), &self.args.rules.given())?;
        *self.shell.lock().await = None;
        let when = match self.sessions.renew_kept(&kept).await {
            true => "it holds from now on",
            false => "it holds for sessions that are opened from now on; this one is another process's",
        };
        Ok(format!("{words}; {when}"))
    }

    /// The commands of the person and of the folder; those that are not trusted say so.
    fn list_commands(&self) -> Vec<Custom> {
        let commands = self.own_commands();
        let plugged = self.load().ok().map(|loaded| Plugged::look(&self.env, &self.folder(), &loaded));
        let marked = |command: OwnCommand| match &plugged {
            Some(plugged) if !plugged.may_run(&command) => {
                let help = format!("(not trusted: `neco trust`) {}", command.custom.help);
                Custom { help, ..command.custom }
            }
            Some(_) | None => command.custom,
        };
        commands.into_iter().map(marked).collect()
    }

    fn own_commands(&self) -> Vec<OwnCommand> {
        own_commands::find(&self.env, &self.folder())
    }

    async fn say_custom(&self, name: &str, argument: &str) -> Result<String, Failure> {
        let commands = self.own_commands();
        let command = commands.iter().find(|command| command.custom.name == name);
        let command = command.ok_or_else(|| Failure::usage(format!("there is no /{name} any more")))?;
        let plugged = Plugged::look(&self.env, &self.folder(), &self.load()?);
        if !plugged.may_run(command) {
            return Err(Failure::usage(format!(
                "/{name} comes from {}, which is not trusted as it is: `neco trust` shows what it brings along and \
                 switches it on",
                self.env.shown(&command.file)
            )));
        }
        Ok(command.say(argument))
    }

    async fn persons_shell(&self) -> Result<Arc<PersonsShell>, Failure> {
        let folder = self.folder();
        let overrides = [self.everywhere.overrides.clone(), self.args.box_args.overrides()].concat();
        let state = self.sessions.workspaces().at(&folder, &overrides).await?.now();
        let mut kept = self.shell.lock().await;
        if let Some((made_of, shell)) = kept.as_ref()
            && Arc::ptr_eq(made_of, &state)
        {
            return Ok(Arc::clone(shell));
        }
        let (brought, env, rules) = (Arc::clone(&state), self.env.clone(), self.args.rules.clone());
        let opened = tokio::task::spawn_blocking(move || PersonsShell::open(&folder, &rules, &brought, &env)).await;
        let shell = Arc::new(opened.map_err(|error| Failure::new(Exit::Failed, error.to_string()))??);
        *kept = Some((state, Arc::clone(&shell)));
        Ok(shell)
    }

    async fn read_picture(&self, source: ImageSource) -> Result<Option<Attachment>, String> {
        match source {
            ImageSource::Clipboard => {
                let Some(bytes) = clipboard::picture(&self.env).await? else { return Ok(None) };
                let media_type = picture::checked(&bytes, "the picture in the clipboard");
                let media_type = media_type.map_err(|failure| failure.message)?.to_owned();
                Ok(Some(Attachment::Image { media_type, data: STANDARD.encode(bytes) }))
            }
            ImageSource::File(name) => {
                let path = self.folder().join(name.strip_prefix("file://").unwrap_or(&name));
                let read = tokio::task::spawn_blocking(move || picture::attachments(&[path]));
                // What has the name of a picture may be a pipe that never ends.
                let read = tokio::time::timeout(PICTURE, read)
                    .await
                    .map_err(|_| format!("{name} takes too long to be read"))?;
                let pictures = read.map_err(|error| error.to_string())?.map_err(|failure| failure.message)?;
                Ok(pictures.into_iter().next())
            }
        }
    }

    /// Keeps a note for later sessions.
    async fn keep_note(&self, note: String) -> Result<String, Failure> {
        let nothing = || Failure::usage("there is nothing to remember: say it in one line");
        let new = to_remember(&format!("# {note}")).ok_or_else(nothing)?;
        if !self.load()?.config.memory.enabled {
            return Err(Failure::usage("there is no memory (memory.enabled = false)"));
        }
        Ok(kept_words(&self.ask(&cmd::memory::said(new, &self.folder())).await?))
    }
}

fn branch(folder: &Path) -> Option<String> {
    match GitFacts::of(folder)?.head {
        Head::Branch(name) => Some(name),
        Head::Detached(commit) => Some(format!("({commit})")),
        Head::Unknown => None,
    }
}

impl Host for TerminalHost {
    fn open(&self, wanted: Wanted) -> BoxFuture<'_, Result<Arc<dyn Client>, String>> {
        self.open_wanted(wanted).map_err(|failure| failure.words()).boxed()
    }

    fn close(&self, client: Arc<dyn Client>) -> BoxFuture<'_, ()> {
        async move { self.sessions.close(&client).await }.boxed()
    }

    fn folder(&self) -> String {
        self.folder_name()
    }

    fn files(&self) -> BoxFuture<'_, Vec<String>> {
        let folder = self.folder();
        async move { tokio::task::spawn_blocking(move || files::list(&folder)).await.unwrap_or_default() }.boxed()
    }

    fn branch(&self) -> BoxFuture<'_, Option<String>> {
        let folder = self.folder();
        async move { tokio::task::spawn_blocking(move || branch(&folder)).await.unwrap_or_default() }.boxed()
    }

    fn edit_text(&self, text: String) -> BoxFuture<'_, Result<Option<String>, String>> {
        self.editing.text(text).boxed()
    }

    fn edit_call(&self, tool: String, arguments: Value) -> BoxFuture<'_, Result<Option<Edited>, String>> {
        let folder = self.folder();
        async move { self.editing.call(&tool, arguments, &folder).await }.boxed()
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
        let (id, owner) = self.sessions.attached()?;
        let words = format!("process {owner}, which had this session open, is gone: this window goes on with it");
        Some((Wanted::Id(id), words))
    }

    fn ended(&self) -> Option<String> {
        Some(self.sessions.ended())
    }

    fn models(&self) -> BoxFuture<'_, Result<Vec<ModelEntry>, AppError>> {
        async move {
            let list = ListModels { folder: self.folder_name(), all: false, own_servers: true };
            Ok(model_list::entries(self.ask_storeless(list).await?))
        }
        .map_err(|failure: Failure| failure.into())
        .boxed()
    }

    fn rules(&self) -> BoxFuture<'_, Result<Vec<RuleEntry>, AppError>> {
        async move {
            let list = self.rules_here().await?;
            // A file that can't be read is told with the rules that hold.
            let kept = self.ask_storeless(ListKeptRules {}).await.unwrap_or_default();
            Ok(rule_list::entries(kept, list))
        }
        .map_err(|failure: Failure| failure.into())
        .boxed()
    }

    fn add_rule(&self, rule: String) -> BoxFuture<'_, Result<String, AppError>> {
        async move {
            let words = rule.trim().to_owned();
            let kept = self.ask_storeless(AddRule { folder: self.folder_name(), rule }).await?;
            self.renewed(format!("{words}: kept for this folder in {}", kept.file)).await
        }
        .map_err(|failure: Failure| failure.into())
        .boxed()
    }

    fn drop_rule(&self, id: String) -> BoxFuture<'_, Result<String, AppError>> {
        async move {
            let removed = self.ask_storeless(RemoveRules { rules: vec![id] }).await?;
            let titles: Vec<String> = removed.rules.into_iter().map(|rule| rule.title).collect();
            self.renewed(format!("no longer: {}", titles.join(", "))).await
        }
        .map_err(|failure: Failure| failure.into())
        .boxed()
    }

    fn shell(&self, command: String, output: Printed) -> BoxFuture<'_, Result<Option<i32>, String>> {
        async move {
            let shell = self.persons_shell().await.map_err(|failure| failure.words())?;
            shell.run(&command, output).await
        }
        .boxed()
    }

    fn keep(&self, note: String) -> BoxFuture<'_, Result<String, AppError>> {
        self.keep_note(note).map_err(AppError::from).boxed()
    }

    fn image(&self, source: ImageSource) -> BoxFuture<'_, Result<Option<Attachment>, String>> {
        self.read_picture(source).boxed()
    }

    fn commands(&self) -> BoxFuture<'_, Vec<Custom>> {
        // Hundreds of files may be read; whoever shares the thread goes on elsewhere.
        async move { block_in_place(|| self.list_commands()) }.boxed()
    }

    fn custom(&self, name: String, argument: String) -> BoxFuture<'_, Result<String, AppError>> {
        async move { self.say_custom(&name, &argument).await.map_err(AppError::from) }.boxed()
    }

    fn outside(
        &self,
        client: Arc<dyn Client>,
        what: Outside,
        argument: String,
    ) -> BoxFuture<'_, Result<CommandOutcome, AppError>> {
        async move { self.beyond(client, what, &argument).await.map_err(AppError::from) }.boxed()
    }

    fn has_status(&self) -> bool {
        self.status_line.is_some()
    }

    fn status(&self, standing: Value) -> BoxFuture<'_, Option<String>> {
        async move { status::line(self.status_line.as_ref()?, &standing, &self.folder()).await }.boxed()
    }
}

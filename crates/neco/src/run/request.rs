//! Opening the session that a request goes to, and seeing it through.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use neco_app::disk;
use neco_app::opening::{OpenError, Opening};
use neco_app::services::{self, Services};
use neco_app::workspace::plugged::Scope;
use neco_app::workspace::{Workspace, Workspaces, keys};
use neco_config::{Env, Notice};
use neco_proto::{Attachment, Command, ErrorCode, SessionId};
use neco_session::Session;
use neco_session::hub::{Finder, Found};
use neco_store::SqliteStore;
use neco_view::wording::place;
use neco_workspace::worktree::Held;

use super::attach::{self, Which};
use super::drive::{RunUi, see_through};
use super::socket::SocketServer;
use super::{first_run, guest, message, note, picture, worktree};
use crate::args::{EverywhereArgs, OutputFormat, RunArgs};
use crate::ask::{self, Tty};
use crate::compose;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::log;
use crate::outcome::{Outcome, RunError};
use crate::print::Printer;
use crate::print::json::Report;
use crate::say;
use crate::short_id::short_id;
use crate::terminal::{Terminal, is_unattended};
use crate::tui::ahead;

/// How often somebody else may be faster to open a session, and how long until it is looked again.
const RACES: u32 = 40;
const PAUSE: Duration = Duration::from_millis(50);

/// One request, from its arguments to how the process ends.
///
/// # Errors
/// When it can't begin.
pub fn run(args: &RunArgs, everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
    let format = args.output_format;
    attempt(args, everywhere, env).inspect_err(|failure| {
        if format == OutputFormat::Json {
            report(failure);
        }
    })
}

fn attempt(args: &RunArgs, everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
    let terminal = Terminal::look_at(env);
    let goes_on = args.session.is_some() || args.continue_latest;
    let message = message::gather(args.message(), terminal.stderr, goes_on)?;
    let attachments = picture::attachments(&args.images)?;
    if let Some(exit) = note::remember(&message.text, args, everywhere, env)? {
        return Ok(exit);
    }
    message.warnings.iter().for_each(|words| say::note(words));
    let tty = (args.output_format == OutputFormat::Text && !is_unattended(env)).then(Tty::open).flatten();
    let folder = crate::folder(everywhere)?;
    let runtime = compose::runtime()?;
    let folder = match args.worktree {
        Some(how) => worktree::begin(&folder, how, &message.text, env)?,
        None => folder,
    };
    let title = message.text.lines().next().unwrap_or_default().to_owned();
    let workspaces = Workspaces::new(env.clone());
    let mut races = 0;
    let opened = loop {
        let said = steering(&message.text, &attachments);
        if goes_on && let Some(begun) = runtime.block_on(guest::begin(which(args, &folder), env, Some(said)))? {
            attach::left_out(args).iter().for_each(|words| say::note(words));
            let ui = take_seat(args.output_format, env, tty, begun.folder(), begun.id());
            let seen = guest::follow(&runtime, begun, ui);
            runtime.shutdown_background();
            return seen;
        }
        let (tty, attended) = (tty.as_ref(), tty.is_some());
        let request = Request { args, everywhere, env, workspaces: &workspaces, tty, attended, interactive: false };
        match runtime.block_on(request.open(&folder)) {
            // Somebody else was faster, and serves it in a moment.
            Err(failure) if goes_on && failure.code == Some(ErrorCode::SessionInUse) && races < RACES => races += 1,
            // What was found damaged is set aside by the next opening.
            Err(_) if races < RACES && disk::is_doubted(env.data_dir()) => races = RACES,
            opened => break opened.inspect_err(|_| worktree::end(&folder, None, &title, "", env))?,
        }
        std::thread::sleep(PAUSE);
    };
    opened.notes.iter().for_each(|words| say::note(words));
    let others = SocketServer::serve(runtime.handle(), &opened.session, &opened.services, everywhere, env);
    let ui = take_seat(args.output_format, env, tty, opened.folder.clone(), opened.session.id());
    let asked = Command::UserMessage { content: message.text, attachments };
    let seen = see_through(&runtime, &opened.services, &opened.session, &others, ui, asked);
    let (works_in, id) = (opened.folder, short_id(opened.session.id()));
    let ended = compose::stop(runtime, opened.services, opened.session, others, seen);
    if matches!(ended, Ok(Exit::Failed)) && disk::is_full(env.data_dir()) {
        say::note(disk::store_advice(env.data_dir()));
    }
    worktree::end(&works_in, opened.held, &title, &id, env);
    ended
}

/// Which session is gone on with.
fn which<'a>(args: &'a RunArgs, folder: &'a Path) -> Which<'a> {
    match &args.session {
        Some(id) => Which::Id(id),
        None => Which::Latest(folder),
    }
}

/// What is said to a session that may be at work: words reach the agent at its next turn. Pictures
/// can't be said in between.
fn steering(text: &str, attachments: &[Attachment]) -> Command {
    match attachments {
        [] => Command::Steer { text: text.to_owned() },
        _ => Command::UserMessage { content: text.to_owned(), attachments: attachments.to_vec() },
    }
}

/// What a session that works in `folder` is seen with.
pub fn take_seat(format: OutputFormat, env: &Env, tty: Option<Tty>, folder: PathBuf, session: SessionId) -> RunUi {
    let mut printer = Terminal::look_at(env).printer(format);
    if let Printer::Text(text) = &mut printer {
        text.set_session(short_id(session));
    }
    RunUi { printer, person: tty.map(|tty| ask::person(tty, folder, env)) }
}

/// In `json` form even what never began is an object.
fn report(failure: &Failure) {
    let outcome = Outcome::of_failure(RunError { code: failure.code, message: failure.message.clone() });
    // The same is said on stderr.
    let _ = say::out(&format!("{}\n", Report::new(&outcome, None, failure.exit).line()));
}

/// What is needed to open the session of a request.
pub struct Request<'a> {
    /// What is asked for.
    pub args: &'a RunArgs,
    /// Where settings come from.
    pub everywhere: &'a EverywhereArgs,
    /// The environment.
    pub env: &'a Env,
    /// The folders that this process works in.
    pub workspaces: &'a Workspaces,
    /// Where a person can be asked while it is opened, if so.
    pub tty: Option<&'a Tty>,
    /// Whether a person is there.
    pub attended: bool,
    /// Whether more than a single request is meant.
    pub interactive: bool,
}

/// A session that is open.
pub struct Opened {
    /// What it stands on.
    pub services: Services,
    /// The session.
    pub session: Session,
    /// Where it works.
    pub folder: PathBuf,
    /// That somebody works there, should it be a worktree of ours.
    pub held: Option<Held>,
    /// What the person should know.
    pub notes: Vec<String>,
}

impl Request<'_> {
    /// Opens it for work in `folder`, or in the session's own.
    ///
    /// # Errors
    /// When that is not possible; there may be no model yet.
    pub async fn open(&self, folder: &Path) -> Result<Opened, Failure> {
        let overrides = [self.everywhere.overrides.clone(), self.args.box_args.overrides()].concat();
        let mut workspace = self.workspace(folder, &overrides, &[]).await?;
        let store = compose::shared_store(self.workspaces).await?;
        let found = self.find(&store, folder).await?;
        let mut notes: Vec<String> = found.iter().filter_map(Found::note).map(|note| place::words(&note)).collect();
        let record = found.as_ref().map(|found| found.record.clone());
        if let Some(record) = record.as_ref().filter(|_| self.interactive) {
            ahead::look(&store, record, self.env);
        }
        let mut works_in = folder.to_owned();
        // The settings of the session's own folder count, wherever it is gone on with from.
        if let Some(record) = record.as_ref().filter(|record| Path::new(&record.cwd) != folder) {
            works_in = PathBuf::from(&record.cwd);
            notes.push(format!("the session works in its own folder, {}", record.cwd));
            workspace = self.workspace(&works_in, &overrides, &workspace.now().loaded.warnings).await?;
        }
        let held = worktree::hold(&works_in, self.env);
        let state = workspace.now();
        log::settings(&state.loaded);
        notes.extend(keys::warnings(&state.loaded));
        if let Some(tools) = &self.args.tools {
            notes.push(format!("only these tools exist in this run: {}", tools.join(", ")));
        }
        let opening = self.opening();
        let model = opening.default_model(&state, record.is_some(), &mut notes).await;
        let model = model.map_err(|error| self.failure(error))?;
        self.ask_about(&workspace, &mut notes)?;
        let opened = opening.open(&workspace, store, found, model, say::note, &mut notes).await;
        let (services, session) = opened.map_err(|error| self.failure(error))?;
        log::hide(services.hub.redactor());
        Ok(Opened { services, session, folder: works_in, held, notes })
    }

    /// What a folder brings. Warnings are said at once, whatever comes of the rest; those in `said` were.
    async fn workspace(&self, folder: &Path, overrides: &[String], said: &[Notice]) -> Result<Arc<Workspace>, Failure> {
        let workspace = self.workspaces.at(folder, overrides).await?;
        let state = workspace.now();
        let new = state.loaded.warnings.iter().filter(|warning| !said.contains(warning));
        new.for_each(|warning| say::note(&warning.to_string()));
        Ok(workspace)
    }

    /// The session that is gone on with, and where it goes on; `None` for a new one.
    async fn find(&self, store: &Arc<SqliteStore>, folder: &Path) -> Result<Option<Found>, Failure> {
        if self.args.session.is_none() && !self.args.continue_latest {
            return Ok(None);
        }
        let finder = Finder::new(store.clone(), self.env.data_dir().to_owned());
        let Some(id) = &self.args.session else { return Ok(Some(finder.latest(folder).await?)) };
        let chose = self.everywhere.cwd.is_some();
        let found = finder.place_of(finder.find(id).await?, folder, chose)?;
        if chose && Path::new(&found.record.cwd) != folder {
            return Err(Failure::usage(format!(
                "the session has its own folder, {}: --cwd is for sessions whose folder is gone",
                found.record.cwd
            )));
        }
        Ok(Some(found))
    }

    /// Asks a person about what the folder brings that nobody has decided about; without one it stays off, and that
    /// is said.
    fn ask_about(&self, workspace: &Workspace, notes: &mut Vec<String>) -> Result<(), Failure> {
        let state = workspace.now();
        notes.extend(state.plugged.notices.iter().cloned());
        if let Some(tty) = self.tty.filter(|_| state.plugged.has_news())
            && let Err(words) = workspace.decide(|plugged| ask::decide_trust(tty, plugged, Scope::News, self.env))?
        {
            notes.push(format!("the answer could not be kept: {words}"));
        }
        notes.extend(workspace.now().plugged.note());
        Ok(())
    }

    /// What belongs to this opening.
    fn opening(&self) -> Opening {
        Opening {
            flags: self.args.rules.flags(),
            tools: self.args.tools.clone().unwrap_or_default(),
            model: self.args.model.clone(),
            mode: self.args.mode,
            generation: self.args.generation,
            approval: self.args.approval(),
            max_turns: self.args.max_turns,
            max_cost: self.args.max_cost,
            environment: services::environment(self.env),
            attended: self.attended,
            interactive: self.interactive,
        }
    }

    fn failure(&self, error: OpenError) -> Failure {
        match error {
            OpenError::NoModel(looked) => first_run::guide(&looked, self.env.config_dir()),
            OpenError::App(error) => error.into(),
        }
    }
}

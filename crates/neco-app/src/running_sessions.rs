//! The sessions that a process has open, for what must reach them at once.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use neco_config::section::SandboxLevel;
use neco_proto::app::AppError;
use neco_proto::app::opening::{OpenSession, WhichSession};
use neco_proto::app::rules::GivenRules;
use neco_proto::app::tools::CALLER_MODEL;
use neco_proto::{Answer, Client, Query};
use neco_sandbox::Sandbox;
use neco_session::Session;

use crate::error::invalid;
use crate::opening::Opening;
use crate::persons_shell::PersonsShell;
use crate::services::{CallTools, given_environment};
use crate::tools::OutsideCalls;
use crate::workspace::rules::{RuleFlags, load};
use crate::workspace::{FolderState, Workspace};

/// How another process opens a session, but for what only the session knows.
pub(crate) struct WantedElsewhere(OpenSession);

impl WantedElsewhere {
    /// With what the session knows.
    ///
    /// # Errors
    /// When it does not say it.
    pub(crate) async fn with(self, session: Session) -> Result<OpenSession, AppError> {
        let Answer::Snapshot(snapshot) = session.ask(Query::Snapshot).await? else {
            return Err(invalid("the session does not say how it stands"));
        };
        Ok(OpenSession { approval: Some(snapshot.approval), ..self.0 })
    }
}

/// The sessions that a process has open. Clones are the same ones.
#[derive(Clone, Default)]
pub struct RunningSessions(Arc<Mutex<Vec<Weak<RunningSession>>>>);

/// One of them, as long as what it stands on is there.
pub(crate) struct RunningSession {
    session: Session,
    workspace: Arc<Workspace>,
    /// What it was opened with.
    opening: Opening,
    /// What the person's own commands run in.
    shell: Mutex<Option<MadeShell>>,
}

/// A person's shell, and what it was made of.
struct MadeShell {
    state: Arc<FolderState>,
    level: Option<SandboxLevel>,
    added: Vec<PathBuf>,
    shell: Arc<PersonsShell>,
}

impl RunningSession {
    pub(crate) fn new(session: Session, workspace: Arc<Workspace>, opening: Opening) -> Arc<Self> {
        Arc::new(Self { session, workspace, opening, shell: Mutex::default() })
    }

    /// What the person's own commands run in: the same as long as the rules and the sandbox are, so that a `cd` holds for
    /// the commands after it. It may start programs.
    pub(crate) fn shell(&self) -> Result<Arc<PersonsShell>, AppError> {
        let (state, level, added) = (self.workspace.now(), self.opening.level.get(), self.opening.added.all());
        let mut kept = self.shell.lock().unwrap_or_else(PoisonError::into_inner);
        let is_same =
            |made: &&MadeShell| Arc::ptr_eq(&made.state, &state) && made.level == level && made.added == added;
        if let Some(made) = kept.as_ref().filter(is_same) {
            return Ok(Arc::clone(&made.shell));
        }
        let policy = self.opening.rules(&self.workspace, &state)?.policy;
        let (sandbox, config) = (self.opening.sandbox(&self.workspace, &state)?, &state.loaded.config);
        let shell = PersonsShell::with(self.workspace.folder(), policy, &sandbox, config, self.workspace.env())?;
        let shell = Arc::new(shell);
        *kept = Some(MadeShell { state, level, added, shell: Arc::clone(&shell) });
        Ok(shell)
    }

    /// The folder that it works in.
    pub(crate) fn workspace(&self) -> Arc<Workspace> {
        Arc::clone(&self.workspace)
    }

    /// Lets it read and write one more folder from its next turn on. It reads files.
    pub(crate) fn add_folder(&self, folder: PathBuf) -> Result<(), AppError> {
        let here = self.workspace.folder();
        let (flags, _) = self.opening.flags(here);
        let resolved = here.join(&folder).canonicalize().unwrap_or_else(|_| folder.clone());
        if resolved.starts_with(here) && resolved.is_dir() {
            return Err(invalid(format!("{} belongs to the folder that is worked in", folder.display())));
        }
        let add_dir = flags.add_dir.iter().cloned().chain([folder]).collect();
        let refused = |error: AppError| AppError { message: error.message.replace("--add-dir: ", ""), ..error };
        let state = self.workspace.now();
        let flags = RuleFlags { add_dir, ..flags };
        load(&flags, self.workspace.env(), here, &state.loaded, &state.plugged).map_err(refused)?;
        self.opening.added.add(resolved);
        self.keep_opening();
        Ok(())
    }

    /// It, and the calls that are made in it from outside.
    ///
    /// # Errors
    /// When a model makes its calls.
    pub(crate) fn for_calls(&self) -> Result<(Session, OutsideCalls), AppError> {
        match self.opening.wanted.model.as_deref() == Some(CALLER_MODEL) {
            true => Ok((self.session.clone(), self.opening.calls.clone())),
            false => Err(invalid("a model makes the calls of this session")),
        }
    }

    /// The tools of the calls that are made in it from outside.
    ///
    /// # Errors
    /// When a model makes its calls.
    pub(crate) fn call_tools(&self) -> Result<CallTools, AppError> {
        self.for_calls()?;
        Ok(self.opening.call_tools.clone())
    }

    /// What its commands run in from its next turn on. It may start programs.
    pub(crate) fn sandbox(&self) -> Result<Sandbox, AppError> {
        self.opening.sandbox(&self.workspace, &self.workspace.now())
    }

    /// Gives it a sandbox of another level from its next turn on. It may start programs.
    pub(crate) fn set_sandbox(&self, level: SandboxLevel) -> Result<Sandbox, AppError> {
        let before = self.opening.level.set(Some(level));
        let sandbox = self.sandbox();
        match &sandbox {
            Ok(_) => self.keep_opening(),
            Err(_) => {
                self.opening.level.set(before);
            }
        }
        sandbox
    }

    /// The folders that it may read and write besides its own. It reads files.
    pub(crate) fn open_folders(&self) -> Result<Vec<PathBuf>, AppError> {
        Ok(self.opening.rules(&self.workspace, &self.workspace.now())?.policy.place().roots.clone())
    }

    /// How another process opens it.
    ///
    /// # Errors
    /// When what it was opened with is of this process alone.
    pub(crate) fn wanted_elsewhere(&self) -> Result<WantedElsewhere, AppError> {
        let Opening { wanted, overrides, environment, added, level, .. } = &self.opening;
        if wanted.editor.is_some() || wanted.model.as_deref() == Some(CALLER_MODEL) {
            return Err(invalid("the session belongs to the editor, or to the program, that opened it"));
        }
        let level = level.get().map(|level| format!("sandbox.level={}", level.name()));
        let add_dir = added.all().into_iter().map(|folder| folder.display().to_string());
        let add_dir = wanted.given.add_dir.iter().cloned().chain(add_dir).collect();
        Ok(WantedElsewhere(OpenSession {
            which: WhichSession::Id(self.session.id().to_string()),
            folder: self.workspace.folder().display().to_string(),
            given: GivenRules { add_dir, ..wanted.given.clone() },
            settings: overrides.iter().cloned().chain(level).collect(),
            // As settings they are among those.
            servers: Vec::new(),
            environment: match &wanted.environment {
                Some(given) => Some(given.clone()),
                None => Some(given_environment(environment.clone(), &self.workspace.now().loaded.config)),
            },
            // Of these the log knows better.
            model: None,
            mode: None,
            generation: None,
            chose_folder: false,
            loosens_in: None,
            ..wanted.clone()
        }))
    }

    /// Keeps how it is opened now, where it may be opened again. It writes a file.
    pub(crate) fn keep_opening(&self) {
        let Some(kept) = &self.opening.kept else { return };
        if let Ok(WantedElsewhere(opening)) = self.wanted_elsewhere() {
            let environment = self.opening.wanted.environment.clone();
            kept.keep(self.session.id(), OpenSession { environment, ..opening });
        }
    }

    /// The rules that are kept for good changed: those that hold in its folder hold in it at once. Where they can't be
    /// read, its next turn says so.
    async fn renew_kept(&self) {
        let Ok(state) = self.workspace.look_again() else { return };
        if let Ok(rules) = self.opening.rules(&self.workspace, &state) {
            let kept = rules.policy.rules().iter().filter(|rule| rule.kept).cloned().collect();
            self.session.renew_kept(kept).await;
        }
    }
}

impl RunningSessions {
    pub(crate) fn add(&self, open: &Arc<RunningSession>) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|open| open.strong_count() > 0);
        all.push(Arc::downgrade(open));
    }

    /// The folder, where a session is open in it.
    pub(crate) fn workspace(&self, folder: &Path) -> Option<Arc<Workspace>> {
        let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut workspaces = all.iter().filter_map(Weak::upgrade).map(|open| Arc::clone(&open.workspace));
        workspaces.find(|workspace| workspace.folder() == folder)
    }

    /// Whether a session works in this folder.
    pub(crate) fn work_in(&self, workspace: &Arc<Workspace>) -> bool {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        all.iter().filter_map(Weak::upgrade).any(|open| Arc::ptr_eq(&open.workspace, workspace))
    }

    /// What work in a folder stands on now, where a session is open there.
    pub(crate) fn in_folder(&self, folder: &Path) -> Option<Arc<FolderState>> {
        self.workspace(folder).map(|workspace| workspace.now())
    }

    /// The session of an id.
    pub(crate) fn find(&self, session: &str) -> Option<Arc<RunningSession>> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        all.iter().filter_map(Weak::upgrade).find(|open| open.session.id().to_string() == session)
    }

    /// The rules that are kept for good changed: they hold in all sessions at once.
    pub(crate) async fn renew_kept(&self) {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for open in all.iter().filter_map(Weak::upgrade) {
            open.renew_kept().await;
        }
    }
}

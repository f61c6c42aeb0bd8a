//! One folder: what it brings is made once, shared by the sessions in it, and made anew when its files change.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use neco_config::{Env, LoadOptions, Loaded};
use neco_model::{LocalServer, Models};
use neco_proto::app::AppError;
use neco_safety::path::sensitive::guard_settings;
use neco_sandbox::{Ask, Sandbox};

use crate::workspace::fingerprint::Fingerprint;
use crate::workspace::plugged::Plugged;
use crate::workspace::sandbox;
use crate::workspace::told_files::ToldFiles;
use crate::{error, services};

/// What a folder brings, as its files were when they were read.
pub struct FolderState {
    /// The settings.
    pub loaded: Loaded,
    /// The models.
    pub models: Arc<Models>,
    /// What it would switch on, and how far that is trusted.
    pub plugged: Plugged,
    /// Files that tell the model something.
    pub told: ToldFiles,
    /// What commands run in.
    pub sandbox: Sandbox,
    /// Servers of this machine that answered when no other model was there.
    local: Mutex<Vec<LocalServer>>,
    /// Whether a session has the models for its own.
    is_taken: AtomicBool,
}

impl FolderState {
    /// Has the models of servers that answered.
    pub fn use_local(&self, servers: Vec<LocalServer>) {
        self.models.use_local(&servers);
        *self.local.lock().unwrap_or_else(PoisonError::into_inner) = servers;
    }

    /// The same models for one session: which of a group answers, and where a script is, is nobody else's. The first
    /// session has those that are there.
    pub(crate) fn own_models(&self, env: &Env) -> Result<Arc<Models>, AppError> {
        if !self.is_taken.swap(true, Ordering::Relaxed) {
            return Ok(Arc::clone(&self.models));
        }
        let models = services::models(&self.loaded.config, env)?;
        let local = self.local.lock().unwrap_or_else(PoisonError::into_inner);
        if !local.is_empty() {
            models.use_local(&local);
        }
        Ok(Arc::new(models))
    }

    /// What a person should know of it.
    pub(crate) fn notes(&self) -> Vec<String> {
        let warnings = self.loaded.warnings.iter().map(ToString::to_string);
        warnings.chain(self.plugged.notices.iter().cloned()).chain(self.plugged.note()).collect()
    }
}

/// One folder and what it brings to the work in it.
///
/// What belongs to the opening of a session is not in here: its environment, its flags and what they grant.
pub struct Workspace {
    env: Env,
    folder: PathBuf,
    overrides: Vec<String>,
    now: Mutex<Now>,
}

struct Now {
    state: Arc<FolderState>,
    seen: Fingerprint,
    /// Why what was seen last can't be used: then `state` is older.
    broken: Option<AppError>,
}

impl Workspace {
    /// Reads what a folder brings; `overrides` are settings that outrank those of files.
    ///
    /// # Errors
    /// When its files can't be used.
    pub fn open(env: &Env, folder: &Path, overrides: &[String]) -> Result<Self, AppError> {
        let config_dir = env.config_dir();
        guard_settings(config_dir.canonicalize().unwrap_or_else(|_| config_dir.to_owned()));
        let seen = Fingerprint::take(env, folder);
        let state = Arc::new(read(env, folder, overrides, None)?);
        let (env, folder, overrides) = (env.clone(), folder.to_owned(), overrides.to_vec());
        Ok(Self { env, folder, overrides, now: Mutex::new(Now { state, seen, broken: None }) })
    }

    /// The folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The environment that its settings were found with.
    #[must_use]
    pub fn env(&self) -> &Env {
        &self.env
    }

    /// What it brings, as far as that is known.
    #[must_use]
    pub fn now(&self) -> Arc<FolderState> {
        Arc::clone(&self.now.lock().unwrap_or_else(PoisonError::into_inner).state)
    }

    /// Looks whether files were edited, and reads them then.
    ///
    /// # Errors
    /// When they can't be used as they are: what there was stays, and [`Workspace::now`] gives it.
    pub fn look_again(&self) -> Result<Arc<FolderState>, AppError> {
        let seen = Fingerprint::take(&self.env, &self.folder);
        let mut now = self.now.lock().unwrap_or_else(PoisonError::into_inner);
        if seen != now.seen {
            let read = read(&self.env, &self.folder, &self.overrides, Some(&now.state));
            now.broken = match read {
                Ok(state) => {
                    now.state = Arc::new(state);
                    None
                }
                Err(error) => Some(error),
            };
            now.seen = seen;
        }
        match &now.broken {
            Some(error) => Err(error.clone()),
            None => Ok(Arc::clone(&now.state)),
        }
    }

    /// Has somebody decide about what the folder would switch on; what they decided holds from now on.
    ///
    /// # Errors
    /// When its files can't be used any more.
    pub fn decide<T>(&self, ask: impl FnOnce(&mut Plugged) -> T) -> Result<T, AppError> {
        let seen = Fingerprint::take(&self.env, &self.folder);
        let mut plugged = Plugged::look(&self.env, &self.folder, &self.now().loaded);
        let answer = ask(&mut plugged);
        let mut now = self.now.lock().unwrap_or_else(PoisonError::into_inner);
        // Exactly what was shown counts, whatever lies there by now.
        now.state = Arc::new(with(&self.env, plugged, now.state.loaded.clone(), Some(&now.state))?);
        (now.seen, now.broken) = (seen, None);
        Ok(answer)
    }
}

fn read(env: &Env, folder: &Path, overrides: &[String], before: Option<&FolderState>) -> Result<FolderState, AppError> {
    let loaded = neco_config::load(LoadOptions { env, cwd: folder, overrides }).map_err(|e| error::of_config(&e))?;
    let mut plugged = Plugged::look(env, folder, &loaded);
    if let Some(before) = before {
        plugged.keep_guards(&before.plugged);
    }
    with(env, plugged, loaded, before)
}

fn with(env: &Env, plugged: Plugged, loaded: Loaded, before: Option<&FolderState>) -> Result<FolderState, AppError> {
    let local = before.map(|before| before.local.lock().unwrap_or_else(PoisonError::into_inner).clone());
    let local = local.unwrap_or_default();
    let models = services::models(&loaded.config, env)?;
    if !local.is_empty() {
        models.use_local(&local);
    }
    Ok(FolderState {
        models: Arc::new(models),
        told: ToldFiles::find(env, &plugged)?,
        sandbox: sandbox::open(&loaded.config, env, Ask::IfChanged)?,
        local: Mutex::new(local),
        is_taken: AtomicBool::new(false),
        plugged,
        loaded,
    })
}

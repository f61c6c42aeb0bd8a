//! The sandbox of this run: what the settings ask for, on this machine.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use neco_config::section::SandboxLevel;
use neco_config::{Config, Env};
use neco_sandbox::{Ask, Sandbox, SandboxSetup, Settings, Unmet};

use neco_proto::app::AppError;

use crate::error::failed;

/// The sandbox that the settings ask for.
///
/// # Errors
/// When the strong one is required and can't be had.
pub fn open(config: &Config, env: &Env, ask: Ask) -> Result<Sandbox, AppError> {
    open_with(config, env, env.data_dir(), ask)
}

/// The level that a session was given in place of what the settings say; clones are that of the same session.
#[derive(Clone, Debug, Default)]
pub struct SessionLevel(Arc<Mutex<Option<SandboxLevel>>>);

impl SessionLevel {
    /// The level; none where the settings decide.
    pub(crate) fn get(&self) -> Option<SandboxLevel> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives it another one; the one before it.
    pub(crate) fn set(&self, level: Option<SandboxLevel>) -> Option<SandboxLevel> {
        std::mem::replace(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner), level)
    }
}

/// The same, but what it remembers is kept in another folder than usual.
///
/// # Errors
/// When the strong one is required and can't be had.
pub fn open_with(config: &Config, env: &Env, data_dir: &Path, ask: Ask) -> Result<Sandbox, AppError> {
    probed(setup(config, env, data_dir), ask)
}

fn probed(setup: SandboxSetup, ask: Ask) -> Result<Sandbox, AppError> {
    Sandbox::probe(setup, ask).map_err(|Unmet(why)| {
        failed(format!("sandbox.required is set, and the strong sandbox can't be had: {why}"))
            .hint("`neco doctor` says what is missing; `-c sandbox.required=false` goes on with less.")
    })
}

/// The sandbox for our own git: it sees every file of the workspace, as the person's git does.
///
/// # Errors
/// When the strong one is required and can't be had.
pub fn open_for_git(config: &Config, env: &Env) -> Result<Sandbox, AppError> {
    let mut setup = setup(config, env, env.data_dir());
    setup.settings.sees_workspace_secrets = true;
    probed(setup, Ask::IfChanged)
}

fn setup(config: &Config, env: &Env, data_dir: &Path) -> SandboxSetup {
    let temporary = env.var("TMPDIR").map(Path::new).filter(|folder| folder.is_absolute() && folder.is_dir());
    SandboxSetup {
        settings: Settings::of(&config.sandbox, Some(env.home())),
        launcher: own_program(),
        namespaces: true,
        bwrap: env.find_program("bwrap"),
        home: Some(env.home().to_owned()),
        own: vec![env.config_dir().to_owned(), env.data_dir().to_owned()],
        state: data_dir.join("sandbox"),
        temporary: temporary.unwrap_or(Path::new("/tmp")).to_owned(),
    }
}

/// This program. One that was replaced while it runs is found at its old place: a launcher of another
/// version says so and runs nothing.
pub fn own_program() -> PathBuf {
    let path = std::env::current_exe().unwrap_or_default();
    match path.to_str().and_then(|text| text.strip_suffix(" (deleted)")) {
        Some(text) => PathBuf::from(text),
        None => path,
    }
}

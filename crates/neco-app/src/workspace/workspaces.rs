//! The folders that a process works in, and the one store of all of them.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use neco_config::Env;
use neco_proto::app::AppError;
use neco_safety::secrets::Redactor;
use neco_store::{EventLog, SetAside, SqliteStore};

use crate::error::failed;
use crate::running_sessions::RunningSessions;
use crate::workspace::folder::Workspace;
use crate::{disk, error, services};

/// A folder, and the settings that were given with `-c`.
type Place = (PathBuf, Vec<String>);

/// The folders that a process works in.
///
/// ```no_run
/// # async fn example(env: neco_config::Env) -> Result<(), neco_proto::app::AppError> {
/// use neco_app::workspace::Workspaces;
///
/// let workspaces = Workspaces::new(env);
/// let one = workspaces.at("/srv/one".as_ref(), &[]).await?;
/// let again = workspaces.at("/srv/one".as_ref(), &[]).await?;
/// assert!(std::sync::Arc::ptr_eq(&one, &again), "made once, shared by all sessions in it");
/// # Ok(())
/// # }
/// ```
pub struct Workspaces {
    env: Env,
    store: tokio::sync::Mutex<Option<Arc<SqliteStore>>>,
    folders: Mutex<HashMap<Place, Arc<Workspace>>>,
    /// Hides the keys of all of them: what is a key in one folder is told in none.
    redactor: Redactor,
    open: RunningSessions,
}

impl Workspaces {
    /// None yet.
    #[must_use]
    pub fn new(env: Env) -> Self {
        Self {
            env,
            store: tokio::sync::Mutex::default(),
            folders: Mutex::default(),
            redactor: Redactor::default(),
            open: RunningSessions::default(),
        }
    }

    /// The environment of the process.
    #[must_use]
    pub fn env(&self) -> &Env {
        &self.env
    }

    /// The sessions that the process has open.
    pub(crate) fn running_sessions(&self) -> &RunningSessions {
        &self.open
    }

    /// The store, and what was set aside when it was opened just now. One that was found damaged is opened anew.
    ///
    /// # Errors
    /// When it can't be opened.
    pub async fn store(&self) -> Result<(Arc<SqliteStore>, Option<SetAside>), AppError> {
        let mut kept = self.store.lock().await;
        if let Some(store) = kept.as_ref().filter(|_| !disk::is_doubted(self.env.data_dir())) {
            return Ok((Arc::clone(store), None));
        }
        // Nobody may have a store open that is set aside.
        drop(kept.take());
        let store = services::open_store(self.env.data_dir()).await?;
        let aside = store.set_aside().cloned();
        *kept = Some(Arc::clone(&store));
        Ok((store, aside))
    }

    /// The folder, as its files are now, read aside; `overrides` are settings that outrank those of files.
    ///
    /// # Errors
    /// When its files can't be used.
    pub async fn at(&self, folder: &Path, overrides: &[String]) -> Result<Arc<Workspace>, AppError> {
        let key = (folder.to_owned(), overrides.to_vec());
        let known = self.folders.lock().unwrap_or_else(PoisonError::into_inner).get(&key).cloned();
        let (env, redactor, (folder, overrides)) = (self.env.clone(), self.redactor.clone(), key.clone());
        let open = self.open.clone();
        let read = tokio::task::spawn_blocking(move || match known {
            Some(workspace) => workspace.look_again().map(|_| workspace),
            None => Workspace::open(&env, &folder, &overrides, &redactor, open).map(Arc::new),
        });
        let made = read.await.map_err(failed)??;
        let mut folders = self.folders.lock().unwrap_or_else(PoisonError::into_inner);
        // Somebody else may have been faster.
        Ok(Arc::clone(folders.entry(key).or_insert(made)))
    }

    /// Writes what waits; the store stays open.
    pub(crate) async fn write_all(&self) {
        let store = self.store.lock().await.clone();
        if let Some(store) = store
            && let Err(error) = store.flush().await
        {
            tracing::warn!(%error, "not everything is written");
        }
    }

    /// Writes what waits and closes the store; after all sessions have ended.
    ///
    /// # Errors
    /// When something could not be written.
    pub async fn close(&self) -> Result<(), AppError> {
        match self.store.lock().await.take() {
            Some(store) => store.close().await.map_err(error::of_store),
            None => Ok(()),
        }
    }
}

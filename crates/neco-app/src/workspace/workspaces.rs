//! The folders that a process works in, and the one store of all of them.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};

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

type Folders = Mutex<HashMap<Place, Weak<Workspace>>>;

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
    /// By their canonical names, as long as somebody works in them.
    folders: Arc<Folders>,
    /// Hides the keys of all of them: what is a key in one folder is told in none.
    redactor: Redactor,
    open: RunningSessions,
}

impl Workspaces {
    /// None yet.
    pub fn new(env: Env) -> Self {
        Self {
            env,
            store: tokio::sync::Mutex::default(),
            folders: Arc::default(),
            redactor: Redactor::default(),
            open: RunningSessions::default(),
        }
    }

    /// The environment of the process.
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
        let (folder, overrides, folders) = (folder.to_owned(), overrides.to_vec(), Arc::clone(&self.folders));
        let (env, redactor, open) = (self.env.clone(), self.redactor.clone(), self.open.clone());
        let read = tokio::task::spawn_blocking(move || {
            let key = (folder.canonicalize().unwrap_or(folder), overrides);
            let known = folders.lock().unwrap_or_else(PoisonError::into_inner).get(&key).and_then(Weak::upgrade);
            if let Some(known) = known {
                return known.look_again().map(|_| known);
            }
            let made = Arc::new(Workspace::open(&env, &key.0, &key.1, &redactor, open)?);
            let mut folders = folders.lock().unwrap_or_else(PoisonError::into_inner);
            folders.retain(|_, folder| folder.strong_count() > 0);
            // Somebody else may have been faster.
            let known = folders.entry(key).or_insert_with(|| Arc::downgrade(&made));
            Ok(known.upgrade().unwrap_or(made))
        });
        read.await.map_err(failed)?
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
        let mut kept = self.store.lock().await;
        if let Some(store) = kept.as_ref() {
            store.close().await.map_err(error::of_store)?;
        }
        // One that could not be closed stays, so that it can be tried again.
        kept.take();
        Ok(())
    }
}

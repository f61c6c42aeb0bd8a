//! Folders that an open session may work in besides its own: those of the settings, those of its opening, and those that
//! were added while it is open.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use neco_proto::app::AppError;
use neco_proto::app::folders::{AddFolder, ListFolders, OpenFolders};
use tokio::task::spawn_blocking;

use crate::app::StorelessApp;
use crate::error::{failed, invalid};
use crate::running_sessions::RunningSession;

/// The folders that were added to a session while it is open; clones are those of the same session.
#[derive(Clone, Debug, Default)]
pub struct AddedFolders(Arc<Mutex<Vec<PathBuf>>>);

impl AddedFolders {
    /// All of them, the last one at the end.
    pub(crate) fn all(&self) -> Vec<PathBuf> {
        self.list().clone()
    }

    /// Adds one; nothing changes when it is there already.
    pub(crate) fn add(&self, folder: PathBuf) {
        let mut list = self.list();
        if !list.contains(&folder) {
            list.push(folder);
        }
    }

    fn list(&self) -> MutexGuard<'_, Vec<PathBuf>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(crate) async fn list(app: &StorelessApp, request: ListFolders) -> Result<OpenFolders, AppError> {
    let session = found(app, &request.session)?;
    aside(move || session.open_folders()).await
}

pub(crate) async fn add(app: &StorelessApp, request: AddFolder) -> Result<OpenFolders, AppError> {
    let session = found(app, &request.session)?;
    let home = app.env.home().to_owned();
    aside(move || {
        let folder = request.folder.trim();
        let wanted = folder.strip_prefix("~/").map(|rest| home.join(rest));
        session.add_folder(wanted.unwrap_or_else(|| if folder == "~" { home } else { PathBuf::from(folder) }))?;
        session.open_folders()
    })
    .await
}

fn found(app: &StorelessApp, session: &str) -> Result<Arc<RunningSession>, AppError> {
    app.open
        .find(session)
        .ok_or_else(|| invalid("the session is open in another process, which alone can open folders"))
}

async fn aside(
    look: impl FnOnce() -> Result<Vec<PathBuf>, AppError> + Send + 'static,
) -> Result<OpenFolders, AppError> {
    let folders = spawn_blocking(look).await.map_err(failed)??;
    Ok(OpenFolders { folders: folders.iter().map(|folder| folder.display().to_string()).collect() })
}

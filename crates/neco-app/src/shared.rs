//! The program on the store that the sessions of a process have, which is opened when it is first needed.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use neco_proto::app::{App, AppError, Call, Caller, Scope};
use serde_json::Value;
use tokio::runtime::Handle;
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use crate::app::{LocalApp, ROUTES, StorelessApp, needs_store};
use crate::error::failed;
use crate::workspace::Workspaces;
use crate::{disk, services};

/// The program beside sessions that are open: on their store, and they are told what must reach them at once.
pub struct SharedApp {
    workspaces: Arc<Workspaces>,
    /// The folder whose settings say where files of sessions are kept.
    folder: PathBuf,
    /// Says what can't wait.
    tell: fn(&str),
    storeless: StorelessApp,
    opened: Mutex<Option<Arc<LocalApp>>>,
}

impl SharedApp {
    /// With the settings that were given with `-c`. What becomes of the store is told with `tell`.
    #[must_use]
    pub fn new(workspaces: Arc<Workspaces>, overrides: Vec<String>, folder: &Path, tell: fn(&str)) -> Self {
        let storeless = StorelessApp::new(workspaces.env().clone(), overrides).knowing(workspaces.running_sessions());
        Self { workspaces, folder: folder.to_owned(), tell, storeless, opened: Mutex::default() }
    }

    /// Lets go of the store; the next question takes it again.
    pub async fn let_go(&self) {
        self.opened.lock().await.take();
    }

    async fn opened(&self) -> Result<Arc<LocalApp>, AppError> {
        let mut opened = self.opened.lock().await;
        if let Some(app) = opened.as_ref() {
            return Ok(Arc::clone(app));
        }
        let (store, aside) = self.workspaces.store().await?;
        aside.iter().for_each(|aside| (self.tell)(&aside.to_string()));
        let app = Arc::new(LocalApp::on(self.storeless.clone(), store, &self.folder)?);
        *opened = Some(Arc::clone(&app));
        Ok(app)
    }

    async fn answer(&self, caller: &Caller, call: Call) -> Result<Value, AppError> {
        if !needs_store(&call) {
            // Files may be read and a keyring asked for it, which keeps a thread; it ends when nobody waits for it.
            let (app, caller, runtime) = (self.storeless.clone(), caller.clone(), Handle::current());
            let waits = CancellationToken::new();
            let _ends = waits.clone().drop_guard();
            let asking = move || runtime.block_on(waits.run_until_cancelled(app.call(&caller, call)));
            let asked = tokio::task::spawn_blocking(asking).await.map_err(failed)?;
            return asked.unwrap_or_else(|| Err(failed("nobody waits for it")));
        }
        let data_dir = self.workspaces.env().data_dir();
        let app = match self.opened().await {
            Ok(app) => app,
            Err(_) if only_reads(&call) && !disk::has_room(data_dir) => {
                return self.answer_from_copy(caller, call).await;
            }
            Err(error) => return Err(error),
        };
        let answer = app.call(caller, call).await;
        // What was found damaged is set aside when it is opened again.
        if answer.is_err() && disk::is_doubted(data_dir) {
            self.let_go().await;
        }
        answer
    }

    /// A store that can't be written is read all the same.
    async fn answer_from_copy(&self, caller: &Caller, call: Call) -> Result<Value, AppError> {
        let cannot = |error| failed(format!("the store can't be copied: {error}"));
        let copy = disk::copy_store(self.workspaces.env().data_dir()).map_err(cannot)?;
        (self.tell)("the data folder can't be written: what follows is read from a copy of it");
        let store = services::open_store(copy.path()).await?;
        let app = LocalApp::on(self.storeless.clone(), store, &self.folder)?;
        let answer = app.call(caller, call).await;
        app.close().await?;
        answer
    }
}

fn only_reads(call: &Call) -> bool {
    ROUTES.iter().any(|route| route.name == call.name && route.scope == Scope::Read)
}

impl App for SharedApp {
    fn call<'a>(&'a self, caller: &'a Caller, call: Call) -> BoxFuture<'a, Result<Value, AppError>> {
        self.answer(caller, call).boxed()
    }
}

//! The program as a window asks it.

use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use neco_app::app::{ROUTES, needs_store};
use neco_app::workspace::Workspaces;
use neco_app::{LocalApp, StorelessApp, disk};
use neco_proto::app::{App, AppError, Call, Caller, Scope, Trouble};
use serde_json::Value;
use tokio::sync::Mutex;

use crate::args::EverywhereArgs;
use crate::cmd::session::Desk;
use crate::compose;
use crate::failure::Failure;

/// The program as a window asks it, on the store that its sessions have.
pub struct WindowApp {
    everywhere: EverywhereArgs,
    workspaces: Arc<Workspaces>,
    storeless: Arc<StorelessApp>,
    opened: Mutex<Option<Arc<LocalApp>>>,
}

impl WindowApp {
    /// With what holds for every subcommand.
    #[must_use]
    pub fn new(everywhere: EverywhereArgs, workspaces: Arc<Workspaces>) -> Self {
        let storeless = Arc::new(StorelessApp::new(workspaces.env().clone(), everywhere.overrides.clone()));
        Self { everywhere, workspaces, storeless, opened: Mutex::default() }
    }

    /// The program as far as it needs no store.
    #[must_use]
    pub fn storeless(&self) -> &StorelessApp {
        &self.storeless
    }

    /// Lets go of the store; the next question takes it again.
    pub async fn let_go(&self) {
        self.opened.lock().await.take();
    }

    async fn opened(&self) -> Result<Arc<LocalApp>, Failure> {
        let mut opened = self.opened.lock().await;
        if let Some(app) = opened.as_ref() {
            return Ok(Arc::clone(app));
        }
        let store = compose::shared_store(&self.workspaces).await?;
        let here = self.everywhere.cwd.clone().or_else(|| std::env::current_dir().ok()).unwrap_or_default();
        let (env, overrides) = (self.workspaces.env().clone(), self.everywhere.overrides.clone());
        let app = Arc::new(LocalApp::on(store, env, overrides, &here)?);
        *opened = Some(Arc::clone(&app));
        Ok(app)
    }

    async fn answer(&self, caller: &Caller, call: Call) -> Result<Value, AppError> {
        if !needs_store(&call) {
            // Files may be read for it, and others share the thread.
            let (app, caller) = (Arc::clone(&self.storeless), caller.clone());
            let asked = tokio::spawn(async move { app.call(&caller, call).await }).await;
            return asked.unwrap_or_else(|error| Err(AppError::new(Trouble::Failed, error.to_string())));
        }
        let app = match self.opened().await {
            Ok(app) => app,
            Err(_) if only_reads(&call) => return self.answer_from_copy(caller, call).await,
            Err(failure) => return Err(failure.into()),
        };
        let answer = app.call(caller, call).await;
        // What was found damaged is set aside when it is opened again.
        if answer.is_err() && disk::is_doubted(self.workspaces.env().data_dir()) {
            self.let_go().await;
        }
        answer
    }

    /// A store that can't be written is read all the same.
    async fn answer_from_copy(&self, caller: &Caller, call: Call) -> Result<Value, AppError> {
        let desk = Desk::open_to_read(&self.everywhere, self.workspaces.env()).await?;
        let answer = desk.app().call(caller, call).await;
        desk.close().await?;
        answer
    }
}

fn only_reads(call: &Call) -> bool {
    ROUTES.iter().any(|route| route.name == call.name && route.scope == Scope::Read)
}

impl App for WindowApp {
    fn call<'a>(&'a self, caller: &'a Caller, call: Call) -> BoxFuture<'a, Result<Value, AppError>> {
        self.answer(caller, call).boxed()
    }
}

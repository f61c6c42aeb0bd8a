//! The program on this machine: which call is answered where.

use std::path::Path;
use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use neco_config::{Env, LoadOptions, Loaded};
use neco_proto::app::agents::{CheckAgents, ListAgents, ShowAgent};
use neco_proto::app::memory::{AddMemory, ListMemory, RemoveMemory, ShowMemory};
use neco_proto::app::plans::{ClosePlan, ListPlans, ShowPlan};
use neco_proto::app::sessions::{ForkSession, ListSessions};
use neco_proto::app::workflows::{CheckWorkflows, ListWorkflows, ShowWorkflow, ShowWorkflowRun};
use neco_proto::app::{App, AppError, Call, Caller, Request, Route, Trouble};
use neco_session::Hub;
use neco_store::SqliteStore;
use serde_json::Value;

use crate::{agents, error, memory, plans, sessions, workflows};

/// The program on this machine.
pub struct LocalApp {
    pub(crate) store: Arc<SqliteStore>,
    pub(crate) hub: Hub,
    pub(crate) env: Env,
    overrides: Vec<String>,
}

impl LocalApp {
    /// The program on a store, with what opens its sessions and the settings that were given with `-c`.
    #[must_use]
    pub fn new(store: Arc<SqliteStore>, hub: Hub, env: Env, overrides: Vec<String>) -> Self {
        Self { store, hub, env, overrides }
    }

    /// Writes what waits and closes the store; nothing can be asked any more that needs it.
    ///
    /// # Errors
    /// When something could not be written.
    pub async fn close(&self) -> Result<(), AppError> {
        self.store.close().await.map_err(error::of_store)
    }

    /// The settings that hold in a folder.
    pub(crate) fn settings(&self, folder: &Path) -> Result<Loaded, AppError> {
        let options = LoadOptions { env: &self.env, cwd: folder, overrides: &self.overrides };
        neco_config::load(options).map_err(|error| error::of_config(&error))
    }
}

/// Answers one kind of call.
type Answers = for<'a> fn(&'a LocalApp, Call) -> BoxFuture<'a, Result<Value, AppError>>;

/// The one list of what can be asked: a request and the function that answers it.
macro_rules! routes {
    ($($request:ty => $answer:path,)+) => {
        /// What can be asked.
        pub const ROUTES: &[Route] = &[$(<$request>::ROUTE,)+];

        fn find(name: &str) -> Option<(Route, Answers)> {
            $(if name == <$request>::ROUTE.name {
                let answers: Answers = |app, call| {
                    async move {
                        let answer = $answer(app, call.read::<$request>()?).await?;
                        let name = <$request>::ROUTE.name;
                        serde_json::to_value(answer).map_err(|error| AppError::not_understood(name, &error))
                    }
                    .boxed()
                };
                return Some((<$request>::ROUTE, answers));
            })+
            None
        }
    };
}

routes! {
    ListSessions => sessions::list,
    ForkSession => sessions::fork,
    ListWorkflows => workflows::list,
    ShowWorkflow => workflows::show,
    ShowWorkflowRun => workflows::show_run,
    CheckWorkflows => workflows::check,
    ListAgents => agents::list,
    ShowAgent => agents::show,
    CheckAgents => agents::check,
    ListMemory => memory::list,
    ShowMemory => memory::show,
    AddMemory => memory::add,
    RemoveMemory => memory::remove,
    ListPlans => plans::list,
    ShowPlan => plans::show,
    ClosePlan => plans::close,
}

impl App for LocalApp {
    fn call<'a>(&'a self, caller: &'a Caller, call: Call) -> BoxFuture<'a, Result<Value, AppError>> {
        match find(&call.name) {
            None => std::future::ready(Err(AppError::unknown(&call.name))).boxed(),
            Some((route, _)) if caller.scope < route.scope => {
                let words = format!("{} is not for whoever may only {}", route.name, caller.scope);
                std::future::ready(Err(AppError::new(Trouble::NotAllowed, words))).boxed()
            }
            Some((_, answers)) => answers(self, call),
        }
    }
}

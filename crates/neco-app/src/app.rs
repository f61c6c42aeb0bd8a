//! The program on this machine: which call is answered where.

use std::path::Path;
use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use neco_config::{Config, Env, LoadOptions, Loaded};
use neco_proto::app::history::{DiffSession, ListRewindPoints, ListSessionAgents, PreviewRewind, RewindSession};
use neco_proto::app::port::{ExportSession, FindForeignSessions, ImportSession};
use neco_proto::app::sessions::{
    ForkSession, ListSessions, MeasureKept, PruneSessions, RemoveSessions, RenameSession, SearchSessions,
};
use neco_proto::app::{App, AppError, Call, Caller, Request, Route, Trouble};
use neco_safety::secrets::{Redactor, scrub};
use neco_session::Hub;
use neco_store::{SessionRecord, SqliteStore};
use serde_json::Value;

use crate::error::of_session;
use crate::services::ServiceSetup;
use crate::{error, services, sessions};

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

    /// The settings that hold in a folder.
    pub(crate) fn settings(&self, folder: &Path) -> Result<Loaded, AppError> {
        let options = LoadOptions { env: &self.env, cwd: folder, overrides: &self.overrides };
        neco_config::load(options).map_err(|error| error::of_config(&error))
    }

    /// The settings of a folder, or those that come with the program: broken ones are no reason not to show what was said.
    pub(crate) fn settings_to_read(&self, folder: &Path) -> Config {
        self.settings(folder).map_or_else(|_| Config::built_in(), |loaded| loaded.config)
    }

    /// A hub with the settings of a session's own folder, which say where its files are kept.
    pub(crate) fn hub_of(&self, folder: &Path) -> Result<Hub, AppError> {
        let config = self.settings_to_read(folder);
        let environment = services::environment(&self.env);
        let setup = ServiceSetup { environment, ..ServiceSetup::bare(&self.env, &config) };
        services::hub(&self.store, setup)
    }

    /// Takes secrets out: what looks like one, and the keys that are known in a folder.
    pub(crate) fn redactor(&self, folder: &Path) -> Redactor {
        let config = self.settings_to_read(folder);
        let hidden = services::hidden_variables(&config);
        let of_environment = scrub(services::environment(&self.env), &hidden).hidden;
        // Models that can't be used have no keys that could be told.
        let of_models = services::models(&config, &self.env).map(|models| services::secrets(&models));
        Redactor::new(of_environment.into_iter().chain(of_models.unwrap_or_default()))
    }

    /// The session whose id begins so; without one the last one of the folder.
    pub(crate) async fn named(&self, id: Option<&str>, folder: &Path) -> Result<SessionRecord, AppError> {
        match id {
            Some(id) => self.hub.find(id).await,
            None => self.hub.latest(folder).await.map(|found| found.record),
        }
        .map_err(of_session)
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
    RenameSession => sessions::rename,
    RemoveSessions => sessions::remove,
    PruneSessions => sessions::prune,
    MeasureKept => sessions::measure_kept,
    SearchSessions => sessions::search,
    ListSessionAgents => sessions::agents,
    DiffSession => sessions::diff,
    ListRewindPoints => sessions::rewind_points,
    PreviewRewind => sessions::preview_rewind,
    RewindSession => sessions::rewind,
    ExportSession => sessions::export,
    FindForeignSessions => sessions::find_foreign,
    ImportSession => sessions::import,
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

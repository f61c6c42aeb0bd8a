//! The program on this machine: which call is answered where.

use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use neco_config::{ConfigError, Env, LoadOptions, Loaded};
use neco_proto::app::doctor::Examine;
use neco_proto::app::keys::{ListKeys, RemoveKeys, SetKey};
use neco_proto::app::models::{ListModels, ShowModel, TestModel};
use neco_proto::app::rules::{AddRule, ExplainCall, ListKeptRules, ListRules, RemoveRules, TestRules};
use neco_proto::app::sessions::{ForkSession, ListSessions};
use neco_proto::app::settings::{FindSettings, ListSettings};
use neco_proto::app::trust::{DecideTrust, ForgetTrust, ListTrust, ShowTrust};
use neco_proto::app::{App, AppError, Call, Caller, Request, Route, Trouble};
use neco_session::Hub;
use neco_store::SqliteStore;
use serde_json::Value;

use crate::{doctor, error, keys, models, rules, sessions, settings, trust};

/// The program as far as it needs no store: it works where the store does not.
pub struct StorelessApp {
    pub(crate) env: Env,
    overrides: Vec<String>,
}

impl StorelessApp {
    /// The program with the settings that were given with `-c`.
    #[must_use]
    pub fn new(env: Env, overrides: Vec<String>) -> Self {
        Self { env, overrides }
    }

    /// The settings that hold in a folder.
    pub(crate) fn settings(&self, folder: &Path) -> Result<Loaded, AppError> {
        self.load(folder).map_err(|error| error::of_config(&error))
    }

    /// The same, or everything that is wrong with them.
    pub(crate) fn load(&self, folder: &Path) -> Result<Loaded, ConfigError> {
        neco_config::load(LoadOptions { env: &self.env, cwd: folder, overrides: &self.overrides })
    }
}

/// The program on this machine.
pub struct LocalApp {
    pub(crate) store: Arc<SqliteStore>,
    pub(crate) hub: Hub,
    storeless: StorelessApp,
}

impl LocalApp {
    /// The program on a store, with what opens its sessions and the settings that were given with `-c`.
    #[must_use]
    pub fn new(store: Arc<SqliteStore>, hub: Hub, env: Env, overrides: Vec<String>) -> Self {
        Self { store, hub, storeless: StorelessApp::new(env, overrides) }
    }
}

/// What can be had without a store can be had with one.
impl Deref for LocalApp {
    type Target = StorelessApp;

    fn deref(&self) -> &StorelessApp {
        &self.storeless
    }
}

/// Answers one kind of call.
type Answers<A> = for<'a> fn(&'a A, Call) -> BoxFuture<'a, Result<Value, AppError>>;

/// What answers one kind of call.
enum Answerer {
    OnStore(Answers<LocalApp>),
    Storeless(Answers<StorelessApp>),
}

/// The one list of what can be asked: a request and the function that answers it.
macro_rules! routes {
    ($($answerer:ident { $($request:ty => $answer:path,)+ })+) => {
        /// What can be asked.
        pub const ROUTES: &[Route] = &[$($(<$request>::ROUTE,)+)+];

        fn find(name: &str) -> Option<(Route, Answerer)> {
            $($(if name == <$request>::ROUTE.name {
                let answerer = Answerer::$answerer(|app, call| {
                    async move {
                        let answer = $answer(app, call.read::<$request>()?).await?;
                        let name = <$request>::ROUTE.name;
                        serde_json::to_value(answer).map_err(|error| AppError::not_understood(name, &error))
                    }
                    .boxed()
                });
                return Some((<$request>::ROUTE, answerer));
            })+)+
            None
        }
    };
}

routes! {
    OnStore {
        ListSessions => sessions::list,
        ForkSession => sessions::fork,
    }
    Storeless {
        ListRules => rules::list,
        ExplainCall => rules::explain,
        TestRules => rules::test,
        ListKeptRules => rules::kept,
        AddRule => rules::add,
        RemoveRules => rules::remove,
        ListModels => models::list,
        ShowModel => models::show,
        TestModel => models::test,
        ListSettings => settings::list,
        FindSettings => settings::find,
        Examine => doctor::examine,
        ListKeys => keys::list,
        SetKey => keys::set,
        RemoveKeys => keys::remove,
        ListTrust => trust::list,
        ShowTrust => trust::show,
        DecideTrust => trust::decide,
        ForgetTrust => trust::forget,
    }
}

/// What answers a call, if the caller may ask that.
fn answerer(caller: &Caller, call: &Call) -> Result<Answerer, AppError> {
    let (route, answerer) = find(&call.name).ok_or_else(|| AppError::unknown(&call.name))?;
    if caller.scope < route.scope {
        let words = format!("{} is not for whoever may only {}", route.name, caller.scope);
        return Err(AppError::new(Trouble::NotAllowed, words));
    }
    Ok(answerer)
}

impl App for LocalApp {
    fn call<'a>(&'a self, caller: &'a Caller, call: Call) -> BoxFuture<'a, Result<Value, AppError>> {
        match answerer(caller, &call) {
            Ok(Answerer::OnStore(answers)) => answers(self, call),
            Ok(Answerer::Storeless(answers)) => answers(self, call),
            Err(error) => std::future::ready(Err(error)).boxed(),
        }
    }
}

impl App for StorelessApp {
    fn call<'a>(&'a self, caller: &'a Caller, call: Call) -> BoxFuture<'a, Result<Value, AppError>> {
        let error = match answerer(caller, &call) {
            Ok(Answerer::Storeless(answers)) => return answers(self, call),
            Ok(Answerer::OnStore(_)) => AppError::new(Trouble::Failed, format!("{} needs the store", call.name)),
            Err(error) => error,
        };
        std::future::ready(Err(error)).boxed()
    }
}

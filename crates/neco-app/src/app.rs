//! The program on this machine: which call is answered where.

use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;

use futures::future::BoxFuture;
use futures::stream::BoxStream;
use futures::{FutureExt, StreamExt};
use neco_config::{Config, ConfigError, Env, LoadOptions, Loaded, Notice};
// What answers a call lies in a module of the same name as what is asked.
use neco_model::Models;
use neco_proto::app::request::Describes;
use neco_proto::app::{App, AppError, Call, Caller, Described, Request, Route, Scope, Trouble};
use neco_proto::app::{
    agents::*, blobs::*, changes::*, commands::*, doctor::*, exchanges::*, files::*, folders::*, history::*, keys::*,
    mcp::*, mcp_use::*, memory::*, models::*, plans::*, plugins::*, port::*, project::*, rules::*, sessions::*,
    settings::*, setups::*, shell::*, skills::*, tools::*, trust::*, usage::*, workflows::*,
};
use neco_proto::{Client, SessionId};
use neco_safety::secrets::{Redactor, scrub};
use neco_session::Hub;
use neco_store::{SessionRecord, SqliteStore};
use serde_json::Value;

use crate::error::{failed, invalid, of_session};
use crate::opening::Opener;
use crate::other_processes::{any_open, attach};
use crate::running_sessions::RunningSessions;
use crate::services::ServiceSetup;
use crate::usage::KnownUsage;
use crate::watching::{answered, apart, nothing_but, values};
use crate::workspace::Workspace;
use crate::workspace::keys::Keys;
use crate::workspace::plugged::Plugged;
use crate::{
    agents, commands, doctor, error, files, folders, keys, mcp, mcp_login, mcp_settings, mcp_use, memory, models,
    plans, plugins, project, rules, services, sessions, settings, setups, shell, skill_changes, skills, tools, trust,
    usage, workflows,
};

/// The program as far as it needs no store: it works where the store does not.
#[derive(Clone)]
pub struct StorelessApp {
    pub(crate) env: Env,
    overrides: Vec<String>,
    /// The sessions that this process has open.
    pub(crate) open: RunningSessions,
    /// What is known of what sessions used.
    pub(crate) used: KnownUsage,
}

impl StorelessApp {
    /// The program with the settings that were given with `-c`.
    pub fn new(env: Env, overrides: Vec<String>) -> Self {
        Self { env, overrides, open: RunningSessions::default(), used: KnownUsage::default() }
    }

    /// The same, in a process that has sessions open.
    pub(crate) fn knowing(self, open: &RunningSessions) -> Self {
        Self { open: open.clone(), ..self }
    }

    /// The settings that hold in a folder.
    pub(crate) fn settings(&self, folder: &Path) -> Result<Loaded, AppError> {
        self.settings_with(folder, &[])
    }

    /// What a folder would switch on, and how far that is trusted.
    pub(crate) fn plugged(&self, folder: &Path) -> Result<Plugged, AppError> {
        Ok(Plugged::look(&self.env, folder, &self.settings(folder)?))
    }

    /// A folder by itself: what is done with it reaches no session.
    pub(crate) fn own_workspace(&self, folder: &Path) -> Result<Arc<Workspace>, AppError> {
        let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let redactor = self.redactor(&folder);
        Workspace::open(&self.env, &folder, &self.overrides, &redactor, RunningSessions::default()).map(Arc::new)
    }

    /// Its settings with more, each as `-c` takes it.
    pub(crate) fn settings_with(&self, folder: &Path, more: &[String]) -> Result<Loaded, AppError> {
        let (loaded, problems) = self.load_around(folder, more);
        if problems.is_empty() { Ok(loaded) } else { Err(error::of_config(&ConfigError { problems })) }
    }

    /// The same without what is wrong in them, and what that is.
    pub(crate) fn load_around(&self, folder: &Path, more: &[String]) -> (Loaded, Vec<Notice>) {
        let overrides = [self.overrides.as_slice(), more].concat();
        neco_config::load_around(LoadOptions { env: &self.env, cwd: folder, overrides: &overrides })
    }

    /// Its settings, or everything that is wrong with them.
    pub(crate) fn load(&self, folder: &Path) -> Result<Loaded, ConfigError> {
        neco_config::load(LoadOptions { env: &self.env, cwd: folder, overrides: &self.overrides })
    }

    /// What is to be shown of its settings, and what makes them unusable: what a session that is open there works with
    /// then, else what is left of them.
    pub(crate) fn settings_to_show(&self, folder: &Path) -> (Loaded, Vec<SettingProblem>) {
        let (loaded, problems) = self.load_around(folder, &[]);
        let in_use = self.open.in_folder(folder).filter(|_| !problems.is_empty());
        let file = |problem: &Notice| problem.origin.file().map(|file| file.display().to_string());
        let told = |problem: &Notice| SettingProblem { words: problem.to_string(), file: file(problem) };
        (in_use.map_or(loaded, |state| state.loaded.clone()), problems.iter().map(told).collect())
    }

    /// Its settings, or those that come with the program: broken ones are no reason not to show what was said.
    pub(crate) fn settings_to_read(&self, folder: &Path) -> Config {
        self.settings(folder).map_or_else(|_| Config::built_in(), |loaded| loaded.config)
    }

    /// Takes secrets out: what looks like one, and the keys that are known in a folder.
    pub(crate) fn redactor(&self, folder: &Path) -> Redactor {
        let config = self.settings_to_read(folder);
        let hidden = services::hidden_variables(&config);
        let of_environment = scrub(services::environment(&self.env), &hidden).hidden;
        let keys = Keys::find(&self.env);
        // Models that can't be used have no keys that could be told.
        let of_models = Models::new(&config, &keys).map(|models| services::secrets(&models)).unwrap_or_default();
        // Those that are kept are known whatever the settings say.
        let kept = keys.kept().into_iter().flat_map(|kept| kept.values());
        let kept = kept.flat_map(|kept| kept.keys.iter().chain(&kept.login)).map(services::known_key);
        Redactor::new(of_environment.into_iter().chain(of_models).chain(kept))
    }

    /// A hub with the settings of a folder, which opens no session and hides what must not be kept.
    fn hub(&self, store: &Arc<SqliteStore>, folder: &Path) -> Result<Hub, AppError> {
        let (config, redactor) = (self.settings_to_read(folder), self.redactor(folder));
        let environment = services::environment(&self.env);
        services::hub(store, ServiceSetup { environment, redactor, ..ServiceSetup::bare(&self.env, &config) })
    }
}

/// The program on this machine. Clones are the same one.
#[derive(Clone)]
pub struct LocalApp {
    pub(crate) store: Arc<SqliteStore>,
    pub(crate) hub: Hub,
    pub(crate) storeless: StorelessApp,
    /// The way to other processes, if there is one: they do what is asked of a session that they have open.
    pub(crate) opener: Option<Arc<dyn Opener>>,
}

impl LocalApp {
    /// The program on a store, with what opens its sessions and the settings that were given with `-c`.
    pub fn new(store: Arc<SqliteStore>, hub: Hub, env: Env, overrides: Vec<String>) -> Self {
        Self { store, hub, storeless: StorelessApp::new(env, overrides), opener: None }
    }

    /// The same with a way to other processes.
    #[must_use]
    pub fn reaching(self, opener: Arc<dyn Opener>) -> Self {
        Self { opener: Some(opener), ..self }
    }

    /// A session that another process has open.
    pub(crate) async fn elsewhere(&self, session: SessionId) -> Result<Option<Arc<dyn Client>>, AppError> {
        let data_dir = self.env.data_dir();
        let Some(opener) = self.opener.as_ref().filter(|_| any_open(data_dir)) else { return Ok(None) };
        Ok(attach(session, data_dir, opener.as_ref()).await?.map(|attached| attached.client))
    }

    /// The same, with a hub that has the settings of a folder.
    pub(crate) fn on(storeless: StorelessApp, store: Arc<SqliteStore>, folder: &Path) -> Result<Self, AppError> {
        Ok(Self { hub: storeless.hub(&store, folder)?, store, storeless, opener: None })
    }

    /// Writes what waits and closes the store; nothing can be asked any more that needs it.
    ///
    /// # Errors
    /// When something could not be written.
    pub async fn close(&self) -> Result<(), AppError> {
        self.store.close().await.map_err(error::of_store)
    }

    /// A hub with the settings of a session's own folder, which say where its files are kept.
    pub(crate) fn hub_of(&self, folder: &Path) -> Result<Hub, AppError> {
        self.hub(&self.store, folder)
    }

    /// Answers a call bit by bit, also when this is dropped.
    pub(crate) fn items(&self, caller: &Caller, call: Call) -> Items<'static> {
        match teller(caller, &call) {
            Ok(Teller::OnStore(tells)) => watch_apart(self, call, tells),
            Ok(Teller::Storeless(tells)) => watch_apart(&self.storeless, call, tells),
            Err(error) => nothing_but(error),
        }
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

/// What can be had without a store can be had with one.
impl Deref for LocalApp {
    type Target = StorelessApp;

    fn deref(&self) -> &StorelessApp {
        &self.storeless
    }
}

/// Answers one kind of call.
type Answers<A> = for<'a> fn(&'a A, &'a Caller, Call) -> BoxFuture<'a, Result<Value, AppError>>;

/// What answers one kind of call.
enum Answerer {
    OnStore(Answers<LocalApp>),
    /// A decision that is written down with who took it.
    ByCaller(Answers<LocalApp>),
    Storeless(Answers<StorelessApp>),
}

macro_rules! answered {
    (ByCaller, $answer:path, $app:ident, $caller:ident, $request:expr) => {
        $answer($app, $caller.actor.clone(), $request)
    };
    ($other:ident, $answer:path, $app:ident, $caller:ident, $request:expr) => {
        $answer($app, $request)
    };
}

/// The one list of what can be asked: a request and the function that answers it.
macro_rules! routes {
    ($($answerer:ident { $($request:ty => $answer:path,)+ })+) => {
        /// What can be asked.
        pub const ROUTES: &[Route] = &[$($(<$request>::ROUTE,)+)+];

        /// The same, with what is said and answered.
        pub const DESCRIBED: &[Described] =
            &[$($(Described { item: item(<$request>::ROUTE.name), ..Described::of::<$request>() },)+)+];

        /// What each of them is answered with.
        #[cfg(test)]
        fn answers() -> Vec<(&'static str, schemars::Schema)> {
            vec![$($((<$request>::ROUTE.name, schemars::schema_for!(<$request as Request>::Answer)),)+)+]
        }

        fn find(name: &str) -> Option<(Route, Answerer)> {
            $($(if name == <$request>::ROUTE.name {
                let answerer = Answerer::$answerer(|app, _caller, call| {
                    async move {
                        let answer = answered!($answerer, $answer, app, _caller, call.read::<$request>()?).await?;
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

/// Whether two names are the same; it is asked before anything runs.
const fn is_same(one: &str, other: &str) -> bool {
    let (one, other, mut at) = (one.as_bytes(), other.as_bytes(), 0);
    if one.len() != other.len() {
        return false;
    }
    while at < one.len() {
        if one[at] != other[at] {
            return false;
        }
        at += 1;
    }
    true
}

/// Answers one kind of call bit by bit.
type Tells<A> = for<'a> fn(&'a A, Call) -> Items<'a>;

/// What answers one kind of call bit by bit.
enum Teller {
    OnStore(Tells<LocalApp>),
    Storeless(Tells<StorelessApp>),
}

type Items<'a> = BoxStream<'a, Result<Value, AppError>>;

/// The one list of what can be watched: a request and the function that tells of it.
macro_rules! watched {
    ($($teller:ident { $($request:ty => $tell:path,)+ })+) => {
        /// What comes of one of them.
        const fn item(name: &str) -> Option<Describes> {
            $($(if is_same(name, <$request>::ROUTE.name) {
                return Some(|generator| generator.subschema_for::<<$request as neco_proto::app::Watch>::Item>());
            })+)+
            None
        }

        /// What comes of each of them.
        #[cfg(test)]
        fn items() -> Vec<(&'static str, schemars::Schema)> {
            vec![$($((<$request>::ROUTE.name, schemars::schema_for!(<$request as neco_proto::app::Watch>::Item)),)+)+]
        }

        fn find_watched(name: &str) -> Option<(Route, Teller)> {
            $($(if name == <$request>::ROUTE.name {
                let teller = Teller::$teller(|app, call| match call.read::<$request>() {
                    Ok(request) => values::<$request>($tell(app, request)),
                    Err(error) => nothing_but(error),
                });
                return Some((<$request>::ROUTE, teller));
            })+)+
            None
        }
    };
}

watched! {
    OnStore {
        ListSessions => sessions::watch_rows,
        SearchSessions => sessions::watch_places,
    }
    Storeless {
        Examine => doctor::watch,
        TestModels => models::watch_tests,
        TestServer => mcp::watch_test,
        ReadServerLog => mcp::watch_log,
        LogInServer => mcp_login::watch_log_in,
        ListPromptCommands => mcp_use::watch_prompts,
        RunShell => shell::watch,
    }
}

routes! {
    OnStore {
        ListSessions => sessions::list,
        ListRecentFolders => sessions::folders,
        ForkSession => sessions::fork,
        RemoveSessions => sessions::remove,
        PruneSessions => sessions::prune,
        MeasureKept => sessions::measure_kept,
        SearchSessions => sessions::search,
        ListSessionAgents => sessions::agents,
        DiffSession => sessions::diff,
        ListChanges => sessions::changes,
        ShowChange => sessions::change,
        KeepChanges => sessions::keep,
        ListExchanges => sessions::exchanges,
        ListKeptSessions => sessions::kept,
        RestoreSession => sessions::restore,
        ListRewindPoints => sessions::rewind_points,
        PreviewRewind => sessions::preview_rewind,
        ExportSession => sessions::export,
        FindForeignSessions => sessions::find_foreign,
        ImportSession => sessions::import,
        PreviewSetup => setups::preview,
        ImportSetup => setups::import,
        ReadBytes => sessions::bytes,
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
        KeepNote => memory::keep_note,
        RemoveMemory => memory::remove,
        ListPlans => plans::list,
        ShowPlan => plans::show,
        ReadText => files::read,
        ShowUsage => usage::show,
    }
    ByCaller {
        RenameSession => sessions::rename,
        RewindSession => sessions::rewind,
        ClosePlan => plans::close,
        CancelWorkflow => workflows::cancel,
        CallTool => tools::call,
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
        TestModels => models::test_all,
        OfferModels => models::offers,
        ListServed => models::served,
        FindSetups => setups::find,
        ListSettings => settings::list,
        FindSettings => settings::find,
        CheckSettings => settings::check,
        SetSettings => settings::set,
        PreviewSettings => settings::preview,
        Examine => doctor::examine,
        ShowSandbox => doctor::sandbox,
        SetSandbox => doctor::set_sandbox,
        ShowProject => project::show,
        ListFiles => files::list,
        ShowBranch => files::branch,
        ListCommands => commands::list,
        ExpandCommand => commands::expand,
        ListHooks => commands::hooks,
        ListSkills => skills::list,
        ShowSkill => skills::show,
        CheckSkills => skills::check,
        NewSkill => skills::new,
        LookAtSkills => skills::look,
        AddSkills => skills::add,
        LookAtSkillUpdate => skill_changes::look_at_update,
        UpdateSkill => skill_changes::update,
        SwitchSkill => skills::switch,
        LookAtSkillRemoval => skill_changes::look_at_removal,
        RemoveSkill => skill_changes::remove,
        ListPlugins => plugins::list,
        ShowPlugin => plugins::show,
        LookAtPlugin => plugins::look,
        InstallPlugin => plugins::install,
        SwitchPlugin => plugins::switch,
        RemovePlugin => plugins::remove,
        CheckPlugin => plugins::check::check,
        NewPlugin => plugins::write::new,
        SearchPlugins => plugins::marketplaces::search,
        AddMarketplace => plugins::marketplaces::add,
        ShowMarketplace => plugins::marketplaces::show,
        RemoveMarketplace => plugins::marketplaces::remove,
        ListTools => tools::list,
        ListKeys => keys::list,
        SetKey => keys::set,
        RemoveKeys => keys::remove,
        ListFolders => folders::list,
        AddFolder => folders::add,
        ListTrust => trust::list,
        ShowTrust => trust::show,
        DecideTrust => trust::decide,
        ForgetTrust => trust::forget,
        ListServers => mcp::list,
        GetServer => mcp::get,
        AddServer => mcp_settings::add,
        RemoveServer => mcp_settings::remove,
        SetServerEnabled => mcp_settings::set_enabled,
        RestartServer => mcp::restart,
        TestServer => mcp::test,
        ReadServerLog => mcp::log,
        LogInServer => mcp_login::log_in,
        LogOutServer => mcp_login::log_out,
        ListPromptCommands => mcp_use::prompts,
        FillPrompt => mcp_use::fill,
        ListResources => mcp_use::resources,
        RunShell => shell::run,
    }
}

/// Whether a call is answered with what the store holds.
pub(crate) fn needs_store(call: &Call) -> bool {
    matches!(find(&call.name), Some((_, Answerer::OnStore(_) | Answerer::ByCaller(_))))
}

/// What answers a call, if the caller may ask that.
fn answerer(caller: &Caller, call: &Call) -> Result<Answerer, AppError> {
    let (route, answerer) = find(&call.name).ok_or_else(|| AppError::unknown(&call.name))?;
    check(caller, &route, call)?;
    Ok(answerer)
}

/// What answers a call bit by bit, if the caller may ask that.
fn teller(caller: &Caller, call: &Call) -> Result<Teller, AppError> {
    let (route, teller) = find_watched(&call.name)
        .ok_or_else(|| AppError::unsupported(&format!("does not tell {} bit by bit", call.name)))?;
    check(caller, &route, call)?;
    Ok(teller)
}

fn check(caller: &Caller, route: &Route, call: &Call) -> Result<(), AppError> {
    may(caller, scope_of(route, call), route.name)?;
    call.arguments.get("folder").and_then(Value::as_str).map_or(Ok(()), whole)
}

/// What a caller has to be allowed for a call: more than for others of its name where it reaches further.
fn scope_of(route: &Route, call: &Call) -> Scope {
    let is_given = |name: &str| call.arguments.get(name).is_some_and(|value| !value.is_null());
    let name = || call.arguments.get("name").and_then(Value::as_str).unwrap_or_default();
    // A store that is named can lie anywhere, and so can a file that a workflow is named by; an address can be anybody's.
    let is_anywhere = route.name == ListKeptSessions::ROUTE.name && is_given("from")
        || route.name == ShowWorkflow::ROUTE.name && name().contains(['/', '.'])
        || route.name == ListServed::ROUTE.name && is_given("base");
    // What other agents know of the person lies in the home, whatever folder is named.
    let is_of_home = [FindSetups::ROUTE.name, PreviewSetup::ROUTE.name].contains(&route.name);
    match (is_anywhere, is_of_home) {
        (true, _) => Scope::Manage,
        (false, true) => Scope::Work,
        (false, false) => route.scope,
    }
}

/// Refuses what a caller may not.
pub(crate) fn may(caller: &Caller, scope: Scope, what: &str) -> Result<(), AppError> {
    if caller.scope < scope {
        let only = if caller.scope == Scope::Work { "steer" } else { "read" };
        let words = format!("{what} is not for whoever may only {only}");
        return Err(AppError::new(Trouble::NotAllowed, words));
    }
    match &caller.tenant {
        Some(tenant) => Err(AppError::new(Trouble::NotAllowed, format!("this program has no data of {tenant}"))),
        None => Ok(()),
    }
}

/// Refuses a relative folder: whose working folder would it be below?
pub(crate) fn whole(folder: &str) -> Result<(), AppError> {
    match folder.is_empty() || Path::new(folder).is_absolute() {
        true => Ok(()),
        false => Err(invalid(format!("{folder}: the folder of a call is a whole path"))),
    }
}

impl App for LocalApp {
    fn call<'a>(&'a self, caller: &'a Caller, call: Call) -> BoxFuture<'a, Result<Value, AppError>> {
        match answerer(caller, &call) {
            Ok(Answerer::OnStore(answers) | Answerer::ByCaller(answers)) => ask_apart(self, caller, call, answers),
            Ok(Answerer::Storeless(answers)) => ask_apart(&self.storeless, caller, call, answers),
            Err(error) => std::future::ready(Err(error)).boxed(),
        }
    }

    fn stream<'a>(&'a self, caller: &'a Caller, call: Call) -> Items<'a> {
        self.items(caller, call)
    }
}

impl App for StorelessApp {
    fn call<'a>(&'a self, caller: &'a Caller, call: Call) -> BoxFuture<'a, Result<Value, AppError>> {
        let error = match answerer(caller, &call) {
            Ok(Answerer::Storeless(answers)) => return ask_apart(self, caller, call, answers),
            Ok(Answerer::OnStore(_) | Answerer::ByCaller(_)) => failed(format!("{} needs the store", call.name)),
            Err(error) => error,
        };
        std::future::ready(Err(error)).boxed()
    }

    fn stream<'a>(&'a self, caller: &'a Caller, call: Call) -> Items<'a> {
        match teller(caller, &call) {
            Ok(Teller::Storeless(tells)) => watch_apart(self, call, tells),
            Ok(Teller::OnStore(_)) => nothing_but(failed(format!("{} needs the store", call.name))),
            Err(error) => nothing_but(error),
        }
    }
}

/// Has a call answered where it keeps no thread of the runtime: most read files, and some ask a keyring.
fn ask_apart<A: Clone + Send + Sync + 'static>(
    app: &A,
    caller: &Caller,
    call: Call,
    answers: Answers<A>,
) -> BoxFuture<'static, Result<Value, AppError>> {
    let (app, caller) = (app.clone(), caller.clone());
    answered(async move { answers(&app, &caller, call).await }).boxed()
}

/// The same for what is told bit by bit.
fn watch_apart<A: Clone + Send + Sync + 'static>(app: &A, call: Call, tells: Tells<A>) -> Items<'static> {
    let app = app.clone();
    apart(|told| async move {
        // An error is the last that is told.
        let _ = tells(&app, call).map(Ok).forward(told).await;
    })
}

#[cfg(test)]
#[path = "app_tests.rs"]
mod tests;

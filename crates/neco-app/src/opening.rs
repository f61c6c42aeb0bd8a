//! Opening a session in a folder: what the folder brings, and what belongs to this one opening.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use futures::{FutureExt, TryFutureExt};
use neco_agent::{Budget, CapabilityLevel};
use neco_config::section::ProviderType;
use neco_config::{Config, Layer, Loaded, Notice};
use neco_model::{GROUPS, LocalServer, Models, SetupError};
use neco_proto::app::opening::{Environment, OpenSession, WhichSession};
use neco_proto::app::tools::CALLER_MODEL;
use neco_proto::app::trust::{FolderTrust, TrustAnswer};
use neco_proto::app::{App, AppError};
use neco_proto::{Answer, Client, Query, SessionId};
use neco_safety::Policy;
use neco_safety::policy::{LoadedPolicy, Problem};
use neco_safety::secrets::{Redactor, scrub};
use neco_sandbox::{Ask, Sandbox};
use neco_session::hub::{FindModel, Finder, Found};
use neco_session::{AgentDeps, Session, SessionError, SessionOptions};
use neco_store::{SessionRecord, SqliteStore};
use neco_view::wording::place;
use neco_workspace::worktree::Held;

use crate::edits::{Used, look_again};
use crate::error::{failed, invalid, of_session, of_setup};
use crate::first_model::guide;
use crate::folders::AddedFolders;
use crate::kept_openings::KeptOpenings;
use crate::loosening::hold_back;
use crate::named_tools::without_server;
use crate::other_processes::{Attached, Served, Unattached};
use crate::running_sessions::RunningSession;
use crate::services::{self, CallTools, ServiceSetup, Services};
use crate::session_models::SessionModels;
use crate::sessions::hold;
use crate::tools::OutsideCalls;
use crate::trust::ask_about;
use crate::workspace::rules::{self, AlwaysFile, RuleFlags};
use crate::workspace::sandbox::SessionLevel;
use crate::workspace::told_before::ToldBefore;
use crate::workspace::{FolderState, Workspace, Workspaces, keys, sandbox};

/// How long local servers have to answer when no other model is there.
const PROBE: Duration = Duration::from_millis(500);

/// Most turns of a single request, where nobody sits to be asked whether it goes on, unless a setting says otherwise.
const TURNS_ALONE: u32 = 500;

/// What belongs to the opening of one session, and not to the folder that it works in.
/// It can't be printed: the environment holds keys.
#[derive(Clone, Default)]
pub struct Opening {
    /// What is asked for.
    pub wanted: OpenSession,
    /// Settings that outrank those of files.
    pub overrides: Vec<String>,
    /// The environment that commands are given, before secrets are taken out.
    pub environment: Vec<(OsString, OsString)>,
    /// Folders that are added while the session is open.
    pub added: AddedFolders,
    /// The sandbox that it was given while it is open.
    pub level: SessionLevel,
    /// The calls that are made in it from outside.
    pub calls: OutsideCalls,
    /// The tools of those calls.
    pub call_tools: CallTools,
    /// Where it is kept how it is opened.
    pub kept: Option<KeptOpenings>,
    /// Whether it is opened as it was before.
    pub again: bool,
}

/// Whoever opens sessions: what is told and asked on the way, and the way to other processes. `()` says nothing, is asked
/// nothing and meets nobody.
///
/// ```
/// use neco_app::opening::Opener;
///
/// /// Says on stderr what can't wait.
/// struct Script;
///
/// impl Opener for Script {
///     fn tell(&self, words: &str) {
///         eprintln!("{words}");
///     }
/// }
/// ```
pub trait Opener: Send + Sync {
    /// Says what can't wait: it holds whatever comes of the rest.
    fn tell(&self, _words: &str) {}

    /// Whether a person can be asked.
    fn asks(&self) -> bool {
        false
    }

    /// Asks whether what is told of is trusted, or which of its parts; nothing when nobody answers. A person may take
    /// long for it, and keeps nobody else waiting.
    fn trusts(&self, _told: FolderTrust) -> BoxFuture<'_, Option<TrustAnswer>> {
        std::future::ready(None).boxed()
    }

    /// A session goes on, and is about to be read.
    fn found(&self, _store: &Arc<SqliteStore>, _record: &SessionRecord) {}

    /// A session is open, and this takes its secrets out of what is said outside of it.
    fn hide(&self, _redactor: Redactor) {}

    /// Attaches to the process that has a session open.
    fn attach(&self, _session: SessionId) -> BoxFuture<'_, Result<Attached, Unattached>> {
        std::future::ready(Err(Unattached::NotThere)).boxed()
    }

    /// Serves a session and the program around it to windows of other processes, if it can.
    fn serve(&self, _session: SessionId, _client: Arc<dyn Client>, _app: Arc<dyn App>) -> Option<Arc<dyn Served>> {
        None
    }

    /// Whether a person who follows no session is told what it asks, as the settings say.
    fn gives_notice(&self) -> bool {
        false
    }

    /// The folder in which is kept how sessions are opened, of a process that puts them away and opens them again; nothing
    /// where each opening is for itself.
    fn keeps_openings(&self) -> Option<PathBuf> {
        None
    }

    /// Ready when nobody wants to wait any longer for what is done at the end of a session.
    fn hurry(&self) -> BoxFuture<'_, ()> {
        std::future::pending().boxed()
    }
}

impl Opener for () {}

/// A session that is open.
pub struct Opened {
    /// What it stands on.
    pub services: Services,
    /// The session.
    pub session: Session,
    /// Where it works.
    pub folder: PathBuf,
    /// That somebody works there, should it be a worktree of ours.
    pub held: Option<Held>,
    /// What the person should know.
    pub notes: Vec<String>,
}

impl Opening {
    /// Opens the session that is meant, or makes one.
    ///
    /// # Errors
    /// When that is not possible; there may be no model yet.
    pub async fn open(mut self, workspaces: &Workspaces, opener: &dyn Opener) -> Result<Opened, AppError> {
        let folder = &PathBuf::from(&self.wanted.folder);
        let mut held_back = hold_back(&mut self, folder, workspaces.env()).await?;
        // Neither needs the other.
        let store = workspaces.store().inspect_ok(|(store, _)| store.get_ready());
        let (workspace, store) = futures::join!(self.workspace(workspaces, folder, &[], opener), store);
        let mut workspace = workspace?;
        self.stand_beside(&workspace)?;
        let (store, aside) = store?;
        aside.iter().for_each(|aside| opener.tell(&aside.to_string()));
        let found = self.find(&store, workspaces, folder).await?;
        let mut notes: Vec<String> = found.iter().filter_map(|found| found.note.as_ref()).map(place::words).collect();
        let mut works_in = folder.to_owned();
        if let Some(Found { record, .. }) = &found {
            opener.found(&store, record);
            // The settings of the session's own folder count, wherever it is gone on with from.
            if Path::new(&record.cwd) != folder {
                works_in = PathBuf::from(&record.cwd);
                notes.push(format!("The session works in its own folder, {}", record.cwd));
                held_back = held_back.or(hold_back(&mut self, &works_in, workspaces.env()).await?);
                let said = &workspace.now().loaded.warnings;
                workspace = self.workspace(workspaces, &works_in, said, opener).await?;
            }
        }
        notes.extend(held_back);
        let state = workspace.now();
        log(&state.loaded);
        let (at, data_dir, of) = (works_in.clone(), workspaces.env().data_dir().to_owned(), Arc::clone(&state));
        let (held, warnings) = on_thread(move || Ok((hold(&at, &data_dir), keys::warnings(&of.loaded)))).await?;
        notes.extend(warnings);
        if !self.wanted.tools.is_empty() {
            notes.push(format!("Only these tools exist in this run: {}", self.wanted.tools.join(", ")));
        }
        let model = self.default_model(&workspace, &state, found.is_some(), &mut notes).await?;
        ask_about(&workspace, opener, self.wanted.interactive, &mut notes).await?;
        notes.extend(self.missing_tools(&workspace.now()));
        let (services, session) = self.start(&workspace, store, found, model, opener, &mut notes).await?;
        Ok(Opened { services, session, folder: works_in, held, notes })
    }

    /// Takes over the tools of the session that this one is opened beside.
    fn stand_beside(&mut self, workspace: &Arc<Workspace>) -> Result<(), AppError> {
        let Some(other) = &self.wanted.beside else { return Ok(()) };
        if self.wanted.model.as_deref() != Some(CALLER_MODEL) {
            return Err(invalid("only a session for calls from outside is opened beside another"));
        }
        let found = workspace.running_sessions().find(other);
        let found = found.filter(|open| Arc::ptr_eq(&open.workspace(), workspace));
        let found = found.ok_or_else(|| invalid("the session to stand beside is not open in this folder"))?;
        self.call_tools = found.call_tools()?;
        Ok(())
    }

    /// What a folder brings. Warnings are told at once; those in `said` were.
    async fn workspace(
        &self,
        workspaces: &Workspaces,
        folder: &Path,
        said: &[Notice],
        opener: &dyn Opener,
    ) -> Result<Arc<Workspace>, AppError> {
        let workspace = workspaces.at(folder, &self.overrides).await?;
        let state = workspace.now();
        let new = state.loaded.warnings.iter().filter(|warning| !said.contains(warning));
        new.for_each(|warning| opener.tell(&warning.to_string()));
        Ok(workspace)
    }

    /// The session that is gone on with, and where it goes on; `None` for a new one.
    async fn find(
        &self,
        store: &Arc<SqliteStore>,
        workspaces: &Workspaces,
        folder: &Path,
    ) -> Result<Option<Found>, AppError> {
        let finder = Finder::new(store.clone(), workspaces.env().data_dir().to_owned());
        let chose_folder = self.wanted.chose_folder;
        let found = match &self.wanted.which {
            WhichSession::New => return Ok(None),
            WhichSession::Latest => finder.latest(folder).await,
            WhichSession::Id(id) => {
                finder.find(id).await.and_then(|found| finder.place_of(found, folder, chose_folder))
            }
        };
        let found = found.map_err(of_session)?;
        let is_latest = self.wanted.which == WhichSession::Latest;
        if chose_folder && !is_latest && Path::new(&found.record.cwd) != folder {
            let words = "--cwd is for sessions whose folder is gone";
            let words = format!("the session has its own folder, {}: {words}", found.record.cwd);
            return Err(invalid(words));
        }
        finder.with_folder(found).await.map(Some).map_err(of_session)
    }

    /// The model that is asked when nobody says otherwise: what is configured, else a local server that answers. What
    /// the person should know of that is added to `notes`.
    /// There is one, unless the session goes on and has its own.
    async fn default_model(
        &self,
        workspace: &Workspace,
        state: &FolderState,
        goes_on: bool,
        notes: &mut Vec<String>,
    ) -> Result<String, AppError> {
        let models = &state.models;
        if let Some(model) = &self.wanted.model {
            // A group may be all that is known, and a local server all that there is.
            if GROUPS.contains(&model.as_str()) && matches!(models.default_name(), Err(SetupError::NoModel(_))) {
                state.use_local(models.probe_local(PROBE).await);
            }
            return Ok(model.clone());
        }
        let looked = match models.default_name() {
            Ok(name) => return Ok(name),
            Err(SetupError::NoModel(looked)) => looked,
            Err(error) => return Err(self.named(of_setup(error), None, &state.loaded)),
        };
        let servers = models.probe_local(PROBE).await;
        let base = servers.first().map(|LocalServer { base, .. }| base.clone());
        state.use_local(servers);
        match (models.default_name(), base) {
            (Ok(name), Some(base)) => {
                let provider = models.provider_for(&name).map_err(of_setup)?;
                notes.push(format!("No model is set; using {}, found at {base}", provider.label()));
                Ok(name)
            }
            // A session that goes on has a model of its own.
            _ if goes_on => Ok(String::new()),
            _ => Err(guide(&looked, workspace.env().config_dir())),
        }
    }

    /// Starts the session that was found, or a new one in the folder. What is left out of the rules is told at once;
    /// what else the person should know is added to `notes`.
    async fn start(
        self,
        workspace: &Arc<Workspace>,
        store: Arc<SqliteStore>,
        found: Option<Found>,
        default_model: String,
        opener: &dyn Opener,
        notes: &mut Vec<String>,
    ) -> Result<(Services, Session), AppError> {
        let servers_of = Arc::clone(workspace);
        // Beside the rules; whoever needs the servers waits for them.
        tokio::task::spawn_blocking(move || servers_of.servers().clone());
        let (opening, made_in) = (self.clone(), Arc::clone(workspace));
        let rules = on_thread(move || {
            let (state, given) = (made_in.now(), RuleFlags::from(&opening.wanted.given));
            rules::load(&given, made_in.env(), made_in.folder(), &state.loaded, &state.plugged)
        });
        let rules = rules.await?;
        let warnings: Vec<String> = rules.warnings.iter().map(ToString::to_string).collect();
        warnings.iter().for_each(|warning| opener.tell(warning));
        let (opening, made_in) = (self.clone(), Arc::clone(workspace));
        let made = on_thread(move || opening.make(&made_in, store, (rules.policy, warnings), default_model)).await?;
        let Made { state, mut services, options } = made;
        let session = match found {
            Some(found) => services.hub.open(services.hub.settle(found).await.map_err(of_session)?, options).await,
            None => services.hub.create(workspace.folder(), options).await,
        };
        let session = session.map_err(|error| self.explain(error, workspace, &state.loaded))?;
        notes.extend(self.warn_of_prices(&session, &state.models, &state.loaded.config).await);
        let open = RunningSession::new(session.clone(), Arc::clone(workspace), self.clone());
        let kept = Arc::clone(&open);
        on_thread(move || {
            kept.keep_opening();
            Ok(())
        })
        .await?;
        services.keep(open, workspace.running_sessions());
        Ok((services, session))
    }

    /// What a session stands on. It reads files.
    fn make(
        &self,
        workspace: &Arc<Workspace>,
        store: Arc<SqliteStore>,
        (policy, warnings): (Policy, Vec<String>),
        default_model: String,
    ) -> Result<Made, AppError> {
        let state = workspace.now();
        let config = &state.loaded.config;
        let models = SessionModels::new(&state, workspace.env(), self.calls.clone())?;
        let (redactor, found_by) = (workspace.redactor().heir(), Arc::clone(&models));
        let find_model: FindModel = Arc::new(move |name| found_by.find(name));
        let mut setup = self.setup(workspace, &state, policy, find_model, &redactor);
        let used = Used { state: Arc::clone(&state), warnings, added: self.added.all(), level: self.level.get() };
        setup.look_again = Some(look_again(workspace, used, self.clone(), redactor, Arc::clone(&models)));
        let services = Services::start(store, setup)?;
        let options = self.options(&state.loaded, default_model)?;
        self.check_tools(options.generation.unwrap_or_else(|| options.usual_generation()), config, workspace)?;
        Ok(Made { state, services, options })
    }

    /// The rules of this opening and the folders that are open besides `folder`, with those of them that are gone by now.
    pub(crate) fn flags(&self, folder: &Path) -> (RuleFlags, Vec<PathBuf>) {
        let flags = RuleFlags::from(&self.wanted.given);
        let all = flags.add_dir.into_iter().chain(self.added.all());
        let (add_dir, gone) = all.partition(|added| folder.join(added).is_dir());
        (RuleFlags { add_dir, ..flags }, gone)
    }

    /// The rules of the folder and of this opening, once it is open: a folder that is gone is left out, and that is
    /// warned of. It must not keep rules from holding.
    pub(crate) fn rules(&self, workspace: &Workspace, state: &FolderState) -> Result<LoadedPolicy, AppError> {
        let (flags, gone) = self.flags(workspace.folder());
        let mut rules = rules::load(&flags, workspace.env(), workspace.folder(), &state.loaded, &state.plugged)?;
        rules.warnings.extend(gone.iter().map(|folder| Problem {
            place: folder.display().to_string(),
            message: "the folder is gone, so it is not open any more".to_owned(),
        }));
        Ok(rules)
    }

    fn setup<'a>(
        &self,
        workspace: &Arc<Workspace>,
        state: &'a FolderState,
        policy: Policy,
        find_model: FindModel,
        redactor: &Redactor,
    ) -> ServiceSetup<'a> {
        let env = workspace.env();
        ServiceSetup {
            attended: self.wanted.attended,
            interactive: self.wanted.interactive,
            config: &state.loaded.config,
            tools: self.wanted.tools.clone(),
            call_tools: (self.wanted.model.as_deref() == Some(CALLER_MODEL)).then(|| self.call_tools.clone()),
            role: self.wanted.role.clone(),
            policy,
            hooks: state.plugged.hooks(),
            rule_book: Some(Arc::new(AlwaysFile::of(env))),
            told: state.told.clone(),
            sandbox: Some(state.sandbox.clone()),
            environment: self.variables(&state.loaded.config),
            redactor: redactor.clone(),
            data_dir: env.data_dir().to_owned(),
            index_dir: services::index_dir(env.data_dir()),
            servers: Some(workspace.servers().clone()),
            given_servers: self.wanted.servers.iter().map(|given| given.name.clone()).collect(),
            find_model,
            look_again: None,
            told_before: match self.wanted.interactive {
                true => ToldBefore::nothing(),
                false => ToldBefore::of(env.data_dir(), workspace.folder(), "servers"),
            },
            editor: self.wanted.editor.clone(),
        }
    }

    /// The variables of commands, before secrets are taken out: those that were given, and the secrets of this process.
    fn variables(&self, config: &Config) -> Vec<(OsString, OsString)> {
        let Some(Environment(given)) = &self.wanted.environment else { return self.environment.clone() };
        let own = scrub(self.environment.clone(), &services::hidden_variables(config)).hidden.into_iter();
        let own = own.map(|secret| (secret.what.into(), secret.value.into()));
        given.iter().map(|(name, value)| (name.into(), value.into())).chain(own).collect()
    }

    /// What agents are given to work with, from what the folder brings now, and what is to be said of its rules.
    pub(crate) fn deps(
        &self,
        workspace: &Arc<Workspace>,
        state: &FolderState,
        redactor: &Redactor,
    ) -> Result<(AgentDeps, Vec<String>), AppError> {
        let LoadedPolicy { policy, warnings, .. } = self.rules(workspace, state)?;
        let warnings = warnings.iter().map(ToString::to_string).collect();
        // The session has what finds its models already.
        let nothing: FindModel = Arc::new(|name| Err(SetupError::BadName(name.to_owned())));
        let mut setup = self.setup(workspace, state, policy, nothing, redactor);
        setup.sandbox = Some(self.sandbox(workspace, state)?);
        Ok((services::deps(&mut setup)?, warnings))
    }

    /// What commands run in: what the folder's settings say, or what this session was given. It may start programs.
    pub(crate) fn sandbox(&self, workspace: &Workspace, state: &FolderState) -> Result<Sandbox, AppError> {
        let Some(level) = self.level.get() else { return Ok(state.sandbox.clone()) };
        let mut config = state.loaded.config.clone();
        config.sandbox.level = level;
        sandbox::open(&config, workspace.env(), Ask::IfChanged)
    }

    /// What a session is opened with, by the settings and by this opening.
    pub(crate) fn options(&self, loaded: &Loaded, default_model: String) -> Result<SessionOptions, AppError> {
        let config = &loaded.config;
        let known = |number: u8| CapabilityLevel::new(number).map_err(invalid);
        let default_generation = config.agent.generation.map(known).transpose()?;
        // Who names tools wants to have them, however small the window is.
        let names_tools = !self.wanted.tools.is_empty() || !config.tools.only.is_empty();
        let default_generation = default_generation.or_else(|| names_tools.then(CapabilityLevel::highest));
        let generation = self.wanted.generation.map(known).transpose()?;
        Ok(SessionOptions {
            interactive: self.wanted.interactive,
            model: self.wanted.model.clone(),
            default_model,
            mode: self.wanted.mode,
            default_mode: config.mode,
            generation,
            default_generation,
            approval: self.wanted.approval.unwrap_or(config.approval),
            keeps_approval: self.again,
            person_present: self.wanted.attended,
            max_turns: self.wanted.max_turns.unwrap_or_else(|| self.most_turns(loaded)),
            budget: Budget {
                cost: self.wanted.max_cost.or(config.agent.max_cost),
                tokens: self.wanted.max_tokens.or(config.agent.max_tokens),
                time: config.agent.max_seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()),
            },
        })
    }

    /// Most turns for one request: a window asks then whether it goes on.
    fn most_turns(&self, loaded: &Loaded) -> u32 {
        let set = loaded.origins.origin(&["agent", "max_turns"]).filter(|set| set.layer != Layer::BuiltIn);
        let is_alone = !self.wanted.interactive && set.is_none();
        if is_alone { TURNS_ALONE } else { loaded.config.agent.max_turns }
    }

    /// The names of the only tools that there are; none where all are.
    fn named_tools<'a>(&'a self, config: &'a Config) -> &'a [String] {
        if self.wanted.tools.is_empty() { &config.tools.only } else { &self.wanted.tools }
    }

    /// Says which tools are named of MCP servers that are not in use.
    fn missing_tools(&self, state: &FolderState) -> Vec<String> {
        let named = self.named_tools(&state.loaded.config);
        if named.is_empty() {
            return Vec::new();
        }
        let missing = without_server(named, &state.plugged.servers());
        missing.into_iter().map(|(tool, why)| format!("There is no {tool} in this run: {why}")).collect()
    }

    /// Rejects names of tools that this generation lacks.
    fn check_tools(&self, generation: CapabilityLevel, config: &Config, workspace: &Workspace) -> Result<(), AppError> {
        let named = self.named_tools(config);
        if named.is_empty() {
            return Ok(());
        }
        let all = services::all_tools(&config.tools, &services::indexes(workspace.env().data_dir()));
        let missing = named.iter().filter_map(|name| all.find(name).ok()).find(|tool| !generation.has(tool.name()));
        let Some(tool) = missing else { return Ok(()) };
        let from = CapabilityLevel::of_tool(tool.name()).map_or(1, CapabilityLevel::number);
        let words = format!(
            "{} needs tool level {from}, and this run has {}: raise --gen, or leave it out of --tools",
            tool.name(),
            generation.number()
        );
        Err(invalid(words))
    }

    /// Says that a budget of money does nothing where no price is known.
    async fn warn_of_prices(&self, session: &Session, models: &Models, config: &Config) -> Option<String> {
        let limit = match (self.wanted.max_cost, config.agent.max_cost) {
            (Some(_), _) => "--max-cost",
            (None, Some(_)) => "agent.max_cost",
            (None, None) => return None,
        };
        let Ok(Answer::Snapshot(snapshot)) = session.ask(Query::Snapshot).await else { return None };
        let described = models.describe(&snapshot.model).unwrap_or_default();
        // A script and a model on this machine cost nothing.
        let costs = described.iter().filter(|model| !model.local && model.wire != ProviderType::Scripted);
        let unknown: Vec<String> =
            costs.filter(|model| model.info.price.is_none()).map(|model| model.name.label()).collect();
        let first = unknown.first()?;
        Some(format!(
            "The price of {} is not known, so {limit} can't stop it: set input_price and output_price in [models.\"{first}\"]",
            unknown.join(", ")
        ))
    }

    /// Says what is wrong with a model.
    fn explain(&self, error: SessionError, workspace: &Workspace, loaded: &Loaded) -> AppError {
        let message = error.to_string();
        match error {
            SessionError::Model { model, error } => match *error {
                SetupError::NoModel(looked) => guide(&looked, workspace.env().config_dir()),
                error => self.named(of_setup(error), Some(&model), loaded),
            },
            // Its own words say more, but what is wrong decides how the process ends.
            SessionError::OwnModel { error, .. } => AppError { message, ..of_setup(*error) },
            error => of_session(error),
        }
    }

    /// Adds who chose the model that can't be used, where that is known; a session has its own.
    fn named(&self, error: AppError, model: Option<&str>, loaded: &Loaded) -> AppError {
        let configured = model.is_none_or(|model| loaded.config.model.as_deref() == Some(model));
        let origin = match (&self.wanted.model, loaded.origins.get("model")) {
            (Some(model), _) => format!("The model comes from --model {model}."),
            (None, Some(setting)) if configured => {
                format!("The model comes from {}: model = {}", setting.origin, setting.value)
            }
            (None, Some(_) | None) => return error,
        };
        let hint = error.hint.as_ref().map(|hint| format!("\n{hint}")).unwrap_or_default();
        error.hint(format!("{origin}{hint}"))
    }
}

/// What a session stands on before it is there.
struct Made {
    state: Arc<FolderState>,
    services: Services,
    options: SessionOptions,
}

/// Does what may block on a thread of its own.
pub(crate) async fn on_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, AppError> + Send + 'static,
) -> Result<T, AppError> {
    tokio::task::spawn_blocking(work).await.map_err(failed)?
}

/// Logs where settings come from.
fn log(loaded: &Loaded) {
    if !tracing::enabled!(tracing::Level::DEBUG) {
        return;
    }
    for file in &loaded.files {
        tracing::debug!(layer = %file.layer, path = %file.path.display(), exists = file.exists, "settings");
    }
    for setting in loaded.origins.settings().iter().filter(|setting| setting.origin.layer != Layer::BuiltIn) {
        tracing::debug!(key = %setting.key, origin = %setting.origin, "set");
    }
}

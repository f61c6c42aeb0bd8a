//! Opening a session in a folder: what the folder brings, and what belongs to this one opening.

use std::ffi::OsString;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use neco_agent::{Budget, CapabilityLevel};
use neco_config::section::ProviderType;
use neco_config::{Config, Loaded};
use neco_model::{GROUPS, LocalServer, LookedFor, Models, SetupError};
use neco_proto::app::{AppError, Trouble};
use neco_proto::{Answer, ApprovalMode, Client, Mode, Query};
use neco_safety::policy::LoadedPolicy;
use neco_safety::secrets::Redactor;
use neco_session::hub::{FindModel, Found, LookAgain, Looked};
use neco_session::{AgentDeps, Session, SessionError, SessionOptions};
use neco_store::SqliteStore;

use crate::error;
use crate::services::{self, ServiceSetup, Services};
use crate::session_models::{Refusal, SessionModels};
use crate::workspace::rules::{self, AlwaysFile, RuleFlags};
use crate::workspace::{FolderState, Workspace};

/// How long local servers have to answer when no other model is there.
const PROBE: Duration = Duration::from_millis(500);

/// What belongs to the opening of one session, and not to the folder that it works in.
#[derive(Clone, Debug, Default)]
pub struct Opening {
    /// Rules of this opening, and folders that are open in it.
    pub flags: RuleFlags,
    /// Only these tools exist; empty means all.
    pub tools: Vec<String>,
    /// The model or group that is asked for.
    pub model: Option<String>,
    /// The mode that is asked for.
    pub mode: Option<Mode>,
    /// The generation that is asked for.
    pub generation: Option<u8>,
    /// When the person is asked.
    pub approval: Option<ApprovalMode>,
    /// Most turns for one request.
    pub max_turns: Option<u32>,
    /// Most US dollars that it may cost.
    pub max_cost: Option<f64>,
    /// The environment that commands are given, before secrets are taken out.
    pub environment: Vec<(OsString, OsString)>,
    /// Whether a person is there.
    pub attended: bool,
    /// Whether more than a single request is meant.
    pub interactive: bool,
}

/// Why a session can't be opened.
#[derive(Clone, Debug, PartialEq)]
pub enum OpenError {
    /// No model is known; says where one was looked for.
    NoModel(LookedFor),
    /// Anything else.
    App(AppError),
}

impl From<AppError> for OpenError {
    fn from(error: AppError) -> Self {
        Self::App(error)
    }
}

impl From<SetupError> for OpenError {
    fn from(error: SetupError) -> Self {
        match error {
            SetupError::NoModel(looked) => Self::NoModel(looked),
            error => Self::App(error::of_setup(error)),
        }
    }
}

impl Opening {
    /// The model that is asked when nobody says otherwise: what is configured, else a local server that answers. What
    /// the person should know of that is added to `notes`.
    ///
    /// # Errors
    /// When there is none, unless the session goes on and has its own.
    pub async fn default_model(
        &self,
        state: &FolderState,
        goes_on: bool,
        notes: &mut Vec<String>,
    ) -> Result<String, OpenError> {
        let models = &state.models;
        if let Some(model) = &self.model {
            // A group may be all that is known, and a local server all that there is.
            if GROUPS.contains(&model.as_str()) && matches!(models.default_name(), Err(SetupError::NoModel(_))) {
                state.use_local(models.probe_local(PROBE).await);
            }
            return Ok(model.clone());
        }
        let looked = match models.default_name() {
            Ok(name) => return Ok(name),
            Err(SetupError::NoModel(looked)) => looked,
            Err(error) => return Err(self.named(error.into(), None, &state.loaded)),
        };
        let servers = models.probe_local(PROBE).await;
        let base = servers.first().map(|LocalServer { base, .. }| base.clone());
        state.use_local(servers);
        match (models.default_name(), base) {
            (Ok(name), Some(base)) => {
                let provider = models.provider_for(&name)?;
                notes.push(format!("no model is configured; using {}, which answers at {base}", provider.label()));
                Ok(name)
            }
            // A session that goes on has a model of its own.
            _ if goes_on => Ok(String::new()),
            _ => Err(OpenError::NoModel(looked)),
        }
    }

    /// Opens the session that was found, or a new one in the folder. What is left out of the rules is told at once,
    /// whatever comes of the rest; what else the person should know is added to `notes`.
    ///
    /// # Errors
    /// When that is not possible.
    pub async fn open(
        self,
        workspace: &Arc<Workspace>,
        store: Arc<SqliteStore>,
        found: Option<Found>,
        default_model: String,
        tell: impl Fn(&str),
        notes: &mut Vec<String>,
    ) -> Result<(Services, Session), OpenError> {
        let state = workspace.now();
        let config = &state.loaded.config;
        let LoadedPolicy { policy, warnings, .. } = self.rules(workspace, &state)?;
        let warnings: Vec<String> = warnings.iter().map(ToString::to_string).collect();
        warnings.iter().for_each(|warning| tell(warning));
        let models = SessionModels::new(&state, workspace.env())?;
        let (redactor, found_by) = (workspace.redactor().heir(), Arc::clone(&models));
        let find_model: FindModel = Arc::new(move |name| found_by.find(name));
        let setup = self.setup(workspace, &state, policy, find_model, &redactor);
        let used = Used { state: Arc::clone(&state), warnings };
        let look_again = look_again(workspace, used, self.clone(), redactor, Arc::clone(&models));
        let services = Services::start_watched(store, setup, Some(look_again))?;
        let options = self.options(config, default_model, workspace)?;
        let session = match found {
            Some(found) => {
                services.hub.open(services.hub.settle(found).await.map_err(error::of_session)?, options).await
            }
            None => services.hub.create(workspace.folder(), options).await,
        };
        let session = session.map_err(|error| self.explain(error, models.take_refused(), &state.loaded))?;
        notes.extend(self.warn_of_prices(&session, &state.models, config).await);
        Ok((services, session))
    }

    /// The rules of the folder and of this opening.
    fn rules(&self, workspace: &Workspace, state: &FolderState) -> Result<LoadedPolicy, AppError> {
        rules::load(&self.flags, workspace.env(), workspace.folder(), &state.loaded, &state.plugged)
    }

    fn setup<'a>(
        &self,
        workspace: &Workspace,
        state: &'a FolderState,
        policy: neco_safety::Policy,
        find_model: FindModel,
        redactor: &Redactor,
    ) -> ServiceSetup<'a> {
        let env = workspace.env();
        ServiceSetup {
            attended: self.attended,
            interactive: self.interactive,
            config: &state.loaded.config,
            tools: self.tools.clone(),
            policy,
            hooks: state.plugged.hooks(),
            rule_book: Some(Arc::new(AlwaysFile::of(env))),
            told: state.told.clone(),
            sandbox: Some(state.sandbox.clone()),
            environment: self.environment.clone(),
            redactor: redactor.clone(),
            data_dir: env.data_dir().to_owned(),
            index_dir: services::index_dir(env.data_dir()),
            find_model,
        }
    }

    /// What agents are given to work with, from what the folder brings now, and what is to be said of its rules.
    fn deps(
        &self,
        workspace: &Arc<Workspace>,
        state: &FolderState,
        redactor: &Redactor,
    ) -> Result<(AgentDeps, Vec<String>), AppError> {
        let LoadedPolicy { policy, warnings, .. } = self.rules(workspace, state)?;
        let warnings = warnings.iter().map(ToString::to_string).collect();
        // The session has what finds its models already.
        let nothing: FindModel = Arc::new(|name| Err(name.to_owned()));
        Ok((services::deps(&mut self.setup(workspace, state, policy, nothing, redactor))?, warnings))
    }

    fn options(
        &self,
        config: &Config,
        default_model: String,
        workspace: &Workspace,
    ) -> Result<SessionOptions, AppError> {
        let known = |number: u8| {
            CapabilityLevel::new(number).map_err(|error| AppError::new(Trouble::Invalid, error.to_string()))
        };
        let default_generation = config.agent.generation.map(known).transpose()?;
        let default_generation = default_generation.unwrap_or_else(CapabilityLevel::highest);
        let generation = self.generation.map(known).transpose()?;
        self.check_tools(generation.unwrap_or(default_generation), config, workspace)?;
        Ok(SessionOptions {
            model: self.model.clone(),
            default_model,
            mode: self.mode,
            default_mode: config.mode,
            generation,
            default_generation,
            approval: self.approval.unwrap_or(config.approval),
            person_present: self.attended,
            max_turns: self.max_turns.unwrap_or(config.agent.max_turns),
            budget: Budget {
                cost: self.max_cost.or(config.agent.max_cost),
                tokens: config.agent.max_tokens,
                time: config.agent.max_seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()),
            },
        })
    }

    /// Rejects names of tools that this generation lacks.
    fn check_tools(&self, generation: CapabilityLevel, config: &Config, workspace: &Workspace) -> Result<(), AppError> {
        let named = if self.tools.is_empty() { &config.tools.only } else { &self.tools };
        if named.is_empty() {
            return Ok(());
        }
        let all = services::all_tools(&config.tools, &services::indexes(workspace.env().data_dir()));
        let missing = named.iter().filter_map(|name| all.find(name).ok()).find(|tool| !generation.has(tool.name()));
        let Some(tool) = missing else { return Ok(()) };
        let from = CapabilityLevel::of_tool(tool.name()).map_or(1, CapabilityLevel::number);
        let words = format!(
            "{} belongs to generation {from}, and this run is of generation {}: raise --gen, or leave it out of --tools",
            tool.name(),
            generation.number()
        );
        Err(AppError::new(Trouble::Invalid, words))
    }

    /// Says that a budget of money does nothing where no price is known.
    async fn warn_of_prices(&self, session: &Session, models: &Models, config: &Config) -> Option<String> {
        let limit = match (self.max_cost, config.agent.max_cost) {
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
            "the price of {} is not known, so {limit} can't stop it: set input_price and output_price in [models.\"{first}\"]",
            unknown.join(", ")
        ))
    }

    /// Says what is wrong with a model, of which the session knows only words.
    fn explain(&self, error: SessionError, refused: Option<Refusal>, loaded: &Loaded) -> OpenError {
        match (error, refused) {
            (SessionError::Model(_), Some(Refusal { model, error })) => self.named(error.into(), Some(&model), loaded),
            // Its own words say more, but what is wrong decides how the process ends.
            (error @ SessionError::OwnModel { .. }, Some(Refusal { error: refused, .. })) => {
                OpenError::App(AppError { message: error.to_string(), ..error::of_setup(refused) })
            }
            (error, _) => OpenError::App(error::of_session(error)),
        }
    }

    /// Adds who chose the model that can't be used, where that is known; a session has its own.
    fn named(&self, error: OpenError, model: Option<&str>, loaded: &Loaded) -> OpenError {
        let OpenError::App(error) = error else { return error };
        let configured = model.is_none_or(|model| loaded.config.model.as_deref() == Some(model));
        let origin = match (&self.model, loaded.origins.get("model")) {
            (Some(model), _) => format!("The model comes from --model {model}."),
            (None, Some(setting)) if configured => {
                format!("The model comes from {}: model = {}", setting.origin, setting.value)
            }
            (None, Some(_) | None) => return OpenError::App(error),
        };
        let hint = error.hint.as_ref().map(|hint| format!("\n{hint}")).unwrap_or_default();
        OpenError::App(error.hint(format!("{origin}{hint}")))
    }
}

/// What a session was made of, or took up last.
struct Used {
    state: Arc<FolderState>,
    /// What was said of its rules.
    warnings: Vec<String>,
}

/// Looks whether what the folder brings was edited since this opening took it up last. What can't be used is tried again
/// at the next look: the reason may pass.
fn look_again(
    workspace: &Arc<Workspace>,
    used: Used,
    opening: Opening,
    redactor: Redactor,
    models: Arc<SessionModels>,
) -> LookAgain {
    let (workspace, used) = (Arc::clone(workspace), Mutex::new(used));
    Arc::new(move || {
        let state = match workspace.look_again() {
            Ok(state) => state,
            Err(error) => return Looked::Broken(error.message),
        };
        models.renew(&state, workspace.env());
        let mut used = used.lock().unwrap_or_else(PoisonError::into_inner);
        if Arc::ptr_eq(&state, &used.state) {
            return Looked::Same;
        }
        match opening.deps(&workspace, &state, &redactor) {
            Ok((deps, warnings)) => {
                let before = [used.state.notes(), std::mem::take(&mut used.warnings)].concat();
                let now = state.notes().into_iter().chain(warnings.iter().cloned());
                let news = now.filter(|note| !before.contains(note)).collect();
                *used = Used { state, warnings };
                Looked::Anew(Box::new(deps), news)
            }
            Err(error) => Looked::Broken(error.message),
        }
    })
}

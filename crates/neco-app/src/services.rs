//! The one place where concrete types meet: what sessions in a folder stand on.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use neco_agent::RuleBook;
use neco_agent::gate::OpenGate;
use neco_agent::scheduler::Limits;
use neco_config::section::{Declare, ToolsSection};
use neco_config::{Config, Env};
use neco_ext::mcp::Servers;
use neco_ext::skills::{MakeHooks, Skill, Skills};
use neco_ext::{Hook, Hooks, HooksSetup};
use neco_model::route::Providers;
use neco_model::{Models, SetupError};
use neco_proto::app::AppError;
use neco_proto::app::opening::{Editor, Environment};
use neco_safety::secrets::{KnownSecret, Redactor, scrub};
use neco_safety::world::Files;
use neco_safety::{Confinement, Policy, World};
use neco_sandbox::{Level, LocalNet, LocalWorld, NetSettings, ProxyRules, Report, Roots, Sandbox, Spawner};
use neco_session::hub::{Extract, FindModel, LookAgain, MakeGate, MakeSkills, MakeTools, MakeWorld, MemorySettings};
use neco_session::roles::DefinitionPlaces;
use neco_session::title::TitleSettings;
use neco_session::tree::{self, TreeSettings};
use neco_session::workflow::WorkflowTool;
use neco_session::{AgentDeps, Hub, HubSetup};
use neco_store::{Catalog, EventLog, SqliteStore};
use neco_toolkit::Registry;
use neco_toolkit::tool::erase;
use neco_tools::code::Indexes;
use secrecy::{ExposeSecret, SecretString};

use crate::app::{LocalApp, StorelessApp};
use crate::editor_world::EditorWorld;
use crate::error;
use crate::error::invalid;
use crate::mcp_use::reader;
use crate::named_tools::NamedTools;
use crate::open_texts::OpenTexts;
use crate::running_sessions::{RunningSession, RunningSessions, WantedElsewhere};
use crate::workspace::checkpoints;
use crate::workspace::keys::Keys;
use crate::workspace::servers::prepare;
use crate::workspace::told_before::ToldBefore;
use crate::workspace::told_files::ToldFiles;

/// How long a title may take.
const TITLE_TIMEOUT: Duration = Duration::from_secs(15);

/// The file of the store in the data folder.
pub const STORE_FILE: &str = "neco.db";

/// Opens the store of a data folder.
///
/// # Errors
/// When it can't be opened.
pub async fn open_store(data_dir: &Path) -> Result<Arc<SqliteStore>, AppError> {
    Ok(Arc::new(SqliteStore::open(&data_dir.join(STORE_FILE)).await.map_err(error::of_store)?))
}

/// The store and the hub that stands on it.
pub struct Services {
    /// Opens sessions.
    pub hub: Hub,
    store: Arc<SqliteStore>,
    /// The session that stands on it, and all that the process has open.
    open: Option<Arc<RunningSession>>,
    all: RunningSessions,
}

/// What services are made of.
pub struct ServiceSetup<'a> {
    /// The configuration.
    pub config: &'a Config,
    /// Only these tools exist; empty means all.
    pub tools: Vec<String>,
    /// The tools themselves, where sessions that stand beside each other have the same; made at the first use.
    pub call_tools: Option<CallTools>,
    /// Who the agent is, where it is not the one that comes with Neco.
    pub role: Option<String>,
    /// The rules that calls are judged by, and the folders that are open.
    pub policy: Policy,
    /// The hooks that may run.
    pub hooks: Vec<Hook>,
    /// Where rules are kept that a person allows for good.
    pub rule_book: Option<Arc<dyn RuleBook>>,
    /// Files that tell the model something.
    pub told: ToldFiles,
    /// What commands run in; nothing where there are none.
    pub sandbox: Option<Sandbox>,
    /// The environment that commands are given, before secrets are taken out.
    pub environment: Vec<(OsString, OsString)>,
    /// Takes secrets out of what is stored, shown and sent; it learns those of the environment.
    pub redactor: Redactor,
    /// The folder of everything that is kept.
    pub data_dir: PathBuf,
    /// Where the indexes of code are.
    pub index_dir: PathBuf,
    /// The MCP servers; nothing where nothing is worked on.
    pub servers: Option<Servers>,
    /// Those of them that are started at once.
    pub given_servers: Vec<String>,
    /// Where models come from.
    pub find_model: FindModel,
    /// Looks whether what this was made of was edited, where somebody does.
    pub look_again: Option<LookAgain>,
    /// What a person was told already of servers that can't be reached.
    pub told_before: ToldBefore,
    /// The editor whose files are read and written, where one offers them.
    pub editor: Option<Editor>,
    /// Whether a person sits in front of it.
    pub attended: bool,
    /// Whether more than a single request is meant.
    pub interactive: bool,
}

impl<'a> ServiceSetup<'a> {
    /// For services that only read and list: no model, no tool and no rule of anybody's.
    pub fn bare(env: &Env, config: &'a Config) -> Self {
        Self {
            config,
            tools: Vec::new(),
            call_tools: None,
            role: None,
            policy: Policy::default(),
            hooks: Vec::new(),
            rule_book: None,
            told: ToldFiles::default(),
            sandbox: None,
            environment: Vec::new(),
            redactor: Redactor::default(),
            data_dir: env.data_dir().to_owned(),
            index_dir: index_dir(env.data_dir()),
            servers: None,
            given_servers: Vec::new(),
            find_model: Arc::new(|name| Err(SetupError::BadName(name.to_owned()))),
            look_again: None,
            told_before: ToldBefore::nothing(),
            editor: None,
            attended: false,
            interactive: false,
        }
    }
}

impl Services {
    /// Puts a hub on a store.
    ///
    /// # Errors
    /// When a tool does not exist.
    pub fn start(store: Arc<SqliteStore>, setup: ServiceSetup<'_>) -> Result<Self, AppError> {
        Ok(Self { hub: hub(&store, setup)?, store, open: None, all: RunningSessions::default() })
    }

    /// A session stands on them from now on, which belongs to `all` that are open.
    pub(crate) fn keep(&mut self, open: Arc<RunningSession>, all: &RunningSessions) {
        all.add(&open);
        (self.open, self.all) = (Some(open), all.clone());
    }

    /// How another process opens the session that stands on them.
    ///
    /// # Errors
    /// When it can't.
    pub(crate) fn wanted_elsewhere(&self) -> Result<WantedElsewhere, AppError> {
        let open = self.open.as_ref().ok_or_else(|| error::failed("no session stands on this"))?;
        open.wanted_elsewhere()
    }

    /// The program on the same store.
    pub fn app(&self, env: &Env, overrides: &[String]) -> LocalApp {
        let storeless = StorelessApp::new(env.clone(), overrides.to_vec()).knowing(&self.all);
        LocalApp { store: Arc::clone(&self.store), hub: self.hub.clone(), storeless, opener: None }
    }

    /// Writes what waits; the store stays open for whoever else stands on it. The MCP servers of a folder in which nobody
    /// works any more are ended.
    ///
    /// # Errors
    /// When something could not be written.
    pub async fn leave(self) -> Result<(), AppError> {
        let workspace = self.open.as_ref().map(|open| open.workspace());
        drop((self.hub, self.open));
        let unused = workspace.filter(|workspace| !self.all.work_in(workspace));
        let ending = async {
            if let Some(workspace) = &unused {
                workspace.end_servers().await;
            }
        };
        let ((), flushed) = futures::join!(ending, self.store.flush());
        flushed.map_err(error::of_store)
    }
}

/// A hub on any store.
///
/// # Errors
/// When a tool does not exist.
pub fn hub<S: EventLog + Catalog + 'static>(store: &Arc<S>, mut setup: ServiceSetup<'_>) -> Result<Hub, AppError> {
    let deps = Arc::new(deps(&mut setup)?);
    let (log, catalog, ServiceSetup { data_dir, find_model, look_again, .. }) = (store.clone(), store.clone(), setup);
    Ok(Hub::new(HubSetup { log, catalog, data_dir, find_model, deps, look_again }))
}

/// What agents are given to work with; what only they need is taken out of the setup.
///
/// # Errors
/// When a tool does not exist.
pub(crate) fn deps(setup: &mut ServiceSetup<'_>) -> Result<AgentDeps, AppError> {
    let indexes = Arc::new(Indexes::new(setup.index_dir.clone()));
    let tools = tools(setup, Arc::clone(&indexes))?;
    let hidden = hidden_variables(setup.config);
    let environment = std::mem::take(&mut setup.environment);
    let (hooks, told) = (std::mem::take(&mut setup.hooks), std::mem::take(&mut setup.told));
    let (policy, redactor) = (std::mem::take(&mut setup.policy), setup.redactor.clone());
    redactor.learn(scrub(environment.clone(), &hidden).hidden);
    let spawner = Spawner::new(environment.clone(), &hidden);
    let report = setup.sandbox.as_ref().map(|sandbox| sandbox.report().clone());
    let texts = setup.editor.take().map(OpenTexts::of);
    let unsaved = OpenTexts::for_checkpoints(texts.as_ref());
    let reads_only = report.as_ref().is_some_and(|report| report.level == Level::ReadOnly);
    let policy = if reads_only { policy.reading_only() } else { policy };
    Ok(AgentDeps {
        tools,
        plugged: setup.servers.as_ref().map(|servers| servers.plugged().clone()).unwrap_or_default(),
        resources: setup.servers.as_ref().map(reader),
        prepare: setup.servers.take().map(|servers| {
            let given = std::mem::take(&mut setup.given_servers);
            prepare(servers, given, setup.interactive, setup.told_before.clone())
        }),
        roots: policy.place().roots.clone(),
        policy: Box::new(move |_| policy.clone()),
        rule_book: setup.rule_book.take(),
        confinement: report.as_ref().map_or(Confinement::Unavailable, Report::confinement),
        network: report.as_ref().is_none_or(Report::reaches_network),
        world: {
            let of_skills = told.skills.iter().flat_map(neco_ext::skills::hooks_brought);
            let held = run_by(hooks.iter().cloned().chain(of_skills));
            let net = network(setup.config, &environment);
            make_world(spawner, net, setup.sandbox.take(), held, texts)
        },
        skills: skills((told.skills, setup.config.skills.by_words), &environment, &hidden, &setup.config.tools.shell),
        gate: gate(hooks, &environment, hidden, setup.config.tools.shell.clone()),
        redactor,
        limits: limits(setup.config),
        documents: neco_tools::files::document_text,
        memory: memory(setup.config, setup.attended),
        checkpoints: checkpoints::opener(&setup.config.checkpoints, &environment, &setup.data_dir, unsaved),
        conversations: setup.config.checkpoints.conversations,
        titles: titles(setup.config, setup.interactive),
        tree: TreeSettings::from(&setup.config.agents),
        definitions: DefinitionPlaces { roles: setup.config.agents.roles.clone(), ..told.agents },
        workflows: told.workflows,
        guards: setup.config.agent.guards.clone(),
        context: setup.config.context.clone(),
        rules: told.rules,
        prompts: told.prompts,
        role: setup.role.take(),
        path: variable(&environment, "PATH"),
        zone: variable(&environment, "TZ"),
        shell: setup.config.tools.shell.clone(),
        indexes,
        sandbox: report.as_ref().map_or_else(|| "none".to_owned(), Report::in_short),
        usual_sandbox: report.as_ref().is_some_and(Report::is_usual),
        version: env!("CARGO_PKG_VERSION").to_owned(),
    })
}

fn variable(environment: &[(OsString, OsString)], wanted: &str) -> Option<OsString> {
    environment.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.clone())
}

/// The models of a configuration.
///
/// # Errors
/// When a provider is described so that nothing could be asked of it.
pub fn models(config: &Config, env: &Env) -> Result<Models, AppError> {
    Models::new(config, &Keys::find(env)).map_err(error::of_setup)
}

/// The keys of all models.
pub fn secrets(models: &Models) -> Vec<KnownSecret> {
    let known = |(what, value): (&str, &SecretString)| KnownSecret {
        what: what.to_owned(),
        value: value.expose_secret().to_owned(),
    };
    models.secrets().map(known).collect()
}

/// A key that is kept.
pub(crate) fn known_key(key: &SecretString) -> KnownSecret {
    KnownSecret { what: "key".to_owned(), value: key.expose_secret().to_owned() }
}

/// This machine for whoever works in a folder, with processes in the sandbox.
///
/// What is too big for the model is read back from its folder, which commands see too. What is `held` stays as it is in
/// there.
fn make_world(
    spawner: Spawner,
    net: LocalNet,
    sandbox: Option<Sandbox>,
    held: Vec<PathBuf>,
    texts: Option<Arc<OpenTexts>>,
) -> MakeWorld {
    Box::new(move |files| {
        let mut spawn = spawner.clone();
        if let Some(sandbox) = &sandbox {
            let mut roots = Roots::from(&files);
            roots.readable.extend(held.iter().cloned());
            spawn = spawn.boxed(sandbox, roots)?;
        }
        let spawn = spawn.closing(files.closed());
        let local: Arc<dyn World> = Arc::new(LocalWorld { files, spawn, net: net.clone() });
        Ok(EditorWorld::around(local, texts.as_ref()))
    })
}

/// The files that a folder's hooks run: these run outside the sandbox, and what was looked at before one starts must be
/// what it starts.
fn run_by(hooks: impl Iterator<Item = Hook>) -> Vec<PathBuf> {
    let prints = hooks.filter(|hook| hook.origin.folder().is_some()).filter_map(|hook| hook.fingerprint().ok());
    prints.flat_map(|print| print.files).collect()
}

/// The same without an agent, for whoever is judged by these rules in a folder.
///
/// # Errors
/// When the folder can't be used.
pub(crate) fn world(
    folder: &Path,
    policy: &Policy,
    sandbox: &Sandbox,
    config: &Config,
    env: &Env,
) -> io::Result<LocalWorld> {
    let (environment, place) = (environment(env), policy.place());
    let files = Files::new(folder, place.read_only(folder, &place.roots))?.with_roots(&place.roots)?;
    let files = files.with_closed(policy.closed());
    let spawn = Spawner::new(environment.clone(), &hidden_variables(config)).boxed(sandbox, Roots::from(&files))?;
    let spawn = spawn.closing(files.closed());
    Ok(LocalWorld { files, spawn, net: network(config, &environment) })
}

/// Variables that commands don't get: those of the settings, and those that hold the keys of any
/// provider, whatever the settings say.
pub fn hidden_variables(config: &Config) -> Vec<String> {
    let providers = Providers::new(&config.model_providers).ok();
    let of_providers = providers.iter().flat_map(Providers::iter).flat_map(|entry| entry.api_key_envs.clone());
    config.tools.hidden_env.iter().cloned().chain(config.key_variables()).chain(of_providers).collect()
}

/// The environment of this process, for commands.
pub fn environment(env: &Env) -> Vec<(OsString, OsString)> {
    env.vars().map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

/// What of an environment another process gives to commands in place of its own: secrets stay here.
pub fn given_environment(environment: Vec<(OsString, OsString)>, config: &Config) -> Environment {
    let kept = scrub(environment, &hidden_variables(config)).kept.into_iter();
    Environment(kept.filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?))).collect())
}

/// What tools reach of the network. Made of settings and variables alone: it costs nothing before it is used.
fn network(config: &Config, environment: &[(OsString, OsString)]) -> LocalNet {
    let key = config.tools.web_search.key_variable().and_then(|name| {
        let (_, value) = environment.iter().find(|(own, _)| own.to_str() == Some(name))?;
        let value = value.to_str().map(str::trim).filter(|value| !value.is_empty())?;
        Some((neco_tools::web::SEARCH_KEY.to_owned(), value.to_owned().into()))
    });
    LocalNet::new(NetSettings {
        private_hosts: config.tools.web_fetch.private_hosts.clone(),
        proxy: ProxyRules::of_variables(environment),
        keys: key.into_iter().collect(),
    })
}

/// What makes the gate of a session. Hooks are the user's own, or trusted by them: they run outside
/// the box of the model's commands.
fn gate(hooks: Vec<Hook>, environment: &[(OsString, OsString)], hidden: Vec<String>, shell: String) -> MakeGate {
    if hooks.is_empty() {
        return Box::new(|_, _| Arc::new(OpenGate));
    }
    let environment = environment.to_vec();
    Box::new(move |session, cwd| {
        Arc::new(Hooks::new(HooksSetup {
            hooks: hooks.clone(),
            processes: Arc::new(Spawner::new(environment.clone(), &hidden)),
            shell: shell.clone(),
            session,
            cwd: cwd.to_owned(),
        }))
    })
}

/// What makes the skills of a session; nothing where there are none. Their hooks run as others do.
fn skills(
    (found, by_words): (Arc<[Skill]>, bool),
    environment: &[(OsString, OsString)],
    hidden: &[String],
    shell: &str,
) -> Option<MakeSkills> {
    if found.is_empty() {
        return None;
    }
    let (environment, hidden, shell) = (environment.to_vec(), hidden.to_vec(), shell.to_owned());
    Some(Box::new(move |session, cwd| {
        let (environment, hidden, shell, cwd) = (environment.clone(), hidden.clone(), shell.clone(), cwd.to_owned());
        let hooks: MakeHooks = Arc::new(move |hooks| {
            Arc::new(Hooks::new(HooksSetup {
                hooks,
                processes: Arc::new(Spawner::new(environment.clone(), &hidden)),
                shell: shell.clone(),
                session,
                cwd: cwd.clone(),
            }))
        });
        Arc::new(Skills::new(Arc::clone(&found), by_words, hooks))
    }))
}

/// What makes the tools of an agent; the names are checked once, here.
fn tools(setup: &ServiceSetup<'_>, indexes: Arc<Indexes>) -> Result<MakeTools, AppError> {
    let (settings, kept) = (setup.config.tools.clone(), setup.call_tools.clone());
    let only = if setup.tools.is_empty() { settings.only.clone() } else { setup.tools.clone() };
    let named = match only.is_empty() {
        true => None,
        false => {
            let all = all_tools(&settings, &indexes);
            let plugged = setup.servers.as_ref().map(|servers| Registry::default().following(servers.plugged()));
            let named = NamedTools::new(&only, &all, &plugged.unwrap_or_default());
            Some(named.map_err(|error| invalid(error.message))?)
        }
    };
    Ok(Box::new(move |own| {
        let made = || standing_tools(&settings, &indexes);
        let all = kept.as_ref().map_or_else(made, |kept| kept.0.get_or_init(made).clone()).with(own);
        // The names were checked above; one that its session does not bring, without a memory, is left out.
        named.as_ref().map_or_else(|| all.clone(), |named| named.of(&all))
    }))
}

/// The tools of sessions that stand beside each other; clones are the same ones.
#[derive(Clone, Default)]
pub struct CallTools(Arc<OnceLock<Registry>>);

/// The indexes of code of a data folder; nothing is opened yet.
pub fn indexes(data_dir: &Path) -> Arc<Indexes> {
    Arc::new(Indexes::new(index_dir(data_dir)))
}

/// Where the indexes of code of a data folder are.
pub fn index_dir(data_dir: &Path) -> PathBuf {
    data_dir.join("index")
}

/// Every tool that exists, of whatever generation.
pub fn all_tools(settings: &ToolsSection, indexes: &Arc<Indexes>) -> Registry {
    standing_tools(settings, indexes)
        .with(neco_session::memory::tools::listed())
        .with(tree::tools::listed())
        .with([erase(WorkflowTool::listed())])
}

/// Those that need nothing of a session.
fn standing_tools(settings: &ToolsSection, indexes: &Arc<Indexes>) -> Registry {
    let tools = neco_tools::builtin::registry(settings, indexes).with(neco_agent::plan::tools());
    match settings.declare {
        Declare::Everyday => tools.with(neco_agent::catalogue::tools()),
        Declare::All => tools,
    }
}

/// How sessions remember; `attended` when a person sits in front of them: whoever is not there did not ask
/// for what a look at the end costs.
fn memory(config: &Config, attended: bool) -> Option<MemorySettings> {
    let memory = &config.memory;
    let timeout = Duration::try_from_secs_f64(memory.extract_timeout).unwrap_or(Duration::from_secs(20));
    memory.enabled.then(|| MemorySettings {
        entries: memory.max_entries,
        extract: match memory.extract {
            Some(true) => Extract::Always,
            None if attended => Extract::Real,
            Some(false) | None => Extract::Never,
        },
        extract_model: memory.extract_model.clone(),
        extract_timeout: timeout,
    })
}

/// How a model makes titles; `interactive` as above: a single request costs nothing beyond itself.
fn titles(config: &Config, interactive: bool) -> Option<TitleSettings> {
    let sessions = &config.sessions;
    let wanted = sessions.model_title.unwrap_or(interactive);
    wanted.then(|| TitleSettings { model: sessions.title_model.clone(), timeout: TITLE_TIMEOUT })
}

fn limits(config: &Config) -> Limits {
    Limits {
        parallel_reads: config.agent.parallel_reads,
        timeout: Duration::try_from_secs_f64(config.tools.timeout).unwrap_or(Duration::from_secs(30)),
        max_output: config.tools.max_output_bytes,
        approval: config.approval_timeout.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()),
    }
}

#[cfg(test)]
mod tests {
    use neco_agent::CapabilityLevel;

    use super::*;

    /// The table of generations says of every tool whether it is there.
    #[test]
    fn generations_name_every_tool_there_is_and_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let all = all_tools(&Config::built_in().tools, &indexes(folder.path()));
        let there: Vec<&str> = all.iter().map(|tool| tool.name()).collect();
        let entries: Vec<_> = CapabilityLevel::highest().entries().collect();
        let added: Vec<&str> = entries.iter().flat_map(|entry| &entry.adds).map(String::as_str).collect();
        let not_yet: Vec<&str> = entries.iter().flat_map(|entry| &entry.not_yet).map(String::as_str).collect();
        for tool in &there {
            assert!(added.contains(tool), "{tool} belongs to no generation: add it to generations.toml");
        }
        for tool in &there {
            let row = neco_safety::tools::TABLE.iter().find(|row| row.name == *tool);
            assert!(row.is_some(), "{tool} has no row in the table of tools: no rule about its like would mean it");
        }
        for tool in &added {
            assert!(there.contains(tool), "{tool} does not exist: it belongs under not_yet in generations.toml");
        }
        for tool in &not_yet {
            assert!(!there.contains(tool), "{tool} exists by now: move it from not_yet to adds in generations.toml");
        }
    }
}

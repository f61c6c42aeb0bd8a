//! A stage: a folder, a store and a scripted model, wired as the product wires them.

#![allow(clippy::disallowed_methods, reason = "a stage is made of real files")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use neco_agent::scheduler::Limits;
use neco_agent::{Budget, CapabilityLevel};
use neco_config::Config;
use neco_config::section::{ProviderSection, ProviderType};
use neco_ext::hooks::Origin;
use neco_ext::skills::{MakeHooks, Skill, SkillPlace, Skills, look};
use neco_ext::{Hook, Hooks, HooksSetup};
use neco_model::scripted::Script;
use neco_model::{Models, NoKeys, Provider};
use neco_proto::SessionId;
use neco_safety::command::Place;
use neco_safety::policy::{RuleReader, Source};
use neco_safety::{Confinement, Policy};
use neco_sandbox::{LocalNet, LocalWorld, Spawner};
use neco_session::hub::{Extract, MakeGate, MakeSkills, MemorySettings, OpenCheckpoints};
use neco_session::roles::DefinitionPlaces;
use neco_session::sources::RulesPlaces;
use neco_session::title::TitleSettings;
use neco_session::tree::TreeSettings;
use neco_session::workflow::WorkflowPlaces;
use neco_session::{AgentDeps, Hub, HubSetup, Session, SessionOptions};
use neco_store::SqliteStore;
use neco_toolkit::PluggedTools;
use neco_workspace::checkpoint::{self, Checkpoints, FileSides, LeaveOutSettings, MemoryCheckpoints, Unsaved};
use tempfile::TempDir;

use crate::scenario::Setup;

/// The model's name on every stage.
pub const MODEL: &str = "stage/actor";

/// What a stage is built from.
pub struct StageSetup {
    /// Path and content.
    pub files: Vec<(String, String)>,
    /// What the model answers.
    pub script: Script,
    /// How sessions are opened.
    pub setup: Setup,
}

/// A folder, a store and a scripted model.
pub struct Stage {
    folder: TempDir,
    home: TempDir,
    config: Config,
    models: Arc<Models>,
    model: Option<Arc<dyn Provider>>,
    setup: Setup,
    /// The states of the folder that were kept.
    states: Arc<OnceLock<Arc<dyn Checkpoints>>>,
    /// Tools that come and go.
    plugged: PluggedTools,
}

impl Stage {
    /// Builds a stage.
    pub fn new(mut stage: StageSetup) -> Result<Self, String> {
        stage.script.context_window = stage.setup.window.or(stage.script.context_window);
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let home = tempfile::tempdir().map_err(|error| error.to_string())?;
        for (path, content) in &stage.files {
            write(folder.path(), path, content)?;
        }
        Self::on(folder, home, &stage.script, stage.setup, PluggedTools::default())
    }

    /// A stage in a folder, with its store in another one.
    fn on(
        folder: TempDir,
        home: TempDir,
        script: &Script,
        setup: Setup,
        plugged: PluggedTools,
    ) -> Result<Self, String> {
        let json = serde_json::to_string(script).map_err(|error| error.to_string())?;
        let script = home.path().join("script.json");
        fs::write(&script, json).map_err(|error| error.to_string())?;
        let config = config(&script, &setup);
        let models = Arc::new(Models::new(&config, &NoKeys).map_err(|error| error.to_string())?);
        Ok(Self { folder, home, config, models, model: None, setup, states: Arc::default(), plugged })
    }

    /// Tools that come and go while a session is open.
    pub fn plugged(&self) -> &PluggedTools {
        &self.plugged
    }

    /// The same stage with another model than the scripted one.
    #[must_use]
    pub fn played_by(self, model: Arc<dyn Provider>) -> Self {
        Self { model: Some(model), ..self }
    }

    /// The same stage with other settings.
    #[must_use]
    pub fn with_config(mut self, change: impl FnOnce(&mut Config)) -> Self {
        change(&mut self.config);
        self
    }

    /// The workspace.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// What a file of the workspace holds.
    pub fn read(&self, path: &str) -> Result<String, String> {
        fs::read_to_string(self.folder().join(path)).map_err(|error| format!("{path}: {error}"))
    }

    /// Changes a file of the workspace, as someone else would.
    pub fn write(&self, path: &str, content: &str) -> Result<(), String> {
        write(self.folder(), path, content)
    }

    /// A new session.
    pub async fn open(&self) -> Result<Session, String> {
        let hub = self.hub().await?;
        hub.create(self.folder(), self.options()).await.map_err(|error| error.to_string())
    }

    /// An earlier session again, from the store on the disk.
    pub async fn reopen(&self, session: SessionId) -> Result<Session, String> {
        let hub = self.hub().await?;
        let record = hub.find(&session.to_string()).await.map_err(|error| error.to_string())?;
        hub.open(record, self.options()).await.map_err(|error| error.to_string())
    }

    /// The stage as a crash at this moment would leave it: another store with what is in this one now, and
    /// the same folder. Whoever still works on this stage is not heard there, and the model plays `script`.
    pub fn crashed(&self, script: &Script) -> Result<Self, String> {
        let home = tempfile::tempdir().map_err(|error| error.to_string())?;
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        for entry in fs::read_dir(self.home.path()).map_err(|error| error.to_string())?.flatten() {
            if entry.path().is_file() {
                fs::copy(entry.path(), home.path().join(entry.file_name())).map_err(|error| error.to_string())?;
            }
        }
        Self::on(folder, home, script, self.setup.clone(), self.plugged.clone())
    }

    /// A hub on the stage's store.
    pub async fn hub(&self) -> Result<Hub, String> {
        let store = SqliteStore::open(&self.database()).await.map_err(|error| error.to_string())?;
        let store = Arc::new(store);
        let (models, model) = (Arc::clone(&self.models), self.model.clone());
        let tools = self.config.tools.clone();
        let limits = Limits {
            parallel_reads: self.config.agent.parallel_reads,
            timeout: Duration::from_secs_f64(self.setup.tool_timeout),
            max_output: tools.max_output_bytes,
            approval: self.config.approval_timeout.map(Duration::from_secs_f64),
        };
        let only = self.setup.tools.clone();
        let indexes = Arc::new(neco_tools::code::Indexes::new(self.home.path().join("index")));
        let own_indexes = Arc::clone(&indexes);
        let shell = tools.shell.clone();
        Ok(Hub::new(HubSetup {
            log: store.clone(),
            catalog: store,
            data_dir: self.home.path().to_path_buf(),
            find_model: Arc::new(move |name| match &model {
                Some(model) => Ok(Arc::clone(model)),
                None => models.provider_for(name),
            }),
            look_again: None,
            deps: Arc::new(AgentDeps {
                titles: self.setup.titles.then(|| TitleSettings { model: None, timeout: Duration::from_secs(20) }),
                checkpoints: self.checkpoints(),
                conversations: true,
                tools: Box::new(move |own| {
                    let all =
                        neco_tools::builtin::registry(&tools, &own_indexes).with(neco_agent::plan::tools()).with(own);
                    let all = all.with(neco_agent::catalogue::tools());
                    if only.is_empty() { all } else { all.named(&only) }
                }),
                plugged: self.plugged.clone(),
                prepare: None,
                memory: Some(MemorySettings {
                    entries: 40,
                    extract: if self.setup.extract { Extract::Always } else { Extract::Never },
                    extract_model: None,
                    extract_timeout: Duration::from_secs(20),
                }),
                policy: self.policy(),
                rule_book: None,
                roots: Vec::new(),
                confinement: Confinement::ChosenNone,
                network: self.setup.network,
                world: Box::new(|files| {
                    let spawn = Spawner::new(child_environment(), &[]).closing(files.closed());
                    Ok(Arc::new(LocalWorld { files, spawn, net: LocalNet::default() }))
                }),
                gate: gate(self.hooks()?, shell.clone()),
                skills: self.skills(&shell),
                redactor: neco_safety::secrets::Redactor::default(),
                limits,
                documents: neco_tools::files::document_text,
                resources: None,
                tree: TreeSettings::from(&self.config.agents),
                definitions: DefinitionPlaces {
                    roles: self.config.agents.roles.clone(),
                    ..DefinitionPlaces::default()
                },
                workflows: WorkflowPlaces::default(),
                guards: self.setup.switches(),
                context: self.config.context.clone(),
                rules: RulesPlaces::default(),
                prompts: Vec::new(),
                role: None,
                path: None,
                zone: None,
                shell,
                indexes: Arc::clone(&indexes),
                sandbox: "none".to_owned(),
                usual_sandbox: false,
                version: "test".to_owned(),
            }),
        }))
    }

    /// What a file held in a state, and holds now.
    pub fn sides(&self, rev: &str, path: &str) -> Result<FileSides, String> {
        let states = self.states.get().ok_or("no states are kept")?;
        let mut found = None;
        let looked = states.sides(rev, None, Some(Path::new(path)), &mut |sides| found = Some(sides));
        looked.map_err(|error| error.to_string())?;
        found.ok_or_else(|| format!("{path} is not different"))
    }

    /// The states of the folder, if they are kept.
    fn checkpoints(&self) -> OpenCheckpoints {
        let store = self.home.path().join("states");
        let kept = self.setup.checkpoints.then(|| Arc::clone(&self.states));
        Arc::new(move |root| {
            let states = kept.as_ref()?;
            Some(Arc::clone(states.get_or_init(|| {
                let place = checkpoint::Place {
                    root: root.to_path_buf(),
                    store: store.clone(),
                    home: None,
                    settings: LeaveOutSettings::default(),
                    unsaved: Unsaved::default(),
                };
                Arc::new(MemoryCheckpoints::new(place)) as Arc<dyn Checkpoints>
            })))
        })
    }

    /// The hooks of the stage's folder; on a stage they are the user's own.
    fn hooks(&self) -> Result<Vec<Hook>, String> {
        let file = self.folder().join(".claude/settings.json");
        let Ok(text) = fs::read(&file) else { return Ok(Vec::new()) };
        let (hooks, notices) = neco_ext::hooks::parse(&text, &Origin::User { file });
        if notices.is_empty() { Ok(hooks) } else { Err(notices.join("\n")) }
    }

    /// The skills of the stage's folder, which on a stage are the user's own.
    fn skills(&self, shell: &str) -> Option<MakeSkills> {
        let place = SkillPlace::of_person(self.folder().join(".agents/skills"));
        let found: Arc<[Skill]> = look(&[place]).skills.into();
        let shell = shell.to_owned();
        let make: MakeSkills = Box::new(move |session, cwd| {
            let (shell, cwd) = (shell.clone(), cwd.to_owned());
            let hooks: MakeHooks = Arc::new(move |hooks| gate(hooks, shell.clone())(session, &cwd));
            Arc::new(Skills::new(Arc::clone(&found), true, hooks))
        });
        self.folder().join(".agents/skills").is_dir().then_some(make)
    }

    /// The built-in rules and those of the stage's folder, which on a stage are the user's own.
    fn policy(&self) -> Box<dyn Fn(&Path) -> Policy + Send + Sync> {
        let text = fs::read_to_string(self.folder().join(".neco/policy.toml")).unwrap_or_default();
        Box::new(move |cwd| {
            let place = Place::new(cwd);
            let rules = RuleReader { place: &place }.file(&text, "policy.toml", Source::User).rules;
            Policy::new(place, rules)
        })
    }

    /// The database of the stage.
    pub fn database(&self) -> PathBuf {
        self.home.path().join("neco.db")
    }

    fn generation(&self) -> Option<CapabilityLevel> {
        let chosen = self.setup.generation.and_then(|number| CapabilityLevel::new(number).ok());
        chosen.or_else(|| (!self.setup.tools.is_empty()).then(CapabilityLevel::highest))
    }

    /// How its sessions are opened.
    pub fn options(&self) -> SessionOptions {
        SessionOptions {
            model: None,
            default_model: MODEL.to_owned(),
            mode: None,
            default_mode: self.setup.mode,
            generation: None,
            default_generation: self.generation(),
            keeps_approval: false,
            approval: self.setup.approval,
            person_present: self.setup.person,
            interactive: true,
            max_turns: self.setup.max_turns,
            budget: Budget {
                cost: None,
                tokens: self.setup.max_tokens,
                time: self.setup.max_seconds.map(Duration::from_secs_f64),
            },
        }
    }
}

/// Waits are short and stalls are noticed soon: a scenario must not take time.
fn config(script: &Path, setup: &Setup) -> Config {
    let mut config = Config::built_in();
    config.model = Some(MODEL.to_owned());
    config.approval = setup.approval;
    config.context.keep_turns = setup.keep_turns.unwrap_or(config.context.keep_turns);
    config.network.backoff = 0.001;
    config.network.first_byte_timeout = Some(0.3);
    config.network.idle_timeout = Some(0.3);
    config.model_providers.insert(
        "stage".to_owned(),
        ProviderSection {
            kind: Some(ProviderType::Scripted),
            script: Some(script.display().to_string()),
            ..ProviderSection::default()
        },
    );
    config
}

fn gate(hooks: Vec<Hook>, shell: String) -> MakeGate {
    Box::new(move |session, cwd| {
        let (hooks, shell, cwd) = (hooks.clone(), shell.clone(), cwd.to_owned());
        Arc::new(Hooks::new(HooksSetup {
            hooks,
            processes: Arc::new(Spawner::new(child_environment(), &[])),
            shell,
            session,
            cwd,
        }))
    })
}

fn child_environment() -> Vec<(std::ffi::OsString, std::ffi::OsString)> {
    std::env::vars_os().filter(|(name, _)| name == "PATH" || name == "HOME" || name == "LANG").collect()
}

fn write(folder: &Path, path: &str, content: &str) -> Result<(), String> {
    let path = folder.join(path);
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).map_err(|error| error.to_string())?;
    }
    fs::write(&path, content).map_err(|error| error.to_string())
}

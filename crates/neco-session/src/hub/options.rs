//! What a hub and its sessions are made with.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use neco_agent::context::PromptFile;
use neco_agent::scheduler::Limits;
use neco_agent::{Budget, CapabilityLevel, Gate, RuleBook, SkillShelf};
use neco_config::section::{ContextSection, GuardsSection};
use neco_model::{Provider, SetupError};
use neco_proto::{ApprovalMode, Mode, SessionId};
use neco_safety::path::Located;
use neco_safety::secrets::Redactor;
use neco_safety::world::Files;
use neco_safety::{Confinement, Policy, World};
use neco_store::{Catalog, EventLog};
use neco_toolkit::{DynTool, PluggedTools, Registry, ToolError, ToolOutput};
use neco_workspace::checkpoint::Checkpoints;
use neco_workspace::index::Indexes;

use super::renewal::LookAgain;
use crate::fold::Standing;
use crate::roles::DefinitionPlaces;
use crate::sources::RulesPlaces;
use crate::title::TitleSettings;
use crate::tree::TreeSettings;
use crate::workflow::WorkflowPlaces;

/// Finds the model of a name: `provider/model` or a group. The error is for a person.
pub type FindModel = Arc<dyn Fn(&str) -> Result<Arc<dyn Provider>, SetupError> + Send + Sync>;

/// Makes the tools of an agent, of which the given ones are its session's.
pub type MakeTools = Box<dyn Fn(Vec<Arc<dyn DynTool>>) -> Registry + Send + Sync>;

/// Makes the gate of a session that works in a folder.
pub type MakeGate = Box<dyn Fn(SessionId, &Path) -> Arc<dyn Gate> + Send + Sync>;

/// Makes what the tools of an agent can touch that works on these files.
pub type MakeWorld = Box<dyn Fn(Files) -> io::Result<Arc<dyn World>> + Send + Sync>;

/// Makes where the skills of a session come from that works in a folder.
pub type MakeSkills = Box<dyn Fn(SessionId, &Path) -> Arc<dyn SkillShelf> + Send + Sync>;

/// Opens the states of a workspace; nothing where none are kept. It may block.
pub type OpenCheckpoints = Arc<dyn Fn(&Path) -> Option<Arc<dyn Checkpoints>> + Send + Sync>;

/// Looks before a turn whether something has to be there first, such as servers of which nobody knows what they offer.
pub type Prepare = Arc<dyn Fn() -> Option<Preparation> + Send + Sync>;

/// Something that has to be there before a turn begins.
pub struct Preparation {
    /// What is waited for, for the person who does; nothing is said of what takes no longer than a moment.
    pub words: Box<dyn FnOnce() -> String + Send>,
    /// Does it, and says what did not come of it.
    pub work: BoxFuture<'static, Vec<String>>,
}

/// Reads a document that is more than lines, at most about so many bytes of its text, and no further once the last
/// argument says to stop; nothing where it is none that is known. It may block.
pub type ReadDocument = fn(&Located, usize, &dyn Fn() -> bool) -> Option<Result<String, ToolError>>;

/// Reads a resource that a message names as `server:address`; nothing where there is no such server. What a sentence
/// ends with may stand behind the address.
pub type ReadResource = Arc<dyn Fn(&str) -> Option<BoxFuture<'static, Result<ToolOutput, ToolError>>> + Send + Sync>;

/// What a hub is made of.
pub struct HubSetup {
    /// Where events are kept.
    pub log: Arc<dyn EventLog>,
    /// Where sessions are listed.
    pub catalog: Arc<dyn Catalog>,
    /// Where the hub keeps locks and big outputs.
    pub data_dir: PathBuf,
    /// Where models come from.
    pub find_model: FindModel,
    /// What agents are given to work with.
    pub deps: Arc<AgentDeps>,
    /// Looks whether that was edited; nothing where it can't be.
    pub look_again: Option<LookAgain>,
}

/// Whether a session that ends is looked through for what is worth keeping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extract {
    /// No.
    Never,
    /// By a real model: a script says only what was written for the conversation.
    Real,
    /// By whatever model the session has.
    Always,
}

/// How sessions remember.
#[derive(Clone, Debug)]
pub struct MemorySettings {
    /// Most entries that are put before the model.
    pub entries: usize,
    /// Whether a session that ends is looked through for what is worth keeping.
    pub extract: Extract,
    /// The model or group that is asked then; `None` stands for the session's own.
    pub extract_model: Option<String>,
    /// How long that may take.
    pub extract_timeout: Duration,
}

/// What agents are given to work with.
pub struct AgentDeps {
    /// The tools of one agent, with state of their own, and those that its session brings.
    pub tools: MakeTools,
    /// Tools that come and go while agents live.
    pub plugged: PluggedTools,
    /// Looks whether something has to be there before a turn begins.
    pub prepare: Option<Prepare>,
    /// The rules for work in a folder.
    pub policy: Box<dyn Fn(&Path) -> Policy + Send + Sync>,
    /// Where rules are kept that a person allows for good.
    pub rule_book: Option<Arc<dyn RuleBook>>,
    /// Folders that are open besides the workspace.
    pub roots: Vec<PathBuf>,
    /// What stands between commands and the machine, for the policy.
    pub confinement: Confinement,
    /// Whether commands reach the network.
    pub network: bool,
    /// What the tools of one agent can touch.
    pub world: MakeWorld,
    /// What people plugged into the moments of a session's agents.
    pub gate: MakeGate,
    /// Makes the skills of a session; nothing where there are none.
    pub skills: Option<MakeSkills>,
    /// Limits of calls.
    pub limits: Limits,
    /// Reads documents that go with a message.
    pub documents: ReadDocument,
    /// Reads resources that go with a message; nothing where there are no servers that have some.
    pub resources: Option<ReadResource>,
    /// Takes secrets out of what is stored, shown and sent.
    pub redactor: Redactor,
    /// How the model is told things, and how much of each.
    pub context: ContextSection,
    /// What is remembered from one session to the next; nothing when there is no memory.
    pub memory: Option<MemorySettings>,
    /// Opens the states of a workspace that are kept.
    pub checkpoints: OpenCheckpoints,
    /// Whether what was said is kept with them.
    pub conversations: bool,
    /// How a model makes titles of sessions; nothing when none does.
    pub titles: Option<TitleSettings>,
    /// How big the tree of agents may grow.
    pub tree: TreeSettings,
    /// Where definitions of agents are.
    pub definitions: DefinitionPlaces,
    /// Where workflows are.
    pub workflows: WorkflowPlaces,
    /// What watches the agents.
    pub guards: GuardsSection,
    /// Where the person's own rules files are.
    pub rules: RulesPlaces,
    /// Files in the place of prompts.
    pub prompts: Vec<PromptFile>,
    /// Who the root is, for its system prompt; nobody in particular where nothing is said.
    pub role: Option<String>,
    /// The `PATH` of commands, for the prompt.
    pub path: Option<OsString>,
    /// The time zone that the environment names, if it does.
    pub zone: Option<OsString>,
    /// The shell that runs commands, for the prompt.
    pub shell: String,
    /// The indexes of code.
    pub indexes: Arc<Indexes>,
    /// What stands between commands and the machine, in words.
    pub sandbox: String,
    /// Whether that is as strong as it is by default.
    pub usual_sandbox: bool,
    /// The version of Neco.
    pub version: String,
}

/// How a session is opened.
#[derive(Clone, Debug)]
pub struct SessionOptions {
    /// The model or group; `None` stands for the session's own, or the default one.
    pub model: Option<String>,
    /// The model or group when nobody says otherwise.
    pub default_model: String,
    /// The mode; `None` stands for the session's own, or the default one.
    pub mode: Option<Mode>,
    /// The mode when nobody says otherwise.
    pub default_mode: Mode,
    /// The generation; `None` stands for the session's own, or the default one.
    pub generation: Option<CapabilityLevel>,
    /// The generation when nobody says otherwise; `None` takes the highest that leaves room in the model's window.
    pub default_generation: Option<CapabilityLevel>,
    /// When the person is asked. Not taken from an earlier run: what was granted then was granted for then.
    pub approval: ApprovalMode,
    /// Whether this is no other run for the person: then they are asked as they were in the one before.
    pub keeps_approval: bool,
    /// Whether there is a person to ask.
    pub person_present: bool,
    /// Whether more than a single request is meant.
    pub interactive: bool,
    /// Most turns for one request.
    pub max_turns: u32,
    /// What the session may use in all.
    pub budget: Budget,
}

impl SessionOptions {
    /// The generation when nobody says otherwise and there is room for it.
    pub fn usual_generation(&self) -> CapabilityLevel {
        self.default_generation.unwrap_or_else(CapabilityLevel::highest)
    }

    /// Whether somebody chose this generation, for this run, in the settings or earlier in the session.
    pub(super) fn has_chosen(&self, generation: CapabilityLevel, standing: &Standing) -> bool {
        let for_this_run = self.generation.or(self.default_generation).is_some();
        // A session that began at less than the highest level began at a chosen one.
        for_this_run || standing.generation_is_chosen || generation != CapabilityLevel::highest()
    }

    /// The mode and the generation of a session that has some already, or is new.
    pub(super) fn ways(&self, standing: &Standing) -> (Mode, CapabilityLevel) {
        let own = (standing.last_seq > 0).then_some(standing);
        let generation = own.and_then(|own| CapabilityLevel::new(own.generation).ok());
        (
            self.mode.or(own.map(|own| own.mode)).unwrap_or(self.default_mode),
            self.generation.or(generation).unwrap_or_else(|| self.usual_generation()),
        )
    }
}

//! Making the agent of a session, when it is opened and again when it goes back.

use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use neco_agent::context::ContextSettings;
use neco_agent::plan::PlanBook;
use neco_agent::skills::SkillModels;
use neco_agent::{Agent, AgentSetup, Budget, CallIds, Checkpointer, Clock, Settings, Unfinished};
use neco_model::{Provider, SetupError};
use neco_proto::event::{KnownFile, NodeType, SubtreeBudget};
use neco_proto::{AgentId, EventBody, SessionId};
use neco_safety::World;
use neco_safety::policy::Telling;
use neco_store::{EventLog, SessionRecord, StoreError};
use neco_toolkit::Registry;
use neco_toolkit::tool::erase;

use super::children::{AgentList, ChildFactory};
use super::hub::{Hub, Remembering};
use super::options::{ReadDocument, ReadResource, SessionOptions};
use super::renewal::{AgentRenewal, Current, OwnTools, Seen, SessionRenewal, WorkPlace};
use super::told::WorkParts;
use crate::aside::Aside;
use crate::checkpoints::SessionCheckpoints;
use crate::error::SessionError;
use crate::fold::{Fold, Standing};
use crate::journal::{AgentSink, Journal};
use crate::memory::tools as memory_tools;
use crate::plans::{PlanFiles, PlanKeeper};
use crate::roles;
use crate::search_order::ordering;
use crate::session_model::session_model;
use crate::spill::SpillFolder;
use crate::tree::{AgentSupervisor, BuiltAgent, MakeChild, SupervisorSetup, tools as tree_tools};
use crate::workflow::{
    CheckNames, DeskSetup, Hands, KnownNames, MakeHands, RunFiles, TreeHands, WorkflowDesk, WorkflowTool,
};

/// What the agent of a session is made of.
#[derive(Clone)]
pub struct SessionContext {
    pub core: SessionCore,
    /// The sessions it comes from, nearest first.
    pub lineage: Vec<SessionId>,
    /// How the session was opened.
    pub options: SessionOptions,
    /// What files say, as they were read last.
    pub current: Current,
    /// The model that is asked.
    pub provider: Arc<dyn Provider>,
    /// The ids of calls that are taken in the session.
    pub call_ids: CallIds,
    pub supervisor: Arc<AgentSupervisor>,
    /// Makes those below the root.
    pub factory: Arc<ChildFactory>,
    pub workflows: WorkflowDesk,
}

impl Deref for SessionContext {
    type Target = SessionCore;

    fn deref(&self) -> &SessionCore {
        &self.core
    }
}

impl SessionContext {
    /// The session as its log left it.
    pub fn new(
        core: SessionCore,
        lineage: Vec<SessionId>,
        options: SessionOptions,
        current: Current,
        provider: Arc<dyn Provider>,
        fold: &mut Fold,
    ) -> Self {
        let factory = Arc::new(ChildFactory::new(core.clone(), current.clone()));
        // A session that goes on with another model than the usual one was begun with it.
        let usual = core.model(&options.default_model).map(|usual| usual.label().to_owned());
        let own = || Some(provider.label().to_owned()).filter(|own| usual.is_ok_and(|usual| usual != *own));
        let supervisor = AgentSupervisor::new(SupervisorSetup {
            session: core.id(),
            root: core.root,
            model: provider.label().to_owned(),
            chosen: options.model.clone().or_else(own),
            budget: SubtreeBudget { tokens: options.budget.tokens, cost: options.budget.cost },
            journal: Arc::clone(&core.journal),
            log: Arc::clone(core.log()),
            settings: core.hub.deps().tree,
            make: Arc::clone(&factory) as Arc<dyn MakeChild>,
            history: fold.tree.clone(),
        });
        let workflows = desk(&core, &supervisor, &current);
        let call_ids = CallIds::new(std::mem::take(&mut fold.call_ids));
        Self { core, lineage, options, current, provider, call_ids, supervisor, factory, workflows }
    }

    /// The agent that goes on with the conversation of `fold`, and with work that was handed over.
    pub fn agent(
        &self,
        mut fold: Fold,
        remembering: Option<&Remembering>,
        (resumed, unfinished): (bool, Option<Unfinished>),
    ) -> Result<BuiltAgent, SessionError> {
        let (mode, generation) = self.options.ways(&fold.standing);
        let generation_is_chosen = self.options.has_chosen(generation, &fold.standing);
        let known: Vec<KnownFile> = std::mem::take(&mut fold.known).into_values().collect();
        let place = self.work_place(&fold);
        let setup = self.setup(&place, fold)?;
        let settings = Settings { mode, ..setup.settings };
        let mut setup = AgentSetup { resumed, unfinished, generation, generation_is_chosen, settings, ..setup };
        let (deps, definitions) = (self.hub.deps(), self.current.definitions());
        let mut own = self.own_tools()(&deps, &definitions);
        if let Some(remembering) = remembering {
            setup.sources.push(remembering.recall.source());
            own.extend(memory_tools::tools(remembering.recall.memory(), Arc::clone(&setup.sink), self.id()));
        }
        setup.registry = ordering(deps.registry(own), self, &deps.context);
        setup.registry.recall(&known, setup.world.files().workspace());
        setup.sources.push(Arc::new(AgentList(definitions)));
        let renewal = Arc::new(SessionRenewal {
            hub: self.hub.clone(),
            place,
            sink: Arc::clone(&setup.sink),
            provider: Arc::clone(&self.provider),
            current: self.current.clone(),
            recalled: remembering.map(|with| with.recall.source()),
            tools: setup.registry.clone(),
            own_tools: self.own_tools(),
            factory: Arc::clone(&self.factory),
            supervisor: Arc::downgrade(&self.supervisor),
            seen: tokio::sync::Mutex::new(Seen::new(deps)),
            said: Mutex::default(),
        });
        self.factory.lend(&setup, remembering.map(|with| Arc::clone(with.recall.memory())));
        setup.renewal = Some(Arc::new(AgentRenewal::of_root(&self.factory.line, renewal)));
        let (policy, tools) = (setup.policy.clone(), setup.registry.clone());
        let (agent, handle) = Agent::new(setup);
        Ok(BuiltAgent { agent, handle, policy, tools })
    }

    /// Makes those of the session's tools that say what definitions and workflows there are.
    fn own_tools(&self) -> OwnTools {
        let (supervisor, root, desk) = (Arc::downgrade(&self.supervisor), self.root, self.workflows.clone());
        let session = self.id();
        let cwd = self.cwd().to_owned();
        Box::new(move |deps, definitions| {
            let mut own = tree_tools::tools(&supervisor, root, NodeType::Root, None, definitions);
            let skills = deps.skills.as_ref().map(|make| make(session, &cwd));
            own.push(tree_tools::skill_tool(&supervisor, root, skills));
            own.push(erase(WorkflowTool {
                desk: Some((desk.clone(), root)),
                places: deps.workflow_places(&cwd),
                cwd: cwd.clone(),
            }));
            own
        })
    }

    fn work_place(&self, fold: &Fold) -> WorkPlace {
        let own = self.hub.outputs(self.id());
        // A fork has outputs that lie with the sessions it comes from. Which those are is not the log's to
        // say: it may come from a file that anybody wrote.
        let shared = self
            .lineage
            .iter()
            .map(|session| self.hub.outputs(*session))
            .filter(|folder| fold.spilled.contains(folder));
        WorkPlace {
            session: self.id(),
            cwd: self.cwd().to_owned(),
            readable: std::iter::once(own).chain(shared).collect(),
            environment: fold.environment.clone(),
        }
    }

    /// The folders that are open besides its own, and what judges the files that are told without a call, as they are
    /// now.
    pub async fn telling(&self) -> (Vec<PathBuf>, Telling) {
        if let Err(error) = self.factory.line.take_up().await {
            tracing::warn!(%error, "what was edited can't be taken up");
        }
        let deps = self.hub.deps();
        let mut policy = (deps.policy)(self.core.cwd());
        if let Some(kept) = self.current.kept() {
            policy.renew_kept(kept);
        }
        (deps.roots.clone(), policy.telling())
    }

    /// What the root's tools can touch.
    pub fn world(&self) -> Option<Arc<dyn World>> {
        self.factory.world()
    }

    /// What reads documents.
    pub fn documents(&self) -> ReadDocument {
        self.hub.deps().documents
    }

    /// What reads resources.
    pub fn resources(&self) -> Option<ReadResource> {
        self.hub.deps().resources.clone()
    }

    /// What the agent of a session is made of that goes on with the conversation of `fold`.
    fn setup(&self, place: &WorkPlace, fold: Fold) -> Result<AgentSetup, SessionError> {
        let Self { core, options, provider, .. } = self;
        let deps = self.hub.deps();
        let WorkParts { mut policy, world, told, folder_rules, request_files, gate, skills } =
            deps.parts(place, &self.current.rules())?;
        if let Some(kept) = self.current.kept() {
            policy.renew_kept(kept);
        }
        Ok(AgentSetup {
            provider: Arc::clone(provider),
            registry: Registry::default(),
            policy,
            rule_book: deps.rule_book.clone(),
            world,
            spill: Arc::new(SpillFolder::new(self.hub.outputs(core.id()), deps.redactor.clone())),
            model: session_model(core),
            sink: Arc::new(PlanKeeper {
                sink: AgentSink { journal: Arc::clone(&core.journal), agent: core.root },
                files: PlanFiles::new(&self.hub.setup.data_dir),
                session: core.id(),
                cwd: core.record.cwd.clone(),
                redactor: deps.redactor.clone(),
            }),
            clock: Arc::new(SessionClock::new()),
            sources: told.sources,
            prompts: told.prompts,
            context: ContextSettings::from(&deps.context),
            just_compacted: fold.just_compacted,
            ide_told: fold.ide_told,
            folder_rules: Some(folder_rules),
            rules_told: fold.rules_told,
            request_files: Some(request_files),
            given: fold.given,
            skills,
            skills_given: Vec::new(),
            skills_used: fold.skills_used,
            skill_models: Some(self.skill_models()),
            limits: deps.limits,
            max_turns: options.max_turns,
            budget: options.budget,
            used: fold.standing.usage,
            worked: Duration::from_millis(fold.standing.worked_ms),
            generation: options.usual_generation(),
            generation_is_chosen: false,
            book: PlanBook::new(fold.standing.todos, fold.standing.plan, fold.standing.findings),
            plans_from: fold.standing.plans_from,
            guards: deps.guards.clone(),
            settings: Settings {
                mode: fold.standing.mode,
                approval: options.approval,
                person_present: options.person_present,
                confinement: deps.confinement,
                network: deps.network,
            },
            gate,
            checkpoints: Some(core.checkpoints()),
            renewal: None,
            resumed: false,
            unfinished: None,
            counted: fold.counted,
            call_ids: self.call_ids.clone(),
            role: Arc::from(neco_safety::Who::ROOT),
            history: fold.messages.into_iter().collect(),
            queued: fold.queued,
            cache_key: core.id().to_string(),
            temperature: None,
            max_output: None,
        })
    }

    /// Finds the models that skills name; a model that the person has chosen for the session comes before them.
    fn skill_models(&self) -> SkillModels {
        let (core, is_chosen) = (self.core.clone(), self.options.model.is_some());
        Arc::new(move |name| {
            let name = roles::model_of(name).filter(|_| !is_chosen)?;
            core.model(&name).ok()
        })
    }

    /// The agent of a session that went back and now has the conversation of `fold`; `present` is how the
    /// session stood until now. Modes and the model are those of then; when the person is asked is not.
    pub fn again(
        &self,
        fold: Fold,
        present: &Standing,
        remembering: Option<&Remembering>,
    ) -> Result<Again, SessionError> {
        let options = SessionOptions {
            model: None,
            mode: None,
            generation: None,
            approval: present.approval,
            ..self.options.clone()
        };
        // A model that is gone meanwhile is no reason to have no agent: the present one goes on.
        let then = match fold.standing.model == present.model {
            true => None,
            false => Some(self.hub.provider(&options, Some(&fold.standing.model))),
        };
        let (provider, other_model) = match then {
            None => (Arc::clone(&self.provider), None),
            Some(Ok(provider)) => (provider, None),
            Some(Err(_)) => (Arc::clone(&self.provider), Some(present.model.clone())),
        };
        let ctx = Self { options, provider, ..self.clone() };
        let root = ctx.agent(fold, remembering, (true, None))?;
        Ok(Again { root, provider: ctx.provider, other_model })
    }
}

/// An agent that takes the place of another one.
pub struct Again {
    pub root: BuiltAgent,
    /// The model that it asks.
    pub provider: Arc<dyn Provider>,
    /// Its name, when that is not the one of then.
    pub other_model: Option<String>,
}

/// The workflows of a session that is opened.
fn desk(core: &SessionCore, supervisor: &Arc<AgentSupervisor>, current: &Current) -> WorkflowDesk {
    // The tools of agents hold the desk: it must not keep the agents.
    let (of, supervisor, who) = (core.clone(), Arc::downgrade(supervisor), current.clone());
    let hands: MakeHands = Arc::new(move |parent| {
        let (core, supervisor, definitions) = (of.clone(), supervisor.upgrade()?, who.definitions());
        Some(Arc::new(TreeHands { core, supervisor, parent, definitions, in_use: Arc::default() }) as Arc<dyn Hands>)
    });
    let (core, files) = (core.clone(), RunFiles::new(&core.hub.setup.data_dir));
    WorkflowDesk::new(DeskSetup { check: names_in(core.clone(), current.clone()), core, hands, files })
}

/// Checks the agents, tools and models that a workflow names.
fn names_in(core: SessionCore, current: Current) -> CheckNames {
    Arc::new(move |file| {
        let own = memory_tools::listed().into_iter().chain(tree_tools::listed()).collect();
        let (tools, definitions) = (core.hub.deps().registry(own), current.definitions());
        file.check_names(&KnownNames {
            agent: &|role| definitions.find(role).map(|_| ()),
            tool: &|name| tools.find(name).cloned(),
            model: &|name| core.model(name).map(|_| ()),
        })
    })
}

/// Time since the session was opened.
pub struct SessionClock {
    opened: Instant,
}

impl SessionClock {
    /// A clock that starts now.
    #[allow(clippy::new_without_default, reason = "starting a clock is an act, not a default")]
    pub fn new() -> Self {
        Self { opened: Instant::now() }
    }
}

impl Clock for SessionClock {
    fn now(&self) -> Duration {
        self.opened.elapsed()
    }
}

/// One session: what the list says of it, its root agent and its journal; everything else comes from the hub.
#[derive(Clone)]
pub struct SessionCore {
    pub hub: Hub,
    pub record: SessionRecord,
    pub root: AgentId,
    pub journal: Arc<Journal>,
    /// What it may use in all.
    pub budget: Budget,
    /// Whether it may ask models by itself.
    pub aside: Aside,
}

impl SessionCore {
    pub fn id(&self) -> SessionId {
        self.record.id
    }

    pub fn cwd(&self) -> &Path {
        Path::new(&self.record.cwd)
    }

    pub fn log(&self) -> &Arc<dyn EventLog> {
        &self.hub.setup.log
    }

    /// The model or group of a name.
    pub fn model(&self, name: &str) -> Result<Arc<dyn Provider>, SetupError> {
        (self.hub.setup.find_model)(name)
    }

    /// Records something of the root; on the disk a little later.
    pub async fn emit(&self, body: EventBody) -> Result<(), StoreError> {
        self.journal.emit(self.root, None, body).await
    }

    /// Records something of the root; on the disk when ready.
    pub async fn commit(&self, body: EventBody) -> Result<(), StoreError> {
        self.journal.commit(self.root, None, body).await
    }

    /// What keeps its workspace.
    pub fn checkpoints(&self) -> Arc<dyn Checkpointer> {
        Arc::new(SessionCheckpoints::new(self.clone()))
    }
}

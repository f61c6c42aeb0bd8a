//! Making the agents below the root: from what the root is made of, narrowed by who they are.

use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use futures::future::BoxFuture;
use neco_agent::context::{Prompts, Situation, Source};
use neco_agent::gate::{BothGates, GatedAgent, HookContext, HookDecision, HookPoint};
use neco_agent::plan::PlanBook;
use neco_agent::skills::SkillGuard;
use neco_agent::{
    Agent, AgentSetup, Budget, CallIds, CapabilityLevel, Checkpointer, EventSink, FolderRules, Gate, Renewed, Settings,
    SinkError, SkillShelf,
};
use neco_model::{Provider, SetupError};
use neco_proto::event::{AgentNode, HookEvent, NodeType};
use neco_proto::{EventBody, Layer, Subject, TurnId};
use neco_safety::World;
use neco_toolkit::{DynTool, Registry, Spill};
use tokio_util::sync::CancellationToken;

use super::context::SessionCore;
use super::renewal::{AgentRenewal, Current, Narrow, RenewalLine};
use crate::fold::Fold;
use crate::journal::AgentSink;
use crate::memory::{Memory, tools as memory_tools};
use crate::roles::{Definition, Definitions, Narrowing};
use crate::search_order::ordering;
use crate::session_model::session_model;
use crate::sources::Fixed;
use crate::tree::tools::{NOT_OF_CHILDREN, OF_CHILDREN, skill_tool, tools as tree_tools};
use crate::tree::{AgentSupervisor, BuiltAgent, ChildSetup, ChildSpec, MakeChild, TreeError};

/// What makes the agents below the root.
pub struct ChildFactory {
    core: SessionCore,
    current: Current,
    /// Keeps the workspace for all of them.
    checkpoints: Arc<dyn Checkpointer>,
    /// How those at work take up what was edited.
    pub(super) line: RenewalLine,
    /// What the root is made of; nothing before it is made.
    base: Mutex<Option<Base>>,
}

/// What children have of the root's.
#[derive(Clone)]
struct Base {
    world: Arc<dyn World>,
    spill: Arc<dyn Spill>,
    prompts: Arc<Prompts>,
    sources: Vec<Arc<dyn Source>>,
    folder_rules: Option<Arc<dyn FolderRules>>,
    gate: Arc<dyn Gate>,
    skills: Option<Arc<dyn SkillShelf>>,
    call_ids: CallIds,
    settings: Settings,
    generation: CapabilityLevel,
    generation_is_chosen: bool,
    memory: Option<Arc<Memory>>,
}

impl ChildFactory {
    /// It makes nobody before the root is made.
    pub fn new(core: SessionCore, current: Current) -> Self {
        let (checkpoints, line, base) = (core.checkpoints(), RenewalLine::default(), Mutex::new(None));
        Self { core, current, checkpoints, line, base }
    }

    /// The root is made of this.
    pub fn lend(&self, setup: &AgentSetup, memory: Option<Arc<Memory>>) {
        let base = Base {
            world: Arc::clone(&setup.world),
            spill: Arc::clone(&setup.spill),
            prompts: Arc::clone(&setup.prompts),
            sources: setup.sources.clone(),
            folder_rules: setup.folder_rules.clone(),
            gate: Arc::clone(&setup.gate),
            skills: setup.skills.clone(),
            call_ids: setup.call_ids.clone(),
            settings: setup.settings,
            generation: setup.generation,
            generation_is_chosen: setup.generation_is_chosen,
            memory,
        };
        *self.base.lock().unwrap_or_else(PoisonError::into_inner) = Some(base);
    }

    /// Whoever is made from now on is made of this; those at work take it up before their next turn.
    pub fn renew(&self, new: &Renewed) {
        if let Some(base) = self.base.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
            base.world = Arc::clone(&new.world);
            base.prompts = Arc::clone(&new.prompts);
            base.sources = new.sources.clone();
            base.folder_rules = new.folder_rules.clone();
            base.gate = Arc::clone(&new.gate);
            base.skills = new.skills.clone();
            (base.settings.confinement, base.settings.network) = (new.confinement, new.network);
        }
    }

    /// What the root's tools can touch; nothing before it is made.
    pub fn world(&self) -> Option<Arc<dyn World>> {
        self.base().map(|base| base.world)
    }

    fn base(&self) -> Option<Base> {
        self.base.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The tools of a child: those of its parent that its definition names, with state of their own.
    fn registry(
        &self,
        supervisor: &Weak<AgentSupervisor>,
        child_setup: &ChildSetup<'_>,
        base: &Base,
        sink: &Arc<dyn EventSink>,
    ) -> Registry {
        let definition = &child_setup.spec.definition;
        let (id, kind, schema) = (child_setup.node.id, child_setup.node.kind, definition.output_schema.as_ref());
        let mut own = tree_tools(supervisor, id, kind, schema, &self.current.definitions());
        own.push(skill_tool(supervisor, id, base.skills.clone()));
        let always: Vec<Arc<dyn DynTool>> =
            own.iter().filter(|tool| OF_CHILDREN.contains(&tool.name())).cloned().collect();
        own.retain(|tool| !OF_CHILDREN.contains(&tool.name()));
        let memory = base.memory.as_ref();
        own.extend(memory.into_iter().flat_map(|memory| memory_tools::tools(memory, Arc::clone(sink), self.core.id())));
        let (parent, choice) = (child_setup.tools.clone(), definition.tools.clone());
        let has = move |tool: &dyn DynTool| {
            let name = tool.name();
            parent.lets_through(tool) && choice.has(name) && !NOT_OF_CHILDREN.contains(&name)
        };
        let deps = self.core.hub.deps();
        ordering(deps.registry(own), &self.core, &deps.context).filtered(has).with(always)
    }
}

impl MakeChild for ChildFactory {
    fn make(&self, supervisor: &Weak<AgentSupervisor>, child_setup: ChildSetup<'_>) -> Result<BuiltAgent, TreeError> {
        let base = self.base().ok_or(TreeError::NoRoot)?;
        let provider: Arc<dyn Provider> = match &child_setup.spec.call {
            Some(call) => Arc::new(call.clone()),
            None => self.model(&child_setup.node.model_group)?,
        };
        let sink: Arc<dyn EventSink> = Arc::new(NamedSink {
            sink: AgentSink { journal: Arc::clone(&self.core.journal), agent: child_setup.node.id },
            name: child_setup.node.name.clone(),
        });
        let registry = self.registry(supervisor, &child_setup, &base, &sink);
        let tools = registry.clone();
        let renewal = AgentRenewal::of_child(&self.line, narrowed(&child_setup));
        let ChildSetup { node, spec, policy, above, mode, max_turns, fold, .. } = child_setup;
        let definition = &spec.definition;
        let narrowings = above.iter().chain([&definition.narrowing]);
        let gate = child_gate(base.gate, gated(node, spec), base.skills.as_ref(), narrowings);
        let policy = definition.narrowing.policy(policy);
        let world = base.world.closing(&policy.closed_to(&node.role));
        let deps = &self.core.hub.deps();
        let standing = self.core.journal.standing();
        // How long it may take is seen to by the supervisor, also within a turn.
        let budget = Budget { cost: node.budget.cost, tokens: node.budget.tokens, time: None };
        let Fold {
            standing: own,
            messages,
            queued,
            just_compacted,
            counted,
            known,
            rules_told,
            given,
            skills_used,
            ..
        } = fold;
        registry.recall(&known.into_values().collect::<Vec<_>>(), base.world.files().workspace());
        let (agent, handle) = Agent::new(AgentSetup {
            provider,
            registry,
            policy: policy.clone(),
            rule_book: deps.rule_book.clone(),
            world,
            spill: base.spill,
            model: session_model(&self.core),
            sink,
            clock: Arc::new(crate::hub::context::SessionClock::new()),
            prompts: base.prompts,
            sources: sources(base.sources, &node.name, node.kind, definition),
            context: neco_agent::context::ContextSettings::from(&deps.context),
            just_compacted,
            ide_told: None,
            folder_rules: base.folder_rules,
            rules_told,
            // What the person asks for is asked of the root; a child is told its task by an agent that has seen it.
            request_files: None,
            given,
            skills: base.skills.clone(),
            skills_given: definition.skills.clone(),
            skills_used,
            skill_models: None,
            limits: deps.limits,
            max_turns: definition.max_turns.unwrap_or(max_turns),
            budget,
            used: node.subtree_usage,
            worked: Duration::from_millis(own.worked_ms),
            generation: CapabilityLevel::new(standing.generation).unwrap_or(base.generation),
            // Who was given certain tools needs them.
            generation_is_chosen: base.generation_is_chosen || definition.tools.only.is_some(),
            book: PlanBook::new(own.todos, own.plan, own.findings),
            plans_from: None,
            guards: deps.guards.clone(),
            settings: Settings { mode: definition.narrowing.mode(mode), approval: standing.approval, ..base.settings },
            gate,
            checkpoints: Some(Arc::clone(&self.checkpoints)),
            renewal: Some(Arc::new(renewal)),
            resumed: false,
            unfinished: None,
            counted,
            call_ids: base.call_ids,
            role: Arc::from(node.role.as_str()),
            history: messages.into_iter().collect(),
            queued,
            cache_key: node.id.to_string(),
            temperature: definition.temperature,
            max_output: definition.max_output,
        });
        Ok(BuiltAgent { agent, handle, policy, tools })
    }

    fn definitions(&self) -> Arc<Definitions> {
        self.current.definitions()
    }

    fn room(&self) -> Option<(Arc<dyn Spill>, usize)> {
        self.base().map(|base| (base.spill, self.core.hub.deps().limits.max_output))
    }

    fn model(&self, name: &str) -> Result<Arc<dyn Provider>, SetupError> {
        self.core.model(name)
    }
}

/// Makes what the root takes up into what a child does: narrowed by who it is and who is above it. Its tools stay.
fn narrowed(child_setup: &ChildSetup<'_>) -> Narrow {
    let (node, definition) = (child_setup.node.clone(), child_setup.spec.definition.clone());
    let (above, agent) = (child_setup.above.clone(), gated(&node, child_setup.spec));
    Box::new(move |root| {
        let all = || above.iter().chain([&definition.narrowing]);
        let policy = all().fold(root.policy, |policy, narrowing| narrowing.policy(&policy));
        Renewed {
            world: root.world.closing(&policy.closed_to(&node.role)),
            policy,
            registry: None,
            gate: child_gate(root.gate, agent.clone(), root.skills.as_ref(), all()),
            sources: sources(root.sources, &node.name, node.kind, &definition),
            request_files: None,
            ..root
        }
    })
}

/// The gate of a child: what the root's is to those below it, and the hooks of the skills that it and those above it
/// do.
fn child_gate<'n>(
    gate: Arc<dyn Gate>,
    agent: Option<GatedAgent>,
    skills: Option<&Arc<dyn SkillShelf>>,
    narrowings: impl Iterator<Item = &'n Narrowing>,
) -> Arc<dyn Gate> {
    let of_root: Arc<dyn Gate> = Arc::new(ChildGate { gate, agent });
    let guarding = narrowings.flat_map(|narrowing| &narrowing.within).filter(|skill| skill.hooks);
    guarding.fold(of_root, |gate, skill| {
        let hooks = Arc::new(SkillGuard::new(skills.cloned(), skill.name.clone()));
        Arc::new(BothGates(gate, hooks))
    })
}

/// Whose gate a child's is; nobody's for a single call, which is no agent that a hook would know.
fn gated(node: &AgentNode, spec: &ChildSpec) -> Option<GatedAgent> {
    spec.call.is_none().then(|| GatedAgent { id: node.id, role: node.role.clone() })
}

fn sources(
    mut sources: Vec<Arc<dyn Source>>,
    name: &str,
    kind: NodeType,
    definition: &Definition,
) -> Vec<Arc<dyn Source>> {
    // Who the root is says nothing of who a child is.
    sources.retain(|source| {
        source.layer() != Layer::Role && (kind != NodeType::ActOnly || source.layer() != Layer::Agents)
    });
    let ending = match definition.output_schema {
        Some(_) => "Finish with complete_task: only its output counts.",
        None => "Your last message is your result: say all that it needs there, and nothing else.",
    };
    let text = format!(
        "You are the agent \"{}\", called {name} in this session. You work for another agent, which sees nothing of \
         your work but what you report and your result. {ending}\n\n{}",
        definition.name,
        definition.prompt.trim()
    );
    sources.push(Arc::new(Fixed(Layer::Role, text)));
    sources
}

/// The agents that can be started.
pub(super) struct AgentList(pub Arc<Definitions>);

impl Source for AgentList {
    fn layer(&self) -> Layer {
        Layer::Agents
    }

    fn text(&self, situation: &Situation) -> Option<String> {
        if !situation.generation.has("task") {
            return None;
        }
        let line = |one: &Definition| {
            let inputs = one.inputs_in_words().map(|inputs| format!(" Inputs: {inputs}.")).unwrap_or_default();
            format!("- {}: {}{inputs}", one.name, one.description)
        };
        let lines: Vec<String> = self.0.iter().map(line).collect();
        (!lines.is_empty()).then(|| format!("Agents that can do a part of the work\n{}", lines.join("\n")))
    }
}

/// Hooks see the calls of every agent; the moments of the session and of the person are the root's. Where the
/// root's session begins and its work stops, those below it begin and stop themselves.
struct ChildGate {
    gate: Arc<dyn Gate>,
    /// Whose gate it is; nobody's for a single call, which is no agent that a hook would know.
    agent: Option<GatedAgent>,
}

impl Gate for ChildGate {
    fn attends(&self, event: HookEvent, tool: Option<&str>) -> bool {
        match event {
            HookEvent::PreToolUse
            | HookEvent::PermissionRequest
            | HookEvent::PostToolUse
            | HookEvent::PostToolUseFailure
            | HookEvent::Notification
            | HookEvent::PreCompact
            | HookEvent::PostCompact
            | HookEvent::Error => self.gate.attends(event, tool),
            HookEvent::SessionStart => self.agent.is_some() && self.gate.attends(HookEvent::SubagentStart, None),
            HookEvent::Stop => self.agent.is_some() && self.gate.attends(HookEvent::SubagentStop, None),
            HookEvent::SessionEnd
            | HookEvent::UserPromptSubmit
            | HookEvent::SubagentStart
            | HookEvent::SubagentStop => false,
        }
    }

    fn ask(
        &self,
        moment: HookPoint,
        scene: HookContext,
        cancel: CancellationToken,
    ) -> BoxFuture<'static, HookDecision> {
        let moment = match (moment, self.agent.clone()) {
            (HookPoint::SessionStart { .. }, Some(agent)) => HookPoint::AgentStart(agent),
            (HookPoint::Stop { last_words, held }, Some(agent)) => HookPoint::AgentStop { agent, last_words, held },
            (moment, _) => moment,
        };
        self.gate.ask(moment, HookContext { agent: self.agent.clone(), ..scene }, cancel)
    }
}

/// Whoever is asked about something that a child wants reads its name.
struct NamedSink {
    sink: AgentSink,
    name: String,
}

impl NamedSink {
    fn named(&self, mut body: EventBody) -> EventBody {
        match &mut body {
            EventBody::PermissionRequest(request) => request.summary = format!("{}: {}", self.name, request.summary),
            EventBody::Question(question) => {
                if let Subject::Loop { text } = &mut question.subject {
                    *text = format!("{}: {text}", self.name);
                }
            }
            // Everything else is told with the agent it is told of.
            _ => {}
        }
        body
    }
}

impl EventSink for NamedSink {
    fn emit(&self, turn: Option<TurnId>, body: EventBody) -> BoxFuture<'_, Result<(), SinkError>> {
        self.sink.emit(turn, self.named(body))
    }

    fn commit(&self, turn: Option<TurnId>, body: EventBody) -> BoxFuture<'_, Result<(), SinkError>> {
        self.sink.commit(turn, self.named(body))
    }
}

//! Making the agent of a session, when it is opened and again when it goes back.

use std::path::Path;
use std::sync::{Arc, Mutex};

use neco_agent::{Agent, AgentHandle, AgentSetup, CallIds, Settings};
use neco_model::Provider;
use neco_proto::event::KnownFile;
use neco_proto::{AgentId, SessionId};
use neco_safety::Policy;
use neco_store::SessionRecord;
use neco_toolkit::Registry;
use neco_toolkit::tool::erase;

use super::children::{AgentList, ChildFactory, root_tools};
use super::hub::Hub;
use super::options::SessionOptions;
use super::remembering::Remembering;
use super::renewal::{AgentRenewal, Current, OwnTools, Seen, SessionRenewal};
use crate::error::SessionError;
use crate::fold::{Fold, Standing};
use crate::journal::Journal;
use crate::tree::AgentSupervisor;
use crate::workflow::{WorkflowDesk, WorkflowTool};

/// What the agent of a session is made of.
pub struct SessionContext {
    /// Where everything else comes from.
    pub hub: Hub,
    /// The session.
    pub record: SessionRecord,
    /// The sessions it comes from, nearest first.
    pub lineage: Vec<SessionId>,
    /// The agent.
    pub root: AgentId,
    /// Where its events go.
    pub journal: Arc<Journal>,
    /// How the session was opened.
    pub options: SessionOptions,
    /// What files say, as they were read last.
    pub current: Current,
    /// The model that is asked.
    pub provider: Arc<dyn Provider>,
    /// The ids of calls that are taken in the session.
    pub call_ids: CallIds,
    /// The agents of the session.
    pub supervisor: Arc<AgentSupervisor>,
    /// Makes those below the root.
    pub factory: Arc<ChildFactory>,
    /// The workflows of the session.
    pub workflows: WorkflowDesk,
}

/// A root agent that has not begun.
pub struct Root {
    /// The agent.
    pub agent: Agent,
    /// The way to it.
    pub handle: AgentHandle,
    /// The rules that it is judged by.
    pub policy: Policy,
    /// Its tools.
    pub tools: Registry,
}

impl SessionContext {
    /// The agent that goes on with the conversation of `fold`.
    pub fn agent(
        &self,
        mut fold: Fold,
        remembering: Option<&Remembering>,
        resumed: bool,
    ) -> Result<Root, SessionError> {
        let (mode, generation) = self.options.ways(&fold.standing);
        let known: Vec<KnownFile> = std::mem::take(&mut fold.known).into_values().collect();
        let place = self.hub.work_place(self, &fold);
        let setup = self.hub.agent(self, &place, fold)?;
        let settings = Settings { mode, ..setup.settings };
        let setup = AgentSetup { resumed, generation, settings, ..setup };
        let definitions = self.current.definitions();
        let own = self.own_tools()(&self.hub, &definitions);
        let mut setup = self.hub.with_memory(setup, remembering, self.record.id, own);
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
            seen: tokio::sync::Mutex::new(Seen::new(self.hub.deps())),
            said: Mutex::default(),
        });
        self.factory.lend(&setup, remembering.map(|with| Arc::clone(with.recall.memory())));
        setup.renewal = Some(Arc::new(AgentRenewal::of_root(&self.factory.line, renewal)));
        let (policy, tools) = (setup.policy.clone(), setup.registry.clone());
        let (agent, handle) = Agent::new(setup);
        Ok(Root { agent, handle, policy, tools })
    }

    /// Makes those of the session's tools that say what definitions and workflows there are.
    fn own_tools(&self) -> OwnTools {
        let (supervisor, root, desk) = (Arc::downgrade(&self.supervisor), self.root, self.workflows.clone());
        let cwd = Path::new(&self.record.cwd).to_owned();
        Box::new(move |hub, definitions| {
            let mut own = root_tools(&supervisor, root, definitions);
            own.push(erase(WorkflowTool {
                desk: Some((desk.clone(), root)),
                places: hub.workflow_places(&cwd),
                cwd: cwd.clone(),
            }));
            own
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
        let ctx = Self {
            hub: self.hub.clone(),
            record: self.record.clone(),
            lineage: self.lineage.clone(),
            root: self.root,
            journal: Arc::clone(&self.journal),
            options,
            current: self.current.clone(),
            provider,
            call_ids: self.call_ids.clone(),
            supervisor: Arc::clone(&self.supervisor),
            factory: Arc::clone(&self.factory),
            workflows: self.workflows.clone(),
        };
        let root = ctx.agent(fold, remembering, true)?;
        Ok(Again { root, provider: ctx.provider, other_model })
    }
}

/// An agent that takes the place of another one.
pub struct Again {
    /// The agent.
    pub root: Root,
    /// The model that it asks.
    pub provider: Arc<dyn Provider>,
    /// Its name, when that is not the one of then.
    pub other_model: Option<String>,
}

//! Making the agent of a session, when it is opened and again when it goes back.

use std::sync::Arc;

use neco_agent::{Agent, AgentHandle, AgentSetup, Settings};
use neco_model::Provider;
use neco_proto::{AgentId, SessionId};
use neco_store::SessionRecord;

use super::hub::Hub;
use super::options::SessionOptions;
use super::remembering::Remembering;
use crate::error::SessionError;
use crate::fold::{Fold, Standing};
use crate::journal::Journal;
use crate::sources::Rules;

/// What the agent of a session is made of.
pub struct Rebuild {
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
    /// The rules files, as they were then.
    pub rules: Arc<Rules>,
    /// The model that is asked.
    pub provider: Arc<dyn Provider>,
}

impl Rebuild {
    /// The agent that goes on with the conversation of `fold`.
    ///
    /// # Errors
    /// When the folder can't be used.
    pub fn agent(
        &self,
        fold: Fold,
        remembering: Option<&Remembering>,
        resumed: bool,
    ) -> Result<(Agent, AgentHandle), SessionError> {
        let (mode, generation) = self.options.ways(&fold.standing);
        let setup = self.hub.agent(self, fold)?;
        let settings = Settings { mode, ..setup.settings };
        let setup = AgentSetup { resumed, generation, settings, ..setup };
        Ok(Agent::new(self.hub.with_memory(setup, remembering, self.record.id)))
    }

    /// The agent of a session that went back and now has the conversation of `fold`; `present` is how the
    /// session stood until now. Modes and the model are those of then; when the person is asked is not.
    ///
    /// # Errors
    /// When the folder can't be used.
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
        let rebuild = Self {
            hub: self.hub.clone(),
            record: self.record.clone(),
            lineage: self.lineage.clone(),
            root: self.root,
            journal: Arc::clone(&self.journal),
            options,
            rules: Arc::clone(&self.rules),
            provider,
        };
        let (agent, handle) = rebuild.agent(fold, remembering, true)?;
        Ok(Again { agent, handle, provider: rebuild.provider, other_model })
    }
}

/// An agent that takes the place of another one.
pub struct Again {
    /// The agent.
    pub agent: Agent,
    /// The way to it.
    pub handle: AgentHandle,
    /// The model that it asks.
    pub provider: Arc<dyn Provider>,
    /// Its name, when that is not the one of then.
    pub other_model: Option<String>,
}

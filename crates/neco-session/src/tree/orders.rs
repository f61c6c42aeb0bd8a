//! What agents and the person say and do to agents.

use neco_agent::{AgentInput, Halt};
use neco_proto::event::{AgentMessage, AgentNode, Down, Letter};
use neco_proto::{Actor, AgentId, AgentOrder, AgentParameters, EventBody, MessageId};
use neco_safety::tools::own_name;
use tokio::sync::oneshot;

use super::carry::Told;
use super::error::TreeError;
use super::op::Op;
use super::slot::{AgentSlot, Answered};
use super::supervisor::{AgentSupervisor, State};
use super::tools::OF_CHILDREN;

impl AgentSupervisor {
    /// A parent, or the person, tells an agent what to do.
    /// Fails when it is not theirs to tell, or makes no sense now.
    pub async fn order(&self, from: Actor, agent: AgentId, order: AgentOrder) -> Result<(), TreeError> {
        self.to_the_end(move |supervisor| async move { supervisor.carry_order(from, agent, order).await }).await
    }

    /// A parent, or the person, ends an agent and everybody below it; says whether nothing of them runs any more.
    /// Fails when it is not theirs to end, or has ended.
    pub async fn end(&self, from: Actor, agent: AgentId) -> Result<bool, TreeError> {
        self.lock().await.tree.may_command(&from, agent)?;
        // Whoever cancels its own child needs no letter about it.
        let told = if from.agent().is_some() { Told::Nobody } else { Told::ParentLater };
        self.stop_as(agent, told, Some(from)).await
    }

    async fn carry_order(&self, from: Actor, agent: AgentId, order: AgentOrder) -> Result<(), TreeError> {
        let mut state = self.lock().await;
        // One that has ended can be started over.
        if order != AgentOrder::Retry {
            state.tree.may_command(&from, agent)?;
        }
        match order {
            AgentOrder::Task { text } => self.tell(&mut state, from, agent, Down::Task { text }).await,
            AgentOrder::Redirect { text } => self.tell(&mut state, from, agent, Down::Redirect { text }).await,
            AgentOrder::Answer { text } => self.answer(&mut state, from, agent, text).await,
            AgentOrder::Pause => {
                self.apply_as(&mut state, Op::Pause(agent), Told::Parent, Some(&from)).await?;
                if from.agent().is_none() {
                    self.hold(&mut state, agent, Halt::AfterCalls);
                }
                Ok(())
            }
            AgentOrder::Resume => self.apply_as(&mut state, Op::Resume(agent), Told::Parent, Some(&from)).await,
            AgentOrder::UpdateParameters(parameters) => self.update(&mut state, from, agent, parameters).await,
            AgentOrder::Retry => {
                drop(state);
                self.start_over(from, agent).await
            }
            AgentOrder::Cancel => {
                drop(state);
                self.end(from, agent).await.map(drop)
            }
        }
    }

    /// Other parameters from its next turn on.
    async fn update(
        &self,
        state: &mut State,
        from: Actor,
        agent: AgentId,
        parameters: AgentParameters,
    ) -> Result<(), TreeError> {
        let provider = match &parameters.model_group {
            Some(group) => Some(self.make.model(group)?),
            None => None,
        };
        let tools = match &parameters.tools {
            Some(names) => Some(tools_named(state, agent, names)?),
            None => None,
        };
        let update = Op::Update { agent, parameters: AgentParameters { tools, ..parameters } };
        self.apply_as(state, update, Told::Parent, Some(&from)).await?;
        if let (Some(slot), Some(provider)) = (state.slots.get(&agent), provider) {
            slot.send_as(Some(from), AgentInput::SetModel(provider));
        }
        Ok(())
    }

    /// A child tells its parent how far it is.
    /// Fails when it has no parent, or progress is no part of a whole.
    pub(super) async fn report(&self, from: AgentId, progress: f64, message: String) -> Result<(), TreeError> {
        let report = Op::Report { from, progress, message };
        self.to_the_end(move |supervisor| async move { supervisor.apply(&mut *supervisor.lock().await, report).await })
            .await
    }

    /// A child asks its parent; the answer comes later. `None` when nobody can answer.
    /// Fails when it has no parent, waits for an answer already, or too much waits for whom it asks.
    pub(super) async fn question(
        &self,
        from: AgentId,
        text: String,
    ) -> Result<Option<oneshot::Receiver<Answered>>, TreeError> {
        self.to_the_end(move |supervisor| async move {
            let mut state = supervisor.lock().await;
            let parent = state.tree.node(from).and_then(|node| node.parent).ok_or(TreeError::NoParent)?;
            // A parent that waits in a call for this very child can't answer it.
            if state.slots.get(&from).is_some_and(|slot| !slot.is_told()) {
                return Ok(None);
            }
            // An answer names no question, so there is one at a time.
            if state.slots.get(&from).is_some_and(AgentSlot::asks) {
                return Err(TreeError::AsksAlready);
            }
            if state.slots.get(&parent).is_none_or(AgentSlot::is_full) {
                return Err(TreeError::Full(parent));
            }
            supervisor.apply(&mut state, Op::Question { from, text }).await?;
            Ok(state.slots.get_mut(&from).map(AgentSlot::ask))
        })
        .await
    }

    /// A node, if the one who asks may know of it: its own child.
    pub(super) async fn own_child(&self, parent: AgentId, child: AgentId) -> Option<AgentNode> {
        let state = self.lock().await;
        state.tree.node(child).filter(|node| node.parent == Some(parent)).cloned()
    }

    /// How far an agent said it is.
    pub(super) async fn progress_of(&self, agent: AgentId) -> f64 {
        self.lock().await.tree.node(agent).map_or(0.0, |node| node.progress)
    }

    async fn tell(&self, state: &mut State, from: Actor, to: AgentId, letter: Down) -> Result<(), TreeError> {
        if state.slots.get(&to).is_some_and(AgentSlot::is_full) {
            return Err(TreeError::Full(to));
        }
        self.apply(state, Op::Tell { from, to, letter }).await
    }

    /// The answer goes to the call that waits for it.
    async fn answer(&self, state: &mut State, from: Actor, to: AgentId, text: String) -> Result<(), TreeError> {
        if !state.slots.get(&to).ok_or(TreeError::Unknown(to))?.asks() {
            return Err(TreeError::NoQuestion(to));
        }
        let letter = Letter::Down(Down::Answer { text: text.clone() });
        let told = AgentMessage { from: from.clone(), to, letter, message_id: MessageId::new() };
        self.journal.commit(to, None, EventBody::AgentMessage(told)).await?;
        if let Some(slot) = state.slots.get_mut(&to) {
            slot.answer(Answered::By(from, text));
            // It was silent because it waited.
            self.notes.listen_to(to);
        }
        Ok(())
    }
}

/// The tools that an agent keeps, by our own names, with those that every child has.
fn tools_named(state: &State, agent: AgentId, names: &[String]) -> Result<Vec<String>, TreeError> {
    let slot = state.slots.get(&agent).ok_or(TreeError::Unknown(agent))?;
    let tools = slot.tools.fresh();
    let mut kept: Vec<String> = Vec::new();
    for name in names {
        let own = own_name(name).unwrap_or(name);
        // Whoever waits to be made again has those that its definition names.
        let has = match (&slot.line, &slot.spec) {
            (Some(_), _) => tools.has(own),
            (None, Some(spec)) => spec.definition.tools.has(own),
            (None, None) => false,
        };
        if !has {
            let mut there: Vec<&str> = tools.iter().map(|tool| tool.name()).collect();
            there.sort_unstable();
            return Err(TreeError::Refused(format!("it has no tool {name:?}; it has: {}", there.join(", "))));
        }
        kept.push(own.to_owned());
    }
    kept.extend(OF_CHILDREN.iter().map(|name| (*name).to_owned()));
    kept.sort_unstable();
    kept.dedup();
    Ok(kept)
}

//! What agents and the person say and do to agents.

use neco_proto::event::{AgentMessage, AgentNode, Down, Letter, Sender};
use neco_proto::{AgentId, AgentOrder, EventBody, MessageId};
use tokio::sync::oneshot;

use super::company::{Company, State};
use super::error::TreeError;
use super::op::Op;
use super::seat::{Answered, Asked};

impl Company {
    /// A parent, or the person, tells an agent what to do.
    ///
    /// # Errors
    /// When it is not theirs to tell, or makes no sense now.
    pub async fn order(&self, from: Sender, agent: AgentId, order: AgentOrder) -> Result<(), TreeError> {
        // Whoever cancels its own child needs no letter about it.
        if order == AgentOrder::Cancel {
            self.lock().await.tree.may_command(from, agent)?;
            return self.stop(agent, from == Sender::Person).await;
        }
        let mut state = self.lock().await;
        state.tree.may_command(from, agent)?;
        match order {
            AgentOrder::Task { text } => self.tell(&mut state, from, agent, Down::Task { text }).await,
            AgentOrder::Redirect { text } => self.tell(&mut state, from, agent, Down::Redirect { text }).await,
            AgentOrder::Answer { text } => self.answer(&mut state, from, agent, text).await,
            AgentOrder::Pause => self.apply(&mut state, Op::Pause(agent), true).await,
            AgentOrder::Resume => self.apply(&mut state, Op::Resume(agent), true).await,
            AgentOrder::UpdateParameters(parameters) => {
                if let Some(group) = &parameters.model_group {
                    self.make.model(group).map_err(TreeError::Refused)?;
                }
                self.apply(&mut state, Op::Update { agent, parameters }, true).await
            }
            AgentOrder::Cancel => Ok(()),
        }
    }

    /// A child tells its parent how far it is.
    ///
    /// # Errors
    /// When it has no parent, or progress is no part of a whole.
    pub(super) async fn report(&self, from: AgentId, progress: f64, message: String) -> Result<(), TreeError> {
        let mut state = self.lock().await;
        self.apply(&mut state, Op::Report { from, progress, message }, true).await
    }

    /// A child asks its parent; the answer comes later. `None` when nobody can answer.
    ///
    /// # Errors
    /// When it has no parent, or too much waits for that one.
    pub(super) async fn question(
        &self,
        from: AgentId,
        text: String,
    ) -> Result<Option<oneshot::Receiver<Answered>>, TreeError> {
        let mut state = self.lock().await;
        let parent = state.tree.node(from).and_then(|node| node.parent).ok_or(TreeError::NoParent)?;
        // A parent that waits in a call for this very child can't answer it.
        if state.seats.get(&from).is_some_and(|seat| !seat.is_told()) {
            return Ok(None);
        }
        if state.seats.get(&parent).is_none_or(|seat| seat.mailbox.is_full()) {
            return Err(TreeError::Full(parent));
        }
        let (sender, answer) = oneshot::channel();
        if let Some(seat) = state.seats.get_mut(&from) {
            seat.question = Some(Asked(sender));
        }
        self.apply(&mut state, Op::Question { from, text }, true).await?;
        Ok(Some(answer))
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

    async fn tell(&self, state: &mut State, from: Sender, to: AgentId, letter: Down) -> Result<(), TreeError> {
        if state.seats.get(&to).is_some_and(|seat| seat.mailbox.is_full()) {
            return Err(TreeError::Full(to));
        }
        self.apply(state, Op::Tell { from, to, letter }, true).await
    }

    /// The answer goes to the call that waits for it.
    async fn answer(&self, state: &mut State, from: Sender, to: AgentId, text: String) -> Result<(), TreeError> {
        let seat = state.seats.get_mut(&to).ok_or(TreeError::Unknown(to))?;
        let question = seat.question.take().ok_or(TreeError::NoQuestion(to))?;
        let letter = Letter::Down(Down::Answer { text: text.clone() });
        let told = AgentMessage { from, to, letter, message_id: MessageId::new() };
        let recorded = self.journal.commit(to, None, EventBody::AgentMessage(told)).await;
        recorded.map_err(|error| TreeError::Refused(error.to_string()))?;
        // Whoever asked may have given up.
        let _ = question.0.send(Answered::By(from, text));
        Ok(())
    }
}

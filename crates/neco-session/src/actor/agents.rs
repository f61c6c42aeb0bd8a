//! What the person does to the agents of the tree.

use std::sync::Arc;

use neco_agent::AgentInput;
use neco_proto::event::{Admission, Sender};
use neco_proto::{AgentId, AgentOrder, AgentParameters, ClientError, Receipt};
use tokio::sync::oneshot;

use super::run::Actor;

impl Actor {
    /// Passes an order on to an agent below the root. It is carried out aside: whoever has to stop what an
    /// agent runs must not keep a cancel waiting.
    pub(super) fn command(
        &self,
        agent: AgentId,
        order: AgentOrder,
        reply: oneshot::Sender<Result<Receipt, ClientError>>,
    ) {
        let company = Arc::clone(&self.rebuild.company);
        let receipt = Receipt { seq: self.journal.standing().last_seq, message_id: None };
        tokio::spawn(async move {
            let done = match company.order(Sender::Person, agent, order).await {
                Ok(()) => Ok(receipt),
                Err(error) => Err(ClientError::Refused(company.words(&error).await)),
            };
            // The window may be gone; what it asked for is done all the same.
            let _ = reply.send(done);
        });
    }

    /// What an order is when it is for the root.
    pub(super) async fn for_root(&mut self, order: AgentOrder) -> Result<AgentInput, ClientError> {
        match order {
            AgentOrder::Task { text } => self.message(text, Vec::new(), Admission::AfterWork).await,
            AgentOrder::Redirect { text } | AgentOrder::Answer { text } => {
                self.message(text, Vec::new(), Admission::TurnBoundary).await
            }
            AgentOrder::Cancel => Ok(AgentInput::Cancel),
            AgentOrder::Pause | AgentOrder::Resume => {
                Err(ClientError::Refused("the root agent can't be paused; cancel stops its work".to_owned()))
            }
            AgentOrder::UpdateParameters(AgentParameters { model_group: Some(model), budget: None, tools: None }) => {
                self.set_model(&model)
            }
            AgentOrder::UpdateParameters(_) => Err(ClientError::Refused(
                "of the root agent only the model can be changed; its budget and tools are the session's".to_owned(),
            )),
        }
    }
}

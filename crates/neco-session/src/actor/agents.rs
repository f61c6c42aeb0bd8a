//! What the person does to the agents of the tree.

use std::sync::Arc;

use neco_agent::AgentInput;
use neco_model::Provider;
use neco_proto::event::{Admission, Notification, NotificationLevel};
use neco_proto::{Actor, AgentId, AgentOrder, AgentParameters, Attachment, ClientError, EventBody, Receipt};
use tokio::sync::oneshot;

use super::run::{SessionActor, not_taken, store_failed};

/// The group for pictures.
const PICTURES: &str = "image";

impl SessionActor {
    /// Passes an order on to an agent below the root. It is carried out aside: whoever has to stop what an
    /// agent runs must not keep a cancel waiting.
    pub(super) fn command(
        &self,
        by: Actor,
        agent: AgentId,
        order: AgentOrder,
        reply: oneshot::Sender<Result<Receipt, ClientError>>,
    ) {
        let supervisor = Arc::clone(&self.ctx.supervisor);
        let receipt = Receipt { seq: self.journal.standing().last_seq, message_id: None };
        tokio::spawn(async move {
            let done = match supervisor.order(by, agent, order).await {
                Ok(()) => Ok(receipt),
                Err(error) => Err(ClientError::Refused(supervisor.words(&error).await)),
            };
            // The window may be gone; what it asked for is done all the same.
            let _ = reply.send(done);
        });
    }

    /// Pictures are for a model that sees them: when the present one does not, and nobody chose it, the group for
    /// pictures is asked from now on, as the conversation holds them from now on.
    pub(super) async fn see_pictures(&mut self, attachments: &[Attachment]) -> Result<(), ClientError> {
        let kinds: Vec<&str> = attachments
            .iter()
            .map(|attachment| match attachment {
                Attachment::Image { media_type, .. } => media_type.as_str(),
            })
            .collect();
        let sees = |provider: &dyn Provider| kinds.iter().all(|kind| provider.sees(kind));
        if self.ctx.options.model.is_some() || sees(self.ctx.provider.as_ref()) {
            return Ok(());
        }
        // Without a group that sees them, the agent says that it does not.
        let Some(seeing) = (self.find_model)(PICTURES).ok().filter(|provider| sees(provider.as_ref())) else {
            return Ok(());
        };
        let text =
            format!("{} does not see pictures; {} is asked from now on", self.ctx.provider.label(), seeing.label());
        let told = EventBody::Notification(Notification::new(NotificationLevel::Info, text));
        self.journal.emit(self.root, None, told).await.map_err(|error| store_failed(&error))?;
        self.ctx.provider = Arc::clone(&seeing);
        self.handle.send(AgentInput::SetModel(seeing)).await.map_err(not_taken)
    }

    /// What an order is when it is for the root.
    pub(super) async fn for_root(&mut self, by: &Actor, order: AgentOrder) -> Result<AgentInput, ClientError> {
        match order {
            AgentOrder::Task { text } => self.message(by, text, Vec::new(), Admission::AfterWork).await,
            AgentOrder::Redirect { text } | AgentOrder::Answer { text } => {
                self.message(by, text, Vec::new(), Admission::TurnBoundary).await
            }
            // Carried out elsewhere.
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

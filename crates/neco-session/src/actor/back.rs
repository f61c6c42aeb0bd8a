//! Going back in a session that is open: the agent is stopped, and made again from what counts then.

use std::path::Path;

use neco_proto::event::{ModeChange, RewindWhat};
use neco_proto::{ClientError, EventBody, MessageId, Receipt};

use super::run::{Actor, store_failed};
use crate::fold::fold_log;
use crate::rewind::{Course, RewindError, Way, go_back, rewind_event, told};

impl Actor {
    /// Goes back to before a message.
    pub(super) async fn rewind(&mut self, message: MessageId, what: RewindWhat) -> Result<Receipt, ClientError> {
        let course = self.course().await?;
        let way = course.way(course.point(message)?, what)?;
        self.go(&way).await
    }

    /// Takes the last rewind back.
    pub(super) async fn undo_rewind(&mut self) -> Result<Receipt, ClientError> {
        let way = self.course().await?.undo()?;
        self.go(&way).await
    }

    /// What the log says, if nothing is under way.
    async fn course(&self) -> Result<Course, ClientError> {
        let course = Course::read(self.log.as_ref(), self.record.id).await.map_err(|error| store_failed(&error))?;
        if course.working {
            return Err(RewindError::AtWork.into());
        }
        Ok(course)
    }

    async fn go(&mut self, way: &Way) -> Result<Receipt, ClientError> {
        let receipt = Receipt { seq: self.journal.standing().last_seq, message_id: None };
        let checkpoints = self.rebuild.hub.checkpoints(Path::new(&self.record.cwd)).await;
        let went = go_back(way, self.record.id, checkpoints).await?;
        let undo = went.before.as_ref().map(|before| before.rev.clone());
        if let Some(before) = went.before {
            self.enter(EventBody::Checkpoint(before)).await?;
        }
        self.enter(EventBody::Rewind(rewind_event(way, undo))).await?;
        if let Some(told) = told(way) {
            self.enter(EventBody::Message(told)).await?;
        }
        let again = self.begin_again().await;
        if again.is_err() {
            // An agent whose conversation is not the session's must not go on: the session ends, and opens again.
            self.agent.abort();
        }
        again.map(|()| receipt)
    }

    /// The agent of what counts now takes the place of the one that was.
    async fn begin_again(&mut self) -> Result<(), ClientError> {
        let before = self.journal.standing();
        let fold = fold_log(self.log.as_ref(), self.record.id).await.map_err(|error| store_failed(&error))?;
        self.journal.stand(fold.standing.clone());
        let again = self.rebuild.again(fold, &before, self.remembers.with.as_ref());
        let again = again.map_err(|error| ClientError::Refused(error.to_string()))?;
        // Without a handle it ends by itself, and what it still runs with it.
        self.handle = again.handle;
        self.rebuild.provider = again.provider;
        let stopped = std::mem::replace(&mut self.agent, tokio::spawn(async { Ok(()) }));
        if !matches!(stopped.await, Ok(Ok(()))) {
            return Err(ClientError::Gone);
        }
        self.agent = tokio::spawn(again.agent.run());
        match again.other_model {
            Some(model) => {
                self.enter(EventBody::ModeChange(ModeChange { model: Some(model), ..ModeChange::default() })).await
            }
            None => Ok(()),
        }
    }

    async fn enter(&self, body: EventBody) -> Result<(), ClientError> {
        self.journal.commit(self.root, None, body).await.map_err(|error| store_failed(&error))
    }
}

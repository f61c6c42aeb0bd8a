//! What a session remembers: notes of the person, what is recalled at its first request, and what is
//! worth keeping when it ends.

use std::time::Duration;

use neco_proto::app::memory::Kept;
use neco_proto::event::{Notification, NotificationLevel, SidePurpose};
use neco_proto::{ClientError, EventBody, Seq};

use crate::aside::{self, Aside};
use crate::fold::fold_since;
use crate::hub::{Remembering, SessionCore};
use crate::memory::{NewEntry, kept_words};

/// What remembering needs of its session.
pub(super) struct Remembers {
    pub core: SessionCore,
    pub with: Option<Remembering>,
    /// The last event before this run.
    pub first_seq: Seq,
    /// Whether a model may be asked.
    pub aside: Aside,
}

impl Remembers {
    /// Whether there is a memory.
    pub fn is_on(&self) -> bool {
        self.with.is_some()
    }

    /// Keeps a note of the person and says where.
    pub async fn note(&self, new: NewEntry) -> Result<(), ClientError> {
        let Some(with) = &self.with else { return Ok(()) };
        let kept = with.recall.memory().keep(new).await.map_err(|error| ClientError::Refused(error.to_string()))?;
        self.tell(&kept).await?;
        self.say(&kept).await
    }

    /// Puts what matters for the first request before the model.
    pub async fn recall(&mut self, request: &str) -> Result<(), ClientError> {
        let Some(with) = &mut self.with else { return Ok(()) };
        match with.recall.at_request(request).await {
            Some(update) => self.record(EventBody::MemoryUpdate(update)).await,
            None => Ok(()),
        }
    }

    /// The first request was not taken: the next one is the first.
    pub fn recall_again(&mut self) {
        if let Some(with) = &mut self.with {
            with.recall.wait_again();
        }
    }

    /// Looks through what was said and done in this run. Nothing here fails a session.
    pub async fn at_end(&self) {
        let Some(with) = &self.with else { return };
        let Some(extraction) = &with.extraction else { return };
        let standing = self.core.journal.standing();
        if with.budget.reached(&standing.usage, Duration::from_millis(standing.worked_ms)).is_some() {
            return tracing::info!("nothing is kept of the session: its budget is used up");
        }
        let model = with.extract_model.clone().unwrap_or(standing.model);
        let provider = match self.core.model(&model) {
            Ok(provider) => provider,
            Err(error) => return tracing::warn!(%error, "nothing is kept of the session"),
        };
        let fold = match fold_since(self.core.log().as_ref(), self.core.id(), self.first_seq).await {
            Ok(fold) => fold,
            Err(error) => return tracing::warn!(%error, "nothing is kept of the session"),
        };
        if !extraction.is_worth_it(provider.as_ref(), &fold.messages) {
            return;
        }
        let asks = self.aside.unless_stopped(extraction.ask(provider.as_ref(), fold.messages));
        // A stop ends the asking; what was answered is kept and told as a whole.
        let Some(Some(answer)) = aside::told(&self.core, SidePurpose::Memory, asks).await else { return };
        let extracted = extraction.keep(answer).await;
        let mut told = Ok(());
        if let Some(usage) = extracted.usage {
            told = self.record(EventBody::Usage(usage)).await;
        }
        for kept in &extracted.kept {
            told = told.and(self.tell(kept).await);
            if kept.action.is_some() {
                told = told.and(self.say(kept).await);
            }
        }
        if let Err(error) = told {
            tracing::warn!(%error, "what is kept of the session is not in its log");
        }
    }

    /// Lets go of what is open.
    pub async fn close(&self) {
        if let Some(with) = &self.with {
            with.recall.memory().close().await;
        }
    }

    /// Says to the person what became of something that was to be kept.
    async fn say(&self, kept: &Kept) -> Result<(), ClientError> {
        let text = kept_words(kept);
        self.record(EventBody::Notification(Notification::new(NotificationLevel::Info, text))).await
    }

    async fn tell(&self, kept: &Kept) -> Result<(), ClientError> {
        match kept.event() {
            Some(update) => self.record(EventBody::MemoryUpdate(update)).await,
            None => Ok(()),
        }
    }

    async fn record(&self, body: EventBody) -> Result<(), ClientError> {
        Ok(self.core.emit(body).await?)
    }
}

//! The workspace, as it is kept before and after turns.

use std::sync::Arc;
use std::time::Duration;

use neco_proto::TurnId;
use neco_proto::event::CompleteReason;

use crate::ports::Checkpointer;

/// How long whoever stops the work waits for the workspace to be kept.
const MOST_SETTLING: Duration = Duration::from_millis(50);

/// What keeps the workspace; nothing where nothing does.
pub(super) struct KeptWorkspace(pub(super) Option<Arc<dyn Checkpointer>>);

impl KeptWorkspace {
    /// What a turn changed is kept beside the next question to the model.
    pub(super) fn after(&self, turn: Option<TurnId>) {
        self.0.iter().for_each(|checkpoints| checkpoints.after(turn));
    }

    /// Ready when all that was to be kept is.
    pub(super) async fn settled(&self) {
        if let Some(checkpoints) = &self.0 {
            checkpoints.settled().await;
        }
    }

    /// What the last turn changed is told before the end of the work, so that whatever is asked next comes
    /// after it. Whoever stops the work is not kept waiting for a large workspace.
    pub(super) async fn settle(&self, reason: CompleteReason) {
        if reason == CompleteReason::Cancelled {
            let _ = tokio::time::timeout(MOST_SETTLING, self.settled()).await;
        } else {
            self.settled().await;
        }
    }
}

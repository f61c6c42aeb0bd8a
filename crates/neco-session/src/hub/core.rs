//! One session, as all its parts know it.

use std::path::Path;
use std::sync::Arc;

use neco_agent::Checkpointer;
use neco_model::Provider;
use neco_proto::{AgentId, EventBody, SessionId};
use neco_store::{EventLog, SessionRecord, StoreError};

use super::hub::Hub;
use crate::checkpoints::SessionCheckpoints;
use crate::journal::Journal;

/// One session: what the list says of it, its root agent and its journal; everything else comes from the hub.
#[derive(Clone)]
pub struct SessionCore {
    pub hub: Hub,
    pub record: SessionRecord,
    pub root: AgentId,
    pub journal: Arc<Journal>,
}

impl SessionCore {
    pub fn id(&self) -> SessionId {
        self.record.id
    }

    pub fn cwd(&self) -> &Path {
        Path::new(&self.record.cwd)
    }

    /// Where its events are.
    pub fn log(&self) -> &Arc<dyn EventLog> {
        &self.hub.setup.log
    }

    /// The model or group of a name; the error is in words.
    pub fn model(&self, name: &str) -> Result<Arc<dyn Provider>, String> {
        (self.hub.setup.find_model)(name)
    }

    /// Records something of the root; on the disk a little later.
    pub async fn emit(&self, body: EventBody) -> Result<(), StoreError> {
        self.journal.emit(self.root, None, body).await
    }

    /// Records something of the root; on the disk when ready.
    pub async fn commit(&self, body: EventBody) -> Result<(), StoreError> {
        self.journal.commit(self.root, None, body).await
    }

    /// What keeps its workspace.
    pub fn checkpoints(&self) -> Arc<dyn Checkpointer> {
        Arc::new(SessionCheckpoints::new(self.clone()))
    }
}

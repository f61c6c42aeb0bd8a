//! What the agents of a session share, as a log adds up to it.

use std::collections::BTreeMap;
use std::sync::Arc;

use neco_proto::event::SharedStateUpdate;

/// What the agents of a session share. A copy is cheap.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SharedState(Arc<BTreeMap<String, SharedStateUpdate>>);

impl SharedState {
    /// Takes in the next update.
    pub fn apply(&mut self, update: &SharedStateUpdate) {
        Arc::make_mut(&mut self.0).insert(update.key.clone(), update.clone());
    }

    /// What was last said of a key; also that it was removed.
    pub fn last(&self, key: &str) -> Option<&SharedStateUpdate> {
        self.0.get(key)
    }

    /// How many keys there ever were.
    pub fn key_count(&self) -> usize {
        self.0.len()
    }

    /// What there is, by key.
    pub fn iter(&self) -> impl Iterator<Item = &SharedStateUpdate> {
        self.0.values().filter(|update| update.value.is_some())
    }
}

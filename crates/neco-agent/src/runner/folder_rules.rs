//! Rules files below the workspace: the model is told of one when it first touches its folder.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use neco_model::tokens::{Family, estimate};

use crate::ports::{FolderRules, FoundRules, RulesTouch};

/// How long a turn waits for rules files; a disk that takes longer must not hold up the work.
const LONGEST: Duration = Duration::from_secs(2);

/// What the model was told of rules files below the workspace.
#[derive(Default)]
pub(super) struct Touched {
    rules: Option<Arc<dyn FolderRules>>,
    told: Arc<BTreeSet<String>>,
    looked: Arc<BTreeSet<PathBuf>>,
    /// Tokens of what was told.
    tokens: u64,
}

impl Touched {
    /// As it was left in an earlier run.
    pub(super) fn new(rules: Option<Arc<dyn FolderRules>>, told: BTreeSet<String>) -> Self {
        Self { rules, told: Arc::new(told), ..Self::default() }
    }

    /// From now on rules files are found so.
    pub(super) fn look_with(&mut self, rules: Option<Arc<dyn FolderRules>>) {
        self.rules = rules;
    }

    /// What was told may be gone, so that it is told again when its folder is touched again.
    pub(super) fn forget(&mut self) {
        *self = Self::new(self.rules.take(), BTreeSet::new());
    }

    /// Those of the folders that `paths` lie in and that were not told yet, in `room` tokens for all that is told.
    pub(super) async fn find(&mut self, paths: BTreeSet<PathBuf>, room: u64) -> Option<FoundRules> {
        let rules = self.rules.clone().filter(|_| !paths.is_empty())?;
        let room = room.saturating_sub(self.tokens);
        let (looked, told) = (Arc::clone(&self.looked), Arc::clone(&self.told));
        let found = rules.touched(RulesTouch { paths, looked, told, room });
        let found = tokio::time::timeout(LONGEST, found).await.ok()??;
        Arc::make_mut(&mut self.looked).extend(found.looked.iter().cloned());
        Arc::make_mut(&mut self.told).extend(found.files.iter().chain(&found.unread).cloned());
        if !found.text.is_empty() {
            self.tokens += estimate(&found.text, Family::Other);
        }
        Some(found)
    }
}

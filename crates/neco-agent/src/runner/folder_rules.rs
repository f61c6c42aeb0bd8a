//! Rules files below the workspace: the model is told of one when it first touches its folder.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use neco_model::tokens::{Family, estimate};
use neco_proto::event::RulesTold;
use neco_proto::{EventBody, Layer, Message};

use super::agent::Agent;
use crate::ports::{FolderRules, RulesTouch, SinkError};

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
}

impl Agent {
    /// Rules files of folders that the turn touched for the first time enter the conversation.
    pub(super) async fn tell_folder_rules(&mut self) -> Result<(), SinkError> {
        let paths = self.scheduler.take_touched();
        let Some(rules) = self.touched.rules.clone().filter(|_| !paths.is_empty()) else { return Ok(()) };
        let room = self.rules_room().saturating_sub(self.touched.tokens);
        let (looked, told) = (Arc::clone(&self.touched.looked), Arc::clone(&self.touched.told));
        let found = rules.touched(RulesTouch { paths, looked, told, room });
        let Ok(Some(found)) = tokio::time::timeout(LONGEST, found).await else { return Ok(()) };
        Arc::make_mut(&mut self.touched.looked).extend(found.looked);
        Arc::make_mut(&mut self.touched.told).extend(found.files.iter().chain(&found.unread).cloned());
        for notice in &found.notices {
            self.warn(notice).await?;
        }
        if found.text.is_empty() {
            return Ok(());
        }
        self.touched.tokens += estimate(&found.text, Family::Other);
        // Told first: what a crash leaves without its note is told again, and not taken for told.
        self.admit(Message::neco(found.text)).await?;
        // Also what was not read, so that a resumed session does not say so again.
        self.sink.commit(None, EventBody::RulesTold(RulesTold { files: found.files, unread: found.unread })).await
    }

    /// As much as the rules of the workspace may take.
    fn rules_room(&self) -> u64 {
        self.space().rooms().of(Layer::Rules)
    }
}

//! What other agents say to this one, and what whoever commands it does to it besides: it has other tools, or is told
//! what those below it used.

use std::sync::Arc;

use neco_proto::{Message, MessageId, Usage};
use neco_toolkit::{DynTool, Registry};

use super::agent::Agent;
use crate::ports::SinkError;

/// What waits for the next turn, and whether there is to be one.
#[derive(Default)]
pub(super) struct Letters {
    waiting: Vec<Message>,
    /// Whether one of them is a reason to begin.
    wakes: bool,
    /// Whether the last work ended so that a letter may begin another one.
    pub(super) wakeable: bool,
}

impl Letters {
    pub(super) fn new() -> Self {
        Self { wakeable: true, ..Self::default() }
    }

    /// Whether something that waits is a reason to begin.
    pub(super) fn wake(&self) -> bool {
        self.wakes && self.wakeable
    }
}

impl Agent {
    /// Hears a letter: it enters the conversation at the next turn; one that `wakes` is a reason for one.
    pub(super) async fn hear_letter(
        &mut self,
        message: Message,
        wakes: bool,
        replaces: Option<MessageId>,
    ) -> Result<(), SinkError> {
        self.letters.waiting.retain(|older| Some(older.id) != replaces);
        self.letters.waiting.push(message);
        self.letters.wakes |= wakes;
        if self.letters.wake() && !self.machine.busy() {
            return self.begin().await;
        }
        Ok(())
    }

    /// Letters enter the conversation.
    pub(super) async fn admit_letters(&mut self) -> Result<(), SinkError> {
        self.letters.wakes = false;
        for message in std::mem::take(&mut self.letters.waiting) {
            self.admit(message).await?;
        }
        Ok(())
    }

    /// Agents below this one used something, which counts for what it may use.
    pub(super) async fn note_others(&mut self, usage: Usage) -> Result<(), SinkError> {
        self.session_usage += usage;
        self.check_budget().await
    }

    /// Only these of its tools exist from the next turn on.
    pub(super) fn keep_tools(&mut self, names: &[String]) {
        let kept = |tool: &&Arc<dyn DynTool>| names.iter().any(|name| name == tool.name());
        self.tools = Registry::new(self.tools.iter().filter(kept).cloned().collect());
        self.context.forget();
        self.tools_changed = self.machine.busy();
        if !self.tools_changed {
            self.scheduler.set_registry(self.generation.narrow(&self.tools));
        }
    }
}

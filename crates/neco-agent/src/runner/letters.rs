//! What other agents say to this one, and what whoever commands it does to it besides: it is held, goes on,
//! has other tools, or is told what those below it used.

use neco_proto::{Message, MessageId, Usage};

use super::agent::Agent;
use super::inputs::Halt;
use crate::machine::{Input, Stamp};
use crate::ports::SinkError;

/// What an agent is told that goes on after its turn was broken off.
const BROKEN_OFF: &str = "You were paused in the middle of your last turn: what you were saying and every call that had \
                          not ended was broken off. Go on with your task from there.";

/// What waits for the next turn, and whether there is to be one.
#[derive(Default)]
pub(super) struct Letters {
    waiting: Vec<Message>,
    /// Whether one of them is a reason to begin.
    wakes: bool,
    /// Whether the last work ended so that a letter may begin another one.
    pub(super) wakeable: bool,
    /// Whether no turn begins for now.
    held: bool,
    /// The turn that would have begun meanwhile.
    on_hold: Option<(Stamp, u32)>,
    /// Whether the turn before that was broken off.
    broken_off: bool,
}

impl Letters {
    pub(super) fn new() -> Self {
        Self { wakeable: true, ..Self::default() }
    }

    /// Whether something that waits is a reason to begin.
    pub(super) fn wake(&self) -> bool {
        self.wakes && self.wakeable
    }

    /// Keeps a turn from beginning, if none may.
    pub(super) fn hold(&mut self, stamp: Stamp, iteration: u32) -> bool {
        if self.held {
            self.on_hold = Some((stamp, iteration));
        }
        self.held
    }

    /// The work is stopped: the turn that was kept does not begin any more.
    pub(super) fn drop_hold(&mut self) {
        self.on_hold = None;
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

    /// No further turn begins until [`Agent::release`], and no more of the present one happens than `halt` says.
    pub(super) async fn hold(&mut self, halt: Halt) -> Result<(), SinkError> {
        self.letters.held = true;
        let breaks_off = match halt {
            Halt::AfterTurn => false,
            Halt::AfterCalls => self.streaming.is_some() || self.room.is_compacting(),
            Halt::AtOnce => self.machine.busy() && self.letters.on_hold.is_none(),
        };
        if !breaks_off {
            return Ok(());
        }
        self.letters.broken_off = true;
        self.on(Input::BreakOff).await
    }

    /// Goes on where it was held.
    pub(super) async fn release(&mut self) -> Result<(), SinkError> {
        self.letters.held = false;
        let broken_off = std::mem::take(&mut self.letters.broken_off);
        let Some((stamp, iteration)) = self.letters.on_hold.take() else { return Ok(()) };
        if broken_off {
            self.admit(Message::neco(BROKEN_OFF)).await?;
        }
        self.ask_model(stamp, iteration).await
    }

    /// Agents below this one used something, which counts for what it may use.
    pub(super) async fn note_others(&mut self, usage: Usage) -> Result<(), SinkError> {
        self.session_usage += usage;
        self.check_budget().await
    }

    /// Only these of its tools exist from the next turn on.
    pub(super) fn keep_tools(&mut self, names: Vec<String>) {
        self.tools = self.tools.filtered(move |tool| names.iter().any(|name| name == tool.name()));
        self.context.forget();
        self.tools_changed = self.machine.busy();
        if !self.tools_changed {
            self.scheduler.set_registry(self.generation.narrow(&self.tools));
        }
    }
}

//! What waits to be said to the model: messages of the person, and letters of other agents.

use std::collections::VecDeque;

use neco_proto::event::{Admission, MessageQueued};
use neco_proto::{Message, MessageId};

use super::inputs::InputError;
use super::reports::Reports;
use crate::ports::SinkError;

/// What waits to be said, and whether it is a reason to begin.
pub(super) struct Inbox {
    queued: VecDeque<(Admission, Message)>,
    letters: Vec<Message>,
    /// Whether one of the letters is a reason to begin.
    wakes: bool,
    /// Whether the last work ended so that a letter may begin another one.
    pub(super) wakeable: bool,
}

impl Inbox {
    pub(super) fn new(queued: Vec<(Admission, Message)>) -> Self {
        Self { queued: queued.into(), letters: Vec::new(), wakes: false, wakeable: true }
    }

    /// A message waits; the log knows.
    pub(super) async fn queue(
        &mut self,
        when: Admission,
        message: Message,
        reports: &Reports,
    ) -> Result<(), SinkError> {
        reports.queued(MessageQueued { when, message: message.clone() }).await?;
        self.queued.push_back((when, message));
        Ok(())
    }

    /// Messages that were taken wait again, before all others.
    pub(super) fn put_back(&mut self, messages: Vec<Message>) {
        for message in messages.into_iter().rev() {
            self.queued.push_front((Admission::TurnBoundary, message));
        }
    }

    /// All that waits is for the next turn.
    pub(super) fn hurry(&mut self) {
        self.queued.iter_mut().for_each(|(when, _)| *when = Admission::TurnBoundary);
    }

    /// Takes back those of the messages that still wait. One that is at the gate is being looked at, and stays.
    pub(super) async fn withdraw(&mut self, ids: &[MessageId], reports: &Reports) -> Result<(), InputError> {
        let (gone, stay): (VecDeque<_>, VecDeque<_>) =
            self.queued.drain(..).partition(|(_, message)| ids.contains(&message.id));
        self.queued = stay;
        if gone.is_empty() {
            return Err(InputError::Refused("the agent was given that already".to_owned()));
        }
        for (_, message) in gone {
            reports.queued(MessageQueued { when: Admission::Withdrawn, message }).await?;
        }
        Ok(())
    }

    /// What is for the next turn.
    pub(super) fn take_at_boundary(&mut self) -> Vec<Message> {
        let (now, later): (VecDeque<_>, VecDeque<_>) =
            self.queued.drain(..).partition(|(when, _)| *when == Admission::TurnBoundary);
        self.queued = later;
        now.into_iter().map(|(_, message)| message).collect()
    }

    pub(super) fn take_all(&mut self) -> Vec<Message> {
        self.queued.drain(..).map(|(_, message)| message).collect()
    }

    /// The message that waits longest.
    pub(super) fn take_first(&mut self) -> Option<Message> {
        self.queued.pop_front().map(|(_, message)| message)
    }

    /// A letter enters the conversation at the next turn; one that `wakes` is a reason for one.
    pub(super) fn hear_letter(&mut self, message: Message, wakes: bool, replaces: Option<MessageId>) {
        self.letters.retain(|older| Some(older.id) != replaces);
        self.letters.push(message);
        self.wakes |= wakes;
    }

    pub(super) fn take_letters(&mut self) -> Vec<Message> {
        self.wakes = false;
        std::mem::take(&mut self.letters)
    }

    /// Whether a letter that waits is a reason to begin.
    pub(super) fn wakes(&self) -> bool {
        self.wakes && self.wakeable
    }
}

//! What happened before the window opened, as the log tells it.

use neco_proto::{Event, EventBody};

use super::state::WindowState;
use crate::update::stopping;

impl WindowState {
    /// Takes in an event of before the window opened: what was asked then is known from how the session stands.
    pub fn past(&mut self, event: &Event) {
        if self.listed(event).is_some() {
            return;
        }
        if self.transcript.view.is_own(event) {
            self.transcript.past(event);
            self.note_middle(event);
            self.remember_answer(event);
        } else if counts_for_all(&event.body) {
            self.transcript.past(event);
        } else {
            self.transcript.view.note(event);
        }
    }

    /// Takes in an event of before the window opened whose place on the screen is taken already.
    pub fn past_unseen(&mut self, event: &Event) {
        self.transcript.view.note(event);
        if self.transcript.view.is_own(event) {
            self.note_middle(event);
            self.remember_answer(event);
        }
    }

    /// An event of before the window opened may begin or end something: what has no end can be gone on with.
    fn note_middle(&mut self, event: &Event) {
        match &event.body {
            EventBody::TurnStart(_) => self.left_in_middle = true,
            EventBody::AgentComplete(complete) => self.left_in_middle = stopping::can_go_on(complete.reason),
            // What was taken back is not gone on with.
            EventBody::Rewind(rewind) if rewind.conversation => self.left_in_middle = false,
            _ => {}
        }
    }
}

/// Whether something is seen whoever it happened to: how agents and workflows went on, and what everybody did that the
/// end of the work adds up.
fn counts_for_all(body: &EventBody) -> bool {
    matches!(
        body,
        EventBody::AgentUpdate(_)
            | EventBody::AgentMessage(_)
            | EventBody::WorkflowUpdate(_)
            | EventBody::ToolCallEnd(_)
            | EventBody::Usage(_)
            | EventBody::Checkpoint(_)
    )
}

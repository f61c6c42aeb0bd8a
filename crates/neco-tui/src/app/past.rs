//! What happened before the window opened, as the log tells it.

use neco_proto::{Event, EventBody};

use super::state::WindowState;
use crate::update::stopping;

/// As [`WindowState::past`] says.
pub(super) fn past(window: &mut WindowState, event: &Event) {
    if window.listed(event).is_some() {
        return;
    }
    if window.transcript.view.is_own(event) {
        window.transcript.past(event);
        note_middle(window, event);
        window.remember_answer(event);
    } else if counts_for_all(&event.body) {
        window.transcript.past(event);
    } else {
        window.transcript.view.note(event);
    }
}

/// As [`WindowState::past_unseen`] says.
pub(super) fn past_unseen(window: &mut WindowState, event: &Event) {
    window.transcript.view.note(event);
    if window.transcript.view.is_own(event) {
        note_middle(window, event);
        window.remember_answer(event);
    }
}

/// An event of before the window opened may begin or end something: what has no end can be gone on with.
fn note_middle(window: &mut WindowState, event: &Event) {
    match &event.body {
        EventBody::TurnStart(_) => window.left_in_middle = true,
        EventBody::AgentComplete(complete) => window.left_in_middle = stopping::can_go_on(complete.reason),
        // What was taken back is not gone on with.
        EventBody::Rewind(rewind) if rewind.conversation => window.left_in_middle = false,
        _ => {}
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

//! The key that goes to the next way to work, and the question that it answers.

use neco_proto::{ApprovalMode, Command, Mode};
use neco_view::ask::Means;

use super::asked;
use super::effect::Effect;
use crate::app::{Purpose, WindowState};
use crate::ask::Asked;

/// Asks first, then accepts edits, then plans; whoever is elsewhere begins at the first. What was sent just now may not
/// be in effect yet, and is what the next press goes on from.
pub(super) fn next(window: &mut WindowState) -> Vec<Effect> {
    let standing = (window.standing().mode, window.standing().approval);
    let present = window.person.mode_sent(window.now_ms).unwrap_or(standing);
    let (mode, approval) = match present {
        (Mode::Agent, ApprovalMode::AskFirst) => (Mode::Agent, ApprovalMode::AcceptEdits),
        (Mode::Agent, ApprovalMode::AcceptEdits) => (Mode::Plan, ApprovalMode::AskFirst),
        (Mode::Agent | Mode::Plan | Mode::Ask | Mode::Debug, _) => (Mode::Agent, ApprovalMode::AskFirst),
    };
    let yes = if approval == ApprovalMode::AcceptEdits { yes_to_edit(window) } else { None };
    window.person.sends_mode((mode, approval), window.now_ms);
    let mode = (mode != present.0).then_some(Command::SetMode { mode });
    let approval = (approval != present.1).then_some(Command::SetApproval { approval });
    let effects = yes.into_iter().chain(mode).chain(approval).map(Effect::Send).collect();
    asked::answers(window, effects)
}

/// Yes to the edit on the screen, where that offers to accept edits from now on: it would not be asked about any more.
/// What was not read yet stays, and so does what the person is just refusing.
fn yes_to_edit(window: &mut WindowState) -> Option<Command> {
    let question = window.asking()?;
    let is_read = window.facing.is_read(question, window.now_ms) && !window.desk.is_answered();
    if !is_read || window.purpose != Purpose::Message {
        return None;
    }
    let Some(Asked::Approval(approval)) = window.desk.present() else { return None };
    let is_offered = approval.for_session() == Means::AcceptEdits;
    is_offered.then(|| approval.asked.decide(approval.asked.yes()))
}

//! What a person is asked: whether a call may run, and what an agent wants to know.

use neco_proto::event::{PermissionDecision, PermissionRequest, QuestionAnswer};
use neco_proto::{AgentId, CallId, Event, Question, Reply, Subject};

use super::block::{Approval, Asked, BlockBody, BlockId};
use super::view::{Change, View};

pub(super) fn approval<'e>(view: &mut View, event: &Event, request: &PermissionRequest, own: bool) -> Vec<Change<'e>> {
    let agent_id = (!own).then_some(event.agent_id);
    let approval = Approval { agent_id, request: request.clone(), decision: None, open: true };
    view.add(BlockBody::Approval(Box::new(approval)))
}

pub(super) fn decided<'e>(view: &mut View, decided: &PermissionDecision) -> Vec<Change<'e>> {
    let found = view.last(|body| match body {
        BlockBody::Approval(approval) if approval.request.call_id == decided.call_id => Some(approval),
        _ => None,
    });
    let Some((id, approval)) = found else { return Vec::new() };
    (approval.decision, approval.open) = (Some(decided.decision.clone()), false);
    vec![Change::Changed(id)]
}

/// A person is asked something, by the root unless another agent is named.
pub(super) fn question(view: &mut View, agent_id: Option<AgentId>, question: &Question) -> BlockId {
    view.add(BlockBody::Question(Asked { agent_id, question: question.clone(), reply: None, open: true }));
    view.last_id
}

pub(super) fn answered<'e>(view: &mut View, answer: &QuestionAnswer) -> Vec<Change<'e>> {
    let found = view.last(|body| match body {
        BlockBody::Question(asked) if asked.question.question_id == answer.question_id => Some(asked),
        _ => None,
    });
    let Some((id, asked)) = found else { return Vec::new() };
    (asked.reply, asked.open) = (answer.reply.clone(), false);
    let left_open = is_unanswered(&asked.question.subject, asked.reply.as_ref());
    let call_id = asked.question.call_id.clone().filter(|_| left_open);
    if let Some((_, call)) = call_id.and_then(|call| view.call(&call)) {
        call.unanswered = true;
    }
    vec![Change::Changed(id)]
}

/// Whether the person left something without an answer that they were asked.
fn is_unanswered(subject: &Subject, reply: Option<&Reply>) -> bool {
    match (subject, reply) {
        (Subject::Choices { items }, Some(Reply::Choices { answers })) => answers.len() < items.len(),
        (Subject::Choices { .. }, Some(Reply::Dismiss)) => true,
        (Subject::Choices { .. } | Subject::Plan { .. } | Subject::Loop { .. }, _) => false,
    }
}

/// A call that was asked about ended otherwise than by a decision.
pub(super) fn close<'e>(view: &mut View, call: &CallId) -> Vec<Change<'e>> {
    let found = view.last(|body| match body {
        BlockBody::Approval(approval) if approval.request.call_id == *call && approval.open => Some(approval),
        _ => None,
    });
    let Some((id, approval)) = found else { return Vec::new() };
    approval.open = false;
    vec![Change::Changed(id)]
}

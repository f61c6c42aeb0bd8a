//! What a person says: messages that wait, that are read, and that are withdrawn.

use neco_proto::event::{Admission, HookOutcome, HookRun, MessageQueued};
use neco_proto::{Message, Part};

use super::block::{BlockBody, BlockId, Said};
use super::view::{Change, View};

pub(super) fn queued<'e>(view: &mut View, MessageQueued { when, message }: &MessageQueued) -> Vec<Change<'e>> {
    match waiting(view, message) {
        Some((id, said)) => {
            said.waits = Some(*when);
            vec![Change::Changed(id)]
        }
        // What Neco says in the person's place is for the model.
        None if message.is_neco() => Vec::new(),
        None => view.add(BlockBody::Message(Said { waits: Some(*when), ..said(message) })),
    }
}

/// What Neco or a hook says in the person's place is for the model.
pub(super) fn admitted<'e>(view: &mut View, message: &Message) -> Vec<Change<'e>> {
    let seq = view.at.0;
    match waiting(view, message) {
        Some((id, said)) => {
            (said.waits, said.read) = (None, Some(seq));
            vec![Change::Changed(id)]
        }
        None if message.is_neco() => Vec::new(),
        None => [view.end_words(), view.add(BlockBody::Message(said(message)))].concat(),
    }
}

/// A message that a hook blocked is never read.
pub(super) fn blocked(view: &mut View, run: &HookRun) {
    let waits = view.last(|body| match body {
        BlockBody::Message(said) if Some(said.message_id) == run.message_id => said.waits.as_mut(),
        _ => None,
    });
    if let (Some((_, waits)), HookOutcome::Blocked | HookOutcome::Stopped) = (waits, run.outcome) {
        *waits = Admission::Withdrawn;
    }
}

fn waiting<'v>(view: &'v mut View, message: &Message) -> Option<(BlockId, &'v mut Said)> {
    view.last(|body| match body {
        BlockBody::Message(said) if said.message_id == message.id => Some(said),
        _ => None,
    })
}

fn said(message: &Message) -> Said {
    let pictures = message.parts.iter().filter(|part| matches!(part, Part::Image { .. })).count();
    Said { message_id: message.id, text: message.text(), pictures, waits: None, read: None }
}

//! What was said and waits for its turn is taken back: into the field, to be changed, said later, or dropped.

use neco_proto::event::Admission;
use neco_proto::{Attachment, Command, Event, EventBody, Message, MessageId, Part};

use super::effect::Effect;
use crate::app::WindowState;

/// Takes back everything that waits.
pub(super) fn take_back_all(window: &mut WindowState) -> Option<Effect> {
    let ids = window.transcript.waiting().map(|waiting| waiting.message_id).collect();
    take_back(window, ids)
}

/// Takes back what was said last, of what waits.
pub(super) fn take_back_last(window: &mut WindowState) -> Option<Effect> {
    let last = window.transcript.waiting().next_back()?.message_id;
    take_back(window, vec![last])
}

fn take_back(window: &mut WindowState, mut message_ids: Vec<MessageId>) -> Option<Effect> {
    message_ids.retain(|id| !window.coming_back.asked.contains(id));
    if message_ids.is_empty() {
        return None;
    }
    window.coming_back.asked.extend(&message_ids);
    Some(Effect::Send(Command::Withdraw { message_ids }))
}

/// An event may tell what became of a message that is to come back: it came, or the agent was given it before.
pub(crate) fn comes_back(window: &mut WindowState, event: &Event) {
    let (id, message) = match &event.body {
        EventBody::MessageQueued(queued) if queued.when == Admission::Withdrawn => {
            (queued.message.id, Some(&queued.message))
        }
        EventBody::Message(message) => (message.id, None),
        _ => return,
    };
    if window.coming_back.asked.contains(&id) {
        window.coming_back.came.extend(message.cloned());
        settle_coming_back(window, &[id]);
    }
}

/// These are not waited for any more; once none is, those that came stand in the field.
pub(super) fn settle_coming_back(window: &mut WindowState, ids: &[MessageId]) {
    window.coming_back.asked.retain(|asked| !ids.contains(asked));
    if window.coming_back.asked.is_empty() {
        let came = std::mem::take(&mut window.coming_back.came);
        put_back(window, &came);
    }
}

fn put_back(window: &mut WindowState, messages: &[Message]) {
    if messages.is_empty() {
        return;
    }
    let mut texts = Vec::new();
    let mut pictures = Vec::new();
    for message in messages {
        texts.push(window.shell.keep_what_ran(&message.text()));
        pictures.extend(message.parts.iter().filter_map(picture));
    }
    window.prompt.restore(&texts.join("\n"), pictures);
}

fn picture(part: &Part) -> Option<Attachment> {
    match part {
        Part::Image { media_type, data } => {
            Some(Attachment::Image { media_type: media_type.clone(), data: data.clone() })
        }
        Part::Text { .. } | Part::Reasoning { .. } | Part::ToolCall(_) | Part::ToolResult(_) => None,
    }
}

//! What was said and waits for its turn is taken back: into the field, to be changed, said later, or dropped.

use neco_proto::event::Admission;
use neco_proto::{Attachment, Command, Event, EventBody, Message, MessageId, Part};

use super::effect::Effect;
use crate::app::WindowState;

/// Messages that are being taken back.
#[derive(Debug, Default)]
pub struct ComingBack {
    /// Those that the session was asked for.
    asked: Vec<MessageId>,
    /// Those that it gave back.
    came: Vec<Message>,
    /// The field as they stood in it, where it held nothing else.
    stood: Option<String>,
}

impl ComingBack {
    fn ask(&mut self, mut message_ids: Vec<MessageId>) -> Option<Effect> {
        message_ids.retain(|id| !self.asked.contains(id));
        if message_ids.is_empty() {
            return None;
        }
        self.asked.extend(&message_ids);
        Some(Effect::Send(Command::Withdraw { message_ids }))
    }

    /// These are not waited for any more; once none is, gives those that came.
    fn settle(&mut self, ids: &[MessageId]) -> Vec<Message> {
        self.asked.retain(|asked| !ids.contains(asked));
        if self.asked.is_empty() { std::mem::take(&mut self.came) } else { Vec::new() }
    }

    /// An event may tell what became of a message that is to come back: it came, or the agent was given it before.
    fn apply(&mut self, event: &Event) -> Vec<Message> {
        let (id, message) = match &event.body {
            EventBody::MessageQueued(queued) if queued.when == Admission::Withdrawn => {
                (queued.message.id, Some(&queued.message))
            }
            EventBody::Message(message) => (message.id, None),
            _ => return Vec::new(),
        };
        if !self.asked.contains(&id) {
            return Vec::new();
        }
        self.came.extend(message.cloned());
        self.settle(&[id])
    }
}

/// Takes back everything that waits.
pub(super) fn take_back_all(window: &mut WindowState) -> Option<Effect> {
    window.coming_back.ask(window.transcript.waiting().map(|waiting| waiting.message_id).collect())
}

/// Takes back what was said last, of what waits.
pub(super) fn take_back_last(window: &mut WindowState) -> Option<Effect> {
    window.coming_back.ask(vec![window.transcript.waiting().next_back()?.message_id])
}

/// Messages that came back stand in the field once no other is waited for.
pub(crate) fn comes_back(window: &mut WindowState, event: &Event) {
    let came = window.coming_back.apply(event);
    put_back(window, &came);
}

/// These will not come back: the agent was given them before.
pub(super) fn settle_coming_back(window: &mut WindowState, ids: &[MessageId]) {
    let came = window.coming_back.settle(ids);
    put_back(window, &came);
}

fn put_back(window: &mut WindowState, messages: &[Message]) {
    if messages.is_empty() {
        return;
    }
    let texts: Vec<String> = messages.iter().map(|message| window.shell.keep_what_ran(&message.text())).collect();
    let pictures = messages.iter().flat_map(|message| &message.parts).filter_map(picture).collect();
    let was_empty = window.prompt.text.is_empty();
    if window.prompt.has_put_away() && window.prompt.is_free() {
        // What was begun and put away follows what comes back: ↑ would go through that first.
        window.prompt.up();
    }
    window.prompt.restore(&texts.join("\n"), pictures);
    window.coming_back.stood = was_empty.then(|| window.prompt.text.as_str().to_owned());
}

/// Whether the field holds what came back and nothing that was written since.
pub(super) fn is_as_it_came_back(window: &WindowState) -> bool {
    window.coming_back.stood.as_deref() == Some(window.prompt.text.as_str())
}

fn picture(part: &Part) -> Option<Attachment> {
    match part {
        Part::Image { media_type, data } => {
            Some(Attachment::Image { media_type: media_type.clone(), data: data.clone() })
        }
        Part::Text { .. } | Part::Reasoning { .. } | Part::ToolCall(_) | Part::ToolResult(_) => None,
    }
}

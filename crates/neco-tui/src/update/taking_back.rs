//! What was said and waits for its turn is taken back: into the field, to be changed, said later, or dropped.

use neco_proto::event::Admission;
use neco_proto::{Attachment, Command, Event, EventBody, Message, MessageId, Part};

use super::effect::Effect;
use crate::app::WindowState;

impl WindowState {
    /// Takes back everything that waits.
    pub(super) fn take_back_all(&mut self) -> Option<Effect> {
        let ids = self.transcript.waiting().map(|waiting| waiting.message_id).collect();
        self.take_back(ids)
    }

    /// Takes back what was said last, of what waits.
    pub(super) fn take_back_last(&mut self) -> Option<Effect> {
        let last = self.transcript.waiting().next_back()?.message_id;
        self.take_back(vec![last])
    }

    fn take_back(&mut self, mut message_ids: Vec<MessageId>) -> Option<Effect> {
        message_ids.retain(|id| !self.coming_back.asked.contains(id));
        if message_ids.is_empty() {
            return None;
        }
        self.coming_back.asked.extend(&message_ids);
        Some(Effect::Send(Command::Withdraw { message_ids }))
    }

    /// An event may tell what became of a message that is to come back: it came, or the agent was given it before.
    pub(crate) fn comes_back(&mut self, event: &Event) {
        let (id, message) = match &event.body {
            EventBody::MessageQueued(queued) if queued.when == Admission::Withdrawn => {
                (queued.message.id, Some(&queued.message))
            }
            EventBody::Message(message) => (message.id, None),
            _ => return,
        };
        if self.coming_back.asked.contains(&id) {
            self.coming_back.came.extend(message.cloned());
            self.settle_coming_back(&[id]);
        }
    }

    /// These are not waited for any more; once none is, those that came stand in the field.
    pub(super) fn settle_coming_back(&mut self, ids: &[MessageId]) {
        self.coming_back.asked.retain(|asked| !ids.contains(asked));
        if self.coming_back.asked.is_empty() {
            let came = std::mem::take(&mut self.coming_back.came);
            self.put_back(&came);
        }
    }

    fn put_back(&mut self, messages: &[Message]) {
        if messages.is_empty() {
            return;
        }
        let mut texts = Vec::new();
        let mut pictures = Vec::new();
        for message in messages {
            texts.push(self.keep_what_ran(&message.text()));
            pictures.extend(message.parts.iter().filter_map(picture));
        }
        self.prompt.restore(&texts.join("\n"), pictures);
    }

    /// What was written of a message; what the person ran goes along with whatever they say next.
    pub(super) fn keep_what_ran(&mut self, text: &str) -> String {
        let (written, ran) = text.split_once(Message::RAN).unwrap_or((text, ""));
        self.ran.extend((!ran.is_empty()).then(|| ran.to_owned()));
        written.to_owned()
    }
}

fn picture(part: &Part) -> Option<Attachment> {
    match part {
        Part::Image { media_type, data } => {
            Some(Attachment::Image { media_type: media_type.clone(), data: data.clone() })
        }
        Part::Text { .. } | Part::Reasoning { .. } | Part::ToolCall(_) | Part::ToolResult(_) => None,
    }
}

//! A session read from its log: its blocks one by one, each when it can't change any more.

use std::collections::HashMap;
use std::mem::discriminant;

use neco_proto::event::{CallStatus, StreamChunk, ToolCallUpdate};
use neco_proto::{AgentId, CallId, Decision, Event, EventBody, Message, Part, Role};

use super::block::{Block, BlockBody};
use super::view::View;

/// Reads the log of a session, or what one agent did in it.
///
/// What the model said is taken from its whole messages rather than from the pieces that they came in, so that whoever takes
/// something out of the events beforehand has seen it whole.
#[derive(Debug, Default)]
pub struct Reader {
    view: Option<View>,
    /// Words and thoughts that have not become a message: of each the first piece, with what came after it.
    partial: Vec<Event>,
    decisions: HashMap<CallId, Decision>,
}

/// A block, and what else is known of it where that is read.
#[derive(Debug)]
pub struct Seen<'e> {
    /// The block.
    pub block: Block,
    /// What a person decided about a call.
    pub decision: Option<Decision>,
    /// The end of what a call printed while it ran.
    pub printed: String,
    /// The message that it is of.
    pub message: Option<&'e Message>,
}

impl Reader {
    /// Reads what an agent below the root did.
    pub fn of(agent: AgentId) -> Self {
        Self { view: Some(View::of(agent)), ..Self::default() }
    }

    /// Takes in the next event; gives the blocks that are over with it.
    pub fn read<'e>(&mut self, event: &'e Event) -> Vec<Seen<'e>> {
        let view = self.view.get_or_insert_with(|| View::of(event.agent_id));
        let own = view.is_own(event);
        let (mut message, mut printed) = (None, String::new());
        match &event.body {
            EventBody::StreamChunk(chunk) | EventBody::ReasoningChunk(chunk) if own => {
                let is_same = |last: &&mut Event| discriminant(&last.body) == discriminant(&event.body);
                match self.partial.last_mut().filter(is_same).map(|last| &mut last.body) {
                    Some(EventBody::StreamChunk(before) | EventBody::ReasoningChunk(before)) => {
                        before.text.push_str(&chunk.text);
                    }
                    _ => self.partial.push(event.clone()),
                }
                return Vec::new();
            }
            // How a call ends is told by its end, which may have come already.
            EventBody::ToolCallUpdate(ToolCallUpdate {
                status: CallStatus::Success | CallStatus::Error | CallStatus::Cancelled,
                ..
            })
            | EventBody::StreamChunk(_)
            | EventBody::ReasoningChunk(_)
            | EventBody::StreamToolCallStart(_)
            | EventBody::StreamToolCallDelta(_)
            | EventBody::MessageQueued(_) => return Vec::new(),
            EventBody::TurnStart(_) if own => self.partial.clear(),
            EventBody::ModelRetry(retry) if own && retry.discards => self.partial.clear(),
            EventBody::ModelSwitch(switch) if own && switch.discards => self.partial.clear(),
            EventBody::PermissionDecision(decided) => {
                self.decisions.insert(decided.call_id.clone(), decided.decision.clone());
            }
            EventBody::ToolCallEnd(end) => {
                printed =
                    view.call(&end.call_id).map(|(_, call)| std::mem::take(&mut call.printed)).unwrap_or_default();
            }
            EventBody::Message(said) if own => {
                message = Some(said);
                if said.role == Role::Assistant {
                    self.partial.clear();
                    pieces(said).for_each(|body| drop(view.apply(&with_body(event, body))));
                }
            }
            // The view knows what to make of the rest.
            _ => {}
        }
        view.apply(event);
        let over = view.take_over();
        over.into_iter().map(|block| self.seen(block, message, &mut printed)).collect()
    }

    /// What never ended: the session runs elsewhere, or was killed.
    pub fn rest(&mut self) -> Vec<Seen<'static>> {
        let Some(view) = self.take_view() else { return Vec::new() };
        view.blocks.into_iter().map(|block| self.seen(block, None, &mut String::new())).collect()
    }

    /// The view of what was read, with whatever did not end there: whoever follows the session goes on from it.
    pub fn into_view(mut self) -> View {
        self.take_view().unwrap_or_default()
    }

    /// The view of what was read, but for words that have not become a message.
    pub fn view(&self) -> Option<&View> {
        self.view.as_ref()
    }

    fn take_view(&mut self) -> Option<View> {
        let mut view = self.view.take()?;
        self.partial.drain(..).for_each(|partial| drop(view.apply(&partial)));
        Some(view)
    }

    fn seen<'e>(&mut self, block: Block, message: Option<&'e Message>, printed: &mut String) -> Seen<'e> {
        let (decision, printed) = match &block.body {
            BlockBody::Call(call) if call.end.is_some() => {
                (self.decisions.remove(&call.call_id), std::mem::take(printed))
            }
            BlockBody::Call(call) => (self.decisions.remove(&call.call_id), call.printed.clone()),
            _ => (None, String::new()),
        };
        Seen { block, decision, printed, message }
    }
}

/// What a whole message says, as the pieces that it could have come in.
fn pieces(message: &Message) -> impl Iterator<Item = EventBody> {
    message.parts.iter().filter_map(|part| match part {
        Part::Text { text } if !text.trim().is_empty() => {
            Some(EventBody::StreamChunk(StreamChunk { text: text.clone() }))
        }
        Part::Reasoning { text, .. } if !text.trim().is_empty() => {
            Some(EventBody::ReasoningChunk(StreamChunk { text: text.clone() }))
        }
        Part::Text { .. } | Part::Reasoning { .. } | Part::Image { .. } | Part::ToolCall(_) | Part::ToolResult(_) => {
            None
        }
    })
}

fn with_body(event: &Event, body: EventBody) -> Event {
    let Event { seq, ts, session_id, agent_id, turn_id, .. } = *event;
    Event::new(seq, ts, session_id, agent_id, turn_id, body)
}

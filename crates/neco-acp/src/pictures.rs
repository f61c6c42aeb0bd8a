//! Pictures that calls gave. They come in messages behind the calls of a turn, and are shown with the calls.

use agent_client_protocol::v1::schema as acp;
use neco_proto::event::ToolCallEnd;
use neco_proto::{AgentId, Event, EventBody, ResultPart, Role};

use crate::updates::picture;

/// The calls that gave pictures which have not come yet.
#[derive(Default)]
pub(crate) struct CallPictures(Vec<Pictured>);

/// A call that gave a picture.
struct Pictured {
    agent: AgentId,
    call: acp::ToolCallId,
    /// Where its pictures are from, each in brackets.
    says: String,
    /// What is shown of it already.
    shown: Vec<acp::ToolCallContent>,
}

impl CallPictures {
    /// A call of an agent ended, of which this is told.
    pub fn ended(&mut self, agent: AgentId, end: &ToolCallEnd, fields: &acp::ToolCallUpdateFields) {
        let gave = end.parts.iter().filter_map(|part| match part {
            ResultPart::Picture { source, .. } => Some(format!("({source})")),
            ResultPart::Link { .. } | ResultPart::Resource { .. } | ResultPart::Data { .. } => None,
        });
        let told = end.output.contains("The picture (").then(|| end.output.clone());
        let says: String = gave.chain(told).collect();
        if !says.is_empty() {
            let (call, shown) = (acp::ToolCallId::new(end.call_id.as_str()), fields.content.clone());
            self.0.push(Pictured { agent, call, says, shown: shown.unwrap_or_default() });
        }
    }

    /// An event came, perhaps with a picture of a call.
    pub fn read(&mut self, event: &Event) -> Option<acp::SessionUpdate> {
        let EventBody::Message(message) = &event.body else { return None };
        // Those that did not come until then, the model does not see.
        if message.role == Role::Assistant {
            self.0.retain(|pictured| pictured.agent != event.agent_id);
            return None;
        }
        let shown = message.is_neco().then(|| message.parts.iter().find_map(picture)).flatten()?;
        let text = message.text();
        let (_, source) = text.strip_suffix(':')?.split_once("The picture ")?;
        let source = format!("({source})");
        let is_it = |pictured: &&mut Pictured| pictured.agent == event.agent_id && pictured.says.contains(&source);
        let pictured = self.0.iter_mut().find(is_it)?;
        // The next one that is from there is of the next call.
        pictured.says = pictured.says.replacen(&source, "", 1);
        pictured.shown.push(acp::ToolCallContent::Content(acp::Content::new(shown)));
        let fields = acp::ToolCallUpdateFields::new().content(pictured.shown.clone());
        Some(acp::SessionUpdate::ToolCallUpdate(acp::ToolCallUpdate::new(pictured.call.clone(), fields)))
    }
}

//! What a person said in a session, counted.

use neco_proto::rewinds::Rewinds;
use neco_proto::{AgentId, Event, EventBody, Role, Seq};

/// What a few events that are appended change of what is known of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    /// How many messages of the person come in addition; `None` when all have to be counted again.
    pub(crate) messages: Option<u64>,
    /// Whether they open it for single requests alone, if they open it at all.
    pub(crate) is_single: bool,
}

impl Change {
    /// The change that `events` make, with messages of the person to any agent among them.
    pub(crate) fn of(events: &[Event]) -> Self {
        let goes_back = |event: &Event| matches!(&event.body, EventBody::Rewind(rewind) if rewind.conversation);
        let opens = |event: &Event| matches!(&event.body, EventBody::SessionStart(start) if !start.single);
        let messages = events.iter().filter(|event| is_said(event)).count() as u64;
        Self { messages: (!events.iter().any(goes_back)).then_some(messages), is_single: !events.iter().any(opens) }
    }

    /// The same, knowing the agent that the person talks to.
    pub(crate) fn told_to(self, root: AgentId, events: &[Event]) -> Self {
        let said = events.iter().filter(|event| event.agent_id == root && is_said(event)).count() as u64;
        Self { messages: self.messages.map(|_| said), ..self }
    }

    /// This one and the one after it.
    pub(crate) fn and(self, next: Self) -> Self {
        let messages = self.messages.zip(next.messages).map(|(one, other)| one + other);
        Self { messages, is_single: self.is_single && next.is_single }
    }
}

/// How many messages of the person count in a log, of which at least the first event, all messages and all rewinds are
/// given. The agent of the first event is the one that the person talks to.
pub(crate) fn messages_in<'a>(events: impl IntoIterator<Item = &'a Event>) -> u64 {
    let (mut said, mut rewinds, mut root) = (Vec::<Seq>::new(), Rewinds::default(), None);
    for event in events {
        let root = *root.get_or_insert(event.agent_id);
        rewinds.note(event);
        if event.agent_id == root && is_said(event) {
            said.push(event.seq);
        }
    }
    let effective = rewinds.effective(Seq::MAX);
    said.iter().filter(|seq| effective.counts(**seq)).count() as u64
}

fn is_said(event: &Event) -> bool {
    matches!(&event.body, EventBody::Message(message) if message.role == Role::User && !message.is_neco())
}

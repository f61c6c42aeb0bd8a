//! Whether a session was stopped in the middle of its work.

use neco_proto::{AgentId, Event, EventBody, Role};
use neco_store::{EventLog, SessionRecord};

/// Events that are read at a time, from the end of a log back.
const PAGE: u64 = 64;

/// And how often: what other agents do while the root waits for them says nothing about its own work.
const MOST_PAGES: u64 = 32;

/// How a session stands, seen from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// A process has it open.
    Open,
    /// It was stopped in the middle of its work.
    Stopped,
    /// Nobody waits for anything.
    AtRest,
}

/// Whether a session that nobody has open was stopped in the middle of its work, by the end of its log; `None`
/// when that can't be told.
pub(super) async fn is_unfinished(log: &dyn EventLog, record: &SessionRecord) -> Option<bool> {
    let root = log.read(record.id, 0, 1).await.ok()?.first()?.agent_id;
    let mut end = record.events;
    for _ in 0..MOST_PAGES {
        let since = end.saturating_sub(PAGE);
        let count = usize::try_from(end - since).unwrap_or_default();
        let page = log.read(record.id, since, count).await.ok()?;
        if let Some(is_unfinished) = verdict(&page, root) {
            return Some(is_unfinished);
        }
        end = since;
        if end == 0 {
            break;
        }
    }
    Some(false)
}

/// Whether something was asked of an agent and its work on it has no end; `None` where these events do not say.
fn verdict(events: &[Event], agent: AgentId) -> Option<bool> {
    events.iter().rev().filter(|event| event.agent_id == agent).find_map(|event| match &event.body {
        EventBody::AgentComplete(_) | EventBody::SessionStart(_) | EventBody::Rewind(_) => Some(false),
        EventBody::TurnStart(_) | EventBody::ToolCallUpdate(_) | EventBody::ToolCallEnd(_) => Some(true),
        EventBody::StreamChunk(_) | EventBody::ReasoningChunk(_) | EventBody::ToolOutputChunk(_) => Some(true),
        EventBody::Message(message) if message.role == Role::User && message.is_neco() => None,
        EventBody::Message(_) => Some(true),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use neco_proto::event::{Notification, NotificationLevel, StreamChunk, TurnStart};
    use neco_proto::{Message, SessionId};

    use super::*;

    #[test]
    fn a_log_without_an_end_is_unfinished() {
        let (session_id, agent_id) = (SessionId::new(), AgentId::new());
        let events = |bodies: Vec<EventBody>| -> Vec<Event> {
            let event = |(seq, body)| Event::new(seq, Timestamp::UNIX_EPOCH, session_id, agent_id, None, body);
            (1..).zip(bodies).map(event).collect()
        };
        let turn = || EventBody::TurnStart(TurnStart { iteration: 1, model: String::new() });
        let chunk = || EventBody::StreamChunk(StreamChunk { text: "a".to_owned() });
        let told = || EventBody::Notification(Notification::new(NotificationLevel::Info, String::new()));
        let unfinished = |events: &[Event]| verdict(events, agent_id);
        assert_eq!(unfinished(&[]), None);
        assert_eq!(unfinished(&events(vec![EventBody::Message(Message::user("x")), told()])), Some(true));
        assert_eq!(unfinished(&events(vec![turn(), chunk()])), Some(true));
        assert_eq!(unfinished(&events(vec![told(), EventBody::Message(Message::neco("by the way"))])), None);
        let mut of_a_child = events(vec![turn(), chunk()]);
        of_a_child.iter_mut().for_each(|event| event.agent_id = AgentId::new());
        assert_eq!(unfinished(&of_a_child), None, "what a child does says nothing of the root");
    }
}

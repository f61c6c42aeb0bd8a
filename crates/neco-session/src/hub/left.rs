//! What a new session says of the one before it that was stopped in the middle of its work.

use neco_proto::event::{Notification, NotificationLevel};
use neco_proto::{Event, EventBody, Role};
use neco_store::{SessionLock, SessionRecord};

use super::hub::Hub;

/// Events at the end of a log that say whether the work was done.
const TAIL: u64 = 64;

impl Hub {
    /// That the last session of the folder was stopped in the middle of its work, if it was: it is offered
    /// once, as afterwards the new session is the last one. What can't be read is not spoken of.
    pub(super) async fn stopped_before(&self, record: &SessionRecord) -> Option<EventBody> {
        let last = self.setup.catalog.list(Some(&record.cwd), 2).await.ok()?;
        let last = last.into_iter().find(|other| other.id != record.id)?;
        let since = last.events.saturating_sub(TAIL);
        let tail = self.setup.log.read(last.id, since, TAIL as usize).await.ok()?;
        // One that is at work in another process was not stopped.
        if !is_unfinished(&tail) || SessionLock::acquire(&self.locks(), last.id).is_err() {
            return None;
        }
        let id = last.id.to_string();
        let short = id.get(..18).unwrap_or(&id);
        let text = format!(
            "session {short} was stopped here in the middle of its work; go on with it: neco session resume {short}"
        );
        Some(EventBody::Notification(Notification { level: NotificationLevel::Info, text }))
    }
}

/// Whether something was asked and the work on it has no end.
fn is_unfinished(tail: &[Event]) -> bool {
    let last = tail.iter().rev().find_map(|event| match &event.body {
        EventBody::AgentComplete(_) | EventBody::SessionStart(_) | EventBody::Rewind(_) => Some(false),
        EventBody::TurnStart(_) | EventBody::ToolCallUpdate(_) | EventBody::ToolCallEnd(_) => Some(true),
        EventBody::StreamChunk(_) | EventBody::ReasoningChunk(_) | EventBody::ToolOutputChunk(_) => Some(true),
        EventBody::Message(message) if message.role == Role::User && message.is_neco() => None,
        EventBody::Message(_) => Some(true),
        _ => None,
    });
    last.unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use neco_proto::event::{StreamChunk, TurnStart};
    use neco_proto::{AgentId, Message, SessionId};

    use super::*;

    #[test]
    fn a_log_without_an_end_is_unfinished() {
        let (session_id, agent_id) = (SessionId::new(), AgentId::new());
        let events = |bodies: Vec<EventBody>| -> Vec<Event> {
            let event =
                |(seq, body)| Event { seq, ts: Timestamp::UNIX_EPOCH, session_id, agent_id, turn_id: None, body };
            (1..).zip(bodies).map(event).collect()
        };
        let turn = || EventBody::TurnStart(TurnStart { iteration: 1, model: String::new() });
        let chunk = || EventBody::StreamChunk(StreamChunk { text: "a".to_owned() });
        let told = || EventBody::Notification(Notification { level: NotificationLevel::Info, text: String::new() });
        assert!(!is_unfinished(&[]));
        assert!(is_unfinished(&events(vec![EventBody::Message(Message::user("x")), told()])));
        assert!(is_unfinished(&events(vec![turn(), chunk()])));
        assert!(!is_unfinished(&events(vec![told(), EventBody::Message(Message::neco("by the way"))])));
    }
}

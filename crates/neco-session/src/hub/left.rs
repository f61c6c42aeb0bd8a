//! What a new session says of the one before it that was stopped in the middle of its work.

use std::path::Path;

use neco_proto::event::{Notification, NotificationLevel};
use neco_proto::{AgentId, Event, EventBody, Role};
use neco_store::SessionRecord;

use super::hub::Hub;

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

impl Hub {
    /// That the last session of the folder was stopped in the middle of its work, if it was: it is offered
    /// once, as afterwards the new session is the last one. What can't be read is not spoken of.
    pub(super) async fn stopped_before(&self, record: &SessionRecord) -> Option<EventBody> {
        let last = self.setup.catalog.list(Some(&record.cwd), 2).await.ok()?;
        let last = last.into_iter().find(|other| other.id != record.id)?;
        if !self.is_unfinished(&last).await? {
            return None;
        }
        // One that is at work in another process was not stopped.
        if self.setup.log.is_leased(last.id).await {
            return None;
        }
        let id = last.id.to_string();
        let short = id.get(..18).unwrap_or(&id);
        let text = format!(
            "session {short} was stopped here in the middle of its work; go on with it: /resume {short} in a window, \
             neco session resume {short} in a shell"
        );
        Some(EventBody::Notification(Notification::new(NotificationLevel::Info, text)))
    }

    /// That going back was cut short in the folder, if it was: nobody should work on the half of it unknowingly.
    pub(super) async fn cut_short(&self, record: &SessionRecord) -> Option<EventBody> {
        let checkpoints = self.checkpoints(Path::new(&record.cwd)).await?;
        let looked = tokio::task::spawn_blocking(move || {
            let notice = checkpoints.cut_short();
            notice.inspect(|_| checkpoints.told())
        });
        let text = looked.await.ok()??;
        Some(EventBody::Notification(Notification::new(NotificationLevel::Warning, text)))
    }

    /// How sessions stand, in their order: those that a process has open, and those that were stopped at work.
    pub async fn stages(&self, records: &[SessionRecord]) -> Vec<Stage> {
        let mut stages = Vec::with_capacity(records.len());
        for record in records {
            stages.push(if self.setup.log.is_leased(record.id).await {
                Stage::Open
            } else if self.is_unfinished(record).await == Some(true) {
                Stage::Stopped
            } else {
                Stage::AtRest
            });
        }
        stages
    }

    /// Whether a session that nobody has open was stopped in the middle of its work, by the end of its log; `None`
    /// when that can't be told.
    pub async fn is_unfinished(&self, record: &SessionRecord) -> Option<bool> {
        let root = self.setup.log.read(record.id, 0, 1).await.ok()?.first()?.agent_id;
        let mut end = record.events;
        for _ in 0..MOST_PAGES {
            let since = end.saturating_sub(PAGE);
            let count = usize::try_from(end - since).unwrap_or_default();
            let page = self.setup.log.read(record.id, since, count).await.ok()?;
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
    use neco_proto::event::{StreamChunk, TurnStart};
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

//! Mending what a crash left: every call gets a result, shown text becomes a message.

use neco_proto::event::{CallStatus, Notification, NotificationLevel, ToolCallEnd};
use neco_proto::{ErrorCode, EventBody, Message, Part, Role};

use crate::fold::{Fold, OpenCall};

/// The events that make a log whole again; none when the session ended properly.
#[must_use]
pub fn mend(fold: &Fold) -> Vec<EventBody> {
    let mut events = Vec::new();
    if !fold.partial.trim().is_empty() {
        events.push(EventBody::Message(Message {
            model: Some(fold.standing.model.clone()),
            ..Message::new(Role::Assistant, vec![Part::Text { text: fold.partial.clone() }])
        }));
    }
    events.extend(fold.open.iter().map(interrupted));
    if fold.working {
        events.push(EventBody::Notification(Notification {
            level: NotificationLevel::Warning,
            text: notice(&fold.open),
        }));
    }
    events
}

fn notice(open: &[OpenCall]) -> String {
    let unknown: Vec<&str> = open.iter().filter(|call| call.started).map(|call| call.name.as_str()).collect();
    let mut text = "Neco was stopped in the middle of its last turn".to_owned();
    if !unknown.is_empty() {
        text.push_str(&format!("; whether these calls took effect is not known: {}", unknown.join(", ")));
    }
    text
}

fn interrupted(call: &OpenCall) -> EventBody {
    let output = if call.started {
        "Interrupted: Neco was stopped while this call ran. Whether it took effect is not known; look before you \
         repeat it."
    } else {
        "Interrupted: Neco was stopped before this call ran. It did not run."
    };
    EventBody::ToolCallEnd(ToolCallEnd {
        call_id: call.id.clone(),
        tool: call.name.clone(),
        summary: call.name.clone(),
        status: CallStatus::Cancelled,
        output: output.to_owned(),
        error_code: Some(ErrorCode::ToolFailed),
        duration_ms: 0,
        display: None,
        spilled_to: None,
    })
}

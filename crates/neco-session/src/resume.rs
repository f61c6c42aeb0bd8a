//! Mending what a crash left: every call gets a result, shown text becomes a message.

use neco_proto::event::{CallStatus, Notification, NotificationLevel, ToolCallEnd};
use neco_proto::{ErrorCode, EventBody, Message, Part, Role};

use neco_safety::untrusted::wrap;

use crate::fold::{Fold, OpenCall};

/// The events that make a log whole again; none when the session ended properly. A fork that `begins` there was not
/// stopped: the session that it comes from went on without it.
#[must_use]
pub fn mend(fold: &Fold, begins: bool) -> Vec<EventBody> {
    let mut events = Vec::new();
    if !fold.partial.trim().is_empty() {
        events.push(EventBody::Message(Message {
            model: Some(fold.standing.model.clone()),
            ..Message::new(Role::Assistant, vec![Part::Text { text: fold.partial.clone() }])
        }));
    }
    events.extend(fold.open.iter().map(|call| interrupted(call, begins)));
    if fold.working {
        events.push(EventBody::Notification(Notification {
            level: NotificationLevel::Warning,
            text: notice(&fold.open, begins),
        }));
    }
    events
}

fn notice(open: &[OpenCall], begins: bool) -> String {
    let unknown = open.iter().filter(|call| call.started && call.ended.is_none());
    let unknown: Vec<&str> = unknown.map(OpenCall::shown).collect();
    if begins {
        return "the fork begins in the middle of a turn, which the session that it comes from goes on with".to_owned();
    }
    let mut text = "Neco was stopped in the middle of its last turn".to_owned();
    if !unknown.is_empty() {
        text.push_str(&format!("; whether these calls took effect is not known: {}", unknown.join(", ")));
    }
    text
}

fn interrupted(call: &OpenCall, begins: bool) -> EventBody {
    let words = match (call.ended, call.started) {
        _ if begins => {
            "This conversation was forked before the call had a result. It goes on in the other one; look before you \
             repeat it."
        }
        (Some(CallStatus::Success), _) => {
            "Neco was stopped after this call had run and succeeded, while hooks looked at it. It took effect; only \
             its result is lost."
        }
        (Some(_), _) => {
            "Neco was stopped after this call had run and failed, while hooks looked at it; its result is lost."
        }
        (None, true) => {
            "Interrupted: Neco was stopped while this call ran. Whether it took effect is not known; look before you \
             repeat it."
        }
        (None, false) => "Interrupted: Neco was stopped before this call ran. It did not run.",
    };
    let output = match call.printed.trim().is_empty() {
        true => words.to_owned(),
        false => format!("{words} What it had printed:\n{}", wrap(call.id.as_str(), "command", &call.printed)),
    };
    EventBody::ToolCallEnd(ToolCallEnd {
        call_id: call.id.clone(),
        tool: call.name.clone(),
        summary: call.shown().to_owned(),
        // What nobody knows the end of was not stopped by anybody.
        status: match (call.ended, call.started) {
            (Some(status), _) => status,
            (None, true) => CallStatus::Error,
            (None, false) => CallStatus::Cancelled,
        },
        output,
        error_code: (call.ended != Some(CallStatus::Success)).then_some(ErrorCode::ToolFailed),
        duration_ms: 0,
        display: None,
        spilled_to: None,
        known: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use neco_proto::CallId;

    use super::*;

    #[test]
    fn what_ran_before_a_kill_is_told_with_what_it_printed() {
        let call = |started: bool, ended: Option<CallStatus>, printed: &str| OpenCall {
            id: CallId::from("c1"),
            name: "bash".to_owned(),
            summary: "Run make".to_owned(),
            started,
            ended,
            printed: printed.to_owned(),
        };
        let told = |call: OpenCall| match interrupted(&call, false) {
            EventBody::ToolCallEnd(end) => end,
            other => panic!("{other:?}"),
        };
        let ran = told(call(true, Some(CallStatus::Success), "built\n"));
        assert_eq!((ran.status, ran.error_code), (CallStatus::Success, None));
        assert!(ran.output.contains("It took effect") && ran.output.contains("built\n</untrusted"), "{}", ran.output);
        let cut = told(call(true, None, ""));
        assert!(cut.output.contains("not known") && !cut.output.contains("printed"), "{}", cut.output);
        assert!(told(call(false, None, "")).output.contains("did not run"));
        assert!(!notice(&[call(true, Some(CallStatus::Success), "")], false).contains("not known"));
        assert!(!notice(&[call(true, None, "")], true).contains("stopped"), "nobody stopped a fork");
    }
}

//! Mending what a crash left: every call gets a result, shown text becomes a message.

use neco_proto::error_code::LOOK_FIRST;
use neco_proto::event::{CallStatus, Notification, NotificationLevel, ToolCallEnd};
use neco_proto::{ErrorCode, EventBody, Message, Part, Role};

use neco_safety::untrusted::wrap;

use crate::fold::{Fold, OpenCall};

/// The events that make a log whole again, none when the session ended properly, and what the person is told of it. A
/// fork that `begins` there was not stopped: the session that it comes from went on without it.
pub fn mend(fold: &Fold, begins: bool) -> (Vec<EventBody>, Option<EventBody>) {
    let mut events = Vec::new();
    if !fold.partial.trim().is_empty() {
        events.push(EventBody::Message(Message {
            model: Some(fold.standing.model.clone()),
            ..Message::new(Role::Assistant, vec![Part::Text { text: fold.partial.clone() }])
        }));
    }
    let asks =
        |call: &OpenCall| fold.standing.questions.iter().any(|question| question.call_id.as_ref() == Some(&call.id));
    let open: Vec<(&OpenCall, bool)> = fold.open.iter().map(|call| (call, asks(call))).collect();
    events.extend(open.iter().map(|(call, asks)| interrupted(call, *asks, begins)));
    let notice = || EventBody::Notification(Notification::new(NotificationLevel::Warning, notice(&open, begins)));
    let told = fold.working.then(notice);
    (events, told)
}

/// In words for the person; `open` are the calls without a result, and whether each asked them something.
fn notice(open: &[(&OpenCall, bool)], begins: bool) -> String {
    let unknown = open.iter().filter(|(call, asks)| call.started && call.ended.is_none() && !asks);
    let unknown: Vec<&str> = unknown.map(|(call, _)| call.shown()).collect();
    if begins {
        return "the fork begins in the middle of a turn, which the session that it comes from goes on with".to_owned();
    }
    let mut text = "Neco was interrupted in the middle of a turn".to_owned();
    if !unknown.is_empty() {
        text.push_str(&format!("; it is not known whether these calls took effect: {}", unknown.join(", ")));
    }
    text.push_str(match open.iter().any(|(_, asks)| *asks) {
        true => ". It was waiting for your answer; say “continue” to be asked again",
        false => ". Say “continue”, or what to do instead",
    });
    text
}

fn interrupted(call: &OpenCall, asks: bool, begins: bool) -> EventBody {
    let forked = format!(
        "This conversation was forked before the call had a result. It goes on in the other one; {LOOK_FIRST}."
    );
    let unknown = format!(
        "Interrupted: Neco was stopped while this call ran. Whether it took effect is not known; {LOOK_FIRST}."
    );
    let words = match (call.ended, call.started) {
        _ if begins => forked.as_str(),
        _ if asks => {
            "Interrupted: Neco was stopped while this waited for the user's answer. They were asked and did not answer; \
             when you are told to go on, ask again."
        }
        (Some(CallStatus::Success), _) => {
            "Neco was stopped after this call had run and succeeded, while hooks looked at it. It took effect; only \
             its result is lost."
        }
        (Some(_), _) => {
            "Neco was stopped after this call had run and failed, while hooks looked at it; its result is lost."
        }
        (None, true) => unknown.as_str(),
        (None, false) => "Interrupted: Neco was stopped before this call ran. It did not run.",
    };
    let output = match call.printed.trim().is_empty() {
        true => words.to_owned(),
        false => format!("{words} What it had printed:\n{}", wrap(call.id.as_str(), "command", &call.printed)),
    };
    EventBody::ToolCallEnd(ToolCallEnd {
        call_id: call.id.clone(),
        origin: call.origin.clone(),
        parts: Vec::new(),
        tool: call.name.clone(),
        summary: call.shown().to_owned(),
        // What nobody knows the end of was not stopped by anybody.
        status: match (call.ended, call.started) {
            _ if asks => CallStatus::Cancelled,
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
            origin: neco_proto::ToolOrigin::BuiltIn,
            summary: "Run make".to_owned(),
            started,
            ended,
            printed: printed.to_owned(),
        };
        let told = |call: OpenCall| match interrupted(&call, false, false) {
            EventBody::ToolCallEnd(end) => end,
            other => panic!("{other:?}"),
        };
        let ran = told(call(true, Some(CallStatus::Success), "built\n"));
        assert_eq!((ran.status, ran.error_code), (CallStatus::Success, None));
        assert!(ran.output.contains("It took effect") && ran.output.contains("built\n</untrusted"), "{}", ran.output);
        let cut = told(call(true, None, ""));
        assert!(cut.output.contains("not known") && !cut.output.contains("printed"), "{}", cut.output);
        assert!(told(call(false, None, "")).output.contains("did not run"));
        assert!(!notice(&[(&call(true, Some(CallStatus::Success), ""), false)], false).contains("not known"));
        assert!(!notice(&[(&call(true, None, ""), false)], true).contains("stopped"), "nobody stopped a fork");
        // Whoever was asked and did not answer knows that nothing happened.
        let asked = notice(&[(&call(true, None, ""), true)], false);
        assert!(!asked.contains("not known") && asked.contains("asked again"), "{asked}");
        let EventBody::ToolCallEnd(asked) = interrupted(&call(true, None, ""), true, false) else { panic!() };
        assert_eq!(asked.status, CallStatus::Cancelled);
        assert!(asked.output.contains("ask again") && !asked.output.contains("not known"), "{}", asked.output);
    }
}

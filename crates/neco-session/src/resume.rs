//! Mending what a crash left: every call gets a result, shown text becomes a message.

use neco_proto::event::{AgentNode, CallStatus, NodeState, Notification, NotificationLevel, ToolCallEnd};
use neco_proto::{ErrorCode, EventBody, Message, Part, Role, ToolOrigin};

use neco_safety::untrusted::wrap;

use crate::fold::{Fold, LeftRunning, OpenCall};

/// Advice for the model about a call whose end nobody knows.
const LOOK_FIRST: &str = "look before you repeat it";

/// The events that make a log whole again, none when the session ended properly, and what the person is told of it. A
/// fork that `begins` there was not stopped: the session that it comes from went on without it.
///
/// Of a session that was handed over only what was cut short is mended: what waited for a person is asked again.
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
    let goes_on = fold.goes_on() && !begins;
    // What asks by itself, and not a program that it talks to, can ask again.
    let asked_again = |call: &OpenCall, asks: bool| !call.started || asks && call.origin == ToolOrigin::BuiltIn;
    let mended = open.iter().filter(|(call, asks)| !goes_on || !asked_again(call, *asks));
    events.extend(mended.map(|(call, asks)| interrupted(call, *asks, begins)));
    let notice = || EventBody::Notification(Notification::new(NotificationLevel::Warning, notice(&open, begins)));
    let told = (fold.working && !goes_on).then(notice);
    (events, told)
}

/// That agents below the root were at work when the session ended, whatever the root did; `agents` has the root first.
pub fn agents_interrupted(agents: &[AgentNode]) -> Option<EventBody> {
    let names: Vec<&str> = working(agents).map(|node| node.name.as_str()).collect();
    let text = match names.as_slice() {
        [] => return None,
        [one] => format!(
            "Neco was interrupted while {one} worked; it is paused. /agents resume {one} goes on with it, /agents \
             cancel {one} stops it"
        ),
        several => format!(
            "Neco was interrupted while {} worked; they are paused. /agents resume NAME goes on with one, /agents \
             cancel NAME stops it",
            several.join(", ")
        ),
    };
    Some(EventBody::Notification(Notification::new(NotificationLevel::Warning, text)))
}

/// Those of `agents` below the root that work; the root is the first.
pub fn working(agents: &[AgentNode]) -> impl Iterator<Item = &AgentNode> {
    agents.iter().skip(1).filter(|node| matches!(node.state, NodeState::Created | NodeState::Running))
}

/// What the person and the model are told of commands in the background: at the latest they ended with the process that
/// ran them. Of one that ended before, nobody may have heard.
pub fn ended_with_the_run(commands: &[LeftRunning]) -> Vec<EventBody> {
    if commands.is_empty() {
        return Vec::new();
    }
    let named: Vec<String> = commands.iter().map(|left| format!("{} ({})", left.summary, left.name)).collect();
    let none = format!("background command runs any more: {}", named.join(", "));
    let told = format!("Neco was restarted, so no {none}. Start again what is still needed.");
    let notice = Notification::new(NotificationLevel::Info, format!("No {none}"));
    vec![EventBody::Notification(notice), EventBody::Message(Message::neco(told))]
}

/// In words for the person; `open` are the calls without a result, and whether each asked them something.
fn notice(open: &[(&OpenCall, bool)], begins: bool) -> String {
    let unknown = open.iter().filter(|(call, asks)| call.started && call.ended.is_none() && !asks);
    let unknown: Vec<&str> = unknown.map(|(call, _)| call.shown()).collect();
    if begins {
        return "The fork begins in the middle of a turn, which the session that it comes from goes on with".to_owned();
    }
    let mut text = "Neco was interrupted in the middle of a turn".to_owned();
    if !unknown.is_empty() {
        text.push_str(&format!("; it is not known whether these calls took effect: {}", unknown.join(", ")));
    }
    text.push_str(match open.iter().any(|(_, asks)| *asks) {
        true => ". It was waiting for your answer; continue, and you are asked again",
        false => ". Continue, or say what to do instead",
    });
    text
}

fn interrupted(call: &OpenCall, asks: bool, begins: bool) -> EventBody {
    let advice = (begins || (!asks && call.ended.is_none() && call.started)).then_some(LOOK_FIRST);
    let words = match (call.ended, call.started) {
        _ if begins => "This conversation was forked before the call had a result. It goes on in the other one",
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
        (None, true) => "Interrupted: Neco was stopped while this call ran. Whether it took effect is not known",
        (None, false) => "Interrupted: Neco was stopped before this call ran. It did not run.",
    };
    let words = advice.map_or_else(|| words.to_owned(), |advice| format!("{words}; {advice}."));
    let output = match call.printed.trim().is_empty() {
        true => words,
        false => format!("{words} What it had printed:\n{}", wrap(call.id.as_str(), "command", &call.printed)),
    };
    EventBody::ToolCallEnd(ToolCallEnd {
        call_id: call.id.clone(),
        origin: call.origin.clone(),
        parts: Vec::new(),
        tool: call.name.clone(),
        summary: call.shown().to_owned(),
        // What nobody knows the end of was not stopped by anybody. What is cancelled and interrupted did not run.
        status: match (call.ended, call.started) {
            _ if asks => CallStatus::Cancelled,
            (Some(status), _) => status,
            (None, true) => CallStatus::Error,
            (None, false) => CallStatus::Cancelled,
        },
        output,
        error_code: match (call.ended, call.started) {
            (Some(CallStatus::Success), _) => None,
            (Some(_), _) => Some(ErrorCode::ToolFailed),
            (None, _) => Some(ErrorCode::Interrupted),
        },
        advice: advice.map(str::to_owned),
        agent: None,
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
    fn agents_that_a_crash_cut_off_are_told_of() {
        let node = |name: &str, state: &str| -> AgentNode {
            serde_json::from_value(serde_json::json!({
                "id": neco_proto::AgentId::new(), "name": name, "type": "child", "role": "explore", "children": [],
                "task": "look", "model_group": "act", "state": state, "progress": 0.0,
                "usage": neco_proto::Usage::default(), "subtree_usage": neco_proto::Usage::default(),
                "created": "2026-01-01T00:00:00Z", "changed": "2026-01-01T00:00:00Z"
            }))
            .unwrap()
        };
        let (root, done) = (node("root", "running"), node("explore-1", "completed"));
        assert_eq!(agents_interrupted(&[root.clone(), done.clone()]), None, "the root has a notice of its own");
        let told = agents_interrupted(&[root, done, node("explore-2", "running")]);
        let Some(EventBody::Notification(told)) = told else { panic!("{told:?}") };
        assert!(told.text.starts_with("Neco was interrupted while explore-2 worked; it is paused."), "{}", told.text);
    }

    #[test]
    fn commands_in_the_background_ended_with_the_process() {
        assert!(ended_with_the_run(&[]).is_empty());
        let [name, command, summary] = ["bg-1", "make watch", "Run make watch"].map(str::to_owned);
        let told = ended_with_the_run(&[LeftRunning { name, command, summary }]);
        let [EventBody::Notification(told), EventBody::Message(message)] = told.as_slice() else { panic!("{told:?}") };
        assert_eq!(told.text, "No background command runs any more: Run make watch (bg-1)");
        assert!(message.is_neco() && message.text().contains("bg-1"), "{message:?}");
    }

    #[test]
    fn what_ran_before_a_kill_is_told_with_what_it_printed() {
        let call = |started: bool, ended: Option<CallStatus>, printed: &str| OpenCall {
            id: CallId::from("c1"),
            name: "bash".to_owned(),
            origin: ToolOrigin::BuiltIn,
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
        assert_eq!((cut.status, cut.error_code), (CallStatus::Error, Some(ErrorCode::Interrupted)));
        assert!(cut.output.ends_with(&format!("; {}.", cut.advice.unwrap())) && ran.advice.is_none());
        let waited = told(call(false, None, ""));
        assert!(waited.output.contains("did not run"), "{}", waited.output);
        assert_eq!((waited.status, waited.error_code), (CallStatus::Cancelled, Some(ErrorCode::Interrupted)));
        assert!(!notice(&[(&call(true, Some(CallStatus::Success), ""), false)], false).contains("not known"));
        assert!(!notice(&[(&call(true, None, ""), false)], true).contains("stopped"), "nobody stopped a fork");
        assert!(notice(&[], false).ends_with(". Continue, or say what to do instead"), "as the field says it");
        // Whoever was asked and did not answer knows that nothing happened.
        let asked = notice(&[(&call(true, None, ""), true)], false);
        assert!(!asked.contains("not known") && asked.contains("asked again"), "{asked}");
        let EventBody::ToolCallEnd(asked) = interrupted(&call(true, None, ""), true, false) else { panic!() };
        assert_eq!(asked.status, CallStatus::Cancelled);
        assert!(asked.output.contains("ask again") && !asked.output.contains("not known"), "{}", asked.output);
    }
}

//! Whatever a log holds and wherever it ends, the conversation that comes of it can be sent.

use jiff::Timestamp;
use neco_agent::context::Counted;
use neco_proto::event::{
    CallStatus, Compaction, CompactionCause, CompactionStrategy, ModeChange, Notification, NotificationLevel, Rewind,
    SessionStart, StreamChunk, ToolCallEnd, TurnStart, UsageEvent,
};
use neco_proto::{
    AgentId, ApprovalMode, CallId, Display, Event, EventBody, Message, MessageId, Mode, Part, Role, SessionId,
    ToolCall, TurnId, Usage,
};
use proptest::prelude::*;

use super::Fold;
use crate::resume::mend;

/// What happens in one turn of a made-up session.
#[derive(Clone, Debug)]
enum Happening {
    Says(String),
    Calls { count: usize, finish_order: Vec<usize> },
    Answers(String),
}

fn happening() -> impl Strategy<Value = Happening> {
    prop_oneof![
        "[a-z]{1,8}".prop_map(Happening::Says),
        (1usize..4, prop::collection::vec(0usize..4, 0..6))
            .prop_map(|(count, finish_order)| Happening::Calls { count, finish_order }),
        "[a-z ]{0,12}".prop_map(Happening::Answers),
    ]
}

fn assistant(parts: Vec<Part>) -> EventBody {
    EventBody::Message(Message::new(Role::Assistant, parts))
}

fn end(call_id: CallId) -> EventBody {
    EventBody::ToolCallEnd(ToolCallEnd {
        call_id,
        origin: neco_proto::ToolOrigin::BuiltIn,
        parts: Vec::new(),
        tool: "t".to_owned(),
        summary: String::new(),
        status: CallStatus::Success,
        output: String::new(),
        error_code: None,
        advice: None,
        agent: None,
        duration_ms: 0,
        display: None,
        spilled_to: None,
        known: Vec::new(),
    })
}

fn start() -> EventBody {
    EventBody::SessionStart(SessionStart {
        version: String::new(),
        cwd: String::new(),
        model: String::new(),
        scripted: true,
        mode: Mode::Agent,
        approval: ApprovalMode::Auto,
        generation: 8,
        sandbox: String::new(),
        usual_sandbox: false,
        resumed: true,
        single: false,
        forked_from: None,
    })
}

/// The events of a session in which every call gets its result before anything else is said.
fn log(happenings: &[Happening]) -> Vec<EventBody> {
    let mut bodies = Vec::new();
    for (turn, happening) in happenings.iter().enumerate() {
        match happening {
            Happening::Says(text) => bodies.push(EventBody::Message(Message::user(text.clone()))),
            Happening::Answers(text) => {
                bodies.push(EventBody::TurnStart(TurnStart { iteration: 1, model: String::new() }));
                bodies.push(EventBody::StreamChunk(StreamChunk { text: text.clone() }));
                bodies.push(assistant(vec![Part::Text { text: text.clone() }]));
            }
            Happening::Calls { count, finish_order } => {
                let id = |n: usize| CallId::from(format!("{turn}-{n}"));
                let call = |n| {
                    Part::ToolCall(ToolCall { id: id(n), name: "t".to_owned(), arguments: String::new(), opaque: None })
                };
                bodies.push(assistant((0..*count).map(call).collect()));
                // In any order, and some of them told twice, as a log written by two versions might.
                bodies.extend(finish_order.iter().filter(|n| *n < count).map(|n| end(id(*n))));
                bodies.extend((0..*count).map(|n| end(id(n))));
            }
        }
    }
    bodies
}

fn events(bodies: Vec<EventBody>) -> Vec<Event> {
    let (session_id, agent_id, turn_id) = (SessionId::new(), AgentId::new(), Some(TurnId::new()));
    let event =
        |(index, body)| Event::new(index as u64 + 1, Timestamp::UNIX_EPOCH, session_id, agent_id, turn_id, body);
    bodies.into_iter().enumerate().map(event).collect()
}

/// Every call is followed at once by a message with exactly its results, in its order.
fn paired(messages: &[Message]) -> bool {
    messages.iter().enumerate().all(|(index, message)| {
        let calls: Vec<&CallId> = message.tool_calls().map(|call| &call.id).collect();
        let next: Vec<&CallId> = messages.get(index + 1).map(results).unwrap_or_default();
        let follows_calls = index > 0 && messages[index - 1].tool_calls().next().is_some();
        (calls.is_empty() || calls == next) && (message.role != Role::Tool || follows_calls)
    })
}

fn results<'a>(message: &'a Message) -> Vec<&'a CallId> {
    let id = |part: &'a Part| match part {
        Part::ToolResult(result) => Some(&result.call_id),
        Part::Text { .. } | Part::Image { .. } | Part::Reasoning { .. } | Part::ToolCall(_) => None,
    };
    message.parts.iter().filter_map(id).collect()
}

proptest! {
    #[test]
    fn a_log_cut_anywhere_and_mended_pairs_every_call_with_its_result(
        happenings in prop::collection::vec(happening(), 0..12),
        keep in 0usize..60,
    ) {
        let mut log = events(log(&happenings));
        log.truncate(keep);
        let mut fold = Fold::of(&log);
        let (mending, told) = mend(&fold, false);
        prop_assert_eq!(told.is_some(), !fold.messages.is_empty(), "whoever was stopped at work is told");
        for body in mending.into_iter().chain([start()]) {
            let next = log.len() as u64 + 1;
            let mut event = events(vec![body]).remove(0);
            event.seq = next;
            event.agent_id = log.first().map_or(event.agent_id, |first| first.agent_id);
            fold.apply(&event);
            log.push(event);
        }
        prop_assert!(fold.open.is_empty());
        prop_assert!(fold.partial.trim().is_empty());
        prop_assert!(paired(&fold.messages), "{:?}", fold.messages);
        prop_assert!(mend(&Fold::of(&log), false) == (Vec::new(), None), "mended once is mended");
    }
}

/// What a compaction or going back takes from the conversation is still in the log.
#[test]
fn every_call_that_was_ever_made_keeps_its_id() {
    let call = |id: &str| {
        assistant(vec![Part::ToolCall(ToolCall {
            id: CallId::from(id),
            name: "t".to_owned(),
            arguments: String::new(),
            opaque: None,
        })])
    };
    let last = Message::user("and now?");
    let compaction = Compaction {
        cause: CompactionCause::Full,
        strategy: CompactionStrategy::Window,
        before: 9,
        after: 1,
        kept: 1,
        removed: 3,
        focus: None,
        by: None,
        pinned: Vec::new(),
        summary: None,
        since: Some(last.id),
        outputs: Vec::new(),
        arguments: Vec::new(),
        notes: Vec::new(),
    };
    let log = events(vec![
        EventBody::Message(Message::user("go")),
        call("call_0"),
        end(CallId::from("call_0")),
        EventBody::Message(last),
        EventBody::Compaction(compaction),
    ]);
    let fold = Fold::of(&log);
    assert_eq!(fold.messages.len(), 1);
    assert!(fold.call_ids.contains(&CallId::from("call_0")));
}

#[test]
fn what_the_vendor_counted_is_known_until_something_else_is_told() {
    let usage = Usage { input: 777, output: 5, ..Usage::default() };
    let mut log = vec![
        EventBody::Message(Message::user("go")),
        EventBody::Usage(UsageEvent { model: "a/b".to_owned(), usage, context_window: None, aside: None }),
        assistant(vec![Part::Text { text: "Done.".to_owned() }]),
    ];
    let counted = |log: &[EventBody]| Fold::of(&events(log.to_vec())).counted;
    assert_eq!(counted(&log), Some(Counted { tokens: 777, messages: 1 }));
    log.push(EventBody::ModeChange(ModeChange { mode: Some(Mode::Ask), ..ModeChange::default() }));
    assert_eq!(counted(&log), None);
}

#[test]
fn commands_are_in_the_background_until_the_session_is_opened_again() {
    let EventBody::ToolCallEnd(made) = end(CallId::from("c1")) else { panic!("not what was asked") };
    let call = |tool: &str, command: &str, name: Option<&str>| {
        let (command, background) = (command.to_owned(), name.map(str::to_owned));
        let display = Some(Display::Terminal { command, tail: String::new(), exit_code: None, background });
        EventBody::ToolCallEnd(ToolCallEnd { tool: tool.to_owned(), display, ..made.clone() })
    };
    let running = |calls: &[EventBody]| -> Vec<String> {
        let fold = Fold::of(&events([&[start()][..], calls].concat()));
        fold.standing.in_background.into_iter().map(|left| left.name).collect()
    };
    let [watch, serve] = [("make watch", "bg-1"), ("make serve", "bg-2")].map(|(line, name)| (line, Some(name)));
    let started = |(line, name)| call("bash", line, name);
    assert_eq!(running(&[started(watch), started(serve)]), ["bg-1", "bg-2"]);
    assert!(running(&[call("bash", "make watch", None)]).is_empty());
    assert!(running(&[started(watch), start()]).is_empty());
    // Looking at one starts none, and whoever sees its end is told of no other.
    let look = |line, name| call("process", line, name);
    let looks = [started(watch), started(serve), look(watch.0, watch.1), look(watch.0, watch.1)];
    assert_eq!(running(&looks), ["bg-1", "bg-2"]);
    assert_eq!(running(&[&looks[..], &[look(watch.0, None)]].concat()), ["bg-2"]);
    assert_eq!(running(&[started(watch), call("bash", watch.0, None)]), ["bg-1"], "the same in the foreground");
    // A rewind of the files alone leaves the model with what it knows of them.
    let back = |conversation, to| {
        EventBody::Rewind(Rewind {
            to,
            message_id: MessageId::new(),
            conversation,
            files: None,
            undo: None,
            now: None,
            undoes: None,
            changed: 0,
            deleted: 0,
            reverted: Vec::new(),
            over_others: false,
            by: None,
        })
    };
    assert_eq!(running(&[started(watch), back(false, 2)]), ["bg-1"]);
    assert_eq!(running(&[started(watch), started(serve), back(true, 2)]), ["bg-1"]);
}

#[test]
fn a_generation_that_fits_the_window_holds_until_one_is_chosen_or_the_session_begins_anew() {
    let fitted = |log: Vec<EventBody>| Fold::of(&events(log)).standing.fitted;
    let told = |fitted| {
        let told = Notification::new(NotificationLevel::Info, "a small window".to_owned());
        EventBody::Notification(Notification { fitted, ..told })
    };
    let change = |generation| EventBody::ModeChange(ModeChange { generation, ..ModeChange::default() });
    assert_eq!(fitted(vec![start(), told(Some(2)), told(None), change(None)]), Some(2));
    assert_eq!(fitted(vec![start(), told(Some(2)), change(Some(8))]), None);
    assert_eq!(fitted(vec![start(), told(Some(2)), start()]), None);
}

#[test]
fn a_generation_that_a_person_chose_stays_chosen() {
    let chosen = |log: Vec<EventBody>| Fold::of(&events(log)).standing.generation_is_chosen;
    let change = |generation, reason: Option<&str>| {
        EventBody::ModeChange(ModeChange { generation, reason: reason.map(str::to_owned), ..ModeChange::default() })
    };
    assert!(!chosen(vec![start()]));
    assert!(!chosen(vec![start(), change(None, None)]));
    assert!(!chosen(vec![start(), change(Some(8), Some("there is room"))]));
    // Whoever goes on with the session begins it once more.
    assert!(chosen(vec![start(), change(Some(8), None), start()]));
}

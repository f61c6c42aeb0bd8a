//! Events as a session writes them.

use jiff::Timestamp;
use neco_proto::event::{CallStatus, StreamChunk, ToolCallEnd, TurnStart};
use neco_proto::{AgentId, CallId, Event, EventBody, Message, Part, Role, Seq, SessionId, ToolCall, TurnId};

/// Events of one turn: its start, twenty pieces of text, the message, the end of its call.
pub const PER_TURN: usize = 23;

/// The first `count` events of a session, made of turns with one call each.
pub fn events(session_id: SessionId, count: usize) -> Vec<Event> {
    let (agent_id, turn_id) = (AgentId::new(), TurnId::new());
    let ts = Timestamp::now();
    let event = |number: usize| {
        Event::new(
            number as Seq + 1,
            ts,
            session_id,
            agent_id,
            Some(turn_id),
            body(number / PER_TURN, number % PER_TURN),
        )
    };
    (0..count).map(event).collect()
}

fn body(turn: usize, step: usize) -> EventBody {
    let id = CallId::from(format!("call_{turn}"));
    match step {
        0 => EventBody::TurnStart(TurnStart { iteration: turn as u32 + 1, model: "bench/model".to_owned() }),
        21 => {
            let arguments = r#"{"path":"src/main.rs"}"#.to_owned();
            let call = Part::ToolCall(ToolCall { id, name: "read_file".to_owned(), arguments, opaque: None });
            let text = Part::Text { text: "a few words ".repeat(20) };
            let model = Some("bench/model".to_owned());
            EventBody::Message(Message { model, ..Message::new(Role::Assistant, vec![text, call]) })
        }
        22 => EventBody::ToolCallEnd(ToolCallEnd {
            call_id: id,
            origin: neco_proto::ToolOrigin::BuiltIn,
            parts: Vec::new(),
            tool: "read_file".to_owned(),
            summary: "Read src/main.rs".to_owned(),
            status: CallStatus::Success,
            output: "fn main() {}\n".repeat(40),
            error_code: None,
            advice: None,
            agent: None,
            duration_ms: 1,
            display: None,
            spilled_to: None,
            known: Vec::new(),
        }),
        _ => EventBody::StreamChunk(StreamChunk { text: "a few words ".to_owned() }),
    }
}

//! What the scripted model says: whole HTTP answers, made before anything is measured.

use serde_json::{Value, json};

/// Characters of arguments in one event: about a token, as models stream them.
const PIECE: usize = 8;

/// One call the model asks for.
#[derive(Clone, Debug)]
pub struct Call {
    /// The tool.
    pub name: &'static str,
    /// Its arguments.
    pub arguments: Value,
}

/// One answer of the model.
#[derive(Clone, Debug)]
pub enum Turn {
    /// Calls, all at once.
    Calls(Vec<Call>),
    /// Words, which end the run.
    Text(&'static str),
}

impl Turn {
    /// One call.
    pub fn call(name: &'static str, arguments: Value) -> Self {
        Self::Calls(vec![Call { name, arguments }])
    }
}

/// The answers to a run, as bytes. Ids of calls are unique in the run.
pub fn encode(turns: &[Turn]) -> Vec<Vec<u8>> {
    turns.iter().enumerate().map(|(number, turn)| http(&events(number, turn))).collect()
}

fn events(number: usize, turn: &Turn) -> Vec<Value> {
    let mut events = vec![chunk(json!({ "role": "assistant", "content": "" }), Value::Null)];
    let finish = match turn {
        Turn::Text(text) => {
            events.extend(text.split_inclusive(' ').map(|word| chunk(json!({ "content": word }), Value::Null)));
            "stop"
        }
        Turn::Calls(calls) => {
            for (index, call) in calls.iter().enumerate() {
                add_call(number, index, call, &mut events);
            }
            "tool_calls"
        }
    };
    events.push(chunk(json!({}), finish.into()));
    let usage = json!({ "prompt_tokens": 1000, "completion_tokens": 20, "total_tokens": 1020 });
    events.push(json!({ "id": "a", "object": "chat.completion.chunk", "choices": [], "usage": usage }));
    events
}

fn add_call(number: usize, index: usize, call: &Call, events: &mut Vec<Value>) {
    let begin = json!({
        "index": index,
        "id": format!("call_{number}_{index}"),
        "type": "function",
        "function": { "name": call.name, "arguments": "" },
    });
    events.push(chunk(json!({ "tool_calls": [begin] }), Value::Null));
    let arguments: Vec<char> = call.arguments.to_string().chars().collect();
    for piece in arguments.chunks(PIECE) {
        let piece = json!({ "index": index, "function": { "arguments": String::from_iter(piece) } });
        events.push(chunk(json!({ "tool_calls": [piece] }), Value::Null));
    }
}

fn chunk(delta: Value, finish: Value) -> Value {
    json!({
        "id": "a",
        "object": "chat.completion.chunk",
        "model": "scripted",
        "choices": [{ "index": 0, "delta": delta, "finish_reason": finish }],
    })
}

/// Every event is an HTTP chunk of its own, as servers that stream send them.
fn http(events: &[Value]) -> Vec<u8> {
    let mut out = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n".to_vec();
    let texts = events.iter().map(Value::to_string).chain(["[DONE]".to_owned()]);
    for text in texts {
        let event = format!("data: {text}\n\n");
        out.extend(format!("{:x}\r\n{event}\r\n", event.len()).into_bytes());
    }
    out.extend_from_slice(b"0\r\n\r\n");
    out
}

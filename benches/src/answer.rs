//! What the scripted model says: whole HTTP answers, made before anything is measured.
//!
//! They speak chat completions, and for programs that know nothing else, two other formats.

use serde_json::{Value, json};

/// Characters of arguments in one event: about a token, as models stream them.
const PIECE: usize = 8;

/// The format that a program speaks with its model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wire {
    /// `/chat/completions`.
    Chat,
    /// `/responses`.
    Responses,
    /// `:streamGenerateContent`.
    Gemini,
}

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
    encode_for(Wire::Chat, turns)
}

/// The same in the format of `wire`.
pub fn encode_for(wire: Wire, turns: &[Turn]) -> Vec<Vec<u8>> {
    let answer = |(number, turn)| match wire {
        Wire::Chat => http(&events(number, turn), Some("[DONE]")),
        Wire::Responses => http(&response(number, turn), None),
        Wire::Gemini => http(&[content(turn)], None),
    };
    turns.iter().enumerate().map(answer).collect()
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

/// The events of a response: what it consists of, each item begun, streamed and ended.
fn response(number: usize, turn: &Turn) -> Vec<Value> {
    let id = format!("response_{number}");
    let mut events = vec![json!({ "type": "response.created", "response": { "id": id } })];
    match turn {
        Turn::Text(text) => {
            let item = format!("message_{number}");
            let message = |content: Value, status: &str| json!({ "type": "message", "id": item, "role": "assistant", "status": status, "content": content });
            events.push(item_event("added", 0, message(json!([]), "in_progress")));
            events.extend(text.split_inclusive(' ').map(|word| {
                let kind = "response.output_text.delta";
                json!({ "type": kind, "item_id": item, "output_index": 0, "content_index": 0, "delta": word })
            }));
            let whole = json!([{ "type": "output_text", "text": text, "annotations": [] }]);
            events.push(item_event("done", 0, message(whole, "completed")));
        }
        Turn::Calls(calls) => {
            for (index, call) in calls.iter().enumerate() {
                add_response_call(number, index, call, &mut events);
            }
        }
    }
    let usage = json!({ "input_tokens": 1000, "output_tokens": 20, "total_tokens": 1020 });
    events.push(json!({ "type": "response.completed", "response": { "id": id, "usage": usage } }));
    events
}

fn add_response_call(number: usize, index: usize, call: &Call, events: &mut Vec<Value>) {
    let (item, id) = (format!("item_{number}_{index}"), format!("call_{number}_{index}"));
    let whole = call.arguments.to_string();
    let call = |arguments: &str| json!({ "type": "function_call", "id": item, "call_id": id, "name": call.name, "arguments": arguments });
    events.push(item_event("added", index, call("")));
    for piece in whole.chars().collect::<Vec<char>>().chunks(PIECE) {
        let kind = "response.function_call_arguments.delta";
        let piece = String::from_iter(piece);
        events.push(json!({ "type": kind, "item_id": item, "output_index": index, "delta": piece }));
    }
    events.push(item_event("done", index, call(&whole)));
}

fn item_event(what: &str, index: usize, item: Value) -> Value {
    json!({ "type": format!("response.output_item.{what}"), "output_index": index, "item": item })
}

/// The one event of Gemini's format, which does not cut calls into pieces.
fn content(turn: &Turn) -> Value {
    let parts = match turn {
        Turn::Text(text) => vec![json!({ "text": text })],
        Turn::Calls(calls) => {
            let part = |call: &Call| json!({ "functionCall": { "name": call.name, "args": call.arguments } });
            calls.iter().map(part).collect()
        }
    };
    let usage = json!({ "promptTokenCount": 1000, "candidatesTokenCount": 20, "totalTokenCount": 1020 });
    let content = json!({ "role": "model", "parts": parts });
    json!({ "candidates": [{ "content": content, "finishReason": "STOP", "index": 0 }], "usageMetadata": usage })
}

/// Every event is an HTTP chunk of its own, as servers that stream send them.
fn http(events: &[Value], end: Option<&str>) -> Vec<u8> {
    let mut out = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n".to_vec();
    let texts = events.iter().map(Value::to_string).chain(end.map(str::to_owned));
    for text in texts {
        let event = format!("data: {text}\n\n");
        out.extend(format!("{:x}\r\n{event}\r\n", event.len()).into_bytes());
    }
    out.extend_from_slice(b"0\r\n\r\n");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The events of an answer, without its chunks.
    fn events_of(answer: &[u8]) -> Vec<Value> {
        let text = String::from_utf8(answer.to_vec()).unwrap();
        text.lines().filter_map(|line| serde_json::from_str(line.strip_prefix("data: ")?).ok()).collect()
    }

    #[test]
    fn a_response_streams_a_call_and_then_says_it_whole() {
        let arguments = json!({ "command": "echo a long line" });
        let answers = encode_for(Wire::Responses, &[Turn::call("bash", arguments.clone()), Turn::Text("All done.")]);
        let call = events_of(&answers[0]);
        let streamed: String = call.iter().filter_map(|event| event["delta"].as_str()).collect();
        assert_eq!(serde_json::from_str::<Value>(&streamed).unwrap(), arguments);
        let done = call.iter().find(|event| event["type"] == "response.output_item.done").unwrap();
        assert_eq!((&done["item"]["call_id"], &done["item"]["name"]), (&json!("call_0_0"), &json!("bash")));
        assert_eq!(done["item"]["arguments"], streamed);
        assert_eq!(call.last().unwrap()["type"], "response.completed");
        let text = events_of(&answers[1]);
        let words: String = text.iter().filter_map(|event| event["delta"].as_str()).collect();
        assert_eq!(words, "All done.");
        let done = text.iter().find(|event| event["type"] == "response.output_item.done").unwrap();
        assert_eq!(done["item"]["content"][0]["text"], "All done.");
    }

    #[test]
    fn only_chat_completions_end_with_a_mark_that_is_no_json() {
        let turns = [Turn::call("bash", json!({ "command": "true" }))];
        for (wire, marked) in [(Wire::Chat, true), (Wire::Responses, false), (Wire::Gemini, false)] {
            let answers = encode_for(wire, &turns);
            assert_eq!(String::from_utf8_lossy(&answers[0]).contains("[DONE]"), marked, "{wire:?}");
        }
        let gemini = events_of(&encode_for(Wire::Gemini, &turns)[0]);
        assert_eq!(gemini[0]["candidates"][0]["content"]["parts"][0]["functionCall"]["args"]["command"], "true");
    }
}

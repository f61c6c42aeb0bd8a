//! What comes back over HTTP: one message or a stream of them, none longer than it may be.

use std::time::Duration;

use futures::StreamExt;
use http::HeaderMap;
use http::header::CONTENT_TYPE;
use reqwest::Response;
use rmcp::model::{JsonRpcMessage, RequestId, ServerJsonRpcMessage, ServerResult};
use rmcp::transport::common::client_side_sse::BoxedSseResponse;
use rmcp::transport::streamable_http_client::SseError;
use serde_json::{Value, json};
use sse_stream::{Sse, SseStream};
use tokio::time::timeout;

use super::trouble::{LONGEST, Trouble, shown};

/// Bytes that are read of an answer that is no success, and how long.
const SAID: usize = 64 * 1024;
const SAYING: Duration = Duration::from_secs(5);

/// What an answer is made of.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Json,
    Events,
    Page,
    Other(String),
}

/// What the headers of an answer say that it is made of.
pub(super) fn kind_of(headers: &HeaderMap) -> Kind {
    let kind = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    match kind.as_str() {
        "" | "application/json" => Kind::Json,
        "text/event-stream" => Kind::Events,
        "text/html" => Kind::Page,
        _ => Kind::Other(kind),
    }
}

/// A whole answer, unless it is longer than it may be.
pub(super) async fn whole(mut response: Response, most: usize) -> Result<Vec<u8>, Trouble> {
    let mut body = Vec::new();
    loop {
        match response.chunk().await {
            Ok(Some(piece)) if body.len() + piece.len() <= most => body.extend_from_slice(&piece),
            Ok(Some(_)) => return Err(Trouble::TooLong),
            Ok(None) => return Ok(body),
            Err(error) => return Err(Trouble::Broken(shown(&error.without_url().to_string()))),
        }
    }
}

/// The beginning of an answer, as far as it comes soon.
pub(super) async fn beginning(mut response: Response) -> Vec<u8> {
    let mut body = Vec::new();
    let reading = async {
        while body.len() < SAID
            && let Ok(Some(piece)) = response.chunk().await
        {
            body.extend_from_slice(&piece);
        }
    };
    let _ = timeout(SAYING, reading).await;
    body
}

/// The message in an answer to the question with this id.
pub(super) fn read(answer: &[u8], id: &RequestId) -> Result<ServerJsonRpcMessage, Trouble> {
    match understood(answer) {
        // What is wrong with a question may keep a server from reading its id.
        Ok(JsonRpcMessage::Error(error)) => Ok(JsonRpcMessage::error(error.error, Some(id.clone()))),
        Ok(JsonRpcMessage::Response(response)) if response.id.to_string() != id.to_string() => {
            Err(Trouble::Unreadable("it belongs to another question".to_owned()))
        }
        Ok(message) => Ok(message),
        Err(error) => Err(Trouble::Unreadable(shown(&error.to_string()))),
    }
}

/// The message in a text, with all that is in its result.
fn understood(text: &[u8]) -> serde_json::Result<ServerJsonRpcMessage> {
    serde_json::from_slice(told_apart(text).as_deref().unwrap_or(text))
}

/// The fields by which the library knows the result of a call, and that of nothing in particular.
const OF_CALL: &[&str] = &["content", "structuredContent", "isError", "_meta", "resultType"];
const OF_NOTHING: &[&str] = &["_meta", "resultType"];

/// The same message, where the library would take its result for another one and lose what is in it, such as a list with
/// one entry that is broken: without the fields by which it is mistaken, it stays as it came.
fn told_apart(text: &[u8]) -> Option<Vec<u8>> {
    let JsonRpcMessage::Response(response) = serde_json::from_slice::<ServerJsonRpcMessage>(text).ok()? else {
        return None;
    };
    let known = match response.result {
        ServerResult::CallToolResult(_) => OF_CALL,
        ServerResult::TaskAckResult(_) => OF_NOTHING,
        _ => return None,
    };
    let mut message: Value = serde_json::from_slice(text).ok()?;
    let result = message.get_mut("result")?.as_object_mut()?;
    if result.keys().all(|field| known.contains(&field.as_str())) {
        return None;
    }
    OF_NOTHING.iter().for_each(|field| drop(result.remove(*field)));
    serde_json::to_vec(&message).ok()
}

/// Why a stream could not be read on.
#[derive(Debug, thiserror::Error)]
enum StreamEnd {
    #[error("an event is too long")]
    TooLong,
    #[error(transparent)]
    Broken(reqwest::Error),
}

/// Whether a stream ended because an event was longer than it may be.
pub(super) fn is_too_long(error: &SseError) -> bool {
    let SseError::Body(error) = error else { return false };
    matches!(error.downcast_ref(), Some(StreamEnd::TooLong))
}

/// The events of an answer, none of which is longer than it may be.
pub(super) fn events(response: Response) -> BoxedSseResponse {
    let pieces = futures::stream::unfold(Some((response, EventSize::default())), |reading| async move {
        let (mut response, mut size) = reading?;
        match response.chunk().await {
            Ok(Some(piece)) if size.add(&piece) <= LONGEST => Some((Ok(piece), Some((response, size)))),
            Ok(Some(_)) => Some((Err(StreamEnd::TooLong), None)),
            Ok(None) => None,
            Err(error) => Some((Err(StreamEnd::Broken(error.without_url())), None)),
        }
    });
    let with_result = |event: Sse| {
        let apart = event.data.as_deref().and_then(|data| String::from_utf8(told_apart(data.as_bytes())?).ok());
        Sse { data: apart.or(event.data), ..event }
    };
    SseStream::from_bytes_stream(pieces).map(move |event| event.map(with_result)).boxed()
}

/// The events of an answer to the question with this id, which ends with an answer also where it is too long.
pub(super) fn answers(response: Response, id: RequestId) -> BoxedSseResponse {
    let answered = events(response).map(move |event| match event {
        Err(error) if is_too_long(&error) => {
            let error = json!({ "code": -32603, "message": Trouble::TooLong.to_string() });
            let answer = json!({ "jsonrpc": "2.0", "id": id, "error": error });
            Ok(Sse::default().data(answer.to_string()))
        }
        event => event,
    });
    answered.boxed()
}

/// The first answer in a stream; what is said before it is left out.
pub(super) async fn first_answer(response: Response, id: &RequestId) -> Result<ServerJsonRpcMessage, Trouble> {
    let mut events = events(response);
    while let Some(event) = events.next().await {
        let event = event.map_err(|error| match is_too_long(&error) {
            true => Trouble::TooLong,
            false => Trouble::Broken(shown(&error.to_string())),
        })?;
        let data = event.data.unwrap_or_default();
        if data.trim().is_empty() {
            continue;
        }
        let message = read(data.as_bytes(), id)?;
        if matches!(message, JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_)) {
            return Ok(message);
        }
    }
    Err(Trouble::Unreadable("it ended before it was whole".to_owned()))
}

/// Counts the bytes of the event that is being read.
#[derive(Default)]
struct EventSize {
    bytes: usize,
    in_line: bool,
    after_return: bool,
}

impl EventSize {
    /// Counts more bytes; gives the most that an event had in them.
    fn add(&mut self, piece: &[u8]) -> usize {
        let mut most = self.bytes;
        for byte in piece {
            let is_second = std::mem::replace(&mut self.after_return, *byte == b'\r') && *byte == b'\n';
            match byte {
                b'\n' if is_second => {}
                // An empty line ends an event.
                b'\r' | b'\n' if !self.in_line => self.bytes = 0,
                b'\r' | b'\n' => self.in_line = false,
                _ => {
                    self.in_line = true;
                    self.bytes += 1;
                    most = most.max(self.bytes);
                }
            }
        }
        most
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_what_belongs_to_one_event_is_counted() {
        let count = |pieces: &[&[u8]]| {
            let mut size = EventSize::default();
            pieces.iter().map(|piece| size.add(piece)).max()
        };
        assert_eq!(count(&[b"data: a\n\n", b"data: b\n\n"]), Some(7));
        assert_eq!(count(&[b"data: a\r\n\r\ndata: bc\r\n\r\n"]), Some(8));
        assert_eq!(count(&[b"data: a\r", b"\n", b"data: b\n"]), Some(14));
    }

    proptest! {
        #[test]
        fn however_it_is_cut_an_event_is_as_long(text in "[ab\r\n]{0,60}", cut in 0usize..60) {
            let (first, second) = text.as_bytes().split_at(cut.min(text.len()));
            let (mut whole, mut cut) = (EventSize::default(), EventSize::default());
            prop_assert_eq!(whole.add(text.as_bytes()), cut.add(first).max(cut.add(second)));
        }
    }

    #[test]
    fn one_broken_entry_of_a_list_does_not_cost_the_others() {
        let tools =
            json!([{ "name": "good", "inputSchema": { "type": "object" } }, { "name": "bad", "inputSchema": 7 }]);
        for more in [json!({}), json!({ "_meta": {} }), json!({ "resultType": "complete", "_meta": {} })] {
            let mut result = more;
            result["tools"] = tools.clone();
            let answer = json!({ "jsonrpc": "2.0", "id": 3, "result": result });
            let message = read(answer.to_string().as_bytes(), &RequestId::Number(3)).unwrap();
            let message = serde_json::to_value(message).unwrap();
            assert_eq!(message["result"]["tools"], tools, "{answer}");
        }
        let call = json!({ "content": [{ "type": "text", "text": "a" }], "resultType": "complete" });
        let answer = json!({ "jsonrpc": "2.0", "id": 3, "result": call });
        assert_eq!(told_apart(answer.to_string().as_bytes()), None, "a call is what it is");
    }

    #[test]
    fn an_error_without_an_id_belongs_to_the_question() {
        let id = RequestId::Number(3);
        let error = read(br#"{"jsonrpc":"2.0","id":"server-error","error":{"code":-1,"message":"no"}}"#, &id);
        assert!(matches!(error, Ok(JsonRpcMessage::Error(error)) if error.id == Some(id.clone())));
        assert!(read(br#"{"jsonrpc":"2.0","id":4,"result":{}}"#, &id).is_err());
        assert!(read(br#"{"jsonrpc":"2.0","id":"3","result":{}}"#, &id).is_ok());
        assert!(read(b"<html>", &id).is_err());
    }
}

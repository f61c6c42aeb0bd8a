//! What tools ask the client: in the legacy era with a request of the server's own, in the modern one with a result
//! that says what is missing.

use serde_json::{Value, json};

use crate::options::Era;
use crate::protocol::{Failure, Reply, Request, error_with, failed, invalid_params, text};
use crate::server::Server;

/// The key of the only question in `inputRequests`.
const KEY: &str = "answer";

/// A question to the client.
struct Question {
    method: &'static str,
    params: Value,
    /// What the client must be able to do, outermost first.
    needs: &'static [&'static str],
}

/// Asks for a form with a text, a choice, a yes or no, and a number.
pub fn form(server: &Server, request: &Request) -> Reply {
    let properties = json!({
        "name": { "type": "string", "title": "Name", "description": "What it is called." },
        "color": { "type": "string", "title": "Color", "enum": ["red", "green", "blue"] },
        "sure": { "type": "boolean", "title": "Sure", "default": false },
        "count": { "type": "number", "title": "Count", "minimum": 0, "maximum": 10 },
    });
    let schema = json!({ "type": "object", "properties": properties, "required": ["name", "color"] });
    let params = json!({ "mode": "form", "message": "What shall be made?", "requestedSchema": schema });
    put(server, request, &Question { method: "elicitation/create", params, needs: &["elicitation"] })
}

/// Asks to open a page.
pub fn page(server: &Server, request: &Request) -> Reply {
    let id = server.new_name("page");
    let params = json!({
        "mode": "url",
        "message": "Please sign in.",
        "url": format!("https://example.com/sign-in?page={id}"),
        "elicitationId": id,
    });
    let reply =
        put(server, request, &Question { method: "elicitation/create", params, needs: &["elicitation", "url"] });
    if reply.is_ok() && request.era == Era::Legacy {
        server.notify("notifications/elicitation/complete", &json!({ "elicitationId": id }));
    }
    reply
}

/// Asks for a message of the client's model: as often as `times` says in the legacy era, with `content` if there is any.
pub fn message(server: &Server, request: &Request) -> Reply {
    let arguments = &request.params["arguments"];
    let content = arguments.get("content").cloned();
    let content = content.unwrap_or_else(|| json!({ "type": "text", "text": "Say hello." }));
    let params = json!({
        "messages": [{ "role": "user", "content": content }],
        "systemPrompt": "Be short.",
        "maxTokens": 50,
    });
    let question = Question { method: "sampling/createMessage", params, needs: &["sampling"] };
    for _ in 1..arguments["times"].as_u64().unwrap_or(1) {
        put(server, request, &question)?;
    }
    put(server, request, &question)
}

/// Asks for the folders that the client works in.
pub fn roots(server: &Server, request: &Request) -> Reply {
    put(server, request, &Question { method: "roots/list", params: json!({}), needs: &["roots"] })
}

/// Puts a question; the result is the answer as text of JSON.
fn put(server: &Server, request: &Request, question: &Question) -> Reply {
    let can = question.needs.iter().try_fold(&request.capabilities, |capabilities, need| capabilities.get(need));
    match request.era {
        Era::Legacy if can.is_none() => Ok(failed(&format!("the client can't do {}", question.needs.join(".")))),
        Era::Modern if can.is_none() => Err(cannot(question.needs)),
        Era::Legacy => {
            let message = server.ask_client(request, question.method, &question.params)?;
            Ok(message.get("result").map_or_else(|| failed(&message.to_string()), |answer| text(&answer.to_string())))
        }
        Era::Modern => match given(server, request)? {
            Some(answer) => Ok(text(&answer.to_string())),
            None => Ok(missing(server, question)),
        },
    }
}

/// The error for a client that says it can't do what is needed.
fn cannot(needs: &[&str]) -> Failure {
    let required = needs.iter().rev().fold(json!({}), |inner, need| json!({ *need: inner }));
    error_with(-32021, "Missing required client capability", &json!({ "requiredCapabilities": required }))
}

/// The result that says what is missing.
fn missing(server: &Server, question: &Question) -> Value {
    // Characters that a client must give back as they are.
    let state = server.new_name("state/+= ä\"\\");
    server.state().open.insert(state.clone());
    json!({
        "resultType": "input_required",
        "inputRequests": { KEY: { "method": question.method, "params": question.params } },
        "requestState": state,
    })
}

/// The answer that comes with a request that is made again; each state comes back once.
fn given(server: &Server, request: &Request) -> Result<Option<Value>, Failure> {
    let answer = request.params["inputResponses"].get(KEY);
    let Some(state) = request.params["requestState"].as_str() else {
        return if answer.is_none() { Ok(None) } else { Err(invalid_params("inputResponses without requestState")) };
    };
    if !server.state().open.remove(state) {
        return Err(invalid_params("unknown requestState"));
    }
    answer.cloned().map(Some).ok_or_else(|| invalid_params("inputResponses lacks an answer"))
}

//! Resources and prompts of the server.

use serde_json::{Value, json};

use crate::options::Era;
use crate::protocol::{Failure, Reply, Request, error_with, invalid_params, string};
use crate::server::Server;

/// The answer to `resources/list`.
pub fn resources(_: &Server, _: &Request) -> Reply {
    Ok(json!({ "resources": [
        { "uri": "test://text", "name": "text", "description": "A text.", "mimeType": "text/plain" },
        { "uri": "test://blob", "name": "blob", "description": "Eight bytes.", "mimeType": "application/octet-stream" },
    ] }))
}

/// The answer to `resources/templates/list`.
pub fn templates(_: &Server, _: &Request) -> Reply {
    let template = json!({
        "uriTemplate": "test://item/{id}",
        "name": "item",
        "description": "An item by its id.",
        "mimeType": "text/plain",
    });
    Ok(json!({ "resourceTemplates": [template] }))
}

/// The answer to `resources/read`.
pub fn read(_: &Server, request: &Request) -> Reply {
    let uri = string(&request.params, "uri")?;
    let contents = match uri {
        "test://text" => text(uri, "The text of the resource."),
        "test://blob" => json!({ "uri": uri, "mimeType": "application/octet-stream", "blob": "AAECAwQFBgc=" }),
        _ => match uri.strip_prefix("test://item/") {
            Some(id) if !id.is_empty() => text(uri, &format!("Item {id}.")),
            _ => return Err(not_found(request.era, uri)),
        },
    };
    Ok(json!({ "contents": [contents] }))
}

/// The answer to `prompts/list`.
pub fn prompts(_: &Server, _: &Request) -> Reply {
    let name = json!({ "name": "name", "description": "Who is greeted.", "required": true });
    Ok(json!({ "prompts": [
        { "name": "greet", "description": "Greets somebody.", "arguments": [name] },
        { "name": "plain", "description": "Takes no arguments." },
    ] }))
}

/// The answer to `prompts/get`.
pub fn prompt(_: &Server, request: &Request) -> Reply {
    let (description, text) = match string(&request.params, "name")? {
        "greet" => ("A greeting.", format!("Say hello to {}.", string(&request.params["arguments"], "name")?)),
        "plain" => ("A plain prompt.", "Say something plain.".to_owned()),
        name => return Err(invalid_params(&format!("Unknown prompt: {name}"))),
    };
    let message = json!({ "role": "user", "content": { "type": "text", "text": text } });
    Ok(json!({ "description": description, "messages": [message] }))
}

fn text(uri: &str, text: &str) -> Value {
    json!({ "uri": uri, "mimeType": "text/plain", "text": text })
}

fn not_found(era: Era, uri: &str) -> Failure {
    let code = match era {
        Era::Legacy => -32002,
        Era::Modern => -32602,
    };
    error_with(code, "Resource not found", &json!({ "uri": uri }))
}

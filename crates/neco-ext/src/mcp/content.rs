//! What servers answer, as the output of a tool.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use neco_proto::{ErrorCode, ResultPart};
use neco_toolkit::picture::{MOST_BYTES, points_shown};
use neco_toolkit::{OutputPart, Picture, ToolOutput};
use serde_json::Value;

/// The result of a tool's call. What a server says is data from outside; a failure is one that the model sees.
pub(super) fn of_call(server: &str, result: &Value) -> ToolOutput {
    let blocks = result.get("content").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let mut parts: Vec<OutputPart> = blocks.iter().map(|block| part(server, block)).collect();
    if let Some(value) = result.get("structuredContent").filter(|value| !value.is_null()) {
        parts.push(OutputPart::More(ResultPart::Data { value: value.clone() }));
    }
    if parts.is_empty() {
        parts.push(OutputPart::Text("[no output]".to_owned()));
    }
    let mut output = ToolOutput::of_parts(parts, format!("MCP server {server}"));
    if result.get("isError").and_then(Value::as_bool).unwrap_or(false) {
        output.error_code = Some(ErrorCode::ToolFailed);
    }
    output
}

/// The contents of a resource.
pub(super) fn of_resource(server: &str, result: &Value) -> ToolOutput {
    let contents = result.get("contents").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    ToolOutput::of_parts(contents.iter().map(|content| resource(server, content)), format!("MCP server {server}"))
}

/// The text of a prompt: its messages, one after the other.
pub(super) fn of_prompt(result: &Value) -> String {
    let messages = result.get("messages").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let text = |message: &Value| {
        let content = message.get("content")?;
        let said = content.get("text").or_else(|| content.get("resource")?.get("text"))?.as_str()?;
        Some(match message.get("role").and_then(Value::as_str) {
            Some("assistant") => format!("(You said:)\n{said}"),
            _ => said.to_owned(),
        })
    };
    messages.iter().filter_map(text).collect::<Vec<_>>().join("\n\n")
}

fn part(server: &str, block: &Value) -> OutputPart {
    let text = |field: &str| block.get(field).and_then(Value::as_str).map(str::to_owned);
    match block.get("type").and_then(Value::as_str) {
        Some("text") => OutputPart::Text(text("text").unwrap_or_default()),
        Some("image") => picture(server, text("mimeType"), text("data")),
        Some("audio") => OutputPart::Text(format!("[a sound: {}]", text("mimeType").unwrap_or_default())),
        Some("resource_link") => OutputPart::More(ResultPart::Link {
            uri: text("uri").unwrap_or_default(),
            name: text("title").or_else(|| text("name")).unwrap_or_default(),
            description: text("description"),
            media_type: text("mimeType"),
        }),
        Some("resource") => block.get("resource").map_or_else(|| unknown(block), |inner| resource(server, inner)),
        _ => unknown(block),
    }
}

fn resource(server: &str, content: &Value) -> OutputPart {
    let text = |field: &str| content.get(field).and_then(Value::as_str).map(str::to_owned);
    let media_type = text("mimeType");
    if media_type.as_deref().is_some_and(|media_type| media_type.starts_with("image/")) && content.get("blob").is_some()
    {
        return picture(server, media_type, text("blob"));
    }
    let uri = text("uri").unwrap_or_default();
    OutputPart::More(ResultPart::Resource { uri, media_type, text: text("text"), data: text("blob") })
}

fn picture(server: &str, media_type: Option<String>, data: Option<String>) -> OutputPart {
    let (Some(media_type), Some(data)) = (media_type, data) else {
        return OutputPart::Text("[a picture that can't be read]".to_owned());
    };
    match is_picture(&media_type, &data) {
        true => OutputPart::Picture(Picture { source: format!("MCP server {server}"), media_type, data }),
        false => OutputPart::Text(format!("[a picture that can't be shown: {media_type}]")),
    }
}

/// Whether it is a picture that can be put before a model; `data` is in base64.
pub(super) fn is_picture(media_type: &str, data: &str) -> bool {
    let bytes = STANDARD.decode(data).unwrap_or_default();
    bytes.len() as u64 <= MOST_BYTES && points_shown(media_type, &bytes).is_ok()
}

/// A kind of content that a newer server sends.
fn unknown(block: &Value) -> OutputPart {
    OutputPart::Text(block.to_string())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_kind_of_content_has_its_words_and_a_failure_is_one() {
        let result = json!({ "content": [
            { "type": "text", "text": "Two rows" },
            { "type": "resource_link", "uri": "file:///a.csv", "name": "a.csv" },
            { "type": "resource", "resource": { "uri": "test://x", "mimeType": "text/plain", "text": "inside" } },
            { "type": "hologram", "beam": 1 },
        ], "structuredContent": { "rows": 2 }, "isError": true });
        let output = of_call("shop", &result);
        for words in ["Two rows", "a.csv", "inside", "hologram"] {
            assert!(output.model.contains(words), "{words}: {}", output.model);
        }
        assert_eq!(output.error_code, Some(ErrorCode::ToolFailed));
        assert_eq!(output.outside.map(|outside| outside.source), Some("MCP server shop".to_owned()));
        assert_eq!(of_call("shop", &json!({})).model, "[no output]");
    }

    #[test]
    fn a_broken_picture_is_never_put_before_a_model() {
        let block = json!({ "type": "image", "mimeType": "image/png", "data": "bm8gcGljdHVyZQ==" });
        let output = of_call("shop", &json!({ "content": [block] }));
        assert!(output.intents.is_empty() && output.model.contains("can't be shown"), "{}", output.model);
    }

    #[test]
    fn a_prompt_is_its_messages() {
        let result = json!({ "messages": [
            { "role": "user", "content": { "type": "text", "text": "Hello" } },
            { "role": "assistant", "content": { "type": "text", "text": "Yes?" } },
        ] });
        assert_eq!(of_prompt(&result), "Hello\n\n(You said:)\nYes?");
    }
}

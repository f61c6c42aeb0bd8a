//! The content that a message becomes, with the comma before it that separates it from the one
//! before.
//!
//! Signatures go back on the parts they came with, and only to the model that gave them. A call that
//! has none, because another model made it, gets the stand-in that the vendor documents for that, if
//! the model wants signatures at all; it is looked for on the first call of a content only.

use bytes::Bytes;
use neco_proto::{Message, Part, Role, ToolCall, ToolResult};
use serde_json::{Value, json};

use crate::wire::arguments;
use crate::wire::kept::{For, Kept};

const STAND_IN: &str = "skip_thought_signature_validator";

/// The content of `message`; `before` is the message before it, whose calls a tool message answers.
pub(super) fn encode(message: &Message, before: Option<&Message>, wants_signatures: bool) -> Bytes {
    let mut parts = Parts { kept: Kept::default(), begun: false };
    let role: &[u8] = if message.role == Role::Assistant { b"model" } else { b"user" };
    for piece in [b",{\"role\":\"", role, b"\",\"parts\":["] {
        parts.kept.add(piece);
    }
    match message.role {
        Role::User => add_user(message, &mut parts),
        Role::Assistant => add_model(message, wants_signatures, &mut parts),
        Role::Tool => add_results(message, before, &mut parts),
    }
    parts.kept.add(b"]}");
    if parts.begun { parts.kept.finish() } else { Bytes::new() }
}

/// Parts that are being written.
struct Parts {
    kept: Kept,
    /// Whether a part that is for everyone was written.
    begun: bool,
}

impl Parts {
    /// A part that every model gets.
    fn add(&mut self, write: impl FnOnce(&mut Kept)) {
        if std::mem::replace(&mut self.begun, true) {
            self.kept.add(b",");
        }
        write(&mut self.kept);
    }

    /// A part for the author alone, together with the comma that it needs.
    fn add_for_author(&mut self, part: &Value) {
        let begun = self.begun;
        self.kept.only_for(For::AUTHOR, |kept| {
            if begun {
                kept.add(b",");
            }
            kept.add_json(part);
            if !begun {
                kept.add(b",");
            }
        });
    }
}

fn add_user(message: &Message, parts: &mut Parts) {
    for part in &message.parts {
        match part {
            Part::Text { text } => parts.add(|kept| kept.add_json(&json!({ "text": text }))),
            Part::Image { media_type, data } => {
                let image = json!({ "inlineData": { "mimeType": media_type, "data": data } });
                parts.add(|kept| kept.add_json(&image));
            }
            Part::Reasoning { .. } | Part::ToolCall(_) | Part::ToolResult(_) => {}
        }
    }
}

fn add_model(message: &Message, wants_signatures: bool, parts: &mut Parts) {
    let mut wants_stand_in = wants_signatures;
    let mut rest = message.parts.as_slice();
    while let Some((part, after)) = rest.split_first() {
        rest = after;
        match part {
            Part::Text { text } => add_text(text, after.first(), parts),
            Part::Reasoning { text, opaque } => add_thought(text, opaque.as_ref(), parts),
            Part::ToolCall(call) => add_call(call, std::mem::take(&mut wants_stand_in), parts),
            Part::Image { .. } | Part::ToolResult(_) => {}
        }
    }
}

/// A text whose end came as a part with a signature is parted there again.
fn add_text(text: &str, next: Option<&Part>, parts: &mut Parts) {
    let signed = match next {
        Some(Part::Reasoning { opaque: Some(opaque), .. }) => signature(opaque).zip(signed_length(opaque)),
        _ => None,
    };
    let split = signed.and_then(|(signature, length)| {
        let (head, tail) = text.split_at_checked(text.len().checked_sub(length)?)?;
        Some((head, tail, signature))
    });
    let Some((head, tail, signature)) = split.filter(|(_, tail, _)| !tail.is_empty()) else {
        return parts.add(|kept| kept.add_json(&json!({ "text": text })));
    };
    if !head.is_empty() {
        parts.add(|kept| kept.add_json(&json!({ "text": head })));
    }
    parts.add(|kept| {
        kept.add(b"{\"text\":");
        kept.add_json(&tail);
        kept.only_for(For::AUTHOR, |kept| add_signature(signature, kept));
        kept.add(b"}");
    });
}

/// A thought goes back if it was signed, and so does a signature that came on no text.
fn add_thought(text: &str, opaque: Option<&Value>, parts: &mut Parts) {
    let Some((opaque, signature)) = opaque.and_then(|opaque| Some((opaque, signature(opaque)?))) else { return };
    if opaque.get("thought").is_some() {
        parts.add_for_author(&json!({ "text": text, "thought": true, "thoughtSignature": signature }));
    } else if signed_length(opaque) == Some(0) {
        parts.add_for_author(&json!({ "text": "", "thoughtSignature": signature }));
    }
}

fn add_call(call: &ToolCall, wants_stand_in: bool, parts: &mut Parts) {
    parts.add(|kept| {
        kept.add(b"{\"functionCall\":{\"id\":");
        kept.add_json(&call.id);
        kept.add(b",\"name\":");
        kept.add_json(&call.name);
        kept.add(b",\"args\":");
        kept.add(arguments::as_object(&call.arguments).as_bytes());
        kept.add(b"}");
        match call.opaque.as_ref().and_then(signature) {
            Some(signature) => {
                kept.only_for(For::AUTHOR, |kept| add_signature(signature, kept));
                if wants_stand_in {
                    kept.only_for(For::OTHERS, |kept| add_signature(STAND_IN, kept));
                }
            }
            None if wants_stand_in => add_signature(STAND_IN, kept),
            None => {}
        }
        kept.add(b"}");
    });
}

fn add_results(message: &Message, before: Option<&Message>, parts: &mut Parts) {
    for part in &message.parts {
        if let Part::ToolResult(ToolResult { call_id, output, error_code }) = part {
            let call = before.and_then(|before| before.tool_calls().find(|call| call.id == *call_id));
            let name = call.map_or("", |call| call.name.as_str());
            let field = if error_code.is_some() { "error" } else { "output" };
            let response = json!({ "id": call_id, "name": name, "response": { field: output } });
            parts.add(|kept| kept.add_json(&json!({ "functionResponse": response })));
        }
    }
}

fn add_signature(signature: &str, kept: &mut Kept) {
    kept.add(b",\"thoughtSignature\":");
    kept.add_json(&signature);
}

fn signature(opaque: &Value) -> Option<&str> {
    opaque.get("thoughtSignature")?.as_str()
}

/// Of how many bytes the text was that the signature came on.
fn signed_length(opaque: &Value) -> Option<usize> {
    opaque.get("length")?.as_u64().and_then(|length| usize::try_from(length).ok())
}

//! The older part of a conversation as plain text, for whoever sums it up.
//!
//! Text and no calls: a request without tools must not hold any, as some vendors refuse it.

use std::collections::HashMap;

use neco_model::tokens::{Family, estimate};
use neco_model::{Entry, History};
use neco_proto::{CallId, Message, Part, Role};

use super::outputs::clipped;

/// Bytes of an output that are kept, from the most to the least.
const CLIPS: [usize; 4] = [3000, 1000, 300, 80];

/// The first `count` messages as text of at most `room` tokens: outputs are shortened first, then the
/// middle is left out.
pub fn transcript(history: &History, count: usize, room: u64, family: Family) -> String {
    transcript_of(&history.iter().take(count).map(Entry::message).collect::<Vec<_>>(), room, family)
}

/// The same of some messages.
pub fn transcript_of(messages: &[&Message], room: u64, family: Family) -> String {
    let names: HashMap<&CallId, &str> =
        messages.iter().flat_map(|message| message.tool_calls()).map(|call| (&call.id, call.name.as_str())).collect();
    let mut text = String::new();
    for clip in CLIPS {
        text = written(messages, &names, clip);
        if estimate(&text, family) <= room {
            return text;
        }
    }
    // Three bytes a token err on the safe side for most text.
    let bytes = usize::try_from(room.saturating_mul(3)).unwrap_or(usize::MAX);
    let mut bytes = bytes.min(text.len());
    loop {
        let shorter = clipped(&text, bytes / 5, bytes / 5 * 4);
        if estimate(&shorter, family) <= room || bytes < 64 {
            return shorter;
        }
        bytes = bytes / 4 * 3;
    }
}

fn written(messages: &[&Message], names: &HashMap<&CallId, &str>, clip: usize) -> String {
    let mut text = String::new();
    for message in messages {
        for part in &message.parts {
            let line = match part {
                Part::Text { text } => format!("{}: {}", speaker(message), text.trim()),
                Part::Image { media_type, .. } => format!("{}: [a picture, {media_type}]", speaker(message)),
                // Thoughts are not what was said or done.
                Part::Reasoning { .. } => continue,
                Part::ToolCall(call) => format!("Call {}: {}", call.name, clipped(&call.arguments, clip, clip / 4)),
                Part::ToolResult(result) => {
                    let name = names.get(&result.call_id).copied().unwrap_or("call");
                    format!("Result of {name}: {}", clipped(&result.output, clip / 3 * 2, clip / 3))
                }
            };
            text.push_str(&line);
            text.push_str("\n\n");
        }
    }
    text
}

fn speaker(message: &Message) -> &'static str {
    match message.role {
        Role::User if message.is_neco() => "Neco",
        Role::User => "User",
        Role::Assistant => "Agent",
        Role::Tool => "Tool",
    }
}

//! The items of an answer, as they come in.
//!
//! Events name their item by id and by position. Servers in between are known to change ids from
//! event to event and to number every item alike, so the id counts first and the position after it.

use serde_json::Value;

use super::happening::Happening;
use crate::delta::Delta;
use crate::error::ErrorKind;
use crate::wire::format::{ENTRY, Problem};

/// What stands between the parts of a thought.
const BETWEEN_THOUGHTS: &str = "\n\n";

/// The items of one answer.
#[derive(Debug, Default)]
pub(super) struct ItemsIn {
    items: Vec<Item>,
    calls: u32,
    /// Bytes that came before they could be handed over.
    held: usize,
    refused: bool,
}

#[derive(Debug, Default)]
struct Item {
    id: String,
    position: Option<u64>,
    /// How many bytes of its text or arguments were handed over.
    sent: usize,
    /// Arguments that came before the call could be announced.
    held: String,
    /// Its place among the calls, once it was announced.
    call: Option<u32>,
    done: bool,
}

impl ItemsIn {
    pub(super) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// About how many bytes wait for what is still to come.
    pub(super) fn kept(&self) -> usize {
        self.held + self.items.len() * ENTRY
    }

    pub(super) fn has_calls(&self) -> bool {
        self.calls > 0
    }

    pub(super) fn refused(&self) -> bool {
        self.refused
    }

    /// The next piece of a message.
    pub(super) fn text(&mut self, happening: &Happening<'_>, out: &mut Vec<Delta>) {
        let text = happening.delta.text();
        self.item(happening).sent += text.len();
        push_text(text, out);
    }

    /// The next piece of a message in which the model declines.
    pub(super) fn refusal(&mut self, happening: &Happening<'_>, out: &mut Vec<Delta>) {
        self.refused = true;
        self.text(happening, out);
    }

    /// The next piece of a thought.
    pub(super) fn thought(&mut self, happening: &Happening<'_>, out: &mut Vec<Delta>) {
        self.item(happening).sent += happening.delta.text().len();
        push_thought(happening.delta.text(), None, out);
    }

    /// A thought goes on with another part.
    pub(super) fn thought_part(&mut self, happening: &Happening<'_>, out: &mut Vec<Delta>) {
        let item = self.item(happening);
        if item.sent > 0 {
            item.sent += BETWEEN_THOUGHTS.len();
            push_thought(BETWEEN_THOUGHTS, None, out);
        }
    }

    /// The next piece of a call's arguments.
    pub(super) fn arguments(&mut self, happening: &Happening<'_>, out: &mut Vec<Delta>) {
        let text = happening.delta.text();
        let item = self.item(happening);
        match item.call {
            Some(index) => item.hand_over(index, text, out),
            None => {
                item.held.push_str(text);
                self.held += text.len();
            }
        }
    }

    pub(super) fn added(&mut self, happening: &Happening<'_>, item: &Value, out: &mut Vec<Delta>) {
        let position = happening.output_index.number();
        self.items.push(Item { id: field(item, "id").to_owned(), position, ..Item::default() });
        let whole = !field(item, "name").is_empty() && !field(item, "call_id").is_empty();
        if is_call(item) && whole {
            self.announce(self.items.len() - 1, item, out);
        }
    }

    /// An item is whole; hands over what did not come in pieces.
    pub(super) fn done(
        &mut self,
        happening: &Happening<'_>,
        item: &Value,
        out: &mut Vec<Delta>,
    ) -> Result<(), Problem> {
        let at = self.place_of(field(item, "id"), happening.output_index.number());
        self.end_item(at, item, out)
    }

    /// All items at once, as in an answer that is not streamed.
    pub(super) fn all(&mut self, items: &[Value], out: &mut Vec<Delta>) -> Result<(), Problem> {
        for item in items {
            self.items.push(Item::default());
            self.end_item(self.items.len() - 1, item, out)?;
        }
        Ok(())
    }

    /// The answer is whole.
    pub(super) fn end(&self) -> Result<(), Problem> {
        if self.items.iter().any(|item| !item.held.is_empty()) {
            return Err(Problem::new(ErrorKind::MalformedToolCall, "a tool call came without a name"));
        }
        Ok(())
    }

    fn end_item(&mut self, at: usize, item: &Value, out: &mut Vec<Delta>) -> Result<(), Problem> {
        let Some(known) = self.items.get_mut(at) else { return Ok(()) };
        if std::mem::replace(&mut known.done, true) {
            return Ok(());
        }
        let unsent = known.sent == 0;
        match field(item, "type") {
            "message" => {
                self.refused |= parts(item, "content").any(|part| field(part, "type") == "refusal");
                if unsent {
                    push_text(&message_text(item), out);
                }
                if let Some(phase) = item.get("phase").filter(|phase| phase.is_string()) {
                    // Kept beside the text: the model reads its own words otherwise without it.
                    push_thought("", Some(serde_json::json!({ "phase": phase })), out);
                }
            }
            "reasoning" => {
                let text = if unsent { thought_text(item) } else { String::new() };
                push_thought(&text, encrypted(item), out);
            }
            "function_call" | "custom_tool_call" => return self.end_call(at, item, out),
            // What the vendor runs by itself, and what is newer than this.
            _ => {}
        }
        Ok(())
    }

    fn end_call(&mut self, at: usize, item: &Value, out: &mut Vec<Delta>) -> Result<(), Problem> {
        if self.items.get(at).is_some_and(|known| known.call.is_none()) {
            if field(item, "name").is_empty() {
                return Err(Problem::new(ErrorKind::MalformedToolCall, "a tool call came without a name"));
            }
            self.announce(at, item, out);
        }
        let Some(known) = self.items.get_mut(at) else { return Ok(()) };
        let Some(index) = known.call else { return Ok(()) };
        let whole = field(item, if is_custom(item) { "input" } else { "arguments" });
        if let Some(rest) = whole.get(known.sent..) {
            known.hand_over(index, rest, out);
        }
        Ok(())
    }

    fn announce(&mut self, at: usize, item: &Value, out: &mut Vec<Delta>) {
        let Some(known) = self.items.get_mut(at) else { return };
        let index = self.calls;
        self.calls += 1;
        known.call = Some(index);
        let id = Some(field(item, "call_id")).filter(|id| !id.is_empty()).map(str::to_owned);
        out.push(Delta::CallStart { index, id, name: field(item, "name").to_owned() });
        if is_custom(item) {
            out.push(Delta::CallOpaque { index, value: serde_json::json!({ "type": "custom_tool_call" }) });
        }
        let held = std::mem::take(&mut known.held);
        known.hand_over(index, &held, out);
    }

    fn item(&mut self, happening: &Happening<'_>) -> &mut Item {
        let at = self.place_of(happening.item_id.text(), happening.output_index.number());
        &mut self.items[at]
    }

    /// Where the item is; a new one when it was never announced.
    fn place_of(&mut self, id: &str, position: Option<u64>) -> usize {
        let by_id = || self.items.iter().rposition(|item| !id.is_empty() && item.id == id);
        let by_position = || self.items.iter().rposition(|item| position.is_some() && item.position == position);
        let last = || self.items.len().checked_sub(1).filter(|_| id.is_empty() && position.is_none());
        by_id().or_else(by_position).or_else(last).unwrap_or_else(|| {
            self.items.push(Item { id: id.to_owned(), position, ..Item::default() });
            self.items.len() - 1
        })
    }
}

impl Item {
    fn hand_over(&mut self, index: u32, text: &str, out: &mut Vec<Delta>) {
        if !text.is_empty() {
            self.sent += text.len();
            out.push(Delta::CallArguments { index, text: text.to_owned() });
        }
    }
}

fn push_text(text: &str, out: &mut Vec<Delta>) {
    if !text.is_empty() {
        out.push(Delta::Text(text.to_owned()));
    }
}

fn push_thought(text: &str, opaque: Option<Value>, out: &mut Vec<Delta>) {
    if !text.is_empty() || opaque.is_some() {
        out.push(Delta::Reasoning { text: text.to_owned(), opaque });
    }
}

/// The item as it must go back; nothing when it can't, because it is not encrypted.
fn encrypted(item: &Value) -> Option<Value> {
    if field(item, "encrypted_content").is_empty() {
        return None;
    }
    let mut item = item.clone();
    if let Some(fields) = item.as_object_mut() {
        // Fields that may be missing may not be null on the way back.
        fields.retain(|_, value| !value.is_null());
    }
    Some(item)
}

fn message_text(item: &Value) -> String {
    parts(item, "content").map(|part| [field(part, "text"), field(part, "refusal")].concat()).collect()
}

/// The summary, or else the thoughts themselves, which only open models show.
fn thought_text(item: &Value) -> String {
    let texts = |name| parts(item, name).map(|part| field(part, "text")).collect::<Vec<_>>().join(BETWEEN_THOUGHTS);
    Some(texts("summary")).filter(|text| !text.is_empty()).unwrap_or_else(|| texts("content"))
}

fn parts<'a>(item: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> + use<'a> {
    item.get(name).and_then(Value::as_array).into_iter().flatten()
}

fn field<'a>(item: &'a Value, name: &str) -> &'a str {
    item.get(name).and_then(Value::as_str).unwrap_or("")
}

fn is_call(item: &Value) -> bool {
    is_custom(item) || field(item, "type") == "function_call"
}

fn is_custom(item: &Value) -> bool {
    field(item, "type") == "custom_tool_call"
}

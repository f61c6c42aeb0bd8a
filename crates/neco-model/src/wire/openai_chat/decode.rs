//! What an answer means.

use neco_proto::Usage;
use serde_json::{Map, Value, json};

use super::calls::Calls;
use super::chunk::{Choice, Chunk, Piece};
use super::problem;
use super::think::{Split, Think};
use crate::delta::{Delta, FinishReason};
use crate::error::ErrorKind;
use crate::wire::counts::updated;
use crate::wire::format::{Decoder, ENTRY, Problem};
use crate::wire::loose::Loose;
use crate::wire::sse::Event;
use crate::wire::text_calls::{Seen, Spotter, TextCall};

/// What to do about what a model writes after calls in its text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum AfterCalls {
    /// Read it for the sake of the usage at its end.
    #[default]
    ReadOn,
    /// End the answer: waiting for more would only take time.
    Close,
}

/// Reads one answer.
#[derive(Default)]
pub struct ChatDecoder {
    think: Think,
    /// Looks for calls in the text, where models write them there.
    spotter: Option<Spotter>,
    after_calls: AfterCalls,
    calls: Calls,
    details: Details,
    usage: Option<Usage>,
    finish: Option<FinishReason>,
    refused: bool,
    over: bool,
    /// Whether calls were found in the text.
    called: bool,
    split: Vec<Split>,
}

impl Decoder for ChatDecoder {
    fn event(&mut self, event: Event<'_>, out: &mut Vec<Delta>) -> Result<(), Problem> {
        if event.data.trim_ascii() == b"[DONE]" {
            // Some servers leave the finish reason out; a call that is not whole was cut off all the same.
            return if self.finish.is_some() || self.calls.are_whole() { self.close(out) } else { Err(Problem::cut()) };
        }
        let Some(chunk) = event.object::<Chunk<'_>>()? else { return Ok(()) };
        match self.add(chunk, event.data, out) {
            // A server on this machine reads calls out of the text, and may stumble over what follows them, such as the
            // end of a code fence. The calls before it are whole.
            Err(problem)
                if problem.kind == ErrorKind::MalformedToolCall
                    && self.spotter.is_some()
                    && self.calls.are_written_out() =>
            {
                tracing::info!(problem = problem.message, "the server stumbled after whole calls");
                return self.close(out);
            }
            added => added?,
        }
        if self.after_calls == AfterCalls::Close && self.spotter.as_ref().is_some_and(Spotter::is_over) {
            return self.close(out);
        }
        Ok(())
    }

    fn is_over(&self) -> bool {
        self.over
    }

    fn is_finished(&self) -> bool {
        self.over || self.finish.is_some()
    }

    fn kept(&self) -> usize {
        self.calls.kept() + self.details.kept() + self.spotter.as_ref().map_or(0, Spotter::kept)
    }

    fn end(&mut self, out: &mut Vec<Delta>) -> Result<(), Problem> {
        if self.finish.is_none() {
            return Err(Problem::cut());
        }
        self.close(out)
    }

    fn whole(&mut self, body: &[u8], out: &mut Vec<Delta>) -> Result<(), Problem> {
        let chunk: Chunk<'_> = serde_json::from_slice(body).map_err(|_| Problem::cut())?;
        if chunk.error.is_none() && chunk.choices.is_empty() && chunk.object.text() != "error" {
            return Err(Problem::new(ErrorKind::ServerError, "an answer without choices came"));
        }
        self.add(chunk, body, out)?;
        self.close(out)
    }
}

impl ChatDecoder {
    /// A decoder that also looks for calls in the text.
    pub(super) fn spotting(spotter: Option<Spotter>, after_calls: AfterCalls) -> Self {
        Self { spotter, after_calls, ..Self::default() }
    }

    /// The same, with thoughts in the text looked for or not.
    pub(super) fn with_think_tags(self, tags: bool) -> Self {
        if tags { self } else { Self { think: Think::off(), ..self } }
    }

    fn add(&mut self, chunk: Chunk<'_>, data: &[u8], out: &mut Vec<Delta>) -> Result<(), Problem> {
        if chunk.error.is_some() || chunk.object.text() == "error" {
            return Err(problem::of_event(data));
        }
        let counts = chunk.usage.or_else(|| chunk.x_groq.and_then(|groq| groq.usage));
        if let Some(counts) = counts {
            self.usage = Some(updated(self.usage, counts.usage()));
        }
        // Only one answer is ever asked for.
        match chunk.choices.into_iter().find(|choice| choice.index.number().unwrap_or(0) == 0) {
            Some(choice) => self.add_choice(choice, out),
            None => Ok(()),
        }
    }

    fn add_choice(&mut self, choice: Choice<'_>, out: &mut Vec<Delta>) -> Result<(), Problem> {
        if let Some(counts) = &choice.usage {
            self.usage = Some(updated(self.usage, counts.usage()));
        }
        self.add_piece(choice.message.unwrap_or(choice.delta), out);
        match choice.finish_reason.text() {
            "" => Ok(()),
            reason => {
                self.finish = Some(finish_reason(reason)?);
                Ok(())
            }
        }
    }

    fn add_piece(&mut self, piece: Piece<'_>, out: &mut Vec<Delta>) {
        let from_details = self.details.add(piece.reasoning_details);
        let thoughts = [piece.reasoning_content.text(), piece.reasoning.text(), from_details.as_str()];
        if let Some(thought) = thoughts.into_iter().find(|text| !text.is_empty()) {
            out.push(Delta::Reasoning { text: thought.to_owned(), opaque: None });
        }
        self.add_content(&piece.content, out);
        let refusal = piece.refusal.text();
        if !refusal.is_empty() {
            self.refused = true;
            out.push(Delta::Text(refusal.to_owned()));
        }
        for call in &piece.tool_calls {
            self.calls.add(call, out);
        }
    }

    fn add_content(&mut self, content: &Loose<'_>, out: &mut Vec<Delta>) {
        match content {
            Loose::Text(text) => self.add_text(text, out),
            Loose::Structure(Value::Array(parts)) => {
                for part in parts {
                    self.add_part(part, out);
                }
            }
            Loose::Nothing | Loose::Number(_) | Loose::Structure(_) => {}
        }
    }

    fn add_part(&mut self, part: &Value, out: &mut Vec<Delta>) {
        let text = part.get("text").and_then(Value::as_str).unwrap_or("");
        match part.get("type").and_then(Value::as_str) {
            Some("thinking") => {
                let thoughts = part.get("thinking").and_then(Value::as_array).into_iter().flatten();
                let text: String = thoughts.filter_map(|part| part.get("text").and_then(Value::as_str)).collect();
                out.push(Delta::Reasoning { text, opaque: None });
            }
            Some("refusal") => {
                self.refused = true;
                out.push(Delta::Text(part.get("refusal").and_then(Value::as_str).unwrap_or("").to_owned()));
            }
            _ => self.add_text(text, out),
        }
    }

    fn add_text(&mut self, text: &str, out: &mut Vec<Delta>) {
        if !text.is_empty() {
            self.think.push(text, &mut self.split);
            self.hand_over_split(out);
        }
    }

    fn hand_over_split(&mut self, out: &mut Vec<Delta>) {
        for piece in self.split.drain(..) {
            match (piece, &mut self.spotter) {
                (Split::Thought(text), _) => out.push(Delta::Reasoning { text, opaque: None }),
                (Split::Text(text), None) => out.push(Delta::Text(text)),
                (Split::Text(text), Some(spotter)) => {
                    let mut passed = String::new();
                    spotter.push(&text, &mut passed);
                    add_text(passed, out);
                }
            }
        }
    }

    /// What the text turned out to be.
    fn end_text(&mut self, out: &mut Vec<Delta>) -> Result<(), Problem> {
        let Some(mut spotter) = self.spotter.take() else { return Ok(()) };
        let mut passed = String::new();
        let filtered = matches!(self.finish, Some(FinishReason::ContentFilter | FinishReason::Refusal));
        let seen = if filtered || self.refused || !self.calls.is_empty() {
            spotter.release(&mut passed);
            Seen::Text
        } else {
            spotter.end(&mut passed)
        };
        match seen {
            Seen::Text => add_text(passed, out),
            Seen::Calls(calls) => {
                self.called = true;
                calls.into_iter().zip(0..).for_each(|(call, index)| add_call(call, index, out));
            }
            // The limit was reached in the middle of a call: that is what the finish says.
            Seen::Half(held) if self.finish == Some(FinishReason::Length) => add_text(held, out),
            Seen::Half(_) => {
                let text = "what should be a tool call in the text is none";
                return Err(Problem::new(ErrorKind::MalformedToolCall, text));
            }
        }
        Ok(())
    }

    /// The answer is whole.
    fn close(&mut self, out: &mut Vec<Delta>) -> Result<(), Problem> {
        self.think.end(&mut self.split);
        self.hand_over_split(out);
        self.end_text(out)?;
        self.calls.end(out)?;
        if let Some(details) = self.details.take() {
            out.push(Delta::Reasoning { text: String::new(), opaque: Some(details) });
        }
        out.extend(self.usage.take().map(Delta::Usage));
        out.push(Delta::Finish(self.meaning_of_finish()));
        self.over = true;
        Ok(())
    }

    /// Servers say `stop` after calls, and `tool_calls` without any.
    fn meaning_of_finish(&self) -> FinishReason {
        if self.called {
            // They are whole, whatever cut off what came after them.
            return FinishReason::ToolCalls;
        }
        match self.finish {
            Some(FinishReason::Stop | FinishReason::ToolCalls) | None if !self.calls.is_empty() => {
                FinishReason::ToolCalls
            }
            Some(FinishReason::Stop | FinishReason::ToolCalls) | None if self.refused => FinishReason::Refusal,
            Some(FinishReason::ToolCalls) | None => FinishReason::Stop,
            Some(reason) => reason,
        }
    }
}

fn add_text(text: String, out: &mut Vec<Delta>) {
    if !text.is_empty() {
        out.push(Delta::Text(text));
    }
}

/// Without an id: the agent gives it one.
fn add_call(call: TextCall, index: u32, out: &mut Vec<Delta>) {
    out.push(Delta::CallStart { index, id: None, name: call.name });
    out.push(Delta::CallArguments { index, text: call.arguments });
}

fn finish_reason(reason: &str) -> Result<FinishReason, Problem> {
    match reason.to_lowercase().as_str() {
        "length" | "max_tokens" | "model_length" | "repetition_truncation" => Ok(FinishReason::Length),
        // Servers in between pass the names of other vendors on.
        "content_filter"
        | "content_filtered"
        | "sensitive"
        | "safety"
        | "prohibited_content"
        | "blocklist"
        | "recitation"
        | "spii"
        | "guardrail_intervened" => Ok(FinishReason::ContentFilter),
        "refusal" => Ok(FinishReason::Refusal),
        "tool_calls" | "function_call" | "tool_use" => Ok(FinishReason::ToolCalls),
        "error" | "network_error" => Err(Problem::new(ErrorKind::ServerError, "the vendor failed while it answered")),
        "insufficient_system_resource" => Err(Problem::new(ErrorKind::Overloaded, "the vendor ran out of resources")),
        _ => Ok(FinishReason::Stop),
    }
}

/// Collects the items of one answer.
#[derive(Debug, Default)]
struct Details {
    items: Vec<Map<String, Value>>,
    kept: usize,
}

impl Details {
    /// Adds pieces; gives the readable text in them.
    fn add(&mut self, pieces: Vec<Value>) -> String {
        let mut readable = String::new();
        for piece in pieces {
            let Value::Object(piece) = piece else { continue };
            for field in ["text", "summary"] {
                readable.push_str(piece.get(field).and_then(Value::as_str).unwrap_or(""));
            }
            self.kept += piece.values().filter_map(Value::as_str).map(str::len).sum::<usize>();
            match self.items.iter_mut().find(|item| same_item(item, &piece)) {
                Some(item) => merge(item, piece),
                None => {
                    self.kept += ENTRY;
                    self.items.push(piece);
                }
            }
        }
        readable
    }

    /// About how many bytes they have.
    fn kept(&self) -> usize {
        self.kept
    }

    /// The whole items, in the form that is kept with the message.
    fn take(&mut self) -> Option<Value> {
        let items = std::mem::take(&mut self.items);
        (!items.is_empty()).then(|| json!({ "reasoning_details": items }))
    }
}

/// Pieces of one item share type and index, and the id if both have one. Without an index every piece
/// stands alone; what is encrypted comes in one piece.
fn same_item(item: &Map<String, Value>, piece: &Map<String, Value>) -> bool {
    let given = |fields: &Map<String, Value>, name: &str| fields.get(name).filter(|value| !value.is_null()).cloned();
    let ids = given(item, "id").zip(given(piece, "id"));
    let both_encrypted = given(item, "data").is_some() && given(piece, "data").is_some();
    given(item, "index").is_some()
        && ["index", "type"].into_iter().all(|field| item.get(field) == piece.get(field))
        && ids.is_none_or(|(one, other)| one == other)
        && (!both_encrypted || item.get("data") == piece.get("data"))
}

/// Texts go on; everything else is given once, or again the same.
fn merge(item: &mut Map<String, Value>, piece: Map<String, Value>) {
    for (field, value) in piece {
        match (item.get_mut(&field), value) {
            (_, Value::Null) => {}
            (Some(Value::String(text)), Value::String(more)) if ["text", "summary"].contains(&&*field) => {
                text.push_str(&more);
            }
            (_, value) => {
                item.insert(field, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_of_an_item_grow_together_and_keep_their_signature() {
        let mut details = Details::default();
        let readable = details.add(vec![json!({ "type": "reasoning.text", "text": "Th", "index": 0 })]);
        assert_eq!(readable, "Th");
        details.add(vec![json!({ "type": "reasoning.text", "text": "ink", "index": 0, "signature": null })]);
        details.add(vec![json!({ "type": "reasoning.text", "signature": "s", "index": 0 })]);
        details.add(vec![json!({ "type": "reasoning.encrypted", "data": "x", "index": 1 })]);
        assert_eq!(
            details.take(),
            Some(json!({ "reasoning_details": [
                { "type": "reasoning.text", "text": "Think", "index": 0, "signature": "s" },
                { "type": "reasoning.encrypted", "data": "x", "index": 1 },
            ]}))
        );
        assert_eq!(details.take(), None);
    }

    #[test]
    fn encrypted_items_are_not_joined() {
        let item = |id: &str, data: &str| json!({ "type": "reasoning.encrypted", "id": id, "data": data, "index": 0 });
        let mut details = Details::default();
        for piece in [item("a", "x"), item("a", "x"), item("b", "y"), item("b", "z")] {
            details.add(vec![piece]);
        }
        let items = [item("a", "x"), item("b", "y"), item("b", "z")];
        assert_eq!(details.take(), Some(json!({ "reasoning_details": items })));
    }
}

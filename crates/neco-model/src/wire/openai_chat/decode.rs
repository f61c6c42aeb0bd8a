//! What an answer means.

use neco_proto::Usage;
use serde_json::Value;

use super::calls::Calls;
use super::chunk::{Choice, Chunk, Piece};
use super::details::Details;
use super::problem;
use super::think::{Split, Think};
use crate::delta::{Delta, FinishReason};
use crate::error::ErrorKind;
use crate::wire::format::{Decoder, Problem};
use crate::wire::loose::Loose;
use crate::wire::sse::Event;

/// Reads one answer.
#[derive(Default)]
pub struct ChatDecoder {
    think: Think,
    calls: Calls,
    details: Details,
    usage: Option<Usage>,
    finish: Option<FinishReason>,
    refused: bool,
    over: bool,
    split: Vec<Split>,
}

impl Decoder for ChatDecoder {
    fn event(&mut self, event: Event<'_>, out: &mut Vec<Delta>) -> Result<(), Problem> {
        let data = event.data.trim_ascii();
        if data == b"[DONE]" {
            return self.close(out);
        }
        // Servers also send pings and blanks, which say nothing.
        if data.first() != Some(&b'{') {
            return Ok(());
        }
        let chunk: Chunk<'_> = serde_json::from_slice(data).map_err(|error| Problem::unreadable(data, &error))?;
        self.add(chunk, data, out)
    }

    fn is_over(&self) -> bool {
        self.over
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
    fn add(&mut self, chunk: Chunk<'_>, data: &[u8], out: &mut Vec<Delta>) -> Result<(), Problem> {
        if chunk.error.is_some() || chunk.object.text() == "error" {
            return Err(problem::of_event(data));
        }
        let counts = chunk.usage.or_else(|| chunk.x_groq.and_then(|groq| groq.usage));
        if let Some(counts) = counts {
            self.usage = Some(counts.usage());
        }
        // Only one answer is ever asked for.
        match chunk.choices.into_iter().find(|choice| choice.index.number().unwrap_or(0) == 0) {
            Some(choice) => self.add_choice(choice, out),
            None => Ok(()),
        }
    }

    fn add_choice(&mut self, choice: Choice<'_>, out: &mut Vec<Delta>) -> Result<(), Problem> {
        if let Some(counts) = &choice.usage {
            self.usage = Some(counts.usage());
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
        out.extend(self.split.drain(..).map(|piece| match piece {
            Split::Thought(text) => Delta::Reasoning { text, opaque: None },
            Split::Text(text) => Delta::Text(text),
        }));
    }

    /// The answer is whole.
    fn close(&mut self, out: &mut Vec<Delta>) -> Result<(), Problem> {
        self.think.end(&mut self.split);
        self.hand_over_split(out);
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
        match self.finish {
            Some(
                reason @ (FinishReason::Length
                | FinishReason::ContentFilter
                | FinishReason::Refusal
                | FinishReason::Pause),
            ) => reason,
            Some(FinishReason::Stop | FinishReason::ToolCalls) | None => {
                if !self.calls.is_empty() {
                    FinishReason::ToolCalls
                } else if self.refused {
                    FinishReason::Refusal
                } else {
                    FinishReason::Stop
                }
            }
        }
    }
}

fn finish_reason(reason: &str) -> Result<FinishReason, Problem> {
    match reason {
        "length" | "max_tokens" | "model_length" | "repetition_truncation" => Ok(FinishReason::Length),
        "content_filter" | "sensitive" => Ok(FinishReason::ContentFilter),
        "refusal" => Ok(FinishReason::Refusal),
        "tool_calls" | "function_call" | "tool_use" => Ok(FinishReason::ToolCalls),
        "error" | "network_error" => Err(Problem::new(ErrorKind::ServerError, "the vendor failed while it answered")),
        "insufficient_system_resource" => Err(Problem::new(ErrorKind::Overloaded, "the vendor ran out of resources")),
        _ => Ok(FinishReason::Stop),
    }
}

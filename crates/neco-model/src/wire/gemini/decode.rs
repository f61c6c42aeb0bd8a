//! What an answer means.
//!
//! A signature that is not on a call is kept as a thought without words, right after what it stands
//! on: `{thoughtSignature, length}` for a part of `length` bytes of text, `{thoughtSignature,
//! thought}` for a thought.

use neco_proto::Usage;
use serde_json::{Value, json};

use super::chunk::{Candidate, Chunk, FunctionCall, Piece};
use super::problem;
use crate::delta::{Delta, FinishReason};
use crate::error::ErrorKind;
use crate::wire::counts::updated;
use crate::wire::format::{Decoder, Problem};
use crate::wire::sse::Event;

/// Reads one answer.
#[derive(Default)]
pub struct GeminiDecoder {
    calls: u32,
    usage: Option<Usage>,
    finish: Option<FinishReason>,
    over: bool,
}

impl Decoder for GeminiDecoder {
    fn event(&mut self, event: Event<'_>, out: &mut Vec<Delta>) -> Result<(), Problem> {
        event.object::<Chunk<'_>>()?.map_or(Ok(()), |chunk| self.add(chunk, out))
    }

    fn is_over(&self) -> bool {
        self.over
    }

    fn is_finished(&self) -> bool {
        self.finish.is_some()
    }

    fn end(&mut self, out: &mut Vec<Delta>) -> Result<(), Problem> {
        let Some(finish) = self.finish else { return Err(Problem::cut()) };
        out.extend(self.usage.take().map(Delta::Usage));
        out.push(Delta::Finish(match finish {
            // The vendor says that it stopped, whether it wants calls run or not.
            FinishReason::Stop if self.calls > 0 => FinishReason::ToolCalls,
            finish => finish,
        }));
        self.over = true;
        Ok(())
    }

    /// One object, or the list of all pieces from a server that does not know event streams.
    fn whole(&mut self, body: &[u8], out: &mut Vec<Delta>) -> Result<(), Problem> {
        let chunks: Vec<Chunk<'_>> = match body.trim_ascii_start().first() {
            Some(b'[') => serde_json::from_slice(body).map_err(|_| Problem::cut())?,
            _ => vec![serde_json::from_slice(body).map_err(|_| Problem::cut())?],
        };
        for chunk in chunks {
            self.add(chunk, out)?;
        }
        self.end(out)
    }
}

impl GeminiDecoder {
    fn add(&mut self, chunk: Chunk<'_>, out: &mut Vec<Delta>) -> Result<(), Problem> {
        if let Some(error) = chunk.error {
            return Err(problem::of_event(error.get().as_bytes()));
        }
        if let Some(counts) = &chunk.usage_metadata {
            self.usage = Some(updated(self.usage, counts.usage()));
        }
        if !chunk.prompt_feedback.block_reason.text().is_empty() {
            self.finish = Some(FinishReason::ContentFilter);
        }
        // Only one answer is ever asked for.
        match chunk.candidates.into_iter().find(|candidate| candidate.index.number().unwrap_or(0) == 0) {
            Some(candidate) => self.add_candidate(candidate, out),
            None => Ok(()),
        }
    }

    fn add_candidate(&mut self, candidate: Candidate<'_>, out: &mut Vec<Delta>) -> Result<(), Problem> {
        for piece in &candidate.content.parts {
            self.add_piece(piece, out)?;
        }
        let reason = candidate.finish_reason.text();
        if !reason.is_empty() {
            let finish = finish_reason(reason, candidate.finish_message.text());
            // What a failed answer cost is said before it fails.
            self.finish = Some(finish.inspect_err(|_| out.extend(self.usage.take().map(Delta::Usage)))?);
        }
        Ok(())
    }

    fn add_piece(&mut self, piece: &Piece<'_>, out: &mut Vec<Delta>) -> Result<(), Problem> {
        let signature = Some(piece.thought_signature.text()).filter(|signature| !signature.is_empty());
        let text = piece.text.text();
        if let Some(call) = &piece.function_call {
            return self.add_call(call, signature, out);
        }
        if piece.is_thought() {
            let opaque = signature.map(|signature| json!({ "thoughtSignature": signature, "thought": true }));
            if !text.is_empty() || opaque.is_some() {
                out.push(Delta::Reasoning { text: text.to_owned(), opaque });
            }
            return Ok(());
        }
        if !text.is_empty() {
            out.push(Delta::Text(text.to_owned()));
        }
        if let Some(signature) = signature {
            let opaque = Some(json!({ "thoughtSignature": signature, "length": text.len() }));
            out.push(Delta::Reasoning { text: String::new(), opaque });
        }
        Ok(())
    }

    fn add_call(
        &mut self,
        call: &FunctionCall<'_>,
        signature: Option<&str>,
        out: &mut Vec<Delta>,
    ) -> Result<(), Problem> {
        let name = call.name.text();
        if name.is_empty() {
            return Err(Problem::new(ErrorKind::MalformedToolCall, "a tool call came without a name"));
        }
        let index = self.calls;
        self.calls += 1;
        let id = Some(call.id.text()).filter(|id| !id.is_empty()).map(str::to_owned);
        out.push(Delta::CallStart { index, id, name: name.to_owned() });
        let arguments = call.args.map_or("{}", |args| args.get());
        out.push(Delta::CallArguments { index, text: arguments.to_owned() });
        if let Some(signature) = signature {
            let value: Value = json!({ "thoughtSignature": signature });
            out.push(Delta::CallOpaque { index, value });
        }
        Ok(())
    }
}

fn finish_reason(reason: &str, message: &str) -> Result<FinishReason, Problem> {
    let failed = |kind, words: &str| Problem::new(kind, if message.is_empty() { words } else { message });
    match reason {
        "MAX_TOKENS" => Ok(FinishReason::Length),
        "SAFETY"
        | "RECITATION"
        | "LANGUAGE"
        | "BLOCKLIST"
        | "PROHIBITED_CONTENT"
        | "SPII"
        | "IMAGE_SAFETY"
        | "IMAGE_PROHIBITED_CONTENT"
        | "IMAGE_RECITATION"
        | "MODEL_ARMOR" => Ok(FinishReason::ContentFilter),
        "MALFORMED_FUNCTION_CALL" => Err(failed(ErrorKind::MalformedToolCall, "the call could not be read")),
        "UNEXPECTED_TOOL_CALL" => Err(failed(ErrorKind::MalformedToolCall, "the call is of no tool it was given")),
        "TOO_MANY_TOOL_CALLS" => Err(failed(ErrorKind::MalformedToolCall, "it called too many tools in a row")),
        "MISSING_THOUGHT_SIGNATURE" => Err(failed(ErrorKind::InvalidRequest, "a thought signature is missing")),
        "OTHER" | "MALFORMED_RESPONSE" => {
            Err(failed(ErrorKind::ServerError, "the model stopped and the vendor does not say why"))
        }
        _ => Ok(FinishReason::Stop),
    }
}

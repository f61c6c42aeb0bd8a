//! What an answer means.

use serde_json::{Map, Value, json};

use super::happening::{Block, Happening, Piece, Tally, Whole};
use crate::delta::{Delta, FinishReason};
use crate::error::ErrorKind;
use crate::wire::format::{Decoder, ENTRY, Problem};
use crate::wire::openai_chat::problem;
use crate::wire::sse::Event;

/// Reads one answer.
#[derive(Default)]
pub struct AnthropicDecoder {
    /// Blocks that began and have not ended, by the vendor's index.
    open: Vec<(u64, Open)>,
    calls: u32,
    /// Bytes of signatures so far.
    signed: usize,
    tally: Tally,
    finish: Option<FinishReason>,
    over: bool,
}

/// A block that has not ended.
enum Open {
    Text,
    Thought {
        signature: String,
    },
    Call {
        index: u32,
        /// Arguments that came with the beginning; they count if no others come.
        input: Map<String, Value>,
        arguments: bool,
    },
    /// Tools that run at the vendor's, and what is not known yet.
    Other,
}

impl Decoder for AnthropicDecoder {
    fn event(&mut self, event: Event<'_>, out: &mut Vec<Delta>) -> Result<(), Problem> {
        let Some(happening) = event.object::<Happening<'_>>()? else { return Ok(()) };
        match happening.kind.text() {
            "message_start" => self.tally.add(&happening.message.usage),
            "content_block_start" => self.begin(number(&happening), happening.content_block, out)?,
            "content_block_delta" => self.go_on(number(&happening), &happening.delta, out),
            "content_block_stop" => self.end_block(number(&happening), out),
            "message_delta" => {
                self.tally.add(&happening.usage);
                self.stop(happening.delta.stop_reason.text());
            }
            "message_stop" => self.close(out),
            "error" => return Err(problem::of_event(event.data)),
            _ => {}
        }
        Ok(())
    }

    fn is_over(&self) -> bool {
        self.over
    }

    fn kept(&self) -> usize {
        self.signed + self.open.len() * ENTRY
    }

    /// Only `message_stop` makes an answer whole.
    fn end(&mut self, _: &mut Vec<Delta>) -> Result<(), Problem> {
        Err(Problem::cut())
    }

    fn whole(&mut self, body: &[u8], out: &mut Vec<Delta>) -> Result<(), Problem> {
        let whole: Whole<'_> = serde_json::from_slice(body).map_err(|_| Problem::cut())?;
        if whole.kind.text() != "message" {
            return Err(problem::of_event(body));
        }
        for block in whole.content {
            self.begin(0, block, out)?;
            self.end_block(0, out);
        }
        self.tally.add(&whole.usage);
        self.stop(whole.stop_reason.text());
        self.close(out);
        Ok(())
    }
}

impl AnthropicDecoder {
    fn begin(&mut self, index: u64, block: Block<'_>, out: &mut Vec<Delta>) -> Result<(), Problem> {
        // An index that is used again means that the end of the block before got lost.
        self.end_block(index, out);
        let open = match block.kind.text() {
            "text" => {
                add_text(block.text.text(), out);
                Open::Text
            }
            "thinking" => {
                add_thought(block.thinking.text(), out);
                Open::Thought { signature: block.signature.text().to_owned() }
            }
            "redacted_thinking" => {
                let opaque = json!({ "type": "redacted_thinking", "data": block.data.text() });
                out.push(Delta::Reasoning { text: String::new(), opaque: Some(opaque) });
                Open::Other
            }
            "tool_use" => self.begin_call(block, out)?,
            _ => Open::Other,
        };
        self.open.push((index, open));
        Ok(())
    }

    fn begin_call(&mut self, block: Block<'_>, out: &mut Vec<Delta>) -> Result<Open, Problem> {
        let name = block.name.text();
        if name.is_empty() {
            return Err(Problem::new(ErrorKind::MalformedToolCall, "a tool call came without a name"));
        }
        let index = self.calls;
        self.calls += 1;
        let id = Some(block.id.text()).filter(|id| !id.is_empty()).map(str::to_owned);
        out.push(Delta::CallStart { index, id, name: name.to_owned() });
        Ok(Open::Call { index, input: block.input, arguments: false })
    }

    fn go_on(&mut self, index: u64, piece: &Piece<'_>, out: &mut Vec<Delta>) {
        let Some((_, open)) = self.open.iter_mut().find(|(open, _)| *open == index) else { return };
        match (open, piece.kind.text()) {
            (Open::Text, "text_delta") => add_text(piece.text.text(), out),
            (Open::Thought { .. }, "thinking_delta") => add_thought(piece.thinking.text(), out),
            (Open::Thought { signature }, "signature_delta") => {
                self.signed += piece.signature.text().len();
                signature.push_str(piece.signature.text());
            }
            (Open::Call { index, arguments, .. }, "input_json_delta") => {
                let text = piece.partial_json.text();
                if !text.is_empty() {
                    *arguments = true;
                    out.push(Delta::CallArguments { index: *index, text: text.to_owned() });
                }
            }
            (Open::Text | Open::Thought { .. } | Open::Call { .. } | Open::Other, _) => {}
        }
    }

    fn end_block(&mut self, index: u64, out: &mut Vec<Delta>) {
        let Some(at) = self.open.iter().position(|(open, _)| *open == index) else { return };
        match self.open.remove(at).1 {
            Open::Thought { signature } if !signature.is_empty() => {
                let opaque = json!({ "type": "thinking", "signature": signature });
                out.push(Delta::Reasoning { text: String::new(), opaque: Some(opaque) });
            }
            Open::Call { index, input, arguments: false } if !input.is_empty() => {
                out.push(Delta::CallArguments { index, text: Value::Object(input).to_string() });
            }
            Open::Text | Open::Thought { .. } | Open::Call { .. } | Open::Other => {}
        }
    }

    fn stop(&mut self, reason: &str) {
        self.finish = match reason {
            "" => return,
            "max_tokens" | "model_context_window_exceeded" => Some(FinishReason::Length),
            "refusal" => Some(FinishReason::Refusal),
            "pause_turn" => Some(FinishReason::Pause),
            "tool_use" => Some(FinishReason::ToolCalls),
            _ => Some(FinishReason::Stop),
        };
    }

    fn close(&mut self, out: &mut Vec<Delta>) {
        while let Some((index, _)) = self.open.first() {
            self.end_block(*index, out);
        }
        out.extend(self.tally.usage().map(Delta::Usage));
        let done = if self.calls > 0 { FinishReason::ToolCalls } else { FinishReason::Stop };
        out.push(Delta::Finish(match self.finish {
            Some(FinishReason::Stop | FinishReason::ToolCalls) | None => done,
            Some(reason) => reason,
        }));
        self.over = true;
    }
}

fn number(happening: &Happening<'_>) -> u64 {
    happening.index.number().unwrap_or(0)
}

fn add_text(text: &str, out: &mut Vec<Delta>) {
    if !text.is_empty() {
        out.push(Delta::Text(text.to_owned()));
    }
}

fn add_thought(text: &str, out: &mut Vec<Delta>) {
    if !text.is_empty() {
        out.push(Delta::Reasoning { text: text.to_owned(), opaque: None });
    }
}

//! Anthropic messages: blocks that are opened, filled and closed one after the other.

use bytes::Bytes;
use neco_model::{Delta, FinishReason};
use serde_json::{Value, json};

use super::{Spoken, named, usage};

pub(super) fn speak(pieces: &[Delta], message: &str) -> Spoken {
    let used = usage(pieces);
    let mut blocks = Blocks::default();
    blocks.add(json!({ "type": "message_start", "message": {
        "id": "msg_script", "type": "message", "role": "assistant", "model": "script", "content": [],
        "stop_reason": null, "stop_sequence": null,
        "usage": {
            "input_tokens": used.input.saturating_sub(used.cache_read),
            "cache_read_input_tokens": used.cache_read,
            "output_tokens": 1,
        },
    }}));
    pieces.iter().for_each(|piece| blocks.piece(piece, used.output));
    Spoken {
        events: blocks.events,
        end: vec![named(&json!({ "type": "message_stop" }))],
        error: named(&json!({ "type": "error", "error": { "type": "api_error", "message": message } })),
    }
}

#[derive(Default)]
struct Blocks {
    events: Vec<Bytes>,
    open: Option<Block>,
    next: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Block {
    Text,
    Thinking,
    Call(u32),
}

impl Blocks {
    fn piece(&mut self, piece: &Delta, output: u64) {
        match piece {
            Delta::Text(text) => {
                self.open(Block::Text, json!({ "type": "text", "text": "" }));
                self.fill(json!({ "type": "text_delta", "text": text }));
            }
            Delta::Reasoning { text, .. } => {
                self.open(Block::Thinking, json!({ "type": "thinking", "thinking": "", "signature": "" }));
                self.fill(json!({ "type": "thinking_delta", "thinking": text }));
            }
            Delta::CallStart { index, id, name } => {
                let id = id.clone().unwrap_or_else(|| format!("toolu_{index}"));
                let block = json!({ "type": "tool_use", "id": id, "name": name, "input": {} });
                self.open(Block::Call(*index), block);
            }
            Delta::CallArguments { text, .. } => {
                self.fill(json!({ "type": "input_json_delta", "partial_json": text }));
            }
            Delta::Finish(reason) => {
                self.close();
                let delta = json!({ "stop_reason": finish(*reason), "stop_sequence": null });
                self.add(json!({ "type": "message_delta", "delta": delta, "usage": { "output_tokens": output } }));
            }
            Delta::Usage(_) | Delta::Begin { .. } | Delta::CallOpaque { .. } | Delta::Retry(_) | Delta::Switch(_) => {}
        }
    }

    fn open(&mut self, block: Block, content: Value) {
        if self.open == Some(block) {
            return;
        }
        self.close();
        self.open = Some(block);
        self.add(json!({ "type": "content_block_start", "index": self.next, "content_block": content }));
    }

    fn fill(&mut self, delta: Value) {
        self.add(json!({ "type": "content_block_delta", "index": self.next, "delta": delta }));
    }

    fn close(&mut self) {
        if let Some(block) = self.open.take() {
            if block == Block::Thinking {
                self.fill(json!({ "type": "signature_delta", "signature": "script" }));
            }
            self.add(json!({ "type": "content_block_stop", "index": self.next }));
            self.next += 1;
        }
    }

    fn add(&mut self, event: Value) {
        self.events.push(named(&event));
    }
}

fn finish(reason: FinishReason) -> &'static str {
    match reason {
        FinishReason::Stop => "end_turn",
        FinishReason::ToolCalls => "tool_use",
        FinishReason::Length | FinishReason::Bound(_) => "max_tokens",
        FinishReason::ContentFilter | FinishReason::Refusal => "refusal",
        FinishReason::Pause => "pause_turn",
    }
}

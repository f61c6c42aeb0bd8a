//! What the model writes, and its calls: words that come in pieces, messages that are whole, calls from their first
//! letter to their end.

use neco_proto::event::{CallStatus, OutputStream, ToolCallEnd, ToolCallStart, ToolCallUpdate, ToolOutputChunk};
use neco_proto::{CallId, Message};
use serde_json::Value;

use super::asked;
use super::block::{BlockBody, BlockId, Call, Written};
use super::view::{Change, View, WaitsFor};

impl View {
    pub(super) fn turn<'e>(&mut self, model: &str) -> Vec<Change<'e>> {
        let mut changes = self.end_words();
        (self.streamed, self.before_turn) = (false, self.last_id);
        self.waits_for = Some(WaitsFor::Model { name: model.to_owned() });
        changes.push(Change::Waits);
        changes
    }

    /// The next of the model's words, in a block of its kind.
    pub(super) fn words<'e>(&mut self, text: &'e str, kind: fn(Written) -> BlockBody) -> Vec<Change<'e>> {
        let new = kind(Written::default());
        self.streamed |= matches!(new, BlockBody::Answer(_));
        let open = self.writing.and_then(|id| self.block(id));
        let mut changes = Vec::new();
        if open.is_none_or(|block| std::mem::discriminant(&block.body) != std::mem::discriminant(&new)) {
            changes = [self.end_words(), self.add(new)].concat();
            self.writing = Some(self.last_id);
        }
        if let Some((id, written)) = self.written() {
            written.text.push_str(text);
            changes.push(Change::Grew(id, text));
        }
        changes
    }

    /// A message of the model is whole.
    pub(super) fn said<'e>(&mut self, message: &Message) -> Vec<Change<'e>> {
        let mut changes = self.end_words();
        self.waits_for = None;
        let text = message.text();
        if !std::mem::replace(&mut self.streamed, false) && !text.trim().is_empty() {
            changes.extend(self.add(BlockBody::Answer(Written { text, over: true })));
        }
        let mut calls = false;
        for asked in message.tool_calls() {
            calls = true;
            let arguments = serde_json::from_str(&asked.arguments);
            let arguments = arguments.unwrap_or_else(|_| Value::String(asked.arguments.clone()));
            changes.extend(self.with_call(&asked.id, &asked.name, |call| call.arguments = Some(arguments)));
        }
        changes.push(Change::Said { calls });
        changes
    }

    /// No more words come for what is being written.
    pub(super) fn end_words<'e>(&mut self) -> Vec<Change<'e>> {
        let ended = self.written().map(|(id, written)| {
            written.over = true;
            Change::Changed(id)
        });
        self.writing = None;
        ended.into_iter().collect()
    }

    /// The words that are being written.
    fn written(&mut self) -> Option<(BlockId, &mut Written)> {
        let id = self.writing?;
        let at = self.blocks.binary_search_by_key(&id, |block| block.id).ok()?;
        match &mut self.blocks.get_mut(at)?.body {
            BlockBody::Answer(written) | BlockBody::Thinking(written) => Some((id, written)),
            _ => None,
        }
    }

    /// A model call failed; what was written of its answer may be void.
    pub(super) fn break_off<'e>(&mut self, discards: bool) -> Vec<Change<'e>> {
        if discards {
            self.streamed = false;
            let before = self.before_turn;
            self.blocks.retain(|block| match &block.body {
                BlockBody::Answer(_) | BlockBody::Thinking(_) => block.id <= before,
                BlockBody::Call(call) => call.status != CallStatus::Validating,
                _ => true,
            });
        }
        self.end_words()
    }

    pub(super) fn call_begins<'e>(&mut self, start: &ToolCallStart) -> Vec<Change<'e>> {
        let mut changes = self.with_call(&start.call_id, &start.name, |_| {});
        self.waits_for = Some(WaitsFor::Arguments { tool: start.name.clone() });
        changes.push(Change::Waits);
        changes
    }

    pub(super) fn call_goes_on<'e>(&mut self, update: &ToolCallUpdate) -> Vec<Change<'e>> {
        // How it ended, its end tells.
        if matches!(update.status, CallStatus::Success | CallStatus::Error | CallStatus::Cancelled) {
            return Vec::new();
        }
        let now_ms = self.at.1;
        self.with_call(&update.call_id, &update.tool, |call| {
            call.summary.clone_from(&update.summary);
            call.status = update.status;
            if update.status == CallStatus::Executing {
                call.started_ms = Some(now_ms);
            }
        })
    }

    pub(super) fn call_prints<'e>(&mut self, chunk: &'e ToolOutputChunk) -> Vec<Change<'e>> {
        let Some((id, call)) = self.call(&chunk.call_id) else { return Vec::new() };
        match chunk.stream {
            OutputStream::Output => {
                call.prints(&chunk.text);
                vec![Change::Grew(id, &chunk.text)]
            }
            OutputStream::Note => vec![Change::Noted(id, &chunk.text)],
        }
    }

    pub(super) fn call_ends<'e>(&mut self, end: &ToolCallEnd) -> Vec<Change<'e>> {
        let background = self.work.background.remove(&end.call_id);
        let change_seen = self.work.change_seen.remove(&end.call_id);
        let mut changes = asked::close(self, &end.call_id);
        changes.extend(self.with_call(&end.call_id, &end.tool, |call| {
            (call.background, call.change_seen) = (background, change_seen);
            call.summary.clone_from(&end.summary);
            call.status = end.status;
            call.printed = String::new();
            call.end = Some(ToolCallEnd { known: Vec::new(), ..end.clone() });
        }));
        changes
    }

    /// Nobody goes on with what is open: words end where they are, and calls are forgotten.
    pub fn stop(&mut self) {
        self.end_words();
        self.streamed = false;
        self.blocks.retain(|block| !matches!(&block.body, BlockBody::Call(call) if !call.is_over()));
    }

    /// Nobody says any more what becomes of the calls that run.
    pub fn end_calls(&mut self) {
        for block in &mut self.blocks {
            if let BlockBody::Call(call) = &mut block.body
                && !call.is_over()
            {
                call.status = CallStatus::Cancelled;
            }
        }
    }

    /// The call of an id that is not over.
    pub(super) fn call(&mut self, id: &CallId) -> Option<(BlockId, &mut Call)> {
        self.last(|body| match body {
            BlockBody::Call(call) if call.call_id == *id && !call.is_over() => Some(call.as_mut()),
            _ => None,
        })
    }

    /// Changes a call, which is a new block when none of that id goes on.
    fn with_call<'e>(&mut self, id: &CallId, tool: &str, change: impl FnOnce(&mut Call)) -> Vec<Change<'e>> {
        let mut changes = Vec::new();
        if self.call(id).is_none() {
            let call = BlockBody::Call(Box::new(Call::new(id.clone(), tool)));
            changes = [self.end_words(), self.add(call)].concat();
        }
        if let Some((id, call)) = self.call(id) {
            change(call);
            changes.push(Change::Changed(id));
        }
        changes
    }
}

//! The calls of agents below the root: they are shown as the root's are, with the name of whoever makes them.

use std::collections::{HashMap, HashSet};
use std::mem;

use neco_proto::clean::clean_line;
use neco_proto::event::{CallStatus, OutputStream, ToolCallEnd};
use neco_proto::{CallId, Event, EventBody, Role};
use neco_view::reduce::block::Call;
use serde_json::Value;

/// The calls of agents below the root that are not over.
#[derive(Default)]
pub(crate) struct Below {
    calls: HashMap<CallId, Call>,
    /// Those that printed something since the editor was told.
    printed: HashSet<CallId>,
}

impl Below {
    /// The calls that stand otherwise since an event of an agent of this name.
    pub fn read(&mut self, event: &Event, name: Option<&str>) -> Vec<Call> {
        let named = |words: &str| match name {
            Some(name) => format!("{} · {words}", clean_line(name)),
            None => words.to_owned(),
        };
        match &event.body {
            EventBody::Message(message) if message.role == Role::Assistant => {
                // They are shown when something is done about them.
                for asked in message.tool_calls() {
                    let arguments = serde_json::from_str(&asked.arguments);
                    let call = self.call(&asked.id, &asked.name, named);
                    call.arguments = Some(arguments.unwrap_or_else(|_| Value::String(asked.arguments.clone())));
                }
                Vec::new()
            }
            // How it ended, its end tells.
            EventBody::ToolCallUpdate(told)
                if !matches!(told.status, CallStatus::Success | CallStatus::Error | CallStatus::Cancelled) =>
            {
                let call = self.call(&told.call_id, &told.tool, named);
                (call.summary, call.status) = (named(&told.summary), told.status);
                vec![call.clone()]
            }
            EventBody::ToolOutputChunk(chunk) if chunk.stream == OutputStream::Output => {
                if let Some(call) = self.calls.get_mut(&chunk.call_id) {
                    call.prints(&chunk.text);
                    self.printed.insert(chunk.call_id.clone());
                }
                Vec::new()
            }
            EventBody::ToolCallEnd(end) => {
                self.printed.remove(&end.call_id);
                let call = self.calls.remove(&end.call_id);
                let mut call = call.unwrap_or_else(|| Call::new(end.call_id.clone(), &end.tool));
                (call.summary, call.status) = (named(&end.summary), end.status);
                call.end = Some(ToolCallEnd { known: Vec::new(), ..end.clone() });
                vec![call]
            }
            _ => Vec::new(),
        }
    }

    /// The calls that printed something since this was asked last.
    pub fn printed(&mut self) -> Vec<Call> {
        let printed = mem::take(&mut self.printed);
        printed.into_iter().filter_map(|call| self.calls.get(&call).cloned()).collect()
    }

    /// Whether calls printed something that the editor does not know.
    pub fn has_printed(&self) -> bool {
        !self.printed.is_empty()
    }

    fn call(&mut self, id: &CallId, tool: &str, named: impl Fn(&str) -> String) -> &mut Call {
        let new = || Call { summary: named(tool), ..Call::new(id.clone(), tool) };
        self.calls.entry(id.clone()).or_insert_with(new)
    }
}

//! What a trim or a compaction makes of the conversation: the same for an agent at work and for a log
//! that is folded, so that a resumed session sends the same bytes.

use std::collections::HashMap;

use neco_model::{Entry, History};
use neco_proto::event::{Compaction, TrimmedArguments, TrimmedOutput};
use neco_proto::{CallId, Message, Part, Role, StandsFor};

/// One message of the conversation that comes of it.
enum Step {
    /// The one that was at this place.
    Keep(usize),
    /// A new or changed one.
    Put(Message),
}

/// Shortens outputs and arguments in a folded conversation.
pub fn trim_messages(messages: &mut Vec<Message>, outputs: &[TrimmedOutput], arguments: &[TrimmedArguments]) {
    let steps = trim_steps(messages.iter(), &ByCall::new(outputs, arguments));
    take_steps(messages, steps);
}

/// Makes a folded conversation shorter.
pub fn compact_messages(messages: &mut Vec<Message>, compaction: &Compaction) {
    let steps = compaction_steps(messages.iter(), compaction);
    take_steps(messages, steps);
}

/// The history with shortened outputs and arguments. What did not change is shared.
pub fn trim_history(history: &History, outputs: &[TrimmedOutput], arguments: &[TrimmedArguments]) -> History {
    steps_of(history, trim_steps(history.iter().map(Entry::message), &ByCall::new(outputs, arguments)))
}

/// The shorter history. What did not change is shared.
pub fn compact_history(history: &History, compaction: &Compaction) -> History {
    steps_of(history, compaction_steps(history.iter().map(Entry::message), compaction))
}

/// What is shortened, by the call that it belongs to.
struct ByCall<'a> {
    outputs: HashMap<&'a CallId, &'a str>,
    arguments: HashMap<&'a CallId, &'a str>,
}

impl<'a> ByCall<'a> {
    fn new(outputs: &'a [TrimmedOutput], arguments: &'a [TrimmedArguments]) -> Self {
        Self {
            outputs: outputs.iter().map(|trimmed| (&trimmed.call_id, trimmed.output.as_str())).collect(),
            arguments: arguments.iter().map(|trimmed| (&trimmed.call_id, trimmed.arguments.as_str())).collect(),
        }
    }

    /// The message with what is shortened of it; nothing when that is nothing.
    fn shortened(&self, message: &Message) -> Option<Message> {
        let hit = |part: &Part| match part {
            Part::ToolResult(result) => message.role == Role::Tool && self.outputs.contains_key(&result.call_id),
            Part::ToolCall(call) => self.arguments.contains_key(&call.id),
            Part::Text { .. } | Part::Image { .. } | Part::Reasoning { .. } => false,
        };
        if !message.parts.iter().any(hit) {
            return None;
        }
        let mut message = message.clone();
        for part in &mut message.parts {
            match part {
                Part::ToolResult(result) => {
                    if let Some(output) = self.outputs.get(&result.call_id) {
                        (*output).clone_into(&mut result.output);
                        message.stands_for.outputs.push(result.call_id.clone());
                    }
                }
                Part::ToolCall(call) => {
                    if let Some(arguments) = self.arguments.get(&call.id) {
                        (*arguments).clone_into(&mut call.arguments);
                    }
                }
                Part::Text { .. } | Part::Image { .. } | Part::Reasoning { .. } => {}
            }
        }
        Some(message)
    }
}

fn trim_steps<'a>(messages: impl Iterator<Item = &'a Message>, by_call: &ByCall<'_>) -> Vec<Step> {
    let step = |(at, message)| match by_call.shortened(message) {
        Some(message) => Step::Put(message),
        None => Step::Keep(at),
    };
    messages.enumerate().map(step).collect()
}

fn compaction_steps<'a>(messages: impl Iterator<Item = &'a Message>, compaction: &Compaction) -> Vec<Step> {
    let messages: Vec<&Message> = messages.collect();
    let since = compaction.since.and_then(|since| messages.iter().position(|message| message.id == since));
    let mut steps: Vec<Step> = match since {
        // Whatever can't be found is not removed.
        None => (0..messages.len()).map(Step::Keep).collect(),
        Some(since) => {
            let pinned = |at: &usize| messages.get(*at).is_some_and(|message| compaction.pinned.contains(&message.id));
            let older = (0..since).filter(pinned).map(Step::Keep);
            let stands_for = StandsFor { older_part: true, ..StandsFor::default() };
            let summary = compaction.summary.iter().cloned();
            let summary = summary.map(|message| Step::Put(Message { stands_for: stands_for.clone(), ..message }));
            older.chain(summary).chain((since..messages.len()).map(Step::Keep)).collect()
        }
    };
    if compaction.outputs.is_empty() && compaction.arguments.is_empty() {
        return steps;
    }
    let by_call = ByCall::new(&compaction.outputs, &compaction.arguments);
    for step in &mut steps {
        if let Step::Keep(at) = *step
            && let Some(message) = messages.get(at).and_then(|message| by_call.shortened(message))
        {
            *step = Step::Put(message);
        }
    }
    steps
}

fn take_steps(messages: &mut Vec<Message>, steps: Vec<Step>) {
    let mut old: Vec<Option<Message>> = std::mem::take(messages).into_iter().map(Some).collect();
    messages.extend(steps.into_iter().filter_map(|step| match step {
        Step::Keep(at) => old.get_mut(at).and_then(Option::take),
        Step::Put(message) => Some(message),
    }));
}

fn steps_of(history: &History, steps: Vec<Step>) -> History {
    let entries: Vec<_> = history.shared().collect();
    let mut made = History::default();
    for step in steps {
        match step {
            Step::Keep(at) => entries.get(at).into_iter().for_each(|entry| made.push_shared(entry)),
            Step::Put(message) => made.push(message),
        }
    }
    made
}

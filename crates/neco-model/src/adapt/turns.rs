//! The walk over a history.

use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};

use neco_proto::{CallId, Message, Part, Role, ToolCall, ToolResult};

use super::ids::{Ids, tool_name};
use super::sent::Sent;
use super::taker::{Kin, Taker};
use crate::history::{Entry, History};

/// Stands where the model would begin, end, or speak twice in a row.
const GO_ON: &str = "Continue.";
const NO_OUTPUT: &str = "(no output)";
const NO_RESULT: &str = "This call was interrupted before it gave a result.";
const NO_VISION: &str = "[A picture was here, that this model can't see.]";

/// The messages of `history` as `taker` takes them.
pub fn adapt<'a>(history: &'a History, taker: &Taker) -> Vec<Sent<'a>> {
    let entries: Vec<&Entry> = history.iter().collect();
    let mut walk = Walk {
        taker,
        results: results(&entries),
        ids: Ids::new(taker.call_ids),
        out: Vec::with_capacity(entries.len()),
    };
    for (at, entry) in entries.iter().enumerate() {
        match entry.message().role {
            Role::User => walk.add_user(entry),
            Role::Assistant => walk.add_assistant(at, entry, entries.get(at + 1).copied()),
            // Results are sent with the calls they belong to.
            Role::Tool => {}
        }
    }
    walk.let_user_speak();
    walk.out
}

/// The results of each call, with their places in the history.
type Results<'a> = HashMap<&'a str, VecDeque<(usize, &'a ToolResult)>>;

fn results<'a>(entries: &[&'a Entry]) -> Results<'a> {
    let mut results = Results::new();
    for (at, entry) in entries.iter().enumerate().filter(|(_, entry)| entry.message().role == Role::Tool) {
        for part in &entry.message().parts {
            if let Part::ToolResult(result) = part {
                results.entry(result.call_id.as_str()).or_default().push_back((at, result));
            }
        }
    }
    results
}

struct Walk<'a, 't> {
    taker: &'t Taker,
    results: Results<'a>,
    ids: Ids<'a>,
    out: Vec<Sent<'a>>,
}

impl<'a> Walk<'a, '_> {
    fn add_user(&mut self, entry: &'a Entry) {
        let message = entry.message();
        let kept = |part: &Part| match part {
            Part::Text { text } => !is_blank(text),
            Part::Image { media_type, .. } => self.sees(media_type),
            Part::Reasoning { .. } | Part::ToolCall(_) | Part::ToolResult(_) => false,
        };
        if !message.parts.is_empty() && message.parts.iter().all(kept) {
            self.out.push(Sent::kept(entry, Kin::Stranger));
            return;
        }
        let says_something = |part: &Part| match part {
            Part::Text { text } => !is_blank(text),
            Part::Image { .. } => true,
            Part::Reasoning { .. } | Part::ToolCall(_) | Part::ToolResult(_) => false,
        };
        if !message.parts.iter().any(says_something) {
            return;
        }
        // What is made of the same message differs only in the pictures that can be seen.
        let seen = message.parts.iter().filter(|part| is_picture(part) && kept(part)).count();
        let made = entry.in_place(
            |made| made.parts.iter().filter(|part| is_picture(part)).count() == seen,
            || Message {
                parts: message.parts.iter().filter_map(|part| self.user_part(part)).collect(),
                ..bare(message)
            },
        );
        self.out.push(Sent::shared(made, Kin::Stranger));
    }

    fn user_part(&self, part: &Part) -> Option<Part> {
        match part {
            Part::Text { text } => (!is_blank(text)).then(|| part.clone()),
            Part::Image { media_type, .. } if self.sees(media_type) => Some(part.clone()),
            Part::Image { .. } => Some(Part::Text { text: NO_VISION.to_owned() }),
            Part::Reasoning { .. } | Part::ToolCall(_) | Part::ToolResult(_) => None,
        }
    }

    fn sees(&self, media_type: &str) -> bool {
        self.taker.sees(media_type)
    }

    fn add_assistant(&mut self, at: usize, entry: &'a Entry, next: Option<&'a Entry>) {
        let message = entry.message();
        let says_something = |part: &Part| match part {
            Part::Text { text } => !is_blank(text),
            Part::ToolCall(_) => true,
            Part::Image { .. } | Part::Reasoning { .. } | Part::ToolResult(_) => false,
        };
        // Thoughts alone are no answer, and some vendors refuse a message of nothing else.
        if !message.parts.iter().any(says_something) {
            return;
        }
        self.let_user_speak();
        let kin = self.taker.kin(message.model.as_deref());
        let calls: Vec<Call<'a>> = message.tool_calls().map(|call| self.call(at, call)).collect();
        if calls.iter().all(Call::is_sound) && message.parts.iter().all(is_sound) {
            self.out.push(Sent::kept(entry, kin));
        } else {
            // What is made of the same message differs only in the ids of its calls.
            let made = entry.in_place(
                |made| made.tool_calls().map(|call| call.id.as_str()).eq(calls.iter().map(|call| &*call.id)),
                || Message { parts: assistant_parts(message, &calls), ..bare(message) },
            );
            self.out.push(Sent::shared(made, kin));
        }
        if !calls.is_empty() {
            self.add_results(entry, &calls, next);
        }
    }

    fn call(&mut self, at: usize, call: &'a ToolCall) -> Call<'a> {
        Call { call, id: self.ids.give(call.id.as_str()), result: self.result(at, call) }
    }

    /// The first result after the call that no earlier call took.
    fn result(&mut self, at: usize, call: &ToolCall) -> Option<&'a ToolResult> {
        let waiting = self.results.get_mut(call.id.as_str())?;
        while waiting.front().is_some_and(|(place, _)| *place < at) {
            waiting.pop_front();
        }
        waiting.pop_front().map(|(_, result)| result)
    }

    /// What is sent must not begin or end with the model, nor may it speak twice in a row.
    fn let_user_speak(&mut self) {
        if self.out.last().is_none_or(|sent| sent.message().role == Role::Assistant) {
            self.out.push(Sent::made(Message::user(GO_ON), Kin::Stranger));
        }
    }

    fn add_results(&mut self, entry: &'a Entry, calls: &[Call<'a>], next: Option<&'a Entry>) {
        let holds = |next: &&Entry| {
            let Message { role, parts, .. } = next.message();
            *role == Role::Tool
                && parts.len() == calls.len()
                && parts.iter().zip(calls).all(|(part, call)| call.has(part))
        };
        match next.filter(holds) {
            Some(next) => self.out.push(Sent::kept(next, Kin::Stranger)),
            None => {
                let made = entry.after(
                    |made| {
                        made.parts.len() == calls.len()
                            && made.parts.iter().zip(calls).all(|(part, call)| call.made(part))
                    },
                    || Message::tool_results(calls.iter().map(Call::result).collect()),
                );
                self.out.push(Sent::shared(made, Kin::Stranger));
            }
        }
    }
}

/// A call, the id that it is sent with, and its result if there is one.
struct Call<'a> {
    call: &'a ToolCall,
    id: Cow<'a, str>,
    result: Option<&'a ToolResult>,
}

impl Call<'_> {
    fn is_sound(&self) -> bool {
        self.call.id.as_str() == self.id && tool_name(&self.call.name) == self.call.name
    }

    /// Whether `part` is the result and can be sent as it is.
    fn has(&self, part: &Part) -> bool {
        match (part, self.result) {
            (Part::ToolResult(part), Some(result)) => {
                std::ptr::eq(part, result) && part.call_id.as_str() == self.id && !is_blank(&part.output)
            }
            _ => false,
        }
    }

    /// Whether `part` is what [`Call::result`] would make.
    fn made(&self, part: &Part) -> bool {
        match part {
            Part::ToolResult(made) => {
                made.call_id.as_str() == self.id
                    && made.error_code == self.result.and_then(|result| result.error_code)
                    && made.output == self.output()
            }
            Part::Text { .. } | Part::Image { .. } | Part::Reasoning { .. } | Part::ToolCall(_) => false,
        }
    }

    fn result(&self) -> ToolResult {
        let error_code = self.result.and_then(|result| result.error_code);
        ToolResult { call_id: CallId::from(&*self.id), output: self.output().to_owned(), error_code }
    }

    fn output(&self) -> &str {
        match self.result.map(|result| result.output.as_str()) {
            Some(output) if is_blank(output) => NO_OUTPUT,
            Some(output) => output,
            None => NO_RESULT,
        }
    }
}

/// Whether a part of the model's can be sent as it is, its id and its name aside.
fn is_sound(part: &Part) -> bool {
    match part {
        Part::Text { text } => !is_blank(text),
        Part::Reasoning { text, opaque } => !text.is_empty() || opaque.is_some(),
        Part::ToolCall(_) => true,
        Part::Image { .. } | Part::ToolResult(_) => false,
    }
}

fn assistant_parts(message: &Message, calls: &[Call<'_>]) -> Vec<Part> {
    let mut ids = calls.iter().map(|call| &*call.id);
    let sound = message.parts.iter().filter(|part| is_sound(part));
    let part = |part: &Part| match part {
        Part::ToolCall(call) => ids.next().map(|id| {
            let name = tool_name(&call.name).into_owned();
            Part::ToolCall(ToolCall { id: CallId::from(id), name, ..call.clone() })
        }),
        Part::Text { .. } | Part::Image { .. } | Part::Reasoning { .. } | Part::ToolResult(_) => Some(part.clone()),
    };
    sound.filter_map(part).collect()
}

fn bare(message: &Message) -> Message {
    Message {
        id: message.id,
        role: message.role,
        parts: Vec::new(),
        model: message.model.clone(),
        author: message.author,
        by: None,
        stands_for: message.stands_for.clone(),
    }
}

fn is_picture(part: &Part) -> bool {
    matches!(part, Part::Image { .. })
}

/// Vendors refuse text of spaces as they refuse none.
fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

//! The walk over a history.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet, VecDeque};

use neco_proto::{CallId, Message, Part, Role, ToolCall, ToolResult};
use serde_json::Value;

use super::sent::Sent;
use super::taker::{CallIds, Kin, Taker};
use crate::history::{Entry, History};
use crate::request::{CALL, ToolDeclaration};
use crate::wire::arguments;

/// Stands where the model would begin, end, or speak twice in a row.
const GO_ON: &str = "Continue.";
const NO_OUTPUT: &str = "(no output)";
const NO_RESULT: &str = "This call was interrupted before it gave a result.";
const NO_VISION: &str = "[A picture was here, that this model can't see.]";

/// The messages of `history` as `taker` takes them beside these tools.
pub fn adapt<'a>(history: &'a History, tools: &[ToolDeclaration], taker: &Taker) -> Vec<Sent<'a>> {
    let entries: Vec<&Entry> = history.iter().collect();
    let mut walk = Walk {
        taker,
        declared: Declared::new(tools),
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
    declared: Declared<'t>,
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
            // What is made of the same message differs only in the ids of its calls, and in how they are written.
            let made = entry.in_place(
                |made| {
                    made.tool_calls()
                        .map(|call| (call.id.as_str(), call.name.as_str()))
                        .eq(calls.iter().map(Call::head))
                },
                || Message { parts: assistant_parts(message, &calls), ..bare(message) },
            );
            self.out.push(Sent::shared(made, kin));
        }
        if !calls.is_empty() {
            self.add_results(entry, &calls, next);
        }
    }

    fn call(&mut self, at: usize, call: &'a ToolCall) -> Call<'a> {
        let name = if self.declared.has(&call.name) { tool_name(&call.name) } else { Cow::Borrowed(CALL) };
        Call { call, name, id: self.ids.give(call.id.as_str()), result: self.result(at, call) }
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

/// The tools of a request.
struct Declared<'t> {
    tools: HashSet<&'t str>,
}

impl<'t> Declared<'t> {
    fn new(tools: &'t [ToolDeclaration]) -> Self {
        Self { tools: tools.iter().map(|tool| tool.name.as_str()).collect() }
    }

    /// Whether a call of this tool is written as one. Where there is no other way to call, every call is.
    fn has(&self, name: &str) -> bool {
        !self.tools.contains(CALL) || self.tools.contains(name)
    }
}

/// A call, the name and the id that it is sent with, and its result if there is one.
struct Call<'a> {
    call: &'a ToolCall,
    /// Its own, or that of the tool by which it is called.
    name: Cow<'a, str>,
    id: Cow<'a, str>,
    result: Option<&'a ToolResult>,
}

impl Call<'_> {
    fn is_sound(&self) -> bool {
        self.call.id.as_str() == self.id && self.name == self.call.name
    }

    fn head(&self) -> (&str, &str) {
        (&self.id, &self.name)
    }

    /// The call as it is sent.
    fn sent(&self) -> ToolCall {
        let Self { call, name, id, .. } = self;
        let arguments = if *name == CALL && call.name != CALL {
            let (name, arguments) = (Value::from(call.name.as_str()), arguments::as_object(&call.arguments));
            format!("{{\"name\":{name},\"arguments\":{arguments}}}")
        } else {
            call.arguments.clone()
        };
        ToolCall { id: CallId::from(&**id), name: name.clone().into_owned(), arguments, opaque: call.opaque.clone() }
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
    let mut calls = calls.iter();
    let sound = message.parts.iter().filter(|part| is_sound(part));
    let part = |part: &Part| match part {
        Part::ToolCall(_) => calls.next().map(|call| Part::ToolCall(call.sent())),
        Part::Text { .. } | Part::Image { .. } | Part::Reasoning { .. } | Part::ToolResult(_) => Some(part.clone()),
    };
    sound.filter_map(part).collect()
}

fn bare(message: &Message) -> Message {
    Message {
        id: message.id,
        model: message.model.clone(),
        author: message.author,
        stands_for: message.stands_for.clone(),
        ..Message::new(message.role, Vec::new())
    }
}

fn is_picture(part: &Part) -> bool {
    matches!(part, Part::Image { .. })
}

/// Vendors refuse text of spaces as they refuse none.
fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

/// The longest tool name that all vendors take.
const LONGEST_NAME: usize = 64;
const ALPHABET: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";

/// The ids that were given out so far.
/// The same history always gives the same ids, whatever is added to it: a prompt cache is of no use when an early
/// id changes.
pub(super) struct Ids<'a> {
    rule: CallIds,
    taken: HashSet<Cow<'a, str>>,
}

impl<'a> Ids<'a> {
    pub(super) fn new(rule: CallIds) -> Self {
        Self { rule, taken: HashSet::new() }
    }

    /// The id that stands for `id`: itself, if it is well formed and free.
    pub(super) fn give(&mut self, id: &'a str) -> Cow<'a, str> {
        if accepts(self.rule, id) && self.taken.insert(Cow::Borrowed(id)) {
            return Cow::Borrowed(id);
        }
        let mut seed = fingerprint(id);
        loop {
            let made: Cow<'a, str> = Cow::Owned(made(self.rule, seed));
            if self.taken.insert(made.clone()) {
                return made;
            }
            seed = seed.wrapping_add(1);
        }
    }
}

/// A tool's name as it may stand in a request. What a model makes up may have any form.
pub(super) fn tool_name(name: &str) -> Cow<'_, str> {
    let first = name.chars().next();
    let begins_well = first.is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
    if begins_well && name.len() <= LONGEST_NAME && name.chars().all(is_word) {
        return Cow::Borrowed(name);
    }
    let begin = if begins_well { "" } else { "_" };
    let rest = name.chars().map(|c| if is_word(c) { c } else { '_' });
    Cow::Owned(begin.chars().chain(rest).take(LONGEST_NAME).collect())
}

fn accepts(rule: CallIds, id: &str) -> bool {
    match rule {
        CallIds::Text(longest) => (1..=longest).contains(&id.len()) && id.chars().all(|c| c.is_ascii_graphic()),
        CallIds::Words(longest) => (1..=longest).contains(&id.len()) && id.chars().all(is_word),
        CallIds::Nine => id.len() == 9 && id.chars().all(|c| c.is_ascii_alphanumeric()),
    }
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '-'
}

fn made(rule: CallIds, seed: u64) -> String {
    let letters = (0..9_u32).map(|at| char::from(ALPHABET[(seed >> (5 * at)) as usize % ALPHABET.len()]));
    match rule {
        CallIds::Text(_) | CallIds::Words(_) => "call_".chars().chain(letters).collect(),
        CallIds::Nine => letters.collect(),
    }
}

/// FNV-1a: the same in every run and on every machine.
fn fingerprint(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn good_ids_stay_and_others_become_good() {
        let mut ids = Ids::new(CallIds::Words(20));
        assert_eq!(ids.give("call_1"), "call_1");
        let again = ids.give("call_1").into_owned();
        assert!(again != "call_1" && accepts(CallIds::Words(20), &again), "{again}");
        for odd in ["", "a b", "functions.read:0", "ü", &"x".repeat(21)] {
            let given = ids.give(odd).into_owned();
            assert!(accepts(CallIds::Words(20), &given), "{given}");
        }
        assert_eq!(Ids::new(CallIds::Words(20)).give("a b"), Ids::new(CallIds::Words(20)).give("a b"));
        assert_eq!(Ids::new(CallIds::Text(20)).give("functions.read:0"), "functions.read:0");
        let mut nine = Ids::new(CallIds::Nine);
        assert_eq!(nine.give("abcDEF123"), "abcDEF123");
        assert!(accepts(CallIds::Nine, &nine.give("toolu_01")));
    }

    #[test]
    fn calls_of_tools_that_are_not_declared_go_back_as_they_were_made() {
        let tools = |names: &[&str]| -> Vec<ToolDeclaration> {
            let tool = |name: &&str| ToolDeclaration {
                name: (*name).to_owned(),
                description: String::new(),
                schema: Value::Null,
            };
            names.iter().map(tool).collect()
        };
        let call = |id: &str, name: &str, arguments: &str| {
            Part::ToolCall(ToolCall {
                id: CallId::from(id),
                name: name.to_owned(),
                arguments: arguments.to_owned(),
                opaque: None,
            })
        };
        let calls =
            vec![call("a", "bash", "{\"command\":\"ls\"}"), call("b", "git", "{\"action\":1}"), call("c", "git", "x")];
        let history: History = [Message::user("hi"), Message::new(Role::Assistant, calls)].into_iter().collect();
        let taker = Taker::new(&crate::wire::target::Target::new("openai", "gpt"), CallIds::Words(64));
        let written = |declared: &[&str]| -> Vec<(String, String)> {
            let sent = adapt(&history, &tools(declared), &taker);
            let calls = sent.iter().flat_map(|sent| sent.message().tool_calls());
            calls.map(|call| (call.name.clone(), call.arguments.clone())).collect()
        };
        let pair = |name: &str, arguments: &str| (name.to_owned(), arguments.to_owned());
        let bash = pair("bash", "{\"command\":\"ls\"}");
        let by_call = [
            bash.clone(),
            pair(CALL, "{\"name\":\"git\",\"arguments\":{\"action\":1}}"),
            pair(CALL, "{\"name\":\"git\",\"arguments\":{\"not_json\":\"x\"}}"),
        ];
        assert_eq!(written(&["bash", CALL]), by_call);
        assert_eq!(written(&["bash", "git", CALL]), [bash.clone(), pair("git", "{\"action\":1}"), pair("git", "x")]);
        assert_eq!(
            written(&["bash"]),
            [bash, pair("git", "{\"action\":1}"), pair("git", "x")],
            "there is no other way"
        );
        assert_eq!(written(&["bash", CALL]), by_call, "whatever was kept of the others");
    }

    #[test]
    fn names_keep_what_they_can() {
        assert_eq!(tool_name("read_file"), "read_file");
        assert_eq!(tool_name("functions.read file"), "functions_read_file");
        assert_eq!(tool_name("9lives"), "_9lives");
        assert_eq!(tool_name(""), "_");
        assert_eq!(tool_name(&"é".repeat(200)).len(), LONGEST_NAME);
    }
}

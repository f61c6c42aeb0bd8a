//! What all the formats come down to.

use std::collections::BTreeMap;

use jiff::Timestamp;
use neco_proto::app::port::SkippedRecords;
use neco_proto::{Part, ToolCall, Usage};
use serde_json::Value;

/// A session of another agent.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Foreign {
    /// The id it has there.
    pub id: Option<String>,
    /// The folder it works in.
    pub cwd: Option<String>,
    /// Its title.
    pub title: Option<String>,
    /// What happened, oldest first.
    pub items: Vec<Item>,
    /// What has no place here.
    pub skipped: Skipped,
}

/// One thing that happened.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// When, as far as that is known.
    pub at: Option<Timestamp>,
    /// What.
    pub what: What,
}

/// What happened.
#[derive(Clone, Debug, PartialEq)]
pub enum What {
    /// The person said something.
    User(Vec<Part>),
    /// The model said something or asked for calls.
    Assistant(Answer),
    /// A call gave something.
    Result(Outcome),
    /// Everything before was replaced by a summary.
    Compacted(String),
    /// The person stopped the work.
    Interrupted,
}

/// What the model said.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// The id that pieces of the same answer share.
    pub key: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// Thoughts, words and calls.
    pub parts: Vec<Part>,
    /// What it used.
    pub usage: Option<Usage>,
}

/// What a call gave.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The call.
    pub call: String,
    /// What the model read.
    pub output: String,
    /// Whether it failed.
    pub failed: bool,
}

/// What was skipped, by kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Skipped(BTreeMap<String, u64>);

impl Foreign {
    /// The person said something.
    pub fn user(&mut self, at: Option<Timestamp>, parts: Vec<Part>) {
        if parts.iter().any(|part| !is_empty(part)) {
            self.items.push(Item { at, what: What::User(parts) });
        }
    }

    /// A call gave something.
    pub fn result(&mut self, at: Option<Timestamp>, call: &str, output: String, failed: bool) {
        self.items.push(Item { at, what: What::Result(Outcome { call: call.to_owned(), output, failed }) });
    }

    /// The answer that pieces belong to: the one with the same key since the person last spoke, or, for
    /// pieces without a key, the one before; a new one where there is none.
    pub fn answer(&mut self, at: Option<Timestamp>, key: Option<&str>) -> &mut Answer {
        let same = |item: &Item| match &item.what {
            What::Assistant(answer) => answer.key.as_deref() == key,
            What::User(_) | What::Result(_) | What::Compacted(_) | What::Interrupted => false,
        };
        let is_turn = |item: &&Item| matches!(item.what, What::Assistant(_) | What::Result(_));
        let found = match key {
            Some(_) => self.items.iter().rev().take_while(is_turn).position(same),
            None => self.items.last().filter(|item| same(item)).map(|_| 0),
        };
        let at = match found {
            Some(back) => self.items.len() - 1 - back,
            None => {
                let answer = Answer { key: key.map(str::to_owned), ..Answer::default() };
                self.items.push(Item { at, what: What::Assistant(answer) });
                self.items.len() - 1
            }
        };
        match &mut self.items[at].what {
            What::Assistant(answer) => answer,
            // The place was found or made as an answer above.
            What::User(_) | What::Result(_) | What::Compacted(_) | What::Interrupted => {
                unreachable!("the item is an answer")
            }
        }
    }

    /// Words or thoughts that follow calls begin a new answer: results come between the two.
    pub fn fresh_after_calls(&mut self, at: Option<Timestamp>) -> &mut Answer {
        let has_calls = match self.items.last().map(|item| &item.what) {
            Some(What::Assistant(answer)) => answer.parts.iter().any(|part| matches!(part, Part::ToolCall(_))),
            Some(What::User(_) | What::Result(_) | What::Compacted(_) | What::Interrupted) | None => true,
        };
        if has_calls {
            self.items.push(Item { at, what: What::Assistant(Answer::default()) });
        }
        self.answer(at, None)
    }

    /// The last answer, if any.
    pub fn last_answer(&mut self) -> Option<&mut Answer> {
        self.items.iter_mut().rev().find_map(|item| match &mut item.what {
            What::Assistant(answer) => Some(answer),
            What::User(_) | What::Result(_) | What::Compacted(_) | What::Interrupted => None,
        })
    }

    /// How many messages of the person and the model there are.
    pub fn messages(&self) -> usize {
        self.items.iter().filter(|item| matches!(item.what, What::User(_) | What::Assistant(_))).count()
    }
}

impl Answer {
    /// Adds words, unless they are empty.
    pub fn text(&mut self, text: &str) {
        if !text.trim().is_empty() {
            self.parts.push(Part::Text { text: text.to_owned() });
        }
    }

    /// Adds thoughts, without what only their vendor can read.
    pub fn thought(&mut self, text: &str) {
        if !text.trim().is_empty() {
            self.parts.push(Part::Reasoning { text: text.to_owned(), opaque: None });
        }
    }

    /// Adds a call under the name and with the arguments that it had there.
    pub fn call(&mut self, id: &str, name: &str, arguments: String) {
        self.parts.push(Part::ToolCall(ToolCall { id: id.into(), name: name.to_owned(), arguments, opaque: None }));
    }

    /// Adds text, or blocks of text, thoughts and calls, and returns the kinds of all other blocks.
    pub fn content(&mut self, content: Option<&Value>, call: &str, arguments: &str) -> Vec<String> {
        let mut unknown = Vec::new();
        if let Some(Value::String(text)) = content {
            self.text(text);
        }
        for block in content.and_then(Value::as_array).into_iter().flatten() {
            let field = |name: &str| text(block, name).unwrap_or_default();
            match field("type") {
                "text" => self.text(field("text")),
                "thinking" => self.thought(field("thinking")),
                kind if kind == call => {
                    let arguments = block.get(arguments).map(Value::to_string).unwrap_or_default();
                    self.call(field("id"), field("name"), arguments);
                }
                other => unknown.push(other.to_owned()),
            }
        }
        unknown
    }

    /// Notes the model.
    pub fn by(&mut self, model: Option<&str>) {
        if let Some(model) = model.filter(|model| !model.is_empty()) {
            self.model = Some(model.to_owned());
        }
    }
}

impl Skipped {
    /// One more of a kind.
    pub fn count(&mut self, kind: &str) {
        *self.0.entry(kind.chars().take(40).collect()).or_default() += 1;
    }

    /// How many in all.
    pub fn total(&self) -> u64 {
        self.0.values().sum()
    }

    /// How many of which kind, the most frequent kind first.
    pub fn records(&self) -> Vec<SkippedRecords> {
        let mut records: Vec<SkippedRecords> =
            self.0.iter().map(|(kind, count)| SkippedRecords { kind: kind.clone(), count: *count }).collect();
        records.sort_by_key(|records| std::cmp::Reverse(records.count));
        records
    }
}

/// A picture, if it is one that any vendor knows; words in its place otherwise.
pub fn picture(media_type: &str, data: &str) -> Part {
    let known = matches!(media_type, "image/png" | "image/jpeg" | "image/gif" | "image/webp");
    let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
    match known && !data.is_empty() && data.bytes().all(is_base64) {
        true => Part::Image { media_type: media_type.to_owned(), data: data.to_owned() },
        false => Part::Text { text: format!("[{media_type}, not imported]") },
    }
}

/// A picture written as `data:image/png;base64,…`.
pub fn picture_of_address(address: &str) -> Option<Part> {
    let (head, data) = address.strip_prefix("data:")?.split_once(',')?;
    Some(picture(head.split(';').next()?, data))
}

/// A moment written as text, or as milliseconds since 1970.
pub fn moment(value: Option<&Value>) -> Option<Timestamp> {
    match value? {
        Value::String(text) => text.parse().ok(),
        Value::Number(number) => Timestamp::from_millisecond(number.as_i64()?).ok(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

/// The text of a field.
pub fn text<'a>(value: &'a Value, field: &str) -> Option<&'a str> {
    value.get(field).and_then(Value::as_str)
}

/// The number of a field; 0 when there is none.
pub fn number(value: &Value, field: &str) -> u64 {
    value.get(field).and_then(Value::as_u64).unwrap_or_default()
}

/// What an answer used, in fields with these names: input that was not in the cache, output, what was read from the
/// cache and what was written to it.
pub fn usage(used: &Value, [input, output, read, written]: [&str; 4]) -> Usage {
    let (cache_read, cache_write) = (number(used, read), number(used, written));
    let input = number(used, input).saturating_add(cache_read).saturating_add(cache_write);
    Usage { input, output: number(used, output), cache_read, cache_write, ..Usage::default() }
}

/// Whether a part says nothing.
pub fn is_empty(part: &Part) -> bool {
    match part {
        Part::Text { text } | Part::Reasoning { text, .. } => text.trim().is_empty(),
        Part::Image { .. } | Part::ToolCall(_) | Part::ToolResult(_) => false,
    }
}

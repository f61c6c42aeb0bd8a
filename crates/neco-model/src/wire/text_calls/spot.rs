//! The walk over the text of an answer: prose passes, what may be a call is held back.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::candidate::{Against, Candidate, Ending, Verdict};
use super::preface::{Opening, Preface};
use crate::request::ToolDeclaration;

/// A call that a model wrote as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextCall {
    /// A declared tool; any at all from a model that was told how to write calls.
    pub name: String,
    /// A JSON object, as far as the model could write one.
    pub arguments: String,
}

/// How much speaks for calls in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// Nothing but the answer itself: it must be calls as a whole, a short preface aside; or begin with
    /// calls, which nobody shows as an example without a word before them.
    Guessed,
    /// The model was told to write its calls so. What it writes after them it can't know yet, so it
    /// is left out; still, calls in the midst of prose are examples.
    Told,
}

/// What the text of an answer turned out to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seen {
    /// Text, all of which was released.
    Text,
    /// Calls.
    Calls(Vec<TextCall>),
    /// A call that was begun and not finished, or a result that the model made up or repeats; with the
    /// text that was held back.
    Half(String),
}

/// Reads the text of one answer.
#[derive(Debug)]
pub struct Spotter {
    declared: Declared,
    trust: Trust,
    place: Place,
    preface: Preface,
    /// What was read and not released.
    held: String,
    /// Where in `held` that begins which may be a call; spaces stand before it.
    from: usize,
}

#[derive(Debug)]
enum Place {
    /// A call may still begin.
    Preface,
    Held(Box<Candidate>),
    /// Nothing is a call any more.
    Prose,
    /// Calls, after which nothing is read any more.
    Calls(Box<Candidate>),
}

impl Spotter {
    /// For an answer to a request with these tools.
    pub fn new(declared: Declared, trust: Trust) -> Self {
        let place = if declared.is_empty() { Place::Prose } else { Place::Preface };
        Self { declared, trust, place, preface: Preface::new(), held: String::new(), from: 0 }
    }

    /// Takes more text and adds what is text for sure to `out`.
    pub fn push(&mut self, text: &str, out: &mut String) {
        for (at, character) in text.char_indices() {
            match self.place {
                Place::Prose => {
                    out.push_str(text.get(at..).unwrap_or(""));
                    return;
                }
                Place::Calls(_) => return,
                Place::Preface | Place::Held(_) => self.take(character, out),
            }
        }
    }

    /// How many bytes are held back.
    pub fn kept(&self) -> usize {
        self.held.len()
    }

    /// Whether calls were seen and nothing that follows matters.
    pub fn is_over(&self) -> bool {
        matches!(self.place, Place::Calls(_))
    }

    /// The answer is over. Text that was held for nothing is added to `out`.
    pub fn end(&mut self, out: &mut String) -> Seen {
        let held = std::mem::take(&mut self.held);
        let against = Against { declared: &self.declared, trust: self.trust };
        let ending = match std::mem::replace(&mut self.place, Place::Prose) {
            Place::Preface | Place::Prose => Ending::NoCall,
            Place::Held(candidate) => candidate.end(&held, against),
            Place::Calls(candidate) => Ending::Calls(candidate.calls),
        };
        match ending {
            Ending::Calls(mut calls) => {
                // Nobody asks for the same twice in one breath; small models stutter.
                calls.dedup();
                Seen::Calls(calls)
            }
            Ending::Half => Seen::Half(held),
            Ending::NoCall => {
                out.push_str(&held);
                Seen::Text
            }
        }
    }

    /// All of it is text after all.
    pub fn release(&mut self, out: &mut String) {
        out.push_str(&std::mem::take(&mut self.held));
        self.place = Place::Prose;
    }

    fn take(&mut self, character: char, out: &mut String) {
        let at = self.held.len();
        self.held.push(character);
        match &mut self.place {
            Place::Preface => self.take_in_preface(at, character, out),
            Place::Held(candidate) => {
                let against = Against { declared: &self.declared, trust: self.trust };
                match candidate.feed(&self.held, at, character, against) {
                    Verdict::MayBe => {}
                    Verdict::NoCall => self.no_call(out),
                    Verdict::Followed if self.stands_alone() => self.calls_are_over(),
                    Verdict::Followed => self.no_call(out),
                }
            }
            Place::Prose | Place::Calls(_) => {}
        }
    }

    fn take_in_preface(&mut self, at: usize, character: char, out: &mut String) {
        let opening = match character {
            '{' | '[' => Some(Opening::Json),
            '`' => Some(Opening::Fence),
            '<' => Some(Opening::Tag),
            // Spaces wait: before a call they are nothing.
            character if character.is_whitespace() => {
                self.preface.add(character.encode_utf8(&mut [0; 4]));
                return;
            }
            _ => None,
        };
        if opening.is_some_and(|opening| self.preface.admits(opening)) {
            let mut candidate = Box::new(Candidate::new(self.preface.is_empty()));
            let against = Against { declared: &self.declared, trust: self.trust };
            candidate.feed(&self.held, at, character, against);
            self.from = at;
            self.place = Place::Held(candidate);
            return;
        }
        self.preface.add(character.encode_utf8(&mut [0; 4]));
        self.pass(out);
    }

    /// What was held is text; what comes after it may still be a call.
    fn no_call(&mut self, out: &mut String) {
        let (from, held) = (self.from, std::mem::take(&mut self.held));
        self.preface.add(held.get(from..).unwrap_or(""));
        self.held = held;
        self.place = Place::Preface;
        self.pass(out);
    }

    fn pass(&mut self, out: &mut String) {
        out.push_str(&self.held);
        self.held.clear();
        if self.preface.is_over() && self.trust == Trust::Guessed {
            self.place = Place::Prose;
        }
    }

    /// Whether calls that are followed by something else are no example.
    fn stands_alone(&self) -> bool {
        let tagged = matches!(&self.place, Place::Held(candidate) if candidate.is_tagged());
        match self.trust {
            Trust::Guessed => self.preface.is_empty(),
            Trust::Told => tagged || self.preface.is_empty(),
        }
    }

    fn calls_are_over(&mut self) {
        if let Place::Held(candidate) = std::mem::replace(&mut self.place, Place::Prose) {
            self.place = Place::Calls(candidate);
        }
    }
}

/// The tools of a request.
#[derive(Clone, Debug)]
pub struct Declared {
    tools: Arc<[ToolDeclaration]>,
}

impl Declared {
    /// The tools of a request.
    pub fn new(tools: Arc<[ToolDeclaration]>) -> Self {
        Self { tools }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// Whether a call may name this tool. A model that was told how to write calls and names one that
    /// does not exist is told so like any other.
    pub(super) fn admits(&self, name: &str, trust: Trust) -> bool {
        match trust {
            Trust::Guessed => self.has(name),
            Trust::Told => !name.is_empty(),
        }
    }

    /// Whether `arguments` can be meant for the tool: at least half of their names are its own, and
    /// there are some where it wants some. A model that was told how to write calls may err: the tool
    /// says what is wrong.
    pub(super) fn fit(&self, name: &str, arguments: &Map<String, Value>, trust: Trust) -> bool {
        if trust == Trust::Told {
            return true;
        }
        let Some(tool) = self.get(name) else { return false };
        let Some(properties) = tool.schema.get("properties").and_then(Value::as_object) else { return true };
        let wants_some = tool.schema.get("required").and_then(Value::as_array).is_some_and(|names| !names.is_empty());
        let known = arguments.keys().filter(|name| properties.contains_key(*name)).count();
        if arguments.is_empty() { !wants_some } else { known * 2 >= arguments.len() }
    }

    /// Whether an argument is text, so that what stands there is not read as JSON.
    pub(super) fn is_text(&self, tool: &str, argument: &str) -> bool {
        let Some(tool) = self.get(tool) else { return false };
        let schema = tool.schema.get("properties").and_then(|properties| properties.get(argument));
        match schema.and_then(|schema| schema.get("type")) {
            Some(Value::String(kind)) => kind == "string",
            Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "string"),
            _ => false,
        }
    }

    fn get(&self, name: &str) -> Option<&ToolDeclaration> {
        self.tools.iter().find(|tool| tool.name == name)
    }
}

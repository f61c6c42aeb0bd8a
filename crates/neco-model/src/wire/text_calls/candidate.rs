//! What may be calls: JSON, fences and tags, one after the other and inside of each other.

use super::element::{self, Element};
use super::scan::{Progress, Scan};
use super::spot::{Declared, TextCall, Trust};
use super::{function, object};

/// Tags that hold calls.
const TAGS: [&str; 5] = ["tool_call", "tools", "tool_calls", "function_call", "function_calls"];
const FUNCTION: &str = "function=";
/// What a template puts around results. A model that begins with it repeats what it was shown.
const RESULT: &str = "tool_response";
/// What stands after the backticks of a fence that may hold a call.
const LANGUAGES: [&str; 7] = ["", "json", "xml", "tool_call", "tool_calls", "tool", "function_call"];
const LONGEST_TAG: usize = 100;

/// Text that may be calls.
#[derive(Debug, Default)]
pub(super) struct Candidate {
    open: Vec<Wrapper>,
    step: Step,
    pub(super) calls: Vec<TextCall>,
    /// Whether a tag that holds calls was seen.
    tagged: bool,
    /// Whether it is the very beginning of the answer.
    is_first: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wrapper {
    Fence,
    Tag,
}

#[derive(Debug, Default)]
enum Step {
    /// A call, a wrapper, the end of one, or the end of it all.
    #[default]
    Between,
    Ticks(usize),
    /// The rest of the line that opened a fence, from this byte on.
    Language(usize),
    /// A tag from this byte on, past its `<`.
    Tag(usize),
    /// `<function name=…`, from this byte on, past its `<`.
    Element(usize),
    /// A value from this byte on.
    Json(usize, Box<Scan>),
    /// What stands after `<function=NAME>`, from this byte on.
    Function(String, usize),
    /// A result that the model repeats.
    Result,
}

/// How it stands after a character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    MayBe,
    /// What was read are no calls.
    NoCall,
    /// The calls are over and something else follows them.
    Followed,
}

/// How it stands when the text is over.
#[derive(Debug, PartialEq)]
pub(super) enum Ending {
    Calls(Vec<TextCall>),
    /// A call was begun and not finished.
    Half,
    NoCall,
}

/// What calls are checked against.
#[derive(Clone, Copy)]
pub(super) struct Against<'a> {
    pub(super) declared: &'a Declared,
    pub(super) trust: Trust,
}

impl Candidate {
    /// What begins an answer, or comes after other text.
    pub(super) fn new(is_first: bool) -> Self {
        Self { is_first, ..Self::default() }
    }

    /// Whether a tag says that calls are meant.
    pub(super) fn is_tagged(&self) -> bool {
        self.tagged
    }

    /// Takes the character at byte `at` of `held`, which ends with it.
    pub(super) fn feed(&mut self, held: &str, at: usize, character: char, against: Against<'_>) -> Verdict {
        match &mut self.step {
            Step::Between => self.between(at, character, against),
            Step::Ticks(count) if character == '`' => {
                *count += 1;
                if *count == 3 { self.fence(at + 1) } else { Verdict::MayBe }
            }
            Step::Ticks(_) => self.other(),
            Step::Language(from) => {
                let from = *from;
                self.language(held, from, at, character, against)
            }
            Step::Tag(from) => {
                let from = *from;
                self.tag(held.get(from..at).unwrap_or(""), at, character, against)
            }
            // `{{`, as templates write a brace: the second one counts.
            Step::Json(from, _) if character == '{' && held.get(*from..at).is_some_and(|begun| begun == "{") => {
                self.between(at, character, against)
            }
            Step::Json(from, scan) => match scan.feed(held, at, character, against) {
                Progress::GoesOn => Verdict::MayBe,
                Progress::NoCall => self.other(),
                Progress::Closed => {
                    let found = object::calls(held, *from, scan, against.declared, against.trust);
                    self.take(found)
                }
            },
            Step::Result => Verdict::MayBe,
            Step::Element(from) => match character {
                '>' => {
                    let element = element::read(held.get(*from..at).unwrap_or(""));
                    self.element(element, at, against)
                }
                _ => Verdict::MayBe,
            },
            Step::Function(name, from) => {
                let body = held.get(*from..).unwrap_or("");
                if character != '>' || !function::is_closed(body) {
                    return Verdict::MayBe;
                }
                let call = function::call(name, body, against.declared, against.trust);
                self.take(call.map(|call| vec![call]))
            }
        }
    }

    /// The text is over.
    pub(super) fn end(self, held: &str, against: Against<'_>) -> Ending {
        let Self { step, mut calls, tagged, .. } = self;
        let last = match step {
            Step::Between | Step::Ticks(_) | Step::Language(_) | Step::Tag(_) => {
                return if calls.is_empty() { Ending::NoCall } else { Ending::Calls(calls) };
            }
            Step::Json(from, scan) if scan.lacks_only_closing() => {
                let closed = format!("{}}}", held.trim_end());
                object::calls(&closed, from, &scan, against.declared, against.trust)
            }
            Step::Json(_, scan) if !scan.is_named() && !tagged => return Ending::NoCall,
            Step::Element(from) => {
                let name = held.get(from..).and_then(element::name);
                let is_named = name.is_some_and(|name| against.declared.has(name));
                if !is_named && !tagged && calls.is_empty() {
                    return Ending::NoCall;
                }
                None
            }
            Step::Json(..) | Step::Result => None,
            Step::Function(name, from) => {
                let body = held.get(from..).unwrap_or("");
                let call = function::call(&name, body, against.declared, against.trust);
                call.map(|call| vec![call])
            }
        };
        match last {
            Some(last) => {
                calls.extend(last);
                Ending::Calls(calls)
            }
            None => Ending::Half,
        }
    }

    fn between(&mut self, at: usize, character: char, against: Against<'_>) -> Verdict {
        match character {
            '{' | '[' => {
                let mut scan = Box::<Scan>::default();
                // The first character of a value never ends it.
                scan.feed("", at, character, against);
                self.step = Step::Json(at, scan);
            }
            '`' => self.step = Step::Ticks(1),
            '<' => self.step = Step::Tag(at + 1),
            // Models miscount their braces, and separate calls.
            '}' | ']' | ',' | ';' if !self.calls.is_empty() => {}
            character if character.is_whitespace() => {}
            _ => return self.other(),
        }
        Verdict::MayBe
    }

    /// Three backticks that end at byte `at`.
    fn fence(&mut self, at: usize) -> Verdict {
        match self.open.iter().rposition(|wrapper| *wrapper == Wrapper::Fence) {
            Some(opened) => {
                self.open.truncate(opened);
                self.step = Step::Between;
            }
            None => {
                self.open.push(Wrapper::Fence);
                self.step = Step::Language(at);
            }
        }
        Verdict::MayBe
    }

    fn language(&mut self, held: &str, from: usize, at: usize, character: char, against: Against<'_>) -> Verdict {
        let language = held.get(from..at).unwrap_or("").trim().to_lowercase();
        match character {
            '\n' | '{' | '[' | '<' => {
                if !LANGUAGES.contains(&language.as_str()) {
                    return self.other();
                }
                self.step = Step::Between;
                self.between(at, character, against)
            }
            character => {
                let grown = format!("{language}{}", character.to_lowercase());
                let may_be = LANGUAGES.iter().any(|known| known.starts_with(grown.trim()));
                if may_be { Verdict::MayBe } else { self.other() }
            }
        }
    }

    /// `text` is what stands between `<` and `character`.
    fn tag(&mut self, text: &str, at: usize, character: char, against: Against<'_>) -> Verdict {
        if character != '>' {
            let grown = format!("{text}{character}");
            if element::is_one(&grown) {
                self.step = Step::Element(at + character.len_utf8() - grown.len());
                return Verdict::MayBe;
            }
            let may_be = grown.len() <= LONGEST_TAG && may_be_tag(&grown);
            return if may_be { Verdict::MayBe } else { self.other() };
        }
        self.step = Step::Between;
        if TAGS.contains(&text) {
            self.open.push(Wrapper::Tag);
            self.tagged = true;
        } else if let Some(name) = text.strip_prefix(FUNCTION) {
            let name = name.trim().trim_matches('"');
            if !against.declared.has(name) {
                return self.other();
            }
            self.tagged = true;
            self.step = Step::Function(name.to_owned(), at + 1);
        } else if text == RESULT && self.is_first && self.calls.is_empty() {
            self.step = Step::Result;
        } else if text.starts_with('/') {
            return self.close_tag();
        } else if !is_special(text) {
            return self.other();
        }
        Verdict::MayBe
    }

    fn element(&mut self, element: Element, at: usize, against: Against<'_>) -> Verdict {
        let (name, arguments) = match element {
            Element::GoesOn => return Verdict::MayBe,
            Element::Call(name, arguments) => (name, Some(arguments)),
            Element::Opens(name) => (name, None),
        };
        if !against.declared.admits(&name, against.trust) {
            return self.other();
        }
        self.tagged = true;
        let Some(arguments) = arguments else {
            self.step = Step::Function(name, at + 1);
            return Verdict::MayBe;
        };
        let call = function::with(&name, arguments, against.declared, against.trust);
        self.take(call.map(|call| vec![call]))
    }

    fn close_tag(&mut self) -> Verdict {
        match self.open.iter().rposition(|wrapper| *wrapper == Wrapper::Tag) {
            Some(opened) => self.open.truncate(opened),
            None if self.calls.is_empty() => return self.other(),
            None => {}
        }
        Verdict::MayBe
    }

    fn take(&mut self, found: Option<Vec<TextCall>>) -> Verdict {
        let Some(found) = found else { return self.other() };
        self.calls.extend(found);
        self.step = Step::Between;
        Verdict::MayBe
    }

    fn other(&self) -> Verdict {
        if self.calls.is_empty() { Verdict::NoCall } else { Verdict::Followed }
    }
}

fn may_be_tag(text: &str) -> bool {
    let name = text.strip_prefix('/').unwrap_or(text);
    TAGS.iter().chain([&RESULT]).any(|tag| tag.starts_with(name))
        || element::may_be(name)
        || FUNCTION.starts_with(name)
        || name.starts_with(FUNCTION)
        || ["/function", "/invoke"].iter().any(|close| close.starts_with(text))
        || text.starts_with('|')
}

/// A mark of a chat template that the server let through.
fn is_special(text: &str) -> bool {
    text.len() > 1 && text.starts_with('|') && text.ends_with('|')
}

//! JSON while it arrives: where it ends, and as early as can be whether it can't be a call.

use super::candidate::Against;

pub(super) const NAMES: [&str; 5] = ["name", "tool", "function", "tool_name", "function_name"];
/// What holds the arguments.
pub(super) const ARGUMENTS: [&str; 5] = ["arguments", "parameters", "args", "params", "input"];
/// What holds a whole call, or calls.
pub(super) const WRAPPERS: [&str; 4] = ["function", "tool_call", "tool_calls", "function_call"];
/// What else calls carry.
const BESIDE: [&str; 5] = ["type", "id", "call_id", "tool_call_id", "index"];

/// One JSON value that may be a call or a list of calls.
#[derive(Debug, Default)]
pub(super) struct Scan {
    /// How many braces and brackets are open.
    depth: usize,
    /// How deep the fields of a call are: deeper in a list.
    field_depth: usize,
    in_text: bool,
    escaped: bool,
    /// Where the text that is open began, past its quote.
    text_from: usize,
    expects: Expects,
    key: String,
    /// Whether a declared tool was named.
    named: bool,
    /// Where the arguments of the first call begin.
    arguments_from: Option<usize>,
}

/// What comes next among the fields of a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Expects {
    #[default]
    Opening,
    Key,
    Colon,
    Value,
    Comma,
}

/// How a value stands after a character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    GoesOn,
    Closed,
    NoCall,
}

impl Scan {
    /// Takes the character at byte `at` of `held`.
    pub(super) fn feed(&mut self, held: &str, at: usize, character: char, against: Against<'_>) -> Progress {
        if self.in_text {
            return self.feed_text(held, at, character, against);
        }
        match character {
            character if character.is_whitespace() => Progress::GoesOn,
            '{' | '[' => self.open(at, character),
            '}' | ']' => self.close(),
            '"' => self.begin_text(at),
            // Inside of a value nothing is looked at; between the objects of a list only commas stand.
            _ if self.depth != self.field_depth => Progress::GoesOn,
            ':' if self.expects == Expects::Colon => self.turn_to(Expects::Value),
            ',' if self.expects == Expects::Comma => self.turn_to(Expects::Key),
            // Numbers and words, of which only the first character matters here.
            _ if self.expects == Expects::Value => self.begin_value(at, Expects::Comma),
            character if self.expects == Expects::Comma && character.is_ascii_alphanumeric() => Progress::GoesOn,
            '.' | '-' | '+' if self.expects == Expects::Comma => Progress::GoesOn,
            _ => Progress::NoCall,
        }
    }

    /// Whether a declared tool was named.
    pub(super) fn is_named(&self) -> bool {
        self.named
    }

    /// Where the arguments of the first call begin.
    pub(super) fn arguments_from(&self) -> Option<usize> {
        self.arguments_from
    }

    /// Whether nothing is missing but the last brace.
    pub(super) fn lacks_only_closing(&self) -> bool {
        let between_fields = !self.in_text && self.depth == self.field_depth && self.expects == Expects::Comma;
        between_fields && self.field_depth == 1 && self.named && self.arguments_from.is_some()
    }

    fn feed_text(&mut self, held: &str, at: usize, character: char, against: Against<'_>) -> Progress {
        match character {
            _ if self.escaped => self.escaped = false,
            '\\' => self.escaped = true,
            '"' => {
                self.in_text = false;
                return self.end_text(held.get(self.text_from..at).unwrap_or(""), against);
            }
            _ => {}
        }
        Progress::GoesOn
    }

    fn begin_text(&mut self, at: usize) -> Progress {
        self.in_text = true;
        self.text_from = at + 1;
        if self.depth != self.field_depth {
            return Progress::GoesOn;
        }
        match self.expects {
            Expects::Key => Progress::GoesOn,
            Expects::Value => self.begin_value(at, Expects::Value),
            Expects::Opening | Expects::Colon | Expects::Comma => Progress::NoCall,
        }
    }

    fn end_text(&mut self, text: &str, against: Against<'_>) -> Progress {
        if self.depth != self.field_depth {
            return Progress::GoesOn;
        }
        match self.expects {
            Expects::Key => self.end_key(text),
            Expects::Value => {
                self.expects = Expects::Comma;
                if !NAMES.contains(&self.key.as_str()) {
                    return Progress::GoesOn;
                }
                self.named |= against.declared.has(text);
                if against.declared.admits(text, against.trust) { Progress::GoesOn } else { Progress::NoCall }
            }
            Expects::Opening | Expects::Colon | Expects::Comma => Progress::NoCall,
        }
    }

    fn end_key(&mut self, key: &str) -> Progress {
        let known = [&NAMES[..], &ARGUMENTS, &WRAPPERS, &BESIDE].iter().any(|keys| keys.contains(&key));
        if !known && !self.named {
            return Progress::NoCall;
        }
        key.clone_into(&mut self.key);
        self.turn_to(Expects::Colon)
    }

    fn begin_value(&mut self, at: usize, then: Expects) -> Progress {
        if ARGUMENTS.contains(&self.key.as_str()) {
            self.arguments_from.get_or_insert(at);
        }
        self.turn_to(then)
    }

    fn open(&mut self, at: usize, character: char) -> Progress {
        if self.depth == self.field_depth && self.depth > 0 {
            match self.expects {
                Expects::Value => {
                    self.begin_value(at, Expects::Comma);
                }
                // The first object of a list.
                Expects::Opening if character == '{' => {
                    self.field_depth += 1;
                    self.expects = Expects::Key;
                }
                Expects::Opening | Expects::Key | Expects::Colon | Expects::Comma => return Progress::NoCall,
            }
        } else if self.depth == 0 {
            self.field_depth = 1;
            self.expects = if character == '{' { Expects::Key } else { Expects::Opening };
        } else if self.depth + 1 == self.field_depth && character == '{' {
            self.expects = Expects::Key;
        }
        self.depth += 1;
        Progress::GoesOn
    }

    fn close(&mut self) -> Progress {
        if self.depth == self.field_depth && matches!(self.expects, Expects::Opening | Expects::Colon | Expects::Value)
        {
            return Progress::NoCall;
        }
        self.depth = self.depth.saturating_sub(1);
        if self.depth == 0 { Progress::Closed } else { Progress::GoesOn }
    }

    fn turn_to(&mut self, expects: Expects) -> Progress {
        self.expects = expects;
        Progress::GoesOn
    }
}

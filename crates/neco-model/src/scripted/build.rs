//! Writing a script in Rust, for tests.
//!
//! `say` and `call` open a turn; what follows belongs to it until the next one is opened.

use serde_json::Value;

use super::expect::Expect;
use super::faults::Fault;
use super::script::{Script, ScriptCall, ScriptUsage, Turn};

impl Script {
    /// An empty script.
    pub fn new() -> Self {
        Self::default()
    }

    /// A turn that says `text`.
    pub fn say(self, text: impl Into<String>) -> Self {
        self.turn(Turn { say: text.into(), ..Turn::default() })
    }

    /// A turn that calls a tool.
    pub fn call(self, name: &str, arguments: Value) -> Self {
        self.turn(Turn { calls: vec![ScriptCall::new(name, arguments)], ..Turn::default() })
    }

    /// A turn in which something goes wrong.
    pub fn fault(self, fault: Fault) -> Self {
        self.turn(Turn { fault: Some(fault), ..Turn::default() })
    }

    /// A turn as it is.
    pub fn turn(mut self, turn: Turn) -> Self {
        self.turns.push(turn);
        self
    }

    /// The last turn calls another tool beside.
    pub fn also_call(self, name: &str, arguments: Value) -> Self {
        self.change(|turn| turn.calls.push(ScriptCall::new(name, arguments)))
    }

    /// The last turn thinks this.
    pub fn thinking(self, text: impl Into<String>) -> Self {
        self.change(|turn| turn.reasoning = text.into())
    }

    /// The last turn says this before its calls.
    pub fn saying(self, text: impl Into<String>) -> Self {
        self.change(|turn| turn.say = text.into())
    }

    /// The last turn used so many tokens.
    pub fn usage(self, input: u64, output: u64) -> Self {
        self.change(|turn| turn.usage = Some(ScriptUsage { input, output, ..ScriptUsage::default() }))
    }

    /// The last turn must have been asked this.
    pub fn expecting(self, expect: Expect) -> Self {
        self.change(|turn| turn.expect = Some(expect))
    }

    /// The last turn goes wrong like this.
    pub fn faulty(self, fault: Fault) -> Self {
        self.change(|turn| turn.fault = Some(fault))
    }

    /// The last turn answers `times` times; `{n}` in it counts them from 1.
    pub fn repeat(self, times: u32) -> Self {
        self.change(|turn| turn.repeat = Some(times))
    }

    /// The last turn goes on answering when the script is used up.
    pub fn loop_last(mut self) -> Self {
        self.loop_last = true;
        self
    }

    /// Text comes in pieces of so many characters.
    pub fn in_pieces_of(mut self, characters: usize) -> Self {
        self.chunk = characters;
        self
    }

    fn change(mut self, change: impl FnOnce(&mut Turn)) -> Self {
        if self.turns.is_empty() {
            self.turns.push(Turn::default());
        }
        if let Some(turn) = self.turns.last_mut() {
            change(turn);
        }
        self
    }
}

impl ScriptCall {
    /// A call with an id of its own.
    pub fn new(name: &str, arguments: Value) -> Self {
        Self { name: name.to_owned(), arguments, ..Self::default() }
    }
}

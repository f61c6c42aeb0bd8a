//! How much one answer may be: what goes past it ends the answer.

use neco_config::section::NetworkSection;
use serde_json::Value;

use crate::delta::{Bound, Bounded, Delta};

/// What a piece of another kind than the one before it counts besides its bytes: it is kept by itself.
const PIECE: u64 = 256;
/// All calls of an answer together may have so many times the arguments of one.
const CALLS_TOGETHER: u64 = 4;
/// Bytes of an answer for each token of the window: what is about half of it leaves room for the question.
const BYTES_FOR_TOKEN: u64 = 2;
/// A window is never so small that less is let through.
const LEAST: u64 = 100_000;
/// No tool has a longer name, in characters.
const LONGEST_NAME: usize = 200;

/// Most that one answer may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnswerLimits {
    /// Bytes of text.
    pub text: u64,
    /// Bytes of thoughts, with what the vendor wants back of them.
    pub reasoning: u64,
    /// Calls.
    pub calls: u64,
    /// Bytes of the arguments of one call.
    pub arguments: u64,
    /// Bytes of the arguments of all calls.
    pub all_arguments: u64,
}

impl AnswerLimits {
    /// The same for a model with this window: what does not fit into it could not be sent back.
    #[must_use]
    pub fn within(self, window: Option<u64>) -> Self {
        let most = window.map_or(u64::MAX, |tokens| tokens.saturating_mul(BYTES_FOR_TOKEN).max(LEAST));
        let Self { text, reasoning, calls, arguments, all_arguments } = self;
        Self {
            text: text.min(most),
            reasoning: reasoning.min(most),
            calls,
            arguments: arguments.min(most),
            all_arguments: all_arguments.min(most),
        }
    }
}

impl Default for AnswerLimits {
    fn default() -> Self {
        (&NetworkSection::default()).into()
    }
}

impl From<&NetworkSection> for AnswerLimits {
    fn from(network: &NetworkSection) -> Self {
        // A section that nobody filled in limits nothing.
        let most = |most: u64| if most == 0 { u64::MAX } else { most };
        Self {
            text: most(network.max_answer_text),
            reasoning: most(network.max_answer_reasoning),
            calls: most(network.max_answer_calls),
            arguments: most(network.max_call_arguments),
            all_arguments: most(network.max_call_arguments).saturating_mul(CALLS_TOGETHER),
        }
    }
}

/// How much of one answer has come.
#[derive(Debug, Default)]
pub(super) struct Measure {
    limits: AnswerLimits,
    text: u64,
    reasoning: u64,
    /// Bytes of the arguments of each call.
    calls: Vec<u64>,
    /// What the last piece was.
    last: Option<Bounded>,
}

impl Measure {
    pub(super) fn new(limits: AnswerLimits) -> Self {
        Self { limits, ..Self::default() }
    }

    /// What of `delta` is within the limits, and the one that it goes past.
    pub(super) fn take(&mut self, delta: Delta) -> (Option<Delta>, Option<Bound>) {
        match delta {
            Delta::Text(text) => {
                let room = self.limits.text.saturating_sub(self.text);
                let weight = self.weight(Bounded::Text, text.len());
                self.text = self.text.saturating_add(weight);
                match self.past(Bounded::Text, self.text, self.limits.text) {
                    Some(bound) => (Some(Delta::Text(beginning(&text, room))), Some(bound)),
                    None => (Some(Delta::Text(text)), None),
                }
            }
            Delta::Reasoning { text, opaque } => {
                let room = self.limits.reasoning.saturating_sub(self.reasoning);
                let weight = self.weight(Bounded::Reasoning, text.len() + opaque.as_ref().map_or(0, bytes_of));
                self.reasoning = self.reasoning.saturating_add(weight);
                match self.past(Bounded::Reasoning, self.reasoning, self.limits.reasoning) {
                    Some(bound) => (Some(Delta::Reasoning { text: beginning(&text, room), opaque: None }), Some(bound)),
                    None => (Some(Delta::Reasoning { text, opaque }), None),
                }
            }
            Delta::CallStart { index, id, name } => {
                self.last = None;
                self.calls.push(0);
                // An id that nobody can be known by is none.
                let id = id.filter(|id| id.len() <= LONGEST_NAME);
                let start = Delta::CallStart { index, id, name: name.chars().take(LONGEST_NAME).collect() };
                (Some(start), self.past(Bounded::Calls, self.calls.len() as u64, self.limits.calls))
            }
            Delta::CallArguments { index, text } => {
                self.last = None;
                match self.add_to_call(index, text.len()) {
                    Some(bound) => (None, Some(bound)),
                    None => (Some(Delta::CallArguments { index, text }), None),
                }
            }
            Delta::CallOpaque { index, value } => match self.add_to_call(index, bytes_of(&value)) {
                Some(bound) => (None, Some(bound)),
                None => (Some(Delta::CallOpaque { index, value }), None),
            },
            Delta::Begin { .. } | Delta::Usage(_) | Delta::Finish(_) | Delta::Retry(_) | Delta::Switch(_) => {
                (Some(delta), None)
            }
        }
    }

    fn weight(&mut self, what: Bounded, bytes: usize) -> u64 {
        let goes_on = self.last.replace(what) == Some(what);
        (bytes as u64).saturating_add(if goes_on { 0 } else { PIECE })
    }

    fn add_to_call(&mut self, index: u32, bytes: usize) -> Option<Bound> {
        let call = self.calls.get_mut(index as usize)?;
        *call = call.saturating_add(bytes as u64);
        let one = *call;
        let all = self.calls.iter().fold(0_u64, |sum, bytes| sum.saturating_add(*bytes));
        self.past(Bounded::Arguments, one, self.limits.arguments)
            .or_else(|| self.past(Bounded::AllArguments, all, self.limits.all_arguments))
    }

    fn past(&self, what: Bounded, has: u64, most: u64) -> Option<Bound> {
        (has > most).then_some(Bound { what, most })
    }
}

/// As much of `text` as fits into `room` bytes.
fn beginning(text: &str, room: u64) -> String {
    let room = usize::try_from(room).unwrap_or(usize::MAX).min(text.len());
    text.get(..text.floor_char_boundary(room)).unwrap_or("").to_owned()
}

/// About how much a value takes.
fn bytes_of(value: &Value) -> usize {
    let each = size_of::<Value>();
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => each,
        Value::String(text) => each + text.len(),
        Value::Array(values) => each + values.iter().map(bytes_of).sum::<usize>(),
        Value::Object(fields) => each + fields.iter().map(|(name, value)| name.len() + bytes_of(value)).sum::<usize>(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: AnswerLimits =
        AnswerLimits { text: 1000, reasoning: 1000, calls: 2, arguments: 100, all_arguments: 400 };

    fn call(index: u32) -> Delta {
        Delta::CallStart { index, id: Some("x".repeat(300)), name: "n".repeat(300) }
    }

    fn arguments(index: u32, bytes: usize) -> Delta {
        Delta::CallArguments { index, text: "a".repeat(bytes) }
    }

    fn what((_, bound): (Option<Delta>, Option<Bound>)) -> Option<Bounded> {
        bound.map(|bound| bound.what)
    }

    #[test]
    fn text_is_kept_up_to_the_limit() {
        let mut measure = Measure::new(LIMITS);
        let text = "é".repeat(400);
        assert_eq!(what(measure.take(Delta::Text("a".repeat(100)))), None);
        let (kept, bound) = measure.take(Delta::Text(text));
        assert_eq!(bound, Some(Bound { what: Bounded::Text, most: 1000 }));
        // What stands by itself counts a little more than its bytes.
        assert_eq!(kept, Some(Delta::Text("é".repeat((1000 - 100 - PIECE as usize) / 2))));
    }

    #[test]
    fn an_answer_leaves_room_in_the_window() {
        let limits = AnswerLimits { text: 1_000_000, arguments: 1_000_000, all_arguments: 4_000_000, ..LIMITS };
        let of = |window| {
            let AnswerLimits { text, reasoning, arguments, all_arguments, .. } = limits.within(window);
            (text, reasoning, arguments, all_arguments)
        };
        assert_eq!(of(None), (1_000_000, 1000, 1_000_000, 4_000_000));
        assert_eq!(of(Some(1_000_000)), (1_000_000, 1000, 1_000_000, 2_000_000));
        assert_eq!(of(Some(128_000)), (256_000, 1000, 256_000, 256_000));
        assert_eq!(of(Some(4000)), (LEAST, 1000, LEAST, LEAST));
    }

    #[test]
    fn pieces_that_take_turns_are_limited_by_their_number() {
        let mut measure = Measure::new(LIMITS);
        let thought = || Delta::Reasoning { text: "a".to_owned(), opaque: None };
        let pieces = (0..).find(|_| {
            what(measure.take(Delta::Text("a".to_owned()))).or_else(|| what(measure.take(thought()))).is_some()
        });
        assert_eq!(pieces, Some(3));
        let opaque = Delta::Reasoning { text: String::new(), opaque: Some(Value::from(vec![0; 40])) };
        assert_eq!(what(Measure::new(LIMITS).take(opaque)), Some(Bounded::Reasoning));
    }

    #[test]
    fn calls_are_limited_in_number_and_size_one_by_one_and_together() {
        let mut measure = Measure::new(LIMITS);
        let (start, bound) = measure.take(call(0));
        let Some(Delta::CallStart { id: None, name, .. }) = start else { panic!("{start:?}") };
        assert_eq!((name.len(), bound), (LONGEST_NAME, None));
        assert_eq!(what(measure.take(arguments(0, 100))), None);
        assert_eq!(what(measure.take(arguments(0, 1))), Some(Bounded::Arguments));
        assert_eq!(what(measure.take(call(1))), None);
        assert_eq!(what(measure.take(call(2))), Some(Bounded::Calls));
        let mut many = Measure::new(AnswerLimits { calls: 9, ..LIMITS });
        let past = (0..9).find_map(|index| what(many.take(call(index))).or(what(many.take(arguments(index, 90)))));
        assert_eq!((past, many.calls.len()), (Some(Bounded::AllArguments), 5));
    }
}

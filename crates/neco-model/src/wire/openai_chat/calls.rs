//! Tool calls in pieces: merged by index, with ids and names that come late, twice or never.
//!
//! A call is announced once, so it is held until its name, its id and the first piece of its
//! arguments are there, and until the calls before it were announced; what never comes is done
//! without at the end.

use serde::de::IgnoredAny;
use serde_json::{Map, Value, json};

use super::chunk::CallPiece;
use crate::delta::Delta;
use crate::error::ErrorKind;
use crate::wire::format::{ENTRY, Problem};
use crate::wire::loose::Loose;

/// More calls than an answer may have, whatever the settings say.
const MOST_CALLS: usize = 1000;

/// The calls of one answer.
#[derive(Debug, Default)]
pub(super) struct Calls {
    calls: Vec<Call>,
    announced: usize,
    /// Bytes that were not handed over when they came.
    kept: usize,
}

#[derive(Debug, Default)]
struct Call {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
    /// What goes back with it unchanged.
    extra: Option<Value>,
}

impl Calls {
    pub(super) fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// Whether the arguments of every call are whole.
    pub(super) fn are_whole(&self) -> bool {
        let whole = |text: &str| text.is_empty() || serde_json::from_str::<IgnoredAny>(text).is_ok();
        self.calls.iter().all(|call| whole(&call.arguments))
    }

    /// Whether there are calls, and each has its arguments in full: nothing of them can be missing.
    pub(super) fn are_written_out(&self) -> bool {
        let written_out = |text: &str| serde_json::from_str::<Map<String, Value>>(text).is_ok();
        !self.calls.is_empty() && self.calls.iter().all(|call| written_out(&call.arguments))
    }

    /// About how many bytes wait for what is still to come.
    pub(super) fn kept(&self) -> usize {
        self.kept + self.calls.len() * ENTRY
    }

    pub(super) fn add(&mut self, piece: &CallPiece<'_>, out: &mut Vec<Delta>) {
        // One piece of an answer may open any number of calls; nobody takes more.
        if self.calls.len() > MOST_CALLS {
            return;
        }
        let arguments = piece.function.arguments.json_text();
        let at = self.place_of(piece);
        let announced = at < self.announced;
        let Some(call) = self.calls.get_mut(at) else { return };
        if call.id.is_empty() {
            piece.id.text().clone_into(&mut call.id);
        }
        if !announced {
            add_name(&mut call.name, piece.function.name.text());
        }
        call.arguments.push_str(&arguments);
        if !announced {
            self.kept += arguments.len() + piece.function.name.text().len();
        }
        let extra = extra(piece);
        if announced {
            if !arguments.is_empty() {
                out.push(Delta::CallArguments { index: position(at), text: arguments.into_owned() });
            }
            out.extend(extra.map(|value| Delta::CallOpaque { index: position(at), value }));
        } else {
            call.extra = extra.or(call.extra.take());
            self.announce_ready(out);
        }
    }

    /// The answer is whole: announces what was held.
    pub(super) fn end(&mut self, out: &mut Vec<Delta>) -> Result<(), Problem> {
        // Some servers open a call and never write it.
        let announced = self.announced;
        let mut at = 0;
        self.calls.retain(|call| {
            at += 1;
            at <= announced || !call.name.is_empty() || !call.arguments.is_empty()
        });
        while self.announced < self.calls.len() {
            if self.calls.get(self.announced).is_some_and(|call| call.name.is_empty()) {
                return Err(Problem::new(ErrorKind::MalformedToolCall, "a tool call came without a name"));
            }
            self.announce(out);
        }
        Ok(())
    }

    fn announce_ready(&mut self, out: &mut Vec<Delta>) {
        while self.calls.get(self.announced).is_some_and(Call::is_ready) {
            self.announce(out);
        }
    }

    fn announce(&mut self, out: &mut Vec<Delta>) {
        let Some(call) = self.calls.get(self.announced) else { return };
        let index = position(self.announced);
        let id = (!call.id.is_empty()).then(|| call.id.clone());
        out.push(Delta::CallStart { index, id, name: call.name.clone() });
        if !call.arguments.is_empty() {
            out.push(Delta::CallArguments { index, text: call.arguments.clone() });
        }
        out.extend(call.extra.clone().map(|value| Delta::CallOpaque { index, value }));
        self.announced += 1;
    }

    /// Which call a piece belongs to; a new one when it belongs to none.
    fn place_of(&mut self, piece: &CallPiece<'_>) -> usize {
        let index = piece.index.number();
        let id = piece.id.text();
        let known = match index {
            // The newest one: servers that give every call the same index mean the one they opened last.
            Some(index) => self.calls.iter().rposition(|call| call.index == Some(index)),
            None if !id.is_empty() => self.calls.iter().rposition(|call| call.id == id),
            None if piece.function.name.text().is_empty() => self.calls.len().checked_sub(1),
            None => self.calls.len().checked_sub(1).filter(|last| !self.begins_another(*last, piece)),
        };
        if let Some(at) = known
            && !(index.is_some() && self.has_other_id(at, id) && self.begins_another(at, piece))
        {
            return at;
        }
        self.calls.push(Call { index, ..Call::default() });
        self.calls.len() - 1
    }

    fn has_other_id(&self, at: usize, id: &str) -> bool {
        self.calls.get(at).is_some_and(|call| !id.is_empty() && !call.id.is_empty() && call.id != id)
    }

    /// Whether a piece with a name opens another call although it points at this one: a different
    /// name, or arguments that are already whole.
    fn begins_another(&self, at: usize, piece: &CallPiece<'_>) -> bool {
        let name = piece.function.name.text();
        !name.is_empty()
            && self.calls.get(at).is_some_and(|call| {
                let whole = serde_json::from_str::<IgnoredAny>(&call.arguments).is_ok();
                whole || (!call.arguments.is_empty() && call.name != name)
            })
    }
}

impl Call {
    fn is_ready(&self) -> bool {
        !self.name.is_empty() && !self.id.is_empty() && !self.arguments.is_empty()
    }
}

/// A signature of Gemini's, in the form that is kept with the call.
fn extra(piece: &CallPiece<'_>) -> Option<Value> {
    let Loose::Structure(extra) = &piece.extra_content else { return None };
    extra.pointer("/google/thought_signature").is_some().then(|| json!({ "extra_content": extra }))
}

/// A name may come again, grow from piece to piece, or come in pieces.
fn add_name(name: &mut String, piece: &str) {
    if piece.starts_with(name.as_str()) {
        piece.clone_into(name);
    } else {
        name.push_str(piece);
    }
}

fn position(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::delta::{Answer, RawCall};

    fn merge(pieces: &[&str]) -> Result<Vec<RawCall>, Problem> {
        let (mut calls, mut out) = (Calls::default(), Vec::new());
        for piece in pieces {
            calls.add(&serde_json::from_str(piece).unwrap(), &mut out);
        }
        calls.end(&mut out)?;
        let mut answer = Answer::default();
        out.iter().for_each(|delta| answer.add(delta));
        Ok(answer.calls)
    }

    fn call(id: Option<&str>, name: &str, arguments: &str) -> RawCall {
        RawCall { id: id.map(str::to_owned), name: name.to_owned(), arguments: arguments.to_owned(), opaque: None }
    }

    #[test]
    fn id_and_name_may_come_late() {
        let calls = merge(&[
            r#"{"index":0,"function":{"arguments":"{\"a\""}}"#,
            r#"{"index":0,"function":{"name":"read"}}"#,
            r#"{"index":0,"id":"x","function":{"arguments":":1}"}}"#,
        ]);
        assert_eq!(calls, Ok(vec![call(Some("x"), "read", "{\"a\":1}")]));
    }

    #[test]
    fn an_id_may_never_come_and_calls_keep_their_order() {
        let calls = merge(&[
            r#"{"index":0,"function":{"name":"a","arguments":"{}"}}"#,
            r#"{"index":1,"id":"y","function":{"name":"b","arguments":"{}"}}"#,
        ]);
        assert_eq!(calls, Ok(vec![call(None, "a", "{}"), call(Some("y"), "b", "{}")]));
    }

    #[test]
    fn a_name_in_pieces_is_joined() {
        let calls = merge(&[
            r#"{"index":0,"id":"x","function":{"name":"read_"}}"#,
            r#"{"index":0,"function":{"name":"file"}}"#,
            r#"{"index":0,"function":{"arguments":"{}"}}"#,
        ]);
        assert_eq!(calls, Ok(vec![call(Some("x"), "read_file", "{}")]));
    }

    #[test]
    fn the_same_index_for_every_call_does_not_mix_them() {
        let calls = merge(&[
            r#"{"index":0,"id":"x","function":{"name":"a","arguments":"{\"n\":1}"}}"#,
            r#"{"index":0,"id":"y","function":{"name":"a","arguments":"{\"n\""}}"#,
            r#"{"index":0,"function":{"arguments":":2}"}}"#,
        ]);
        assert_eq!(calls, Ok(vec![call(Some("x"), "a", "{\"n\":1}"), call(Some("y"), "a", "{\"n\":2}")]));
    }

    #[test]
    fn without_index_and_id_a_name_opens_the_next_call() {
        let calls = merge(&[
            r#"{"function":{"name":"a","arguments":"{}"}}"#,
            r#"{"function":{"name":"a","arguments":"{\"n\""}}"#,
            r#"{"function":{"arguments":":2}"}}"#,
        ]);
        assert_eq!(calls, Ok(vec![call(None, "a", "{}"), call(None, "a", "{\"n\":2}")]));
    }

    #[test]
    fn an_id_that_changes_in_the_middle_of_a_call_is_ignored() {
        let calls = merge(&[
            r#"{"index":0,"id":"x","function":{"name":"a","arguments":"{\"n\""}}"#,
            r#"{"index":0,"id":"other","function":{"name":"a","arguments":":2}"}}"#,
        ]);
        assert_eq!(calls, Ok(vec![call(Some("x"), "a", "{\"n\":2}")]));
    }

    #[test]
    fn arguments_may_be_an_object() {
        let calls = merge(&[r#"{"index":0,"id":"x","function":{"name":"a","arguments":{"n":1}}}"#]);
        assert_eq!(calls, Ok(vec![call(Some("x"), "a", "{\"n\":1}")]));
    }

    #[test]
    fn a_signature_is_kept_with_its_call() {
        let calls = merge(&[
            r#"{"index":0,"id":"x","function":{"name":"a","arguments":"{}"},"extra_content":{"google":{"thought_signature":"s"}}}"#,
            r#"{"index":1,"id":"y","function":{"name":"b","arguments":"{}"},"extra_content":{"other":1}}"#,
        ])
        .unwrap();
        assert_eq!(calls[0].opaque, Some(json!({ "extra_content": { "google": { "thought_signature": "s" } } })));
        assert_eq!(calls[1].opaque, None);
    }

    #[test]
    fn a_call_without_a_name_is_refused_and_an_empty_one_forgotten() {
        assert!(merge(&[r#"{"index":0,"id":"x","function":{"arguments":"{}"}}"#]).is_err());
        assert_eq!(merge(&[r#"{"index":0,"id":"x"}"#]), Ok(vec![]));
    }
}

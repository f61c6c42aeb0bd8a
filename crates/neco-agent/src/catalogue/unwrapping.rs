//! What a model writes into `call{name, arguments}`: the call of the tool itself, made of it while it comes in.

use neco_model::{CALL, Delta};
use neco_toolkit::Registry;
use neco_toolkit::repair::read_arguments;
use serde_json::Value;

/// What models call the fields of a call.
const NAMES: [&str; 3] = ["name", "tool", "tool_name"];
const ARGUMENTS: [&str; 4] = ["arguments", "args", "parameters", "input"];

/// The tool and its arguments that the arguments of `call` mean; nothing where they name no tool, are not whole, or say
/// more than a call can.
pub(crate) fn meant(arguments: &str) -> Option<(String, String)> {
    let Value::Object(mut fields) = read_arguments(arguments).ok()?.value else { return None };
    let name = NAMES.iter().find_map(|field| fields.remove(*field))?;
    let name = name.as_str().map(str::trim).filter(|name| !name.is_empty())?.to_owned();
    let arguments = match ARGUMENTS.iter().find_map(|field| fields.remove(*field)) {
        Some(Value::Null) | None => Value::Object(fields).to_string(),
        // Whoever writes a field beside the arguments means something by it.
        Some(_) if !fields.is_empty() => return None,
        // A string that holds the object is read as the arguments of any call are.
        Some(Value::String(text)) => text,
        Some(value) => value.to_string(),
    };
    if name == CALL { meant(&arguments) } else { Some((name, arguments)) }
}

/// Makes calls of `call` into those of the tools that they name, piece by piece: nobody after it sees any other, unless
/// no tool can be found in one.
#[derive(Debug, Default)]
pub(crate) struct Unwrapping {
    open: Vec<Open>,
}

/// A call of `call`.
#[derive(Debug)]
struct Open {
    index: u32,
    id: Option<String>,
    stage: Stage,
    /// What was not passed on yet.
    text: String,
    /// What came with it for the vendor and was not passed on yet.
    opaque: Vec<Value>,
}

#[derive(Debug)]
enum Stage {
    /// It is not known yet which tool it names.
    Head,
    /// Its fields come in another order or form: it is read when it is whole.
    Whole,
    /// The arguments of the tool come in.
    Inside(Braces),
    /// The arguments of the tool are whole: nothing but the brace of the call may follow.
    Over,
    /// What comes is passed on as it is: no tool was found in it, or its arguments do not end where they seemed to.
    Passed,
}

impl Unwrapping {
    /// Takes a piece of an answer; what is to be taken in its place is added to `out`.
    pub(crate) fn take(&mut self, delta: Delta, registry: &Registry, out: &mut Vec<Delta>) {
        match delta {
            Delta::CallStart { index, id, name } => {
                self.let_go(registry, out);
                let name = registry.own_name(name);
                if name == CALL {
                    let (text, opaque) = (String::new(), Vec::new());
                    self.open.push(Open { index, id, stage: Stage::Head, text, opaque });
                } else {
                    out.push(Delta::CallStart { index, id, name });
                }
            }
            Delta::CallArguments { index, text } => match self.of(index) {
                Some(open) => open.add(text, registry, out),
                None => out.push(Delta::CallArguments { index, text }),
            },
            Delta::CallOpaque { index, value } => match self.of(index) {
                Some(open) if open.is_held() => open.opaque.push(value),
                Some(_) | None => out.push(Delta::CallOpaque { index, value }),
            },
            Delta::Finish(_) => {
                self.let_go(registry, out);
                out.push(delta);
            }
            Delta::Retry(ref retry) => {
                if retry.discards {
                    self.open.clear();
                }
                out.push(delta);
            }
            Delta::Switch(ref switch) => {
                if switch.discards {
                    self.open.clear();
                }
                out.push(delta);
            }
            Delta::Begin { .. } | Delta::Text(_) | Delta::Reasoning { .. } | Delta::Usage(_) => out.push(delta),
        }
    }

    fn of(&mut self, index: u32) -> Option<&mut Open> {
        self.open.iter_mut().find(|open| open.index == index)
    }

    /// Calls are told of in their order, so that none is held when the next one begins.
    fn let_go(&mut self, registry: &Registry, out: &mut Vec<Delta>) {
        self.open.iter_mut().filter(|open| open.is_held()).for_each(|open| open.let_go(registry, out));
    }
}

impl Open {
    fn is_held(&self) -> bool {
        matches!(self.stage, Stage::Head | Stage::Whole)
    }

    fn add(&mut self, text: String, registry: &Registry, out: &mut Vec<Delta>) {
        let index = self.index;
        match &mut self.stage {
            Stage::Head => {
                self.text.push_str(&text);
                match head(&self.text) {
                    Ok((name, rest)) => {
                        let rest = rest.to_owned();
                        self.begin(name, registry, out);
                        self.stage = Stage::Inside(Braces::default());
                        self.add(rest, registry, out);
                    }
                    Err(Miss::NotYet) => {}
                    Err(Miss::Other) => self.stage = Stage::Whole,
                }
            }
            Stage::Whole => self.text.push_str(&text),
            Stage::Inside(braces) => match braces.end(&text) {
                Some(end) => {
                    let (inside, rest) = text.split_at_checked(end).unwrap_or((text.as_str(), ""));
                    out.push(Delta::CallArguments { index, text: inside.to_owned() });
                    self.stage = Stage::Over;
                    self.text.clear();
                    self.add(rest.to_owned(), registry, out);
                }
                None => out.push(Delta::CallArguments { index, text }),
            },
            Stage::Over => {
                self.text.push_str(&text);
                // With the rest behind them the arguments can't be read: half of them must never run.
                if !["", "}"].contains(&self.text.trim()) {
                    self.stage = Stage::Passed;
                    out.push(Delta::CallArguments { index, text: std::mem::take(&mut self.text) });
                }
            }
            Stage::Passed => out.push(Delta::CallArguments { index, text }),
        }
    }

    /// Passes on what is known of it by now.
    fn let_go(&mut self, registry: &Registry, out: &mut Vec<Delta>) {
        let (index, text) = (self.index, std::mem::take(&mut self.text));
        let (name, text, stage) = match meant(&text) {
            Some((name, arguments)) if name != CALL => (name, arguments, Stage::Over),
            Some(_) | None => (CALL.to_owned(), text, Stage::Passed),
        };
        self.begin(name, registry, out);
        self.stage = stage;
        if !text.is_empty() {
            out.push(Delta::CallArguments { index, text });
        }
    }

    fn begin(&mut self, name: String, registry: &Registry, out: &mut Vec<Delta>) {
        let index = self.index;
        out.push(Delta::CallStart { index, id: self.id.take(), name: registry.own_name(name) });
        out.extend(self.opaque.drain(..).map(|value| Delta::CallOpaque { index, value }));
    }
}

/// Why a text has no head as calls usually have.
#[derive(Debug, PartialEq, Eq)]
enum Miss {
    NotYet,
    Other,
}

/// The tool that `{"name": …, "arguments": {` names, and the text from the last brace on.
fn head(text: &str) -> Result<(String, &str), Miss> {
    let mut rest = text;
    for part in ["{", "\"name\"", ":"] {
        rest = after(rest, part)?;
    }
    let (name, mut rest) = string(rest)?;
    for part in [",", "\"arguments\"", ":"] {
        rest = after(rest, part)?;
    }
    after(rest, "{")?;
    // A call that calls itself is looked through when it is whole.
    if name == CALL { Err(Miss::Other) } else { Ok((name, rest.trim_start())) }
}

fn after<'t>(text: &'t str, part: &str) -> Result<&'t str, Miss> {
    let text = text.trim_start();
    match text.strip_prefix(part) {
        Some(rest) => Ok(rest),
        None if part.starts_with(text) => Err(Miss::NotYet),
        None => Err(Miss::Other),
    }
}

fn string(text: &str) -> Result<(String, &str), Miss> {
    let inner = after(text, "\"")?;
    let mut escaped = false;
    for (at, char) in inner.char_indices() {
        match char {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => {
                let (name, rest) = inner.split_at_checked(at).ok_or(Miss::Other)?;
                let name = serde_json::from_str(&format!("\"{name}\"")).map_err(|_| Miss::Other)?;
                return Ok((name, after(rest, "\"")?));
            }
            _ => {}
        }
    }
    Err(Miss::NotYet)
}

/// How deep in braces a text is.
#[derive(Debug, Default)]
struct Braces {
    depth: usize,
    quote: Option<char>,
    escaped: bool,
}

impl Braces {
    /// Where what the first brace opened ends, if it does in this piece.
    fn end(&mut self, text: &str) -> Option<usize> {
        for (at, char) in text.char_indices() {
            match (self.quote, char) {
                _ if self.escaped => self.escaped = false,
                (Some(_), '\\') => self.escaped = true,
                (Some(open), _) if open == char => self.quote = None,
                (Some(_), _) => {}
                (None, '"' | '\'') => self.quote = Some(char),
                (None, '{' | '[') => self.depth += 1,
                (None, '}' | ']') => {
                    self.depth = self.depth.saturating_sub(1);
                    if self.depth == 0 {
                        return Some(at + char.len_utf8());
                    }
                }
                (None, _) => {}
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use neco_model::{Answer, FinishReason, RawCall};
    use neco_proto::ErrorCode;
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    /// What comes of calls whose arguments come in pieces of so many characters.
    fn unwrapped(calls: &[(&str, &str)], piece: usize) -> Vec<(String, String)> {
        let (registry, mut unwrapping) = (Registry::default(), Unwrapping::default());
        let (mut answer, mut out) = (Answer::default(), Vec::new());
        for (index, (name, arguments)) in (0..).zip(calls) {
            let id = Some(format!("c{index}"));
            unwrapping.take(Delta::CallStart { index, id, name: (*name).to_owned() }, &registry, &mut out);
            let chars: Vec<char> = arguments.chars().collect();
            for text in chars.chunks(piece) {
                let text = text.iter().collect();
                unwrapping.take(Delta::CallArguments { index, text }, &registry, &mut out);
            }
        }
        unwrapping.take(Delta::Finish(FinishReason::ToolCalls), &registry, &mut out);
        out.iter().for_each(|delta| answer.add(delta));
        let ids: Vec<Option<String>> = answer.calls.iter().map(|call| call.id.clone()).collect();
        assert_eq!(ids, (0..calls.len()).map(|index| Some(format!("c{index}"))).collect::<Vec<_>>());
        answer.calls.into_iter().map(|RawCall { name, arguments, .. }| (name, arguments)).collect()
    }

    #[test]
    fn the_tool_and_its_arguments_are_found_however_they_are_written() {
        let inner = r#"{"action": "log", "paths": ["a}{\"", "b"]}"#;
        let fields: Value = serde_json::from_str(inner).unwrap();
        for (written, exact) in [
            (format!(r#"{{"name": "git", "arguments": {inner}}}"#), true),
            (format!("{{\"name\":\"git\",\n \"arguments\":{inner} }}\n"), true),
            (format!(r#"{{"arguments": {inner}, "name": "git"}}"#), false),
            (json!({ "name": "git", "arguments": inner }).to_string(), true),
            (json!({ "name": "git", "action": "log", "paths": ["a}{\"", "b"] }).to_string(), false),
            (format!(r#"{{'tool': "git", "args": {inner},}}"#), false),
            (json!({ "name": "call", "arguments": { "name": "git", "arguments": fields } }).to_string(), false),
        ] {
            for piece in [1, 2, 7, 1000] {
                let made = unwrapped(&[("call", &written), ("bash", "{}"), ("call", &written)], piece);
                let [(name, arguments), bash, again] = made.as_slice() else { panic!("{made:?}") };
                assert_eq!(name, "git", "{written}");
                assert_eq!(serde_json::from_str::<Value>(arguments).unwrap(), fields, "{written} in {piece}");
                assert!(!exact || arguments == inner, "{arguments}");
                assert_eq!((bash, again), (&("bash".to_owned(), "{}".to_owned()), &made[0]));
            }
        }
        assert_eq!(unwrapped(&[("call", r#"{"name":"agent_status"}"#)], 3), [("agent_status".into(), "{}".into())]);
    }

    #[test]
    fn a_call_that_stops_halfway_is_that_of_its_tool_as_far_as_that_is_known() {
        let whole = r#"{"name": "git", "arguments": {"action": "status"}}"#;
        let known = whole.find(": {").unwrap() + 3;
        for end in 0..whole.len() {
            let cut = whole.get(..end).unwrap();
            let (name, arguments) = unwrapped(&[("call", cut)], 5).remove(0);
            if end < known {
                assert_eq!((name.as_str(), arguments.as_str()), ("call", cut));
            } else {
                assert_eq!(name, "git");
                assert!(whole.contains(&arguments) && arguments.starts_with('{'), "{arguments}");
            }
        }
    }

    #[test]
    fn what_names_no_tool_stays_as_it_is() {
        for written in ["", "{}", "[]", "nonsense", r#"{"name": ""}"#, r#"{"name": 3, "arguments": {}}"#] {
            assert_eq!(unwrapped(&[("call", written)], 4), [("call".to_owned(), written.to_owned())]);
            assert_eq!(meant(written), None);
        }
    }

    #[test]
    fn a_call_that_goes_on_behind_its_arguments_can_t_be_read() {
        for (written, passed) in [
            (
                r#"{"name":"apply_patch","arguments":{"patch":"a println!("}"); rest"}}"#,
                ("apply_patch", r#"{"patch":"a println!("}"); rest"}}"#),
            ),
            (r#"{"name":"git","arguments":{"action":"log"},"timeout":5}"#, ("git", r#"{"action":"log"},"timeout":5}"#)),
            (r#"{"name":"git","arguments":{"action":"log"}} }"#, ("git", r#"{"action":"log"}} }"#)),
            (
                r#"{"arguments":{"action":"log"},"name":"git","timeout":5}"#,
                ("call", r#"{"arguments":{"action":"log"},"name":"git","timeout":5}"#),
            ),
        ] {
            for piece in [1, 3, 1000] {
                let (name, arguments) = unwrapped(&[("call", written)], piece).remove(0);
                assert_eq!((name.as_str(), arguments.as_str()), passed, "in {piece}");
                if name != CALL {
                    assert_eq!(read_arguments(&arguments).unwrap_err().code, ErrorCode::InvalidArguments, "{written}");
                }
            }
            assert_eq!(meant(written), None, "{written}");
        }
    }

    proptest! {
        #[test]
        fn nothing_is_left_out_where_quotes_are_not_escaped(text in "[a-c\"'{}, :(]{0,30}", piece in 1usize..9) {
            let inner = format!(r#"{{"patch":"{text}"}}"#);
            let written = format!(r#"{{"name":"git","arguments":{inner}}}"#);
            let (name, arguments) = unwrapped(&[("call", &written)], piece).remove(0);
            prop_assert_eq!(name, "git");
            prop_assert!(arguments.starts_with(&inner), "{} of {}", arguments, inner);
        }

        #[test]
        fn arguments_come_through_byte_for_byte(
            text in "[ -~\\n\u{e9}\u{4e00}]{0,40}",
            key in "[a-z]{1,6}",
            piece in 1usize..9,
        ) {
            let inner = json!({ key: text, "more": [1, { "deep": "}" }] }).to_string();
            let written = format!(r#"{{"name":"git","arguments":{inner}}}"#);
            prop_assert_eq!(unwrapped(&[("call", &written)], piece), [("git".to_owned(), inner)]);
        }
    }
}

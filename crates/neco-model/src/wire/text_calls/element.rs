//! `<function name="NAME" arguments='{…}'/>`: a call as an element with attributes. Small models fall into
//! it where a template shows them tags. `<function name="NAME">` opens a body.

use serde_json::{Map, Value};

use super::object;
use super::scan::ARGUMENTS;

/// How such elements begin.
const OPENINGS: [&str; 2] = ["function name=", "invoke name="];

/// What an element says, which has just got a `>`.
#[derive(Debug, PartialEq)]
pub(super) enum Element {
    /// The `>` stands inside of its arguments.
    GoesOn,
    /// A call of this tool.
    Call(String, Map<String, Value>),
    /// What follows are the arguments of a call of this tool.
    Opens(String),
}

/// Whether `text`, which stands after a `<`, may become such an element.
pub(super) fn may_be(text: &str) -> bool {
    OPENINGS.iter().any(|opening| opening.starts_with(text) || text.starts_with(opening))
}

/// Whether `text` is one as far as it goes.
pub(super) fn is_one(text: &str) -> bool {
    OPENINGS.iter().any(|opening| text.starts_with(opening))
}

/// The name of the tool, once it is there.
pub(super) fn name(text: &str) -> Option<&str> {
    name_and_rest(text).map(|(name, _)| name)
}

/// Reads what stands between `<` and a `>`.
pub(super) fn read(text: &str) -> Element {
    let Some((name, rest)) = name_and_rest(text) else { return Element::GoesOn };
    let name = name.to_owned();
    match rest.trim() {
        "" => Element::Opens(name),
        "/" => Element::Call(name, Map::new()),
        rest => match arguments(rest) {
            Some(arguments) => Element::Call(name, arguments),
            None => Element::GoesOn,
        },
    }
}

fn name_and_rest(text: &str) -> Option<(&str, &str)> {
    let rest = OPENINGS.iter().find_map(|opening| text.strip_prefix(opening))?;
    let quote = rest.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
    rest.strip_prefix(quote)?.split_once(quote)
}

fn arguments(attribute: &str) -> Option<Map<String, Value>> {
    let (key, value) = attribute.split_once('=')?;
    if !ARGUMENTS.contains(&key.trim()) {
        return None;
    }
    let value = value.strip_suffix('/').unwrap_or(value).trim();
    let quote = value.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
    let value = value.strip_prefix(quote)?.strip_suffix(quote)?;
    match object::read(value).or_else(|| object::read(&with_double_quotes(value)?))? {
        Value::Object(arguments) => Some(arguments),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => None,
    }
}

/// `{'path': 'a'}` as JSON; nothing where both kinds of quotes make it a guess what is meant.
fn with_double_quotes(value: &str) -> Option<String> {
    let plain = value.replace("&quot;", "\"");
    match (plain.contains('"'), plain.contains('\'')) {
        (true, true) => None,
        (true, false) => Some(plain),
        (false, _) => Some(plain.replace('\'', "\"")),
    }
}

//! The head of a definition, between two lines `---`, field by field.
//!
//! It is YAML, but of the kind that people and other agents write: a description may hold a colon, which
//! YAML does not take. So the fields are told apart by their lines and each is read for itself; what can't
//! be read says at which line it stands, and text that is no YAML is text.

use serde_json::Value;

/// The line around the head.
const FENCE: &str = "---";

/// A field of a head.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Field {
    /// Its name in lower case with `_`: `maxTurns` and `max-turns` are `max_turns`.
    pub name: String,
    /// The same as it is written.
    pub written: String,
    /// What follows the colon, and the lines below that belong to it.
    pub text: String,
    /// The line, from 1.
    pub line: usize,
}

/// What a file is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Parted<'a> {
    /// A head and what is below it.
    Whole {
        /// The fields, in their order.
        fields: Vec<Field>,
        /// Lines that belong to no field.
        stray: Vec<usize>,
        /// What is below.
        body: &'a str,
        /// The line at which that begins, from 1.
        body_line: usize,
    },
    /// A head that never ends.
    Open,
    /// No head.
    None,
}

/// Parts a file.
pub(super) fn part(text: &str) -> Parted<'_> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = text.split_inclusive('\n');
    let Some(first) = lines.next().filter(|first| first.trim_end() == FENCE) else { return Parted::None };
    let mut at = first.len();
    let (mut fields, mut stray): (Vec<Field>, Vec<usize>) = (Vec::new(), Vec::new());
    for (number, line) in lines.enumerate().map(|(index, line)| (index + 2, line)) {
        at += line.len();
        let bare = line.trim_end();
        if bare == FENCE {
            let body = text.get(at..).unwrap_or_default();
            return Parted::Whole { fields, stray, body, body_line: number + 1 };
        }
        match (field(bare, number), fields.last_mut()) {
            (Some(field), _) => fields.push(field),
            (None, Some(last)) => {
                last.text.push('\n');
                last.text.push_str(bare);
            }
            (None, None) if bare.is_empty() || bare.starts_with('#') => {}
            (None, None) => stray.push(number),
        }
    }
    Parted::Open
}

/// The field that a line begins, if it does: a name at its very beginning, and a colon.
fn field(line: &str, number: usize) -> Option<Field> {
    let (name, text) = line.split_once(':')?;
    let is_name = name.starts_with(|char: char| char.is_ascii_alphabetic())
        && name.trim_end().chars().all(|char| char.is_ascii_alphanumeric() || matches!(char, '_' | '-'));
    let parted = text.is_empty() || text.starts_with([' ', '\t']);
    (is_name && parted).then(|| Field {
        name: plain(name.trim_end()),
        written: name.trim_end().to_owned(),
        text: text.trim_start().to_owned(),
        line: number,
    })
}

/// `maxTurns` and `max-turns` are `max_turns`.
fn plain(name: &str) -> String {
    let mut plain = String::with_capacity(name.len() + 2);
    for char in name.chars() {
        if char.is_ascii_uppercase() && plain.ends_with(|last: char| last.is_ascii_lowercase()) {
            plain.push('_');
        }
        plain.push(if char == '-' { '_' } else { char.to_ascii_lowercase() });
    }
    plain
}

impl Field {
    /// Its value.
    ///
    /// # Errors
    /// The line and what is wrong there, when it is no YAML.
    pub fn value(&self) -> Result<Value, (usize, String)> {
        if self.text.trim().is_empty() {
            return Ok(Value::Null);
        }
        let document = format!("value: {}", self.text);
        // A field that is called `n` or `on` is no truth value.
        let read: Result<Value, _> =
            serde_saphyr::from_str_with_options(&document, serde_saphyr::options! { strict_booleans: true });
        read.map(|mut value| value.get_mut("value").map(Value::take).unwrap_or_default()).map_err(|error| {
            let line = error.location().and_then(|place| usize::try_from(place.line()).ok()).unwrap_or(1);
            let bare = error.without_snippet().to_string();
            let words = bare.lines().next().unwrap_or_default().to_owned();
            (self.line + line.saturating_sub(1), words)
        })
    }

    /// Its value as a text; what is no YAML is taken as it stands.
    pub fn words(&self) -> String {
        match self.value() {
            Ok(Value::String(text)) => text.trim().to_owned(),
            Ok(Value::Null) => String::new(),
            Ok(Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) | Err(_) => {
                unquoted(self.text.trim()).trim().to_owned()
            }
        }
    }
}

fn unquoted(text: &str) -> &str {
    let within = |quote: char| text.strip_prefix(quote)?.strip_suffix(quote);
    within('"').or_else(|| within('\'')).unwrap_or(text)
}

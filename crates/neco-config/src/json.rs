//! JSON as a layer like TOML: values, each with the place it was written at.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::derivation::DEEPEST;
use crate::layer::{Lines, Node, Value};
use crate::notice::Notice;
use crate::origin::{Origin, Position};

/// Reads the text of a file; `origin` names the file. What is null counts as not given.
pub(crate) fn parse(text: &str, origin: &Origin) -> Result<Node, Notice> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let whole: &RawValue = serde_json::from_str(text).map_err(|error| {
        let position = Position::new(error.line().max(1), error.column().max(1));
        Notice::about(&origin.at(Some(position)), format!("not JSON: {}", without_place(&error)))
    })?;
    let reader = Reader { text, lines: Lines::of(text), origin };
    Ok(reader.node(whole, 0)?.unwrap_or_else(|| Node::empty_table(origin.clone())))
}

/// What the reader of JSON says, without the place that it puts behind.
fn without_place(error: &serde_json::Error) -> String {
    let said = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    said.strip_suffix(&place).unwrap_or(&said).to_owned()
}

/// Turns what `serde_json` took apart into nodes, level by level: it knows no places, but every piece still lies in the
/// text.
struct Reader<'a> {
    text: &'a str,
    lines: Lines<'a>,
    origin: &'a Origin,
}

impl Reader<'_> {
    fn node(&self, raw: &RawValue, depth: usize) -> Result<Option<Node>, Notice> {
        let origin = self.origin_of(raw);
        if depth > DEEPEST {
            return Err(Notice::about(&origin, "nested too deep"));
        }
        let json = raw.get();
        let value = match json.bytes().next() {
            Some(b'{') => {
                let mut entries = BTreeMap::new();
                for (name, inner) in read::<BTreeMap<String, &RawValue>>(json, &origin)? {
                    entries.extend(self.node(inner, depth + 1)?.map(|node| (name, Box::new(node))));
                }
                Value::Table(entries)
            }
            Some(b'[') => {
                let mut items = Vec::new();
                for inner in read::<Vec<&RawValue>>(json, &origin)? {
                    let null = || Notice::about(&self.origin_of(inner), "expected a value, found null");
                    items.push(self.node(inner, depth + 1)?.ok_or_else(null)?);
                }
                Value::List(items)
            }
            Some(b'"') => Value::Text(read(json, &origin)?),
            Some(b't' | b'f') => Value::Switch(read(json, &origin)?),
            Some(b'n') | None => return Ok(None),
            Some(_) => match serde_json::from_str(json) {
                Ok(number) => Value::Whole(number),
                Err(_) => Value::Number(read(json, &origin)?),
            },
        };
        Ok(Some(Node::new(value, origin)))
    }

    fn origin_of(&self, raw: &RawValue) -> Origin {
        let offset = raw.get().as_ptr().addr().saturating_sub(self.text.as_ptr().addr());
        self.origin.at(Some(self.lines.position(offset)))
    }
}

/// What is known to be written as JSON may still be no value: half of a letter, a number without an end.
fn read<'a, T: Deserialize<'a>>(json: &'a str, origin: &Origin) -> Result<T, Notice> {
    serde_json::from_str(json).map_err(|error| Notice::about(origin, format!("not JSON: {}", without_place(&error))))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::origin::{Layer, Source};

    fn read_text(text: &str) -> Result<Node, String> {
        let source = Source::File { path: "/m.json".into(), shown: "m.json".into() };
        parse(text, &Origin::new(Layer::Project, source)).map_err(|notice| notice.to_string())
    }

    #[test]
    fn every_value_knows_its_place() {
        let text = "\u{feff}{\n  \"a\": [1, -2.5, true],\n  \"b\": {\"\\u0063\": \"x\\n\", \"gone\": null}\n}\n";
        let root = read_text(text).unwrap();
        assert_eq!(root.value.to_string(), "{ a = [1, -2.5, true], b = { c = \"x\\n\" } }");
        assert_eq!(root.get(&["a"]).unwrap().origin.to_string(), "m.json:2:8");
        assert_eq!(root.get(&["b", "c"]).unwrap().origin.to_string(), "m.json:3:19");
        assert_eq!(read_text("null").unwrap().value.to_string(), "{}");
    }

    #[test]
    fn what_is_broken_is_told_with_its_line_and_without_its_text() {
        for (text, said) in [
            ("", "m.json:1:1: not JSON: EOF while parsing a value"),
            ("{\n  \"a\": \"sk-secret\",\n}", "m.json:3:1: not JSON: "),
            ("{\n  \"a\": sk-secret\n}", "m.json:2:8: not JSON: expected value"),
            ("{\"a\": 1} x", "m.json:1:10: not JSON: trailing characters"),
            ("{\n\"a\": 1e999}", "m.json:2:6: not JSON: number out of range"),
            ("{\n\"a\": \"\\ud800\"}", "m.json:2:6: not JSON: "),
            ("{\"a\": [null]}", "m.json:1:8: expected a value, found null"),
        ] {
            let told = read_text(text).unwrap_err();
            assert!(told.starts_with(said) && !told.contains("sk-secret"), "{text}: {told}");
        }
    }

    #[test]
    fn deep_nesting_is_refused_rather_than_followed() {
        for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
            let text = format!("{}1{}", open.repeat(100_000), close.repeat(100_000));
            assert!(read_text(&text).unwrap_err().ends_with("nested too deep"), "{open}");
            assert!(read_text(&open.repeat(100_000)).is_err(), "{open}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "[\\[\\]{}:,\"a0-9.\\\\u\n-]{0,60}") {
            let _ = read_text(&text);
        }
    }
}

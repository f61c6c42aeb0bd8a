//! Reading a JSON schema the way a person would: types with fields, choices and words.

use serde_json::{Map, Value};

/// A schema together with the definitions it names.
#[derive(Clone, Copy)]
pub struct Schema<'a> {
    node: &'a Value,
    definitions: &'a Map<String, Value>,
}

/// One field of an object.
pub struct Field<'a> {
    /// Its name.
    pub name: &'a str,
    /// What it is for.
    pub doc: &'a str,
    /// Its type in words; named types are links.
    pub words: String,
    /// Whether it may be absent.
    pub optional: bool,
}

/// One of several objects that are told apart by a tag, or one of several plain words.
pub struct Choice<'a> {
    /// The tag's field; absent for a plain word.
    pub tag: Option<&'a str>,
    /// The tag's value, or the word.
    pub value: &'a str,
    /// What it means.
    pub doc: &'a str,
    /// The fields besides the tag.
    pub fields: Vec<Field<'a>>,
    /// What it can be besides, by a tag of its own in the same object.
    pub inner: Vec<Self>,
}

impl<'a> Choice<'a> {
    /// All fields, those of what it can be included.
    pub fn all_fields(self) -> Vec<Field<'a>> {
        self.fields.into_iter().chain(self.inner.into_iter().flat_map(Self::all_fields)).collect()
    }
}

/// A link to the section of a type. Types may be called like an event, hence the prefix.
pub fn link(name: &str) -> String {
    format!("[{name}](#type-{})", name.to_lowercase())
}

const DEFINITION: &str = "#/$defs/";

impl<'a> Schema<'a> {
    /// The schema of a whole document.
    pub fn of(document: &'a Value, none: &'a Map<String, Value>) -> Self {
        let definitions = document.get("$defs").and_then(Value::as_object).unwrap_or(none);
        Self { node: document, definitions }
    }

    /// The named definitions, in the order of first use.
    pub fn definitions(self) -> impl Iterator<Item = (&'a str, Self)> {
        self.definitions.iter().map(move |(name, node)| (name.as_str(), self.at(node)))
    }

    /// What it is for.
    pub fn doc(self) -> &'a str {
        self.text("description").unwrap_or_default()
    }

    /// The fields of an object, those of the type it stands for included.
    pub fn fields(self) -> Vec<Field<'a>> {
        let own = self.node.get("properties").and_then(Value::as_object).into_iter().flatten();
        let required = |name: &str| self.list("required").any(|required| required.as_str() == Some(name));
        let own = own.map(|(name, node)| self.at(node).field(name, !required(name)));
        let stood_for = self.target().map(|(_, target)| target.fields()).unwrap_or_default();
        own.chain(stood_for).collect()
    }

    /// The alternatives of a tagged or plain enumeration; empty for anything else.
    pub fn choices(self) -> Vec<Choice<'a>> {
        let either = self.list("oneOf").chain(self.list("anyOf"));
        either.flat_map(|node| self.at(node).alternatives()).collect()
    }

    /// The type in words.
    pub fn words(self) -> String {
        if let Some((name, _)) = self.target() {
            return link(name);
        }
        let either: Vec<String> = self.list("anyOf").map(|node| self.at(node).words()).collect();
        if !either.is_empty() {
            return either.join(" or ");
        }
        match self.node.get("type") {
            Some(Value::String(kind)) => self.kind(kind),
            Some(Value::Array(kinds)) => {
                kinds.iter().filter_map(Value::as_str).map(|kind| self.kind(kind)).collect::<Vec<_>>().join(" or ")
            }
            _ => "any JSON".to_owned(),
        }
    }

    fn kind(self, kind: &str) -> String {
        let inner = |key| self.node.get(key).filter(|node| node.is_object()).map(|node| self.at(node).words());
        match kind {
            "integer" => "whole number".to_owned(),
            "boolean" => "true or false".to_owned(),
            "array" => format!("list of {}", inner("items").unwrap_or_else(|| "any JSON".to_owned())),
            "object" => inner("additionalProperties").map_or("object".to_owned(), |inner| format!("object of {inner}")),
            other => other.to_owned(),
        }
    }

    fn field(self, name: &'a str, optional: bool) -> Field<'a> {
        // Whether it is absent or null makes no difference to who reads it.
        let words = self.words();
        let (words, nullable) = words.strip_suffix(" or null").map_or((words.as_str(), false), |words| (words, true));
        Field { name, doc: self.doc(), words: words.to_owned(), optional: optional || nullable }
    }

    fn alternatives(self) -> Vec<Choice<'a>> {
        if let Some(value) = self.text("const") {
            return vec![Choice { tag: None, value, doc: self.doc(), fields: Vec::new(), inner: Vec::new() }];
        }
        let plain: Vec<_> = self.list("enum").filter_map(Value::as_str).collect();
        if !plain.is_empty() {
            let choice = |value| Choice { tag: None, value, doc: "", fields: Vec::new(), inner: Vec::new() };
            return plain.into_iter().map(choice).collect();
        }
        self.tagged().into_iter().collect()
    }

    fn tagged(self) -> Option<Choice<'a>> {
        let own = self.node.get("properties").and_then(Value::as_object)?;
        let (tag, value) = own.iter().find_map(|(name, node)| Some((name.as_str(), node.get("const")?.as_str()?)))?;
        let fields = self.fields().into_iter().filter(|field| field.name != tag).collect();
        let inner = self.target().map(|(_, target)| target.choices()).unwrap_or_default();
        Some(Choice { tag: Some(tag), value, doc: self.doc(), fields, inner })
    }

    fn target(self) -> Option<(&'a str, Self)> {
        let name = self.text("$ref")?.strip_prefix(DEFINITION)?;
        Some((name, self.at(self.definitions.get(name)?)))
    }

    fn text(self, key: &str) -> Option<&'a str> {
        self.node.get(key).and_then(Value::as_str)
    }

    fn list(self, key: &str) -> impl Iterator<Item = &'a Value> {
        self.node.get(key).and_then(Value::as_array).into_iter().flatten()
    }

    fn at(self, node: &'a Value) -> Self {
        Self { node, definitions: self.definitions }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn types_are_told_in_words() {
        let none = Map::new();
        let cases = [
            (json!({"type": "string"}), "string"),
            (json!({"type": ["number", "null"]}), "number or null"),
            (json!({"type": "array", "items": {"$ref": "#/$defs/Part"}}), "list of [Part](#type-part)"),
            (json!({"type": "object", "additionalProperties": {"type": "boolean"}}), "object of true or false"),
            (json!({"anyOf": [{"$ref": "#/$defs/Part"}, {"type": "null"}]}), "[Part](#type-part) or null"),
            (json!({}), "any JSON"),
        ];
        for (mut document, words) in cases {
            document["$defs"] = json!({"Part": {"type": "string"}});
            assert_eq!(Schema::of(&document, &none).words(), words);
        }
    }

    #[test]
    fn a_choice_inside_a_choice_is_told() {
        let document = json!({
            "oneOf": [{"properties": {"way": {"const": "up"}}, "$ref": "#/$defs/Up"}],
            "$defs": {"Up": {"oneOf": [{"properties": {"kind": {"const": "report"}, "text": {"type": "string"}}}]}},
        });
        let none = Map::new();
        let mut choices = Schema::of(&document, &none).choices();
        assert_eq!(choices[0].inner[0].value, "report");
        assert_eq!(choices.remove(0).all_fields()[0].name, "text");
    }

    #[test]
    fn a_tagged_choice_has_the_fields_of_the_type_it_wraps() {
        let document = json!({
            "oneOf": [
                {"description": "Wraps.", "properties": {"kind": {"const": "wrapped"}}, "required": ["kind"],
                 "$ref": "#/$defs/Inner"},
                {"properties": {"kind": {"const": "plain"}, "own": {"type": "integer"}}, "required": ["kind"]},
                {"type": "string", "enum": ["word", "other"]},
            ],
            "$defs": {"Inner": {"properties": {"text": {"type": "string", "description": "Said."}}, "required": ["text"]}},
        });
        let none = Map::new();
        let schema = Schema::of(&document, &none);
        let told: Vec<String> = schema
            .choices()
            .iter()
            .map(|Choice { tag, value, doc, fields, .. }| {
                let fields: Vec<_> =
                    fields.iter().map(|f| format!("{} {} {} {}", f.name, f.words, f.optional, f.doc)).collect();
                format!("{tag:?} {value} {doc} {fields:?}")
            })
            .collect();
        assert_eq!(
            told,
            [
                r#"Some("kind") wrapped Wraps. ["text string false Said."]"#,
                r#"Some("kind") plain  ["own whole number true "]"#,
                "None word  []",
                "None other  []",
            ]
        );
    }
}

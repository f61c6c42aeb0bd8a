//! What each setting may hold, derived from the JSON schema of [`Config`] so that it can't drift.

use std::sync::OnceLock;

use schemars::generate::SchemaSettings;
use serde_json::{Map, Value as Json};

use crate::section::Config;

/// What a setting may hold.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Shape {
    /// A table with these names, in the order of the sections.
    Table(Vec<(String, Field)>),
    /// A table with any names.
    Map(Box<Shape>),
    List(Box<Shape>),
    Text {
        /// Whether `""` is one too.
        may_be_empty: bool,
    },
    OneOf(Vec<Choice>),
    Whole(Range),
    /// A float or an integer.
    Number(Range),
    Switch,
    /// Something the schema says in words this module does not know; reading it decides.
    Any,
}

/// A named setting.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Field {
    pub(crate) shape: Shape,
    pub(crate) doc: String,
    /// Whether it may be absent; what may not has a built-in value.
    pub(crate) optional: bool,
    /// What the type itself takes when nothing is given.
    pub(crate) default: Option<Json>,
}

/// One string that can be chosen.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Choice {
    pub(crate) name: String,
    pub(crate) doc: String,
}

/// The numbers that are allowed.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Range {
    pub(crate) least: Option<f64>,
    /// What it must be more than.
    pub(crate) above: Option<f64>,
    pub(crate) most: Option<f64>,
}

impl Shape {
    /// What is below this name.
    pub(crate) fn child(&self, name: &str) -> Option<&Self> {
        if let Self::Map(inner) = self {
            return Some(inner);
        }
        self.fields().iter().find(|(known, _)| known == name).map(|(_, field)| &field.shape)
    }

    /// The names that it has of its own.
    pub(crate) fn fields(&self) -> &[(String, Field)] {
        if let Self::Table(fields) = self { fields } else { &[] }
    }

    /// Whether it is a table, with names of its own or any.
    pub(crate) fn is_table(&self) -> bool {
        matches!(self, Self::Table(_) | Self::Map(_))
    }

    /// What is below these names.
    pub(crate) fn at(&self, names: &[String]) -> Option<&Self> {
        names.iter().try_fold(self, |shape, name| shape.child(name))
    }

    /// In words, such as "a whole number of at least 1".
    pub(crate) fn expected(&self) -> String {
        match self {
            Self::Table(_) | Self::Map(_) => "a table".to_owned(),
            Self::List(inner) => format!("a list, each item {}", inner.expected()),
            Self::Text { may_be_empty: true } => "a string".to_owned(),
            Self::Text { may_be_empty: false } => "a string that is not empty".to_owned(),
            Self::OneOf(choices) => format!("one of {}", listed(choices)),
            Self::Whole(range) => format!("a whole number{}", range.in_words()),
            Self::Number(range) => format!("a number{}", range.in_words()),
            Self::Switch => "true or false".to_owned(),
            Self::Any => "a value".to_owned(),
        }
    }
}

impl Range {
    /// Whether the number is finite and within.
    pub(crate) fn holds(&self, number: f64) -> bool {
        number.is_finite()
            && self.least.is_none_or(|least| number >= least)
            && self.above.is_none_or(|above| number > above)
            && self.most.is_none_or(|most| number <= most)
    }

    fn in_words(&self) -> String {
        let low = match (self.above, self.least) {
            (Some(above), _) => Some(format!("more than {above}")),
            (None, Some(least)) => Some(format!("of at least {least}")),
            (None, None) => None,
        };
        let parts: Vec<String> = low.into_iter().chain(self.most.map(|most| format!("at most {most}"))).collect();
        if parts.is_empty() { String::new() } else { format!(" {}", parts.join(" and ")) }
    }
}

/// Every known setting. Derived at the first use: a start without any setting never pays for it.
pub(crate) fn known() -> &'static Shape {
    static KNOWN: OnceLock<Shape> = OnceLock::new();
    KNOWN.get_or_init(|| shape_of(&raw_schema()))
}

/// The schema of the sections as `schemars` derives it.
pub(crate) fn raw_schema() -> Json {
    SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<Config>().to_value()
}

/// The name of the type that a schema refers to.
pub(crate) fn definition_name(schema: &Json) -> Option<&str> {
    schema.get("$ref")?.as_str()?.strip_prefix("#/$defs/")
}

/// The shape that a whole schema describes.
pub(crate) fn shape_of(root: &Json) -> Shape {
    let none = Map::new();
    let definitions = root.get("$defs").and_then(Json::as_object).unwrap_or(&none);
    Derivation { definitions }.shape(root, 0)
}

/// People do not nest settings this deep; types that hold themselves end here.
pub(crate) const DEEPEST: usize = 16;

struct Derivation<'a> {
    definitions: &'a Map<String, Json>,
}

impl Derivation<'_> {
    fn shape(&self, schema: &Json, depth: usize) -> Shape {
        if depth > DEEPEST {
            return Shape::Any;
        }
        if let Some(definition) = definition_name(schema).and_then(|name| self.definitions.get(name)) {
            return self.shape(definition, depth + 1);
        }
        if let Some(variants) = variants(schema) {
            return self.one_of(&variants, depth);
        }
        if let Some(choices) = choices(schema) {
            return Shape::OneOf(choices);
        }
        match type_name(schema) {
            Some("string") => Shape::Text { may_be_empty: schema.get("minLength").is_none() },
            Some("integer") => Shape::Whole(range(schema)),
            Some("number") => Shape::Number(range(schema)),
            Some("boolean") => Shape::Switch,
            Some("array") => {
                Shape::List(Box::new(schema.get("items").map_or(Shape::Any, |items| self.shape(items, depth + 1))))
            }
            Some("object") => self.table(schema, depth),
            _ => Shape::Any,
        }
    }

    fn one_of(&self, variants: &[&Json], depth: usize) -> Shape {
        match variants {
            [only] => self.shape(only, depth + 1),
            _ => {
                let all: Option<Vec<Vec<Choice>>> = variants.iter().map(|variant| choices(variant)).collect();
                all.map_or(Shape::Any, |all| Shape::OneOf(all.concat()))
            }
        }
    }

    fn table(&self, schema: &Json, depth: usize) -> Shape {
        if let Some(properties) = schema.get("properties").and_then(Json::as_object) {
            let field = |(name, schema): (&String, &Json)| (name.clone(), self.field(schema, depth));
            return Shape::Table(properties.iter().map(field).collect());
        }
        match schema.get("additionalProperties") {
            Some(inner) if inner.is_object() => Shape::Map(Box::new(self.shape(inner, depth + 1))),
            _ => Shape::Any,
        }
    }

    fn field(&self, schema: &Json, depth: usize) -> Field {
        Field {
            shape: self.shape(schema, depth + 1),
            doc: text(schema, "description"),
            optional: schema.get("default").is_some_and(Json::is_null),
            default: schema.get("default").filter(|default| !default.is_null()).cloned(),
        }
    }
}

/// What one of several schemas describes, apart from "nothing".
fn variants(schema: &Json) -> Option<Vec<&Json>> {
    let variants = schema.get("anyOf").or_else(|| schema.get("oneOf"))?.as_array()?;
    Some(variants.iter().filter(|variant| type_name(variant) != Some("null")).collect())
}

fn choices(schema: &Json) -> Option<Vec<Choice>> {
    let choice = |name: &str| Choice { name: name.to_owned(), doc: text(schema, "description") };
    if let Some(name) = schema.get("const") {
        return Some(vec![choice(name.as_str()?)]);
    }
    let names = schema.get("enum")?.as_array()?.iter().filter(|name| !name.is_null());
    names.map(|name| name.as_str().map(|name| Choice { name: name.to_owned(), doc: String::new() })).collect()
}

/// The type, apart from "or nothing".
fn type_name(schema: &Json) -> Option<&str> {
    match schema.get("type")? {
        Json::String(name) => Some(name),
        Json::Array(names) => names.iter().filter_map(Json::as_str).find(|name| *name != "null"),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::Object(_) => None,
    }
}

fn range(schema: &Json) -> Range {
    let bound = |name: &str| schema.get(name).and_then(Json::as_f64);
    // `schemars` writes no limit for these two.
    let widest = match schema.get("format").and_then(Json::as_str) {
        Some("uint32") => Some(f64::from(u32::MAX)),
        Some("int32") => Some(f64::from(i32::MAX)),
        _ => None,
    };
    Range { least: bound("minimum"), above: bound("exclusiveMinimum"), most: bound("maximum").or(widest) }
}

fn text(schema: &Json, name: &str) -> String {
    schema.get(name).and_then(Json::as_str).unwrap_or_default().to_owned()
}

fn listed(choices: &[Choice]) -> String {
    choices.iter().map(|choice| format!("`{}`", choice.name)).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use schemars::{JsonSchema, schema_for};

    #[derive(JsonSchema)]
    #[allow(dead_code)]
    struct Sample {
        plain: Plain,
        maybe: Option<Documented>,
        either: Either,
        again: Vec<Sample>,
        small: u8,
        signed: i32,
    }

    #[derive(JsonSchema)]
    #[allow(dead_code)]
    enum Plain {
        One,
        Two,
    }

    #[derive(JsonSchema)]
    #[allow(dead_code)]
    enum Documented {
        /// The first.
        One,
        /// The second.
        Two,
        Three,
    }

    #[derive(JsonSchema)]
    #[serde(untagged)]
    #[allow(dead_code)]
    enum Either {
        Text(String),
        Number(u32),
    }

    #[test]
    fn every_setting_there_is_has_a_shape_and_a_meaning() {
        fn walk(shape: &Shape, at: &str) {
            match shape {
                Shape::Table(fields) => {
                    for (name, field) in fields {
                        assert!(!field.doc.is_empty(), "{at}.{name} has no doc comment");
                        walk(&field.shape, &format!("{at}.{name}"));
                    }
                }
                Shape::Map(inner) | Shape::List(inner) => walk(inner, at),
                // The fields of a rule are checked by the policy, which can name its place in any file, and a JSON
                // schema by whoever reads it.
                Shape::Any if [".policy.rules", ".scripted_tools.parameters"].contains(&at) => {}
                Shape::Any => panic!("{at}: the check can't see what this may hold"),
                Shape::Text { .. } | Shape::OneOf(_) | Shape::Whole(_) | Shape::Number(_) | Shape::Switch => {}
            }
        }
        walk(known(), "");
    }

    #[test]
    fn types_of_all_kinds_are_understood() {
        let shape = shape_of(&schema_for!(Sample).to_value());
        let expected = |name: &str| shape.child(name).unwrap().expected();
        assert_eq!(expected("plain"), "one of `One`, `Two`");
        assert_eq!(expected("maybe"), "one of `Three`, `One`, `Two`");
        assert_eq!(expected("either"), "a value");
        assert_eq!(expected("small"), "a whole number of at least 0 and at most 255");
        assert_eq!(expected("signed"), "a whole number at most 2147483647");
    }
}

//! The table of all settings, derived from the JSON schema of [`Config`] and written down as code: a start neither makes
//! the schema nor reads it. `cargo xtask reference` writes it, and a test holds it to the sections.

use std::fmt::Write as _;

use schemars::generate::SchemaSettings;
use serde_json::{Map, Value as Json};

use crate::section::Config;
use crate::shape::{Choice, Field, Range, Shape};

/// What `known.rs` says.
pub fn source() -> String {
    let mut text = HEAD.to_owned();
    write(&mut text, &derived(), 0);
    text.push_str(";\n");
    text
}

const HEAD: &str = "\
//! The table of all settings. Written by `cargo xtask reference` from the sections; do not edit.

use crate::shape::Shape::*;
use crate::shape::{Choice, Field, Range, Shape};

/// Every known setting.
pub(crate) static KNOWN: Shape = ";

/// Adds a shape as an expression; tables have a line for each name.
fn write(text: &mut String, shape: &Shape, depth: usize) {
    let indent = |depth: usize| "    ".repeat(depth);
    // Writing to a string does not fail.
    let _ = match shape {
        Shape::Table(fields) => {
            text.push_str("Table(&[\n");
            for (name, field) in *fields {
                let _ = write!(text, "{}({name:?}, Field {{ shape: ", indent(depth + 1));
                write(text, &field.shape, depth + 1);
                let Field { doc, optional, default, .. } = field;
                let _ = writeln!(text, ", doc: {doc:?}, optional: {optional}, default: {default:?} }}),");
            }
            write!(text, "{}])", indent(depth))
        }
        Shape::Map(inner) | Shape::List(inner) => {
            text.push_str(if matches!(shape, Shape::Map(_)) { "Map(&" } else { "List(&" });
            write(text, inner, depth);
            write!(text, ")")
        }
        Shape::OneOf(choices) => write!(text, "OneOf(&{choices:?})"),
        Shape::Text { .. } | Shape::Whole(_) | Shape::Number(_) | Shape::Switch | Shape::Any => {
            write!(text, "{shape:?}")
        }
    };
}

/// The table as the sections have it now.
pub(crate) fn derived() -> Shape {
    shape_of(&raw_schema())
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
fn shape_of(root: &Json) -> Shape {
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
            return Shape::OneOf(choices.leak());
        }
        match type_name(schema) {
            Some("string") => Shape::Text { may_be_empty: schema.get("minLength").is_none() },
            Some("integer") => Shape::Whole(range(schema)),
            Some("number") => Shape::Number(range(schema)),
            Some("boolean") => Shape::Switch,
            Some("array") => {
                Shape::List(leaked(schema.get("items").map_or(Shape::Any, |items| self.shape(items, depth + 1))))
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
                all.map_or(Shape::Any, |all| Shape::OneOf(all.concat().leak()))
            }
        }
    }

    fn table(&self, schema: &Json, depth: usize) -> Shape {
        if let Some(properties) = schema.get("properties").and_then(Json::as_object) {
            let field = |(name, schema): (&String, &Json)| (text(name), self.field(schema, depth));
            return Shape::Table(properties.iter().map(field).collect::<Vec<_>>().leak());
        }
        match schema.get("additionalProperties") {
            Some(inner) if inner.is_object() => Shape::Map(leaked(self.shape(inner, depth + 1))),
            _ => Shape::Any,
        }
    }

    fn field(&self, schema: &Json, depth: usize) -> Field {
        Field {
            shape: self.shape(schema, depth + 1),
            doc: described(schema),
            optional: schema.get("default").is_some_and(Json::is_null),
            default: schema
                .get("default")
                .filter(|default| !default.is_null())
                .map(|default| text(&default.to_string())),
        }
    }
}

/// What one of several schemas describes, apart from "nothing".
fn variants(schema: &Json) -> Option<Vec<&Json>> {
    let variants = schema.get("anyOf").or_else(|| schema.get("oneOf"))?.as_array()?;
    Some(variants.iter().filter(|variant| type_name(variant) != Some("null")).collect())
}

fn choices(schema: &Json) -> Option<Vec<Choice>> {
    let choice = |name: &str| Choice { name: text(name), doc: described(schema) };
    if let Some(name) = schema.get("const") {
        return Some(vec![choice(name.as_str()?)]);
    }
    let names = schema.get("enum")?.as_array()?.iter().filter(|name| !name.is_null());
    names.map(|name| name.as_str().map(|name| Choice { name: text(name), doc: "" })).collect()
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

fn described(schema: &Json) -> &'static str {
    text(schema.get("description").and_then(Json::as_str).unwrap_or_default())
}

/// For good: this runs once, in a tool or a test.
fn text(text: &str) -> &'static str {
    text.to_owned().leak()
}

fn leaked(shape: Shape) -> &'static Shape {
    Box::leak(Box::new(shape))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::known;
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
                    for (name, field) in *fields {
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
        walk(&derived(), "");
    }

    #[test]
    fn the_table_is_that_of_the_sections() {
        assert_eq!(*known(), derived(), "`cargo xtask reference` writes it anew");
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

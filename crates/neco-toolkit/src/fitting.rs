//! Arguments that mean one thing and are written as another: a number as text, one item for a list, a field that does
//! not exist. What can only be meant in one way is taken as meant, and the model is told.

use serde_json::{Map, Number, Value};

use crate::misfit::{nearest, shortened};

/// Names of fields that only say why something is done, in small letters and without what stands between words. Any
/// other field that is not known may say where, how or whether: without it, a call would do another thing than was
/// asked for.
const EXPLAINING: &str = "\
    comment description explanation justification purpose rationale reason reasoning thinking thought thoughts \
    title toolaction toolsummary why";

/// Makes lists and objects of texts that hold them as JSON: what tools look into is there then.
pub(crate) fn unpack(schema: &Value, arguments: &mut Value) {
    let Some(fields) = arguments.as_object_mut() else { return };
    for (name, value) in fields {
        let Some(kind) = schema.pointer(&format!("/properties/{name}")).map(Kind::of) else { continue };
        if let (Shape::List | Shape::Object, Some(held)) = (kind.shape, kind.held(value)) {
            *value = held;
        }
    }
}

/// Makes arguments fit a schema where they can only be meant in one way. `changes` says whether the tool may change
/// something. Gives what was done, for the model.
pub(crate) fn fit(schema: &Value, arguments: &mut Value, changes: bool) -> Vec<String> {
    let mut fitting = Fitting { changes, notes: Vec::new() };
    fitting.object(schema, arguments, "");
    fitting.notes
}

struct Fitting {
    changes: bool,
    notes: Vec<String>,
}

/// What a schema takes.
struct Kind<'s> {
    schema: &'s Value,
    shape: Shape,
    /// Whether nothing may be given.
    nullable: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    Text,
    Choice,
    Whole,
    Number,
    Truth,
    List,
    Object,
    /// Several of them, or anything.
    Other,
}

impl<'s> Kind<'s> {
    fn of(schema: &'s Value) -> Self {
        let alternatives = schema.get("anyOf").and_then(Value::as_array);
        let is_null = |schema: &&Value| schema.get("type").is_some_and(|kind| kind == "null");
        if let Some(alternatives) = alternatives {
            let mut others = alternatives.iter().filter(|schema| !is_null(schema));
            let nullable = alternatives.iter().any(|schema| is_null(&schema));
            return match (others.next(), others.next()) {
                (Some(only), None) => Self { nullable, ..Self::of(only) },
                _ => Self { schema, shape: Shape::Other, nullable },
            };
        }
        let types: Vec<&str> = match schema.get("type") {
            Some(Value::Array(types)) => types.iter().filter_map(Value::as_str).collect(),
            Some(Value::String(kind)) => vec![kind],
            _ => Vec::new(),
        };
        let nullable = types.contains(&"null");
        let types: Vec<&str> = types.into_iter().filter(|kind| *kind != "null").collect();
        let is_choice = !choices(schema).is_empty();
        let shape = match types.as_slice() {
            _ if is_choice => Shape::Choice,
            ["string"] => Shape::Text,
            ["integer"] => Shape::Whole,
            ["number"] => Shape::Number,
            ["boolean"] => Shape::Truth,
            ["array"] => Shape::List,
            ["object"] => Shape::Object,
            _ => Shape::Other,
        };
        Self { schema, shape, nullable }
    }

    /// The list or object that a text holds as JSON.
    fn held(&self, value: &Value) -> Option<Value> {
        let held: Value = serde_json::from_str(value.as_str()?.trim()).ok()?;
        let fits = match self.shape {
            Shape::List => held.is_array(),
            Shape::Object => held.is_object(),
            Shape::Text | Shape::Choice | Shape::Whole | Shape::Number | Shape::Truth | Shape::Other => false,
        };
        fits.then_some(held)
    }

    /// What a value of another kind stands for.
    fn meant(&self, value: &Value) -> Option<Value> {
        let text = value.as_str().map(str::trim);
        match (self.shape, value) {
            // An id may be a number; what must be given as text is no number.
            (Shape::Text, Value::Number(number)) if self.nullable => Some(Value::from(number.to_string())),
            (Shape::Text | Shape::Choice, Value::Array(items)) => match items.as_slice() {
                [only @ Value::String(_)] => Some(only.clone()),
                _ => None,
            },
            (Shape::Choice, Value::String(text)) => self.choice(text),
            (Shape::Whole, _) => whole(value).map(Value::Number),
            (Shape::Number, Value::String(text)) => {
                text.trim().parse().ok().and_then(Number::from_f64).map(Value::Number)
            }
            (Shape::Truth, Value::Number(number)) => match number.as_u64() {
                Some(0) => Some(Value::Bool(false)),
                Some(1) => Some(Value::Bool(true)),
                _ => None,
            },
            (Shape::Truth, _) => match text?.to_ascii_lowercase().as_str() {
                "true" | "yes" | "on" | "1" => Some(Value::Bool(true)),
                "false" | "no" | "off" | "0" => Some(Value::Bool(false)),
                _ => None,
            },
            (Shape::List, Value::Array(_)) | (Shape::Object, Value::Object(_)) => None,
            (Shape::List | Shape::Object, Value::String(_)) if self.held(value).is_some() => self.held(value),
            (Shape::List, one) => self.single(one).map(|one| Value::Array(vec![one])),
            _ => None,
        }
    }

    /// One item where a list of such items is wanted.
    fn single(&self, value: &Value) -> Option<Value> {
        let item = Self::of(self.schema.get("items")?);
        let fits = match item.shape {
            Shape::Text | Shape::Choice => value.is_string(),
            Shape::Object => value.is_object(),
            Shape::Whole | Shape::Number => value.is_number(),
            Shape::Truth | Shape::List | Shape::Other => false,
        };
        fits.then(|| value.clone())
    }

    /// The choice that is meant, whatever its letters are and whatever stands between its words.
    fn choice(&self, text: &str) -> Option<Value> {
        let plain = |text: &str| -> String {
            text.chars().filter(|character| character.is_alphanumeric()).flat_map(char::to_lowercase).collect()
        };
        let known = choices(self.schema);
        let mut same = known.iter().filter(|choice| plain(choice) == plain(text));
        match (same.next(), same.next()) {
            (Some(only), None) if *only != text => Some(Value::from(*only)),
            _ => None,
        }
    }

    /// Whether a value says nothing: an empty text, or a word for nothing.
    fn is_nothing(&self, value: &Value) -> bool {
        let Some(text) = value.as_str().map(|text| text.trim().to_ascii_lowercase()) else { return false };
        match self.shape {
            // A text may be empty, and may be any word.
            Shape::Text | Shape::Object | Shape::Other => false,
            // A choice or a name in a list may be called so.
            Shape::Choice => ["", "null"].contains(&text.as_str()) && !choices(self.schema).contains(&text.as_str()),
            Shape::List => ["", "null"].contains(&text.as_str()),
            Shape::Whole | Shape::Number | Shape::Truth => {
                ["", "null", "none", "undefined", "nil"].contains(&text.as_str())
            }
        }
    }

    /// The least and the most that a number may be.
    fn bounds(&self) -> (Option<f64>, Option<f64>) {
        let number = |name: &str| self.schema.get(name).and_then(Value::as_f64);
        let by_format = match self.schema.get("format").and_then(Value::as_str) {
            Some("uint8") => Some(f64::from(u8::MAX)),
            Some("uint16") => Some(f64::from(u16::MAX)),
            Some("uint32") => Some(f64::from(u32::MAX)),
            Some("int32") => Some(f64::from(i32::MAX)),
            _ => None,
        };
        (number("minimum"), number("maximum").or(by_format))
    }
}

impl Fitting {
    fn note(&mut self, place: &str, words: &str) {
        let place = if place.is_empty() { String::new() } else { format!("{place}: ") };
        self.notes.push(format!("{place}{words}"));
    }

    fn object(&mut self, schema: &Value, value: &mut Value, place: &str) {
        let properties = schema.get("properties").and_then(Value::as_object);
        let (Some(properties), Some(fields)) = (properties, value.as_object_mut()) else { return };
        let required: Vec<&str> =
            schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
        if schema.get("additionalProperties") == Some(&Value::Bool(false)) {
            self.drop_unknown(properties, fields, place);
        }
        for (name, schema) in properties {
            let Some(value) = fields.get_mut(name) else { continue };
            let inner = if place.is_empty() { name.clone() } else { format!("{place}.{name}") };
            let kind = Kind::of(schema);
            let optional = !required.contains(&name.as_str());
            if optional && value.is_null() && !kind.nullable {
                fields.remove(name);
                continue;
            }
            if optional && kind.is_nothing(value) {
                self.note(&inner, &format!("{} was taken as not given", told(value)));
                fields.remove(name);
                continue;
            }
            self.value(&kind, value, &inner);
            if let Some(why) = self.out_of_bounds(&kind, value, optional) {
                self.note(&inner, &why);
            }
            if value.is_null() && optional && !kind.nullable {
                fields.remove(name);
            }
        }
    }

    fn value(&mut self, kind: &Kind<'_>, value: &mut Value, place: &str) {
        if let Some(meant) = kind.meant(value).filter(|meant| meant != value) {
            // What is only another way to write the same needs no word.
            let is_same = meant.as_f64().is_some_and(|number| value.as_f64() == Some(number));
            if !is_same {
                self.note(place, &format!("{} was taken as {}", told(value), told(&meant)));
            }
            *value = meant;
        }
        match (kind.shape, value) {
            (Shape::Object, value) => self.object(kind.schema, value, place),
            (Shape::List, Value::Array(items)) => {
                let Some(item) = kind.schema.get("items").map(Kind::of) else { return };
                for (at, value) in items.iter_mut().enumerate() {
                    self.value(&item, value, &format!("{place}.{at}"));
                }
            }
            _ => {}
        }
    }

    /// Takes a number to the nearest that is allowed; one that is too small, where none is needed, says nothing.
    fn out_of_bounds(&self, kind: &Kind<'_>, value: &mut Value, optional: bool) -> Option<String> {
        if !matches!(kind.shape, Shape::Whole | Shape::Number) {
            return None;
        }
        let number = value.as_f64()?;
        let (bound, side) = match kind.bounds() {
            (Some(least), _) if number < least && optional => {
                let why = format!("{} is less than {least}, so it was left out", told(value));
                *value = Value::Null;
                return Some(why);
            }
            (Some(least), _) if number < least => (least, "less"),
            (_, Some(most)) if number > most => (most, "more"),
            _ => return None,
        };
        let why = format!("{} is {side} than {bound}, so it was taken as that", told(value));
        *value = if kind.shape == Shape::Whole { Value::from(bound as i64) } else { Value::from(bound) };
        Some(why)
    }

    fn drop_unknown(&mut self, known: &Map<String, Value>, fields: &mut Map<String, Value>, place: &str) {
        let names: Vec<String> = fields.keys().filter(|name| !known.contains_key(*name)).cloned().collect();
        for name in names {
            let mut absent = known.keys().map(String::as_str).filter(|field| !fields.contains_key(*field));
            // It may be meant for one that is missing.
            if nearest(&name, &mut absent).is_some() || (self.changes && may_tell(&name, fields.get(&name))) {
                continue;
            }
            fields.remove(&name);
            self.note(place, &format!("there is no field {:?}; it was left out", shortened(&name)));
        }
    }
}

/// Whether a field that is not known may say what is to be done, and not only why.
fn may_tell(name: &str, value: Option<&Value>) -> bool {
    let plain: String =
        name.chars().filter(|character| character.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    match value {
        None | Some(Value::Null) => false,
        Some(Value::String(text)) => !text.is_empty() && !EXPLAINING.split(' ').any(|name| name == plain),
        // `overwrite: false` says as much as `append: true`.
        Some(Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => true,
    }
}

/// The texts that a schema takes, where it names them.
fn choices(schema: &Value) -> Vec<&str> {
    let named = schema.get("enum").and_then(Value::as_array).into_iter().flatten();
    let described = schema.get("oneOf").and_then(Value::as_array).into_iter().flatten();
    let described = described.filter_map(|one| one.get("const")).chain(schema.get("const"));
    // A schema may describe some of several choices and only name the others.
    let groups = schema.get("oneOf").and_then(Value::as_array).into_iter().flatten();
    let groups = groups.filter_map(|one| one.get("enum")?.as_array()).flatten();
    named.chain(described).chain(groups).filter_map(Value::as_str).collect()
}

/// A whole number, however it is written.
fn whole(value: &Value) -> Option<Number> {
    let number = match value {
        Value::Number(number) if number.is_f64() => number.as_f64()?,
        Value::String(text) => {
            let text = text.trim();
            if let Ok(number) = text.parse::<i64>() {
                return Some(number.into());
            }
            text.parse::<f64>().ok()?
        }
        _ => return None,
    };
    // Beyond that, not every whole number can be told from its neighbours.
    let is_exact = number.fract() == 0.0 && number.abs() < 9e15;
    is_exact.then(|| Number::from(number as i64))
}

fn told(value: &Value) -> String {
    shortened(&value.to_string())
}

#[cfg(test)]
mod tests {
    use schemars::JsonSchema;
    use serde::Deserialize;
    use serde_json::json;

    use super::*;
    use crate::schema;

    #[derive(Debug, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    #[allow(dead_code)]
    struct Args {
        path: String,
        limit: Option<u32>,
        #[schemars(range(min = 1, max = 100))]
        timeout: Option<u64>,
        offset: Option<i64>,
        seconds: Option<f64>,
        all: Option<bool>,
        #[serde(default)]
        replace: bool,
        #[serde(default)]
        names: Vec<String>,
        items: Option<Vec<Item>>,
        speed: Option<Speed>,
        #[serde(default)]
        order: Order,
    }

    #[derive(Debug, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    #[allow(dead_code)]
    struct Item {
        id: Option<String>,
        text: String,
    }

    #[derive(Debug, Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    #[allow(dead_code)]
    enum Speed {
        VeryFast,
        Slow,
    }

    #[derive(Debug, Default, Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    #[allow(dead_code)]
    enum Order {
        /// First.
        #[default]
        First,
        /// Last.
        Last,
    }

    fn fitted(mut arguments: Value, changes: bool) -> (Value, Vec<String>) {
        let schema = schema::of::<Args>();
        unpack(schema.full(), &mut arguments);
        let notes = fit(schema.full(), &mut arguments, changes);
        (arguments, notes)
    }

    #[test]
    fn what_can_only_be_meant_in_one_way_is_taken_so() {
        for (given, meant) in [
            (json!({"limit": "5"}), json!({"limit": 5})),
            (json!({"limit": " 5.0 "}), json!({"limit": 5})),
            (json!({"limit": 5.0}), json!({"limit": 5})),
            (json!({"offset": "-20"}), json!({"offset": -20})),
            (json!({"seconds": "1.5"}), json!({"seconds": 1.5})),
            (json!({"all": "True"}), json!({"all": true})),
            (json!({"all": 0}), json!({"all": false})),
            (json!({"names": "a"}), json!({"names": ["a"]})),
            (json!({"names": "[\"a\", \"b\"]"}), json!({"names": ["a", "b"]})),
            (json!({"items": {"text": "a"}}), json!({"items": [{"text": "a"}]})),
            (json!({"items": "[{\"text\": \"a\"}]"}), json!({"items": [{"text": "a"}]})),
            (json!({"items": [{"id": 1, "text": "a", "why": "x"}]}), json!({"items": [{"id": "1", "text": "a"}]})),
            (json!({"path": ["a"]}), json!({"path": "a"})),
            (json!({"speed": "Very-Fast"}), json!({"speed": "very_fast"})),
            (json!({"order": "LAST"}), json!({"order": "last"})),
            (json!({"speed": ""}), json!({})),
            (json!({"limit": "none", "offset": "", "all": "null"}), json!({})),
            (json!({"replace": null, "names": null}), json!({})),
            (json!({"timeout": 9000}), json!({"timeout": 100})),
            (json!({"timeout": 0}), json!({"timeout": null})),
            (json!({"limit": -1}), json!({"limit": null})),
            (json!({"limit": 99_999_999_999_u64}), json!({"limit": 4_294_967_295_u32})),
            (json!({"reason": "because"}), json!({})),
            (json!({"toolSummary": "a look", "tool_action": "x", "backup": null}), json!({})),
            (json!({"names": "none"}), json!({"names": ["none"]})),
            (json!({"names": "", "items": "null"}), json!({})),
        ] {
            let (found, _) = fitted(given.clone(), true);
            assert_eq!(found, meant, "{given}");
            let mut whole = found;
            whole.as_object_mut().unwrap().entry("path").or_insert("x".into());
            assert!(serde_json::from_value::<Args>(whole.clone()).is_ok(), "{whole}");
        }
    }

    #[test]
    fn what_says_more_than_it_seems_is_left_to_be_refused() {
        for given in [
            json!({"limit": "many"}),
            json!({"limit": 1.5}),
            json!({"all": "maybe"}),
            json!({"path": ["a", "b"]}),
            json!({"path": true}),
            json!({"path": 7}),
            json!({"names": {"a": 1}}),
            json!({"speed": "quick"}),
            json!({"limits": 5}),
            json!({"path": "a", "append": true}),
            json!({"path": "a", "startLine": 3}),
            json!({"path": "a", "mode": "append"}),
            json!({"path": "a", "overwrite": false}),
            json!({"path": "a", "create_only": true}),
            json!({"path": "a", "if_not_exists": true}),
            json!({"path": "a", "backup": "a.bak"}),
            json!({"path": "a", "encoding": "latin1"}),
            json!({"path": "a", "reason": false}),
            json!({"speed": "none"}),
        ] {
            let (found, notes) = fitted(given.clone(), true);
            assert_eq!((found, notes), (given, Vec::new()));
        }
    }

    #[test]
    fn what_was_done_is_said() {
        let (found, notes) = fitted(json!({"path": "a", "append": true, "dry_run": false, "limit": "3"}), false);
        assert_eq!(found, json!({"path": "a", "limit": 3}));
        let said = [
            "there is no field \"append\"; it was left out",
            "there is no field \"dry_run\"; it was left out",
            "limit: \"3\" was taken as 3",
        ];
        assert_eq!(notes, said);
        let (_, notes) = fitted(json!({"timeout": 9000}), true);
        assert_eq!(notes, ["timeout: 9000 is more than 100, so it was taken as that"]);
        let (_, notes) = fitted(json!({"limit": "none", "names": ""}), true);
        assert_eq!(notes, ["limit: \"none\" was taken as not given", "names: \"\" was taken as not given"]);
        assert_eq!(fitted(json!({"limit": 5.0}), true).1, [] as [&str; 0], "the same number needs no word");
    }
}

//! Events of other versions: kept as they are, passed over by whoever does not know them.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, SchemaGenerator};
use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use super::EventBody;

/// An event that this version can't read: its type is new, or a value in it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UnknownEvent {
    /// The value of `type`.
    #[serde(rename = "type")]
    pub name: String,
    /// All other fields, in their order.
    #[serde(flatten)]
    pub fields: Map<String, Value>,
}

/// Reads the fields that no body of the event's type has; none of a type that is not known.
pub(super) fn fields<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Map<String, Value>, D::Error> {
    deserializer.deserialize_map(Fields)
}

/// Goes over all fields of a body: those that are known cost nothing but a look at their names.
struct Fields;

impl<'de> Visitor<'de> for Fields {
    type Value = Map<String, Value>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the fields of an event")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut known: Option<&[String]> = None;
        let mut more = Map::new();
        while let Some(Text(name)) = map.next_key()? {
            if name == "type" {
                known = EventBody::fields(&map.next_value::<Text<'_>>()?.0);
            } else if known.is_some_and(|known| known.iter().any(|known| *known == name)) {
                map.next_value::<IgnoredAny>()?;
            } else {
                more.insert(name.into_owned(), map.next_value()?);
            }
        }
        // The type may stand behind what it says the names of.
        more.retain(|name, _| known.is_some_and(|known| !known.contains(name)));
        Ok(more)
    }
}

/// A text that is borrowed where that can be.
#[derive(Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

/// The names of the fields of `T`, which may have some of a part that is flattened into it.
pub(super) fn field_names<T: JsonSchema>() -> Vec<String> {
    let schema = SchemaGenerator::default().into_root_schema_for::<T>();
    let variants = ["oneOf", "anyOf"].iter().filter_map(|name| schema.get(*name)?.as_array()).flatten();
    let properties = variants.filter_map(|variant| variant.get("properties")).chain(schema.get("properties"));
    properties.filter_map(Value::as_object).flat_map(Map::keys).cloned().collect()
}

//! The JSON schema of the configuration, for editors.

use serde_json::{Map, Value as Json, json};

use crate::derivation::{definition_name, raw_schema};
use crate::layer::{Node, Value};
use crate::load::built_in;

/// The JSON schema of a configuration file.
///
/// The derived one, with two things put right: defaults are those of the built-in layer, not those
/// of the types; and names that nobody knows are marked, as loading warns of them too.
pub fn json_schema() -> Json {
    let mut schema = raw_schema();
    set_defaults(&mut schema, &built_in());
    close(&mut schema);
    if let Some(definitions) = schema.get_mut("$defs").and_then(Json::as_object_mut) {
        definitions.values_mut().for_each(close);
    }
    if let Some(root) = schema.as_object_mut() {
        root.insert("title".to_owned(), json!("Neco configuration"));
    }
    schema
}

/// Gives every setting that has a built-in value that value as its default.
fn set_defaults(schema: &mut Json, built_in: &Node) {
    let mut open = vec![(None, built_in)];
    while let Some((definition, node)) = open.pop() {
        let Some(properties) = properties(schema, definition.as_deref()) else { continue };
        for (name, property) in properties {
            let Some(value) = node.get(&[name.as_str()]) else { continue };
            let section = definition_name(property).filter(|_| matches!(value.value, Value::Table(_)));
            match section.map(str::to_owned) {
                // Its settings have defaults; it has none itself.
                Some(section) => {
                    remove_default(property);
                    open.push((Some(section), value));
                }
                None => set_default(property, to_json(&value.value)),
            }
        }
    }
}

/// The settings of a named type, or those at the top.
fn properties<'a>(schema: &'a mut Json, definition: Option<&str>) -> Option<&'a mut Map<String, Json>> {
    let table = match definition {
        Some(name) => schema.get_mut("$defs")?.get_mut(name)?,
        None => schema,
    };
    table.get_mut("properties")?.as_object_mut()
}

/// Marks names that a table does not have, and takes out defaults that say nothing.
fn close(table: &mut Json) {
    let Some(properties) = properties(table, None) else { return };
    for property in properties.values_mut() {
        if property.get("default").is_some_and(Json::is_null) {
            remove_default(property);
        }
    }
    if let Some(table) = table.as_object_mut() {
        table.insert("additionalProperties".to_owned(), json!(false));
    }
}

fn set_default(property: &mut Json, default: Json) {
    if let Some(property) = property.as_object_mut() {
        property.insert("default".to_owned(), default);
    }
}

fn remove_default(property: &mut Json) {
    if let Some(property) = property.as_object_mut() {
        property.shift_remove("default");
    }
}

/// A value as JSON; the numbers that JSON lacks are not built in.
fn to_json(value: &Value) -> Json {
    match value {
        Value::Table(entries) => {
            Json::Object(entries.iter().map(|(name, node)| (name.clone(), to_json(&node.value))).collect())
        }
        Value::List(items) => Json::Array(items.iter().map(|node| to_json(&node.value)).collect()),
        Value::Text(text) | Value::Date(text) => json!(text),
        Value::Whole(number) => json!(number),
        Value::Number(number) => json!(number),
        Value::Switch(switch) => json!(switch),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_the_built_in_ones_and_strange_names_are_marked() {
        let schema = json_schema();
        let at = |pointer: &str| schema.pointer(pointer).cloned();
        assert_eq!(at("/properties/approval/default"), Some(json!("ask_first")));
        assert_eq!(at("/properties/agent/default"), None);
        assert_eq!(at("/properties/model/default"), None);
        assert_eq!(at("/$defs/AgentSection/properties/max_turns/default"), Some(json!(50)));
        assert_eq!(at("/$defs/AgentSection/properties/max_turns/minimum"), Some(json!(1)));
        assert_eq!(at("/$defs/NetworkSection/properties/idle_timeout/exclusiveMinimum"), Some(json!(0)));
        assert_eq!(at("/$defs/ProviderSection/properties/local/default"), Some(json!(false)));
        assert_eq!(at("/$defs/ProviderSection/properties/base/default"), None);
        for table in ["", "/$defs/AgentSection", "/$defs/ProviderSection"] {
            assert_eq!(at(&format!("{table}/additionalProperties")), Some(json!(false)), "{table}");
        }
        assert_eq!(at("/properties/models/additionalProperties/$ref"), Some(json!("#/$defs/ModelSection")));
    }
}

//! Arguments as one text that the same arguments always have: no spaces, names sorted at every level.

use serde_json::Value;

/// The canonical text of a value.
pub fn canonical(value: &Value) -> String {
    let mut text = String::new();
    write(value, &mut text, "");
    text
}

/// The same, with a NUL before and after each pair of the outermost object: patterns of some agents
/// stand on them, so that what is inside a string can't pass for a pair.
pub(super) fn canonical_marked(value: &Value) -> String {
    let mut text = String::new();
    write(value, &mut text, "\0");
    text
}

fn write(value: &Value, text: &mut String, mark: &str) {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => text.push_str(&value.to_string()),
        Value::Array(items) => {
            text.push('[');
            for (index, item) in items.iter().enumerate() {
                text.push_str(if index == 0 { "" } else { "," });
                write(item, text, "");
            }
            text.push(']');
        }
        Value::Object(entries) => {
            let mut sorted: Vec<(&String, &Value)> = entries.iter().collect();
            sorted.sort_by_key(|(name, _)| *name);
            text.push('{');
            for (index, (name, value)) in sorted.into_iter().enumerate() {
                text.push_str(if index == 0 { "" } else { "," });
                text.push_str(mark);
                text.push_str(&Value::String(name.clone()).to_string());
                text.push(':');
                write(value, text, "");
                text.push_str(mark);
            }
            text.push('}');
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn names_are_sorted_at_every_level() {
        let value = json!({ "b": [ { "z": 1, "a": "x\"y" } ], "a": null });
        assert_eq!(canonical(&value), r#"{"a":null,"b":[{"a":"x\"y","z":1}]}"#);
        assert_eq!(canonical_marked(&value), "{\0\"a\":null\0,\0\"b\":[{\"a\":\"x\\\"y\",\"z\":1}]\0}");
    }

    proptest! {
        #[test]
        fn the_order_of_names_makes_no_difference(names in prop::collection::btree_set("[a-z]{1,4}", 0..6)) {
            let forward: Value = names.iter().map(|name| (name.clone(), json!(name))).collect();
            let backward: Value = names.iter().rev().map(|name| (name.clone(), json!(name))).collect();
            prop_assert_eq!(canonical(&forward), canonical(&backward));
            prop_assert_eq!(serde_json::from_str::<Value>(&canonical(&forward)).unwrap(), forward);
        }
    }
}

//! What became of a call's arguments, in words for the model.

use serde_json::Value;

/// Characters of one value that are told; the model need not read a whole file again.
const VALUE: usize = 300;

/// Fields that are told.
const FIELDS: usize = 12;

/// Which arguments are others now, and what they are.
pub(super) fn changes(before: &Value, after: &Value) -> String {
    let (Value::Object(old), Value::Object(new)) = (before, after) else {
        return format!("they are now {}", bounded(after));
    };
    let set = new.iter().filter(|(name, value)| old.get(*name) != Some(value));
    let set = set.map(|(name, value)| format!("{name} is now {}", bounded(value)));
    let gone = old.keys().filter(|name| !new.contains_key(*name)).map(|name| format!("{name} is gone"));
    let mut all: Vec<String> = set.chain(gone).collect();
    if all.len() > FIELDS {
        let more = all.len() - FIELDS;
        all.truncate(FIELDS);
        all.push(format!("and {more} more"));
    }
    if all.is_empty() { "they say the same".to_owned() } else { all.join("; ") }
}

fn bounded(value: &Value) -> String {
    let text = value.to_string();
    let length = text.chars().count();
    if length <= VALUE {
        return text;
    }
    let start: String = text.chars().take(VALUE).collect();
    format!("{start}… ({length} characters)")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_what_changed_is_told_and_never_all_of_something_long() {
        let before = json!({"path": "a", "content": "x", "mode": 1});
        assert_eq!(changes(&before, &json!({"path": "b", "content": "x"})), "path is now \"b\"; mode is gone");
        let long = changes(&before, &json!({"path": "a", "content": "é".repeat(100_000), "mode": 1}));
        assert!(long.len() < 800 && long.ends_with("(100002 characters)"), "{long}");
        let many: Value = (0..1000).map(|index| (format!("f{index}"), json!("y".repeat(500)))).collect();
        assert!(changes(&before, &many).len() < 6000);
        assert_eq!(changes(&json!(1), &json!(2)), "they are now 2");
    }
}

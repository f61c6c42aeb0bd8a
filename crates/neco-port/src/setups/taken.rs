//! Settings of another agent, out of which is taken what has a meaning here: what is left at the end is told, so that
//! nothing is dropped in silence. A path such as `tools.allowed` leads into sections.

use serde_json::{Map, Value};

/// A remark for editors, which sets nothing.
const SCHEMA: &str = "$schema";

/// The table that a path ends in, and the name at its end.
fn holder<'a, 'b>(settings: &'a mut Value, path: &'b str) -> Option<(&'a mut Map<String, Value>, &'b str)> {
    let (sections, name) = path.rsplit_once('.').unwrap_or(("", path));
    let mut table = settings.as_object_mut()?;
    for section in sections.split('.').filter(|section| !section.is_empty()) {
        table = table.get_mut(section)?.as_object_mut()?;
    }
    Some((table, name))
}

/// Takes out what `read` understands; anything else stays.
fn take<T>(settings: &mut Value, path: &str, read: impl FnOnce(&Value) -> Option<T>) -> Option<T> {
    let (table, name) = holder(settings, path)?;
    let taken = read(table.get(name)?)?;
    table.shift_remove(name);
    Some(taken)
}

/// Takes out whatever it is.
pub(super) fn any(settings: &mut Value, path: &str) -> Option<Value> {
    take(settings, path, |value| Some(value.clone())).filter(|value| !is_nothing(value))
}

/// Takes out a text.
pub(super) fn text(settings: &mut Value, path: &str) -> Option<String> {
    let text = take(settings, path, |value| value.as_str().map(str::to_owned));
    text.filter(|text| !text.trim().is_empty())
}

/// Takes out a switch.
pub(super) fn switch(settings: &mut Value, path: &str) -> Option<bool> {
    take(settings, path, Value::as_bool)
}

/// Takes out a number above zero.
pub(super) fn number(settings: &mut Value, path: &str) -> Option<f64> {
    take(settings, path, |value| value.as_f64().filter(|number| *number > 0.0))
}

/// Takes the texts out of a list.
pub(super) fn texts(settings: &mut Value, path: &str) -> Vec<String> {
    let list = holder(settings, path).and_then(|(table, name)| table.get_mut(name)?.as_array_mut());
    let Some(list) = list else { return Vec::new() };
    let (texts, others): (Vec<Value>, Vec<Value>) = std::mem::take(list).into_iter().partition(Value::is_string);
    *list = others;
    texts.iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// Takes out all entries of a section.
pub(super) fn entries(settings: &mut Value, path: &str) -> Map<String, Value> {
    take(settings, path, |value| value.as_object().cloned()).unwrap_or_default()
}

/// What is left of settings: the name of each, with the names inside of it where it is a section.
pub(super) fn left(settings: &Value) -> Vec<(&str, Vec<&str>)> {
    let inside = |value| named(value).map(|(name, _)| name).collect();
    named(settings).map(|(name, value)| (name, inside(value))).collect()
}

/// The paths of all that is left.
pub(super) fn paths(settings: &Value) -> Vec<String> {
    let paths = |(name, inside): (&str, Vec<&str>)| match inside.as_slice() {
        [] => vec![name.to_owned()],
        inside => inside.iter().map(|inner| format!("{name}.{inner}")).collect(),
    };
    left(settings).into_iter().flat_map(paths).collect()
}

/// What is to be said of something that is taken without what is left of its settings.
pub(super) fn without(settings: &Value) -> Option<String> {
    let paths = paths(settings);
    (!paths.is_empty()).then(|| format!("without {}", paths.join(", ")))
}

fn named(settings: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let entries = settings.as_object().into_iter().flatten();
    entries.filter(|(name, value)| *name != SCHEMA && !is_nothing(value)).map(|(name, value)| (name.as_str(), value))
}

/// Whether a value sets nothing: all that it held was taken.
fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(entries) => entries.values().all(is_nothing),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_taken_is_gone_and_what_is_not_understood_is_left() {
        let mut settings = json!({
            "$schema": "x", "model": "a", "odd": 1, "list": ["a", 2], "none": null, "empty": { "inner": {} },
            "tools": { "allowed": ["b"], "core": true, "limits": { "a": 1 } }, "servers": { "x": { "url": "u" } },
        });
        assert_eq!(text(&mut settings, "model").as_deref(), Some("a"));
        assert_eq!(text(&mut settings, "odd"), None);
        assert_eq!(texts(&mut settings, "list"), ["a"]);
        assert_eq!(texts(&mut settings, "tools.allowed"), ["b"]);
        assert_eq!(texts(&mut settings, "model.name"), [""; 0]);
        assert_eq!(entries(&mut settings, "servers").len(), 1);
        assert_eq!(left(&settings), [("odd", vec![]), ("list", vec![]), ("tools", vec!["core", "limits"])]);
        assert_eq!(without(&settings).as_deref(), Some("without odd, list, tools.core, tools.limits"));
        assert_eq!(any(&mut settings, "tools.core"), Some(Value::Bool(true)));
        assert_eq!((number(&mut settings, "odd"), switch(&mut settings, "tools.core")), (Some(1.0), None));
    }
}

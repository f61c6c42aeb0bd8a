//! Flags as layers: `-c key=value`.

use toml_edit::Key;

use crate::address::without_secrets;
use crate::layer::{Node, Value, parse_value};
use crate::notice::Notice;
use crate::origin::{Layer, Origin, Source};
use crate::shape::{Shape, known};
use crate::trail::{Trail, shortened, visible};

/// The tree of one `key=value`.
pub(crate) fn layer(text: &str) -> Result<Node, Notice> {
    let Some((key, value)) = split(text) else {
        let origin = flag(format!("-c {}", visible(&shortened(text))));
        return Err(Notice::about(&origin, "expected key=value"));
    };
    let names = names(key)?;
    let shape = known().at(&names);
    let trail = Trail::of(&names);
    let origin = flag(format!("-c {trail}={}", shown(value, shape, &trail)));
    Ok(typed_value(value, shape, &origin).below(&names))
}

/// The key of one `key=value` as it is written, the same key as [`crate::Origins`] name it, and the value as it is
/// written; nothing where that is no key and value.
pub fn written_setting(text: &str) -> Option<(&str, String, &str)> {
    let (key, value) = split(text)?;
    let names = names(key).ok()?;
    Some((key.trim(), Trail::of(&names).to_string(), value.trim()))
}

/// Whether a dotted key is that of a setting, or of a section of settings.
pub fn is_setting(key: &str) -> bool {
    names(key).is_ok_and(|names| known().at(&names).is_some())
}

/// A tree as `key=value`, one for each of its settings.
pub(crate) fn texts(layer: &Node) -> Vec<String> {
    let mut found = Vec::new();
    add_texts(layer, "", &mut found);
    found
}

fn add_texts(node: &Node, key: &str, found: &mut Vec<String>) {
    let Value::Table(entries) = &node.value else { return found.push(format!("{key}={}", node.value)) };
    let dot = if key.is_empty() { "" } else { "." };
    for (name, entry) in entries {
        add_texts(entry, &format!("{key}{dot}{}", Key::new(name)), found);
    }
}

/// A value from outside a file: where a string is expected, everything is one.
pub(crate) fn typed_value(text: &str, shape: Option<&Shape>, origin: &Origin) -> Node {
    let node = parse_value(text, origin);
    match (&node.value, shape) {
        (Value::Text(_), _) => node,
        (_, Some(Shape::Text { .. } | Shape::OneOf(_))) => Node::new(Value::Text(text.to_owned()), origin.clone()),
        (_, _) => node,
    }
}

fn flag(text: String) -> Origin {
    Origin::new(Layer::Flags, Source::Flag(text))
}

/// At the first `=` outside quotes: names of models hold `=` too.
fn split(text: &str) -> Option<(&str, &str)> {
    let mut quote = None;
    let mut escaped = false;
    for (index, c) in text.char_indices() {
        match (quote, c) {
            (Some('"'), _) if escaped => escaped = false,
            (Some('"'), '\\') => escaped = true,
            (Some(open), _) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '=') => return Some((text.get(..index)?, text.get(index + 1..)?)),
            (None, _) => {}
        }
    }
    None
}

fn names(key: &str) -> Result<Vec<String>, Notice> {
    let keys = Key::parse(key.trim()).map_err(|_| {
        let origin = flag(format!("-c {}", visible(&shortened(key))));
        Notice::about(&origin, "not a key: parts with other characters than letters, digits, - and _ need quotes")
    })?;
    Ok(keys.iter().map(|key| key.get().to_owned()).collect())
}

/// The value as it may be shown: what is not known may be a misspelt secret, a table may hold one.
fn shown(value: &str, shape: Option<&Shape>, trail: &Trail) -> String {
    match shape {
        None => "…".to_owned(),
        Some(Shape::Table(_) | Shape::Map(_) | Shape::Any) => "***".to_owned(),
        Some(_) if trail.is_secret() || trail.is_command() => "***".to_owned(),
        Some(
            Shape::List(_) | Shape::Text { .. } | Shape::OneOf(_) | Shape::Whole(_) | Shape::Number(_) | Shape::Switch,
        ) => visible(&shortened(&without_secrets(value))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn keys_and_values_are_read_as_toml() {
        for (text, tree, origin) in [
            ("model=a/b", "{ model = \"a/b\" }", "-c model=a/b"),
            ("model=\"a/b\"", "{ model = \"a/b\" }", "-c model=\"a/b\""),
            ("model=5", "{ model = \"5\" }", "-c model=5"),
            ("model=a=b", "{ model = \"a=b\" }", "-c model=a=b"),
            ("mode=true", "{ mode = \"true\" }", "-c mode=true"),
            (" agent . max_turns = 5 ", "{ agent = { max_turns = 5 } }", "-c agent.max_turns= 5 "),
            ("agent.max_turns=many", "{ agent = { max_turns = \"many\" } }", "-c agent.max_turns=many"),
            ("tools.only=['a', 'b']", "{ tools = { only = [\"a\", \"b\"] } }", "-c tools.only=['a', 'b']"),
            (
                "models.\"a/b?c=\\\"d\".max_output=5",
                "{ models = { 'a/b?c=\"d' = { max_output = 5 } } }",
                r#"-c models."a/b?c=\"d".max_output=5"#,
            ),
            (
                "models.'a=b'.max_output=5",
                "{ models = { \"a=b\" = { max_output = 5 } } }",
                "-c models.\"a=b\".max_output=5",
            ),
            ("agent={max_turns=3}", "{ agent = { max_turns = 3 } }", "-c agent=***"),
            (
                "model_providers.x.api_key=123",
                "{ model_providers = { x = { api_key = \"123\" } } }",
                "-c model_providers.x.api_key=***",
            ),
            (
                "model_providers.x.apikey=sk",
                "{ model_providers = { x = { apikey = \"sk\" } } }",
                "-c model_providers.x.apikey=…",
            ),
            (
                "model_providers.x.base=http://me:pw@h/v1?key=sk",
                "{ model_providers = { x = { base = \"http://me:pw@h/v1?key=sk\" } } }",
                "-c model_providers.x.base=http://***@h/v1?key=***",
            ),
            ("model=", "{ model = \"\" }", "-c model="),
        ] {
            let node = layer(text).unwrap();
            assert_eq!((node.value.to_string().as_str(), node.origin.to_string().as_str()), (tree, origin), "{text}");
        }
    }

    #[test]
    fn a_tree_is_written_as_it_is_read() {
        let text = "models={ \"a=b\" = { max_output = 5, tags = [\"x\"] }, c = { title = \"d.e\" } }";
        let written = texts(&layer(text).unwrap());
        let single = [r#"models."a=b".max_output=5"#, r#"models."a=b".tags=["x"]"#, r#"models.c.title="d.e""#]
            .map(str::to_owned);
        assert_eq!(written, single);
        for text in single {
            assert_eq!(texts(&layer(&text).unwrap()), [text]);
        }
    }

    #[test]
    fn what_is_no_setting_is_said_to_be_none() {
        let not_a_key = "not a key: parts with other characters than letters, digits, - and _ need quotes";
        for (text, expected) in [
            ("model", "-c model: expected key=value".to_owned()),
            ("", "-c : expected key=value".to_owned()),
            ("models.\"a=b", "-c models.\"a=b: expected key=value".to_owned()),
            ("=x", format!("-c : {not_a_key}")),
            ("models.a/b.max_output=5", format!("-c models.a/b.max_output: {not_a_key}")),
            ("a..b=1", format!("-c a..b: {not_a_key}")),
        ] {
            assert_eq!(layer(text).unwrap_err().to_string(), expected);
        }
        assert!(layer(&format!("{}=1", vec!["a"; 100_000].join("."))).is_err());
        assert!(is_setting("agent") && is_setting("models.'a/b'.max_output") && !is_setting("nope"));
    }

    proptest! {
        #[test]
        fn any_flag_is_read_or_refused(text in ".{0,40}", key in r#"["'.=\\a-z]{0,12}"#) {
            drop(layer(&text));
            drop(layer(&key));
        }
    }
}

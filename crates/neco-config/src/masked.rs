//! The text of a file of settings as it may be shown: everything stands where it stood, but for secrets.

use toml_edit::{Array, DocumentMut, Formatted, InlineTable, Item, Table, Value};

use crate::address::{HIDDEN, without_secrets};
use crate::command_line::{line_without_secrets, words_without_secrets};
use crate::trail::Trail;

/// The text with `***` for keys and headers, and for the secrets in addresses and command lines, as settings are listed.
/// Nothing where it is no TOML.
///
/// ```
/// let text = "# mine\n[model_providers.a]\napi_key = \"sk-1\" # old\n";
/// let shown = "# mine\n[model_providers.a]\napi_key = \"***\" # old\n";
/// assert_eq!(neco_config::masked(text).as_deref(), Some(shown));
/// ```
pub fn masked(text: &str) -> Option<String> {
    let mut document: DocumentMut = text.parse().ok()?;
    mask_table(document.as_table_mut(), &Trail::default());
    // What is commented out is no setting, and may hold a secret all the same.
    Some(document.to_string().split_inclusive('\n').map(comment_masked).collect())
}

fn comment_masked(line: &str) -> String {
    let Some(commented) = line.trim_start().strip_prefix('#') else { return line.to_owned() };
    let is_section = commented.trim_start().starts_with('[');
    match commented.split_once('=').filter(|_| !is_section) {
        Some((key, _)) if Trail::of(&names(key)).is_secret() => {
            let end = if line.ends_with('\n') { "\n" } else { "" };
            format!("#{key}= \"{HIDDEN}\"{end}")
        }
        Some(_) | None => without_secrets(line),
    }
}

fn names(key: &str) -> Vec<&str> {
    key.split('.').map(|name| name.trim().trim_matches(['"', '\''])).collect()
}

fn mask_table(table: &mut Table, trail: &Trail) {
    for (name, item) in table.iter_mut() {
        mask(item, &trail.child(name.get()));
    }
}

fn mask(item: &mut Item, trail: &Trail) {
    match item {
        Item::None => {}
        Item::Value(value) => mask_value(value, trail),
        Item::Table(table) => mask_table(table, trail),
        Item::ArrayOfTables(tables) => tables.iter_mut().for_each(|table| mask_table(table, trail)),
    }
}

fn mask_value(value: &mut Value, trail: &Trail) {
    if let Value::InlineTable(table) = value {
        return mask_inline(table, trail);
    }
    if let Value::Array(items) = value {
        return mask_items(items, trail);
    }
    let shown = match value.as_str() {
        _ if trail.is_secret() => HIDDEN.to_owned(),
        Some(text) if trail.is_command() => line_without_secrets(text),
        Some(text) => without_secrets(text),
        None => return,
    };
    if value.as_str() != Some(&shown) {
        put(value, shown);
    }
}

/// Another text in the same place.
fn put(value: &mut Value, text: String) {
    let around = value.decor().clone();
    *value = Value::String(Formatted::new(text));
    *value.decor_mut() = around;
}

fn mask_inline(table: &mut InlineTable, trail: &Trail) {
    for (name, value) in table.iter_mut() {
        mask_value(value, &trail.child(name.get()));
    }
}

fn mask_items(items: &mut Array, trail: &Trail) {
    if trail.is_command() && !trail.is_secret() {
        let words: Vec<&str> = items.iter().map(|item| item.as_str().unwrap_or_default()).collect();
        let shown = words_without_secrets(words);
        for (item, word) in items.iter_mut().zip(shown) {
            if item.as_str().is_some_and(|said| said != word) {
                put(item, word);
            }
        }
        return;
    }
    items.iter_mut().for_each(|item| mask_value(item, trail));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_hidden_and_all_else_stands_where_it_stood() {
        let text = "approval = \"auto\" # mine\n\n[model_providers.a]\nbase = \"http://me:pw@host/v1\"\n\
                    headers = { X-Key = \"abc\", other = 'd' }\n# api_key = \"sk-old\"\n\n[mcp_servers.b]\n\
                    command = \"run\"\nargs = [\n  \"--token\",\n  \"sk-secret\", # theirs\n]\n";
        let shown = masked(text).unwrap();
        for secret in ["pw@", "abc", "'d'", "sk-old", "sk-secret"] {
            assert!(!shown.contains(secret), "{secret}: {shown}");
        }
        for kept in ["approval = \"auto\" # mine\n", "http://***@host/v1", "  \"--token\",\n", "# theirs\n"] {
            assert!(shown.contains(kept), "{kept}: {shown}");
        }
        assert_eq!(shown.lines().count(), text.lines().count());
        let plain = "[tui]\ntheme = 'dark'\n";
        assert_eq!(masked(plain).unwrap(), plain);
        assert_eq!(masked("a = "), None);
    }
}

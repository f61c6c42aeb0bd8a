//! The way to a setting as people write it: `model_providers."my host".api_key`.

use std::fmt;

/// Settings whose values are never shown, wherever they stand.
const SECRET: &[&str] = &["api_key", "headers", "env"];

/// Settings that are command lines, wherever they stand: what is named as a secret in them is not shown.
const COMMANDS: &[&str] = &["args", "command"];

/// Longer names are cut when they are shown; nothing that is known is nearly as long.
const LONGEST_SHOWN: usize = 64;

/// Where a walk through a tree of settings stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Trail {
    dotted: String,
    secret: bool,
    command: bool,
}

impl Trail {
    pub(crate) fn of<T: AsRef<str>>(names: &[T]) -> Self {
        names.iter().fold(Self::default(), |trail, name| trail.child(name.as_ref()))
    }

    /// One level down, to the setting of this name.
    pub(crate) fn child(&self, name: &str) -> Self {
        let dot = if self.dotted.is_empty() { "" } else { "." };
        Self {
            dotted: format!("{}{dot}{}", self.dotted, quoted(name)),
            secret: self.secret || is_secret_name(name),
            command: COMMANDS.contains(&name),
        }
    }

    /// To an item of a list, counted from 1.
    pub(crate) fn item(&self, number: usize) -> Self {
        Self { dotted: format!("{}[{number}]", self.dotted), ..self.clone() }
    }

    /// Whether what is here must not be shown.
    pub(crate) fn is_secret(&self) -> bool {
        self.secret
    }

    /// Whether what is here is a command line, or words of one.
    pub(crate) fn is_command(&self) -> bool {
        self.command
    }
}

/// Whether the value of a setting of this name is never shown.
pub(crate) fn is_secret_name(name: &str) -> bool {
    SECRET.contains(&name)
}

impl fmt::Display for Trail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.dotted)
    }
}

/// A text without the characters that could steer a terminal or turn its text around.
pub(crate) fn visible(text: &str) -> String {
    text.chars().map(|c| if steers(c) { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

/// A text cut to what fits into a message.
pub(crate) fn shortened(text: &str) -> String {
    match text.char_indices().nth(LONGEST_SHOWN) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

fn steers(c: char) -> bool {
    c.is_control() || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn quoted(name: &str) -> String {
    let bare = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    if bare { shortened(name) } else { format!("{:?}", shortened(name)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_quoted_when_they_must_be() {
        let trail = Trail::of(&["models", "a/b.c", ""]);
        assert_eq!(trail.to_string(), r#"models."a/b.c".''"#.replace('\'', "\""));
        assert_eq!(Trail::of(&["a", "\u{1b}[2J\u{202e}"]).to_string(), r#"a."\u{1b}[2J\u{202e}""#);
        assert_eq!(Trail::of(&["tools", "only"]).item(1).to_string(), "tools.only[1]");
        assert_eq!(Trail::of(&["é".repeat(70)]).to_string(), format!("\"{}…\"", "é".repeat(64)));
    }

    #[test]
    fn what_is_below_a_secret_is_secret() {
        for (names, secret) in [
            (&["model_providers", "x", "api_key"][..], true),
            (&["model_providers", "x", "headers", "x-key"], true),
            (&["model_providers", "x", "api_key_env"], false),
        ] {
            assert_eq!(Trail::of(names).is_secret(), secret, "{names:?}");
        }
    }
}

//! A key of a provider that is being typed. It is shown as dots, and goes nowhere but to where keys are kept: no history,
//! no draft and no session ever has it.

use std::fmt;

use neco_proto::app::keys::NewKey;
use neco_proto::key_kind::begins_like_key;

/// Dots that are shown at most: how long a key is need not be told.
const MOST_DOTS: usize = 48;

/// A word of this length that begins like a key is one wherever it stands; at the beginning any is.
const LONG: usize = 20;

/// Letters and digits from which on a word is a key that begins like none.
const RANDOM: usize = 32;

/// Whether somebody writes a key, or begins to: it is looked at while it is typed.
pub(crate) fn looks_like_key(text: &str) -> bool {
    let text = text.trim_start();
    let words = text.split(|char: char| !char.is_ascii_alphanumeric() && !matches!(char, '_' | '-' | '.'));
    let is_key = |(index, word): (usize, &str)| {
        let holds = |is: fn(&u8) -> bool| word.as_bytes().iter().any(is);
        let random = word.len() >= RANDOM && word.bytes().all(|byte| byte.is_ascii_alphanumeric());
        begins_like_key(word) && (index == 0 || word.len() >= LONG)
            || random && holds(u8::is_ascii_digit) && holds(u8::is_ascii_alphabetic)
    };
    words.enumerate().any(is_key)
}

/// What is shown of a text that nobody is to read.
pub(crate) fn dots(text: &str) -> String {
    "•".repeat(text.chars().count().min(MOST_DOTS))
}

/// A key that is being typed.
#[derive(Clone, Default)]
pub struct SecretEntry {
    /// Whose key it is.
    pub provider: String,
    typed: String,
}

impl SecretEntry {
    /// An empty one.
    pub fn new(provider: impl Into<String>) -> Self {
        Self { provider: provider.into(), typed: String::new() }
    }

    /// Something was typed or pasted; what is not seen anyway is left out.
    pub fn push(&mut self, text: &str) {
        self.typed.extend(text.chars().filter(|char| !char.is_control()));
    }

    /// Takes the last character away.
    pub fn pop(&mut self) {
        self.typed.pop();
    }

    /// Takes all of it away.
    pub fn clear(&mut self) {
        self.typed.clear();
    }

    /// What was typed, without the blanks around it; none when that is nothing.
    pub fn key(&self) -> Option<NewKey> {
        let key = self.typed.trim();
        (!key.is_empty()).then(|| NewKey(key.to_owned()))
    }

    /// What is shown of it.
    pub fn dots(&self) -> String {
        dots(&self.typed)
    }
}

impl fmt::Debug for SecretEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SecretEntry").field("provider", &self.provider).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_known_from_its_beginning_on_and_no_name_or_address_is_one() {
        let long = "aB3".repeat(12);
        for key in ["sk-", " sk-ant-a", "gsk_1", "AIzaSy", &long, &format!("KEY=sk-proj-{long}")] {
            assert!(looks_like_key(key), "{key}");
        }
        let names = ["", "anthropic/claude-sonnet-4-5", "ollama/qwen3:8b", "http://localhost:8000/v1", "mine/sk-small"];
        assert!(names.iter().all(|name| !looks_like_key(name)));
    }
}

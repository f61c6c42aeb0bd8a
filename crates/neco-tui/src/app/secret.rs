//! A key of a provider that is being typed. It is shown as dots, and goes nowhere but to where keys are kept: no history,
//! no draft and no session ever has it.

use std::fmt;

use neco_proto::app::keys::NewKey;

/// Dots that are shown at most: how long a key is need not be told.
const MOST_DOTS: usize = 48;

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
        "•".repeat(self.typed.chars().count().min(MOST_DOTS))
    }
}

impl fmt::Debug for SecretEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SecretEntry").field("provider", &self.provider).finish_non_exhaustive()
    }
}

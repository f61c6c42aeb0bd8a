//! Keys: where they come from, how they are named, and that they are never shown.

use std::fmt;

use http::header::AUTHORIZATION;
use http::{HeaderName, HeaderValue};
use secrecy::{ExposeSecret, SecretString};

use crate::wire::format::Auth;

/// What stands in place of a key.
pub(super) const HIDDEN: &str = "[key]";
/// What is shorter is a placeholder for servers that want some key, and part of ordinary words.
const SHORTEST: usize = 4;
/// As many characters of a key are shown to tell it from another one.
const SHOWN: usize = 4;
/// Of a shorter key they would tell too much.
const LONG: usize = 16;
/// A vendor that echoes this much of a key's beginning echoes the key.
const TELLING: usize = 6;

/// A key and where it was found. Shown, it is only where it was found.
pub struct Key {
    secret: SecretString,
    bearer: HeaderValue,
    bare: HeaderValue,
    /// The variable, or the setting.
    source: String,
    /// Number and count, when a provider has several.
    place: Option<(usize, usize)>,
}

impl Key {
    /// A key found in `source`; `None` when it has characters that a header can't carry.
    pub fn new(secret: &str, source: &str) -> Option<Self> {
        let secret = secret.trim();
        let mut bearer = HeaderValue::from_str(&format!("Bearer {secret}")).ok()?;
        bearer.set_sensitive(true);
        let mut bare = HeaderValue::from_str(secret).ok()?;
        bare.set_sensitive(true);
        Some(Self { secret: secret.into(), bearer, bare, source: source.to_owned(), place: None })
    }

    pub(crate) fn set_place(&mut self, number: usize, count: usize) {
        self.place = (count > 1).then_some((number, count));
    }

    /// The same place and source for another secret, such as a token that this key was traded for;
    /// `None` when it has characters that a header can't carry.
    pub(crate) fn with_secret(&self, secret: &str) -> Option<Self> {
        Some(Self { place: self.place, ..Self::new(secret, &self.source)? })
    }

    /// Its last characters, enough for a person to tell two keys apart; none of a short one.
    pub fn ending(&self) -> Option<&str> {
        let secret = self.secret.expose_secret();
        let (at, _) = secret.char_indices().rev().nth(SHOWN - 1)?;
        secret.get(at..).filter(|_| secret.len() >= LONG)
    }

    /// The key itself, for whoever has to keep it out of something.
    pub fn secret(&self) -> &SecretString {
        &self.secret
    }

    /// Where it was found.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Its number among several.
    pub fn number(&self) -> Option<usize> {
        self.place.map(|(number, _)| number)
    }

    /// The header that shows it.
    pub(crate) fn header(&self, auth: &Auth) -> (HeaderName, HeaderValue) {
        match auth {
            Auth::Bearer => (AUTHORIZATION, self.bearer.clone()),
            Auth::Header(name) => (name.clone(), self.bare.clone()),
        }
    }

    /// The `authorization` header that shows it with another word than `Bearer`.
    pub(crate) fn header_with(&self, scheme: &str) -> HeaderValue {
        let value = HeaderValue::from_str(&format!("{scheme} {}", self.secret.expose_secret()));
        let mut value = value.unwrap_or_else(|_| self.bearer.clone());
        value.set_sensitive(true);
        value
    }

    /// `text` without the key, its beginning, or a starred form of it.
    pub(crate) fn redact(&self, text: &str) -> String {
        let secret = self.secret.expose_secret();
        if secret.len() < SHORTEST {
            return text.to_owned();
        }
        let text = text.replace(secret, HIDDEN);
        let Some(begin) = secret.get(..TELLING).filter(|begin| text.contains(begin) || text.contains("**")) else {
            return text;
        };
        let word = |word: &str| {
            let bare = word.trim_end_matches(char::is_whitespace);
            let space = word.strip_prefix(bare).unwrap_or("");
            if bare.contains(begin) || bare.contains("**") { format!("{HIDDEN}{space}") } else { word.to_owned() }
        };
        text.split_inclusive(char::is_whitespace).map(word).collect()
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place {
            Some((number, count)) => write!(f, "key {number} of {count} ({})", self.source),
            None => write!(f, "the key in {}", self.source),
        }
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_never_shown() {
        let key = Key::new(" sk-secret-123456 \n", "OPENAI_API_KEY").unwrap();
        assert_eq!(format!("{key} {key:?}"), "the key in OPENAI_API_KEY Key(the key in OPENAI_API_KEY)");
        assert_eq!(key.header(&Auth::Bearer).1, "Bearer sk-secret-123456");
        let name = HeaderName::from_static("x-api-key");
        let (shown, value) = key.header(&Auth::Header(name.clone()));
        assert!(shown == name && value == "sk-secret-123456" && value.is_sensitive());
        for text in ["bad key sk-secret-123456.", "bad key sk-secret****3456.", "bad key sk-sec… .", "bad **3456"] {
            let shown = key.redact(text);
            assert!(!shown.contains("sk-sec") && !shown.contains("3456") && shown.starts_with("bad "), "{shown}");
        }
        assert_eq!(key.redact("nothing  to\nhide"), "nothing  to\nhide");
        assert_eq!(Key::new("x", "A").unwrap().redact("an axe"), "an axe");
    }

    #[test]
    fn the_end_of_a_long_key_may_be_shown() {
        let ending = |secret: &str| Key::new(secret, "A").unwrap().ending().map(str::to_owned);
        assert_eq!(ending("sk-secret-1234567").as_deref(), Some("4567"));
        assert_eq!(ending("sk-short-12"), None);
        assert_eq!(ending("x"), None);
    }

    #[test]
    fn one_of_several_has_its_number() {
        let mut key = Key::new("x", "B").unwrap();
        key.set_place(2, 3);
        assert_eq!(key.to_string(), "key 2 of 3 (B)");
        assert_eq!(key.number(), Some(2));
        assert!(Key::new("a\u{7}b", "B").is_none());
    }
}

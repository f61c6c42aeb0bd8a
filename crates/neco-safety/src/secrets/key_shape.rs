//! What well-known keys look like.

use std::sync::LazyLock;

use neco_proto::key_kind::{KEY_KINDS, KeyBody, KeyKind, is_digit};

use super::bytes::{escaped_before, is_word_byte, random_run, run_of};
use super::find::Verdict;

pub(super) struct Shape {
    pub(super) prefix: &'static str,
    body: KeyBody,
    /// What it is called where it was taken out.
    pub(super) what: &'static str,
}

pub(super) static SHAPES: LazyLock<Vec<Shape>> = LazyLock::new(|| {
    let of_kind = |&KeyKind { prefixes, body, what }: &KeyKind| {
        prefixes.split_whitespace().map(move |prefix| Shape { prefix, body, what })
    };
    KEY_KINDS.iter().flat_map(of_kind).collect()
});

/// What is longer is data.
const LONGEST: usize = 1024;
/// The second half of a pair of AWS keys.
const AWS_SECRET: usize = 40;
/// What lies between the two.
const LONGEST_GAP: usize = 6;

/// Whether a text holds something that looks like a well-known key, or a private key.
pub fn looks_like_key(text: &[u8]) -> bool {
    super::find::holds_key(text)
}

impl Shape {
    /// Whether a key of this shape stands at `at`, where its prefix does in some case.
    pub(super) fn judge(&self, text: &[u8], at: usize, more: bool) -> Verdict {
        let rest = text.get(at..).unwrap_or_default();
        let Some(rest) = rest.strip_prefix(self.prefix.as_bytes()).filter(|_| self.starts_a_word(text, at)) else {
            return Verdict::No;
        };
        let start = at + self.prefix.len();
        let allowed = |byte: u8| match self.body {
            KeyBody::Random(_) | KeyBody::Upper(_) | KeyBody::Hexadecimal(_) => is_word_byte(byte),
            KeyBody::Dotted(_) => is_word_byte(byte) || byte == b'.',
            KeyBody::Address(_) => is_word_byte(byte) || byte == b'/',
        };
        let length = run_of(rest, LONGEST + 1, allowed);
        if more && length == rest.len() && length < LONGEST {
            return Verdict::Open;
        }
        let body = rest.get(..length).unwrap_or_default();
        let body = body.trim_ascii_end();
        let length = body.iter().rposition(|byte| *byte != b'.').map_or(0, |last| last + 1);
        let body = body.get(..length).unwrap_or_default();
        if !fits(self.body, body) {
            return Verdict::No;
        }
        let end = start + body.len();
        match self.body {
            KeyBody::Upper(_) => match with_secret(text, end, more) {
                Some(end) => Verdict::Secret { start: at, end },
                None => Verdict::Open,
            },
            KeyBody::Random(_) | KeyBody::Dotted(_) | KeyBody::Hexadecimal(_) => Verdict::Secret { start: at, end },
            // Where it leads stays readable.
            KeyBody::Address(_) => Verdict::Secret { start, end },
        }
    }

    /// A key never starts inside a word, and a folder such as `/src/sk-learn` is no key.
    fn starts_a_word(&self, text: &[u8], start: usize) -> bool {
        if matches!(self.body, KeyBody::Address(_)) {
            return true;
        }
        match start.checked_sub(1).and_then(|before| text.get(before)) {
            Some(b'/') => !self.prefix.starts_with("sk-") && self.prefix != "sk_",
            Some(byte) => !is_word_byte(*byte) && *byte != b'.' || escaped_before(text, start),
            None => true,
        }
    }
}

/// Whether what follows a prefix is what a key has there.
fn fits(body: KeyBody, text: &[u8]) -> bool {
    match body {
        KeyBody::Random(least) | KeyBody::Dotted(least) => {
            (least..=LONGEST).contains(&text.len()) && (random_run(text) || is_mixed(text))
        }
        KeyBody::Upper(exact) => {
            text.len() == exact && text.iter().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
        }
        KeyBody::Hexadecimal(exact) => text.len() == exact && text.iter().copied().all(is_digit),
        KeyBody::Address(least) => (least..=LONGEST).contains(&text.len()),
    }
}

/// A long text of everything is random even when dashes cut its runs short.
fn is_mixed(body: &[u8]) -> bool {
    let count = |is: fn(&u8) -> bool| body.iter().filter(|byte| is(byte)).count();
    body.len() >= 40
        && count(u8::is_ascii_digit) >= 4
        && count(u8::is_ascii_uppercase) >= 4
        && count(u8::is_ascii_lowercase) >= 4
}

/// The end of the secret that stands right behind a key's id, as in a table of both; `end` without
/// one, and `None` when that is not known yet.
fn with_secret(text: &[u8], end: usize, more: bool) -> Option<usize> {
    let rest = text.get(end..).unwrap_or_default();
    let gap = run_of(rest, LONGEST_GAP + 1, |byte| {
        matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | b',' | b':' | b';' | b'|' | b'"')
    });
    let secret = rest.get(gap..).unwrap_or_default();
    let length = run_of(secret, AWS_SECRET + 1, |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'+'));
    if more && gap <= LONGEST_GAP && length == secret.len() && length <= AWS_SECRET {
        return None;
    }
    let secret = secret.get(..length).unwrap_or_default();
    let has = |is: fn(&u8) -> bool| secret.iter().any(is);
    let is_secret = length == AWS_SECRET && has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase);
    Some(if is_secret && (1..=LONGEST_GAP).contains(&gap) { end + gap + length } else { end })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_recognised_alone_and_inside_other_text() {
        for key in [
            "sk-abcdefghij0123456789abcdefghij0123456789",
            "neco_0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
            "sk-proj-Ab1_cdEFgh-ijklmnopq1234567890rstuv",
            "sk-ant-api03-x_yZ0123456789abcdef-ghijkl_mnop",
            "sk_0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f6071",
            "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
            "github_pat_11ABCDEFG0abcdefghijklmnop",
            "xoxb-123456789012-123456789012-abcdefGHIJKL",
            "AKIAIOSFODNN7EXAMPLE",
            "AIzaSyA-1234567890abcdefghijklmnopqrstu",
            "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQ",
        ] {
            assert!(looks_like_key(key.as_bytes()), "{key}");
            assert!(looks_like_key(format!("Authorization: Bearer {key}").as_bytes()), "{key}");
            assert!(looks_like_key(format!("https://user:{key}@host/").as_bytes()), "{key}");
        }
    }

    #[test]
    fn ordinary_values_are_not_keys() {
        for value in [
            "",
            "/usr/bin:/opt/sk-learn-tools-2024/bin:/bin",
            "/home/me/sk-abcdefghij0123456789abcdefghij0123456789",
            "sk-learn-with-a-long-name-2024",
            "task-abcdefghij0123456789abcdefghij",
            "sk_buff_alloc_with_a_long_name_2024",
            "AKIAshort",
            "en_GB.UTF-8",
            "-----BEGIN CERTIFICATE-----",
            "ghp_",
        ] {
            assert!(!looks_like_key(value.as_bytes()), "{value}");
        }
    }
}

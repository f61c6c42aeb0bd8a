//! What well-known keys look like.

/// How the part after a prefix looks.
#[derive(Clone, Copy)]
enum Body {
    /// At least so many letters, digits, `_`, `-` or `.`, with a random-looking run among them.
    Random(usize),
    /// Exactly so many upper-case letters and digits.
    Upper(usize),
}

const SHAPES: &[(&[u8], Body)] = &[
    (b"sk-", Body::Random(20)),
    (b"sk_live_", Body::Random(16)),
    (b"sk_test_", Body::Random(16)),
    (b"rk_live_", Body::Random(16)),
    (b"ghp_", Body::Random(20)),
    (b"gho_", Body::Random(20)),
    (b"ghu_", Body::Random(20)),
    (b"ghs_", Body::Random(20)),
    (b"ghr_", Body::Random(20)),
    (b"github_pat_", Body::Random(20)),
    (b"glpat-", Body::Random(16)),
    (b"xoxb-", Body::Random(16)),
    (b"xoxp-", Body::Random(16)),
    (b"xoxa-", Body::Random(16)),
    (b"xoxr-", Body::Random(16)),
    (b"xoxs-", Body::Random(16)),
    (b"xapp-", Body::Random(16)),
    (b"AIza", Body::Random(30)),
    (b"hf_", Body::Random(30)),
    (b"gsk_", Body::Random(30)),
    (b"xai-", Body::Random(30)),
    (b"npm_", Body::Random(30)),
    (b"pypi-", Body::Random(30)),
    (b"AKIA", Body::Upper(16)),
    (b"ASIA", Body::Upper(16)),
];

/// The shortest stretch of letters and digits that no word of a natural name reaches.
const RANDOM_RUN: usize = 10;

/// Whether a text holds something that looks like a well-known key.
#[must_use]
pub fn looks_like_key(text: &[u8]) -> bool {
    holds_private_key(text)
        || (0..text.len()).any(|start| starts_a_word(text, start) && shape_at(text.split_at(start).1))
}

fn holds_private_key(text: &[u8]) -> bool {
    find(text, b"-----BEGIN ").is_some_and(|start| find(text.split_at(start).1, b"PRIVATE KEY").is_some())
}

fn find(text: &[u8], wanted: &[u8]) -> Option<usize> {
    text.windows(wanted.len()).position(|window| window == wanted)
}

/// A key never starts inside a word, and a folder such as `/src/sk-learn` is no key.
fn starts_a_word(text: &[u8], start: usize) -> bool {
    match start.checked_sub(1).and_then(|before| text.get(before)) {
        Some(byte) => !is_key_byte(*byte) && *byte != b'/',
        None => true,
    }
}

fn shape_at(text: &[u8]) -> bool {
    SHAPES.iter().any(|(prefix, body)| text.strip_prefix(*prefix).is_some_and(|rest| body.fits(rest)))
}

impl Body {
    fn fits(self, rest: &[u8]) -> bool {
        let length = rest.iter().take_while(|byte| is_key_byte(**byte)).count();
        let body = rest.split_at(length).0;
        match self {
            Self::Random(least) => body.len() >= least && has_random_run(body),
            Self::Upper(exact) => {
                body.len() == exact && body.iter().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
            }
        }
    }
}

fn has_random_run(body: &[u8]) -> bool {
    body.split(|byte| !byte.is_ascii_alphanumeric())
        .any(|run| run.len() >= RANDOM_RUN && run.iter().any(u8::is_ascii_digit))
}

fn is_key_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_recognised_alone_and_inside_other_text() {
        for key in [
            "sk-abcdefghij0123456789abcdefghij0123456789",
            "sk-proj-Ab1_cdEFgh-ijklmnopq1234567890rstuv",
            "sk-ant-api03-x_yZ0123456789abcdef-ghijkl_mnop",
            "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
            "github_pat_11ABCDEFG0abcdefghijklmnop",
            "xoxb-123456789012-123456789012-abcdefGHIJKL",
            "AKIAIOSFODNN7EXAMPLE",
            "AIzaSyA-1234567890abcdefghijklmnopqrstu",
            "-----BEGIN OPENSSH PRIVATE KEY-----\nabc",
            "-----BEGIN PRIVATE KEY-----",
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
            "AKIAshort",
            "en_GB.UTF-8",
            "-----BEGIN CERTIFICATE-----",
            "ghp_",
        ] {
            assert!(!looks_like_key(value.as_bytes()), "{value}");
        }
    }
}

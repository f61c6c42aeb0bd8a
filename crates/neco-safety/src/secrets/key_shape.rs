//! What well-known keys look like.

use std::sync::LazyLock;

use super::bytes::{escaped_before, is_word_byte, random_run, run_of};
use super::find::Verdict;

/// What the part after a prefix is made of.
#[derive(Clone, Copy)]
enum Body {
    /// At least so many letters, digits, `_` or `-`, with a random-looking run among them.
    Random(usize),
    /// The same with dots.
    Dotted(usize),
    /// Exactly so many upper-case letters and digits.
    Upper(usize),
    /// At least so many letters, digits, `_`, `-` or `/`: the end of an address.
    Address(usize),
}

pub(super) struct Shape {
    pub(super) prefix: &'static str,
    body: Body,
    /// What it is called where it was taken out.
    pub(super) what: &'static str,
}

/// The shapes, those together that differ in what they begin with. The longer of two beginnings that are alike stands
/// first.
const GROUPS: &[(&str, Body, &str)] = &[
    ("sk-ant-", Body::Random(20), "Anthropic key"),
    ("sk-or-v1-", Body::Random(20), "OpenRouter key"),
    ("sk-proj- sk-svcacct- sk-admin-", Body::Random(20), "OpenAI key"),
    ("sk-", Body::Random(20), "API key"),
    ("sk_live_ sk_test_ rk_live_ rk_test_", Body::Random(16), "Stripe key"),
    ("whsec_", Body::Random(24), "Stripe key"),
    ("ghp_ gho_ ghu_ ghs_ ghr_ github_pat_", Body::Random(20), "GitHub token"),
    ("glpat-", Body::Dotted(16), "GitLab token"),
    ("gldt- glrt- glptt- glcbt- glsoat-", Body::Random(16), "GitLab token"),
    ("xoxb- xoxp- xoxa- xoxr- xoxs- xoxe- xapp-", Body::Random(16), "Slack token"),
    ("hooks.slack.com/services/", Body::Address(20), "webhook address"),
    ("discord.com/api/webhooks/", Body::Address(40), "webhook address"),
    ("AIza", Body::Random(30), "Google key"),
    ("ya29.", Body::Dotted(20), "Google token"),
    ("GOCSPX-", Body::Random(20), "Google key"),
    ("AKIA ASIA ABIA ACCA", Body::Upper(16), "AWS key"),
    ("hf_", Body::Random(30), "Hugging Face token"),
    ("gsk_", Body::Random(30), "Groq key"),
    ("xai-", Body::Random(30), "xAI key"),
    ("pplx-", Body::Random(30), "Perplexity key"),
    ("nvapi-", Body::Random(30), "NVIDIA key"),
    ("r8_", Body::Random(30), "Replicate key"),
    ("npm_", Body::Random(30), "npm token"),
    ("pypi-", Body::Random(30), "PyPI token"),
    ("dckr_pat_", Body::Random(20), "Docker token"),
    ("dop_v1_", Body::Random(40), "DigitalOcean token"),
    ("SG.", Body::Dotted(40), "SendGrid key"),
    ("shpat_ shpss_", Body::Random(30), "Shopify token"),
    ("lin_api_", Body::Random(30), "Linear key"),
    ("PMAK-", Body::Random(40), "Postman key"),
    ("hvs. hvb.", Body::Random(24), "Vault token"),
    ("dapi", Body::Random(32), "Databricks token"),
    ("glsa_", Body::Random(30), "Grafana token"),
    ("AGE-SECRET-KEY-1", Body::Random(50), "age key"),
];

pub(super) static SHAPES: LazyLock<Vec<Shape>> = LazyLock::new(|| {
    let of_group = |(prefixes, body, what): &(&'static str, Body, &'static str)| {
        let (body, what) = (*body, *what);
        prefixes.split_whitespace().map(move |prefix| Shape { prefix, body, what })
    };
    GROUPS.iter().flat_map(of_group).collect()
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
            Body::Random(_) | Body::Upper(_) => is_word_byte(byte),
            Body::Dotted(_) => is_word_byte(byte) || byte == b'.',
            Body::Address(_) => is_word_byte(byte) || byte == b'/',
        };
        let length = run_of(rest, LONGEST + 1, allowed);
        if more && length == rest.len() && length < LONGEST {
            return Verdict::Open;
        }
        let body = rest.get(..length).unwrap_or_default();
        let body = body.trim_ascii_end();
        let length = body.iter().rposition(|byte| *byte != b'.').map_or(0, |last| last + 1);
        let body = body.get(..length).unwrap_or_default();
        if !self.body.fits(body) {
            return Verdict::No;
        }
        let end = start + body.len();
        match self.body {
            Body::Upper(_) => match with_secret(text, end, more) {
                Some(end) => Verdict::Secret { start: at, end },
                None => Verdict::Open,
            },
            Body::Random(_) | Body::Dotted(_) => Verdict::Secret { start: at, end },
            // Where it leads stays readable.
            Body::Address(_) => Verdict::Secret { start, end },
        }
    }

    /// A key never starts inside a word, and a folder such as `/src/sk-learn` is no key.
    fn starts_a_word(&self, text: &[u8], start: usize) -> bool {
        if matches!(self.body, Body::Address(_)) {
            return true;
        }
        match start.checked_sub(1).and_then(|before| text.get(before)) {
            Some(b'/') => !self.prefix.starts_with("sk-"),
            Some(byte) => !is_word_byte(*byte) && *byte != b'.' || escaped_before(text, start),
            None => true,
        }
    }
}

impl Body {
    fn fits(self, body: &[u8]) -> bool {
        match self {
            Self::Random(least) | Self::Dotted(least) => {
                (least..=LONGEST).contains(&body.len()) && (random_run(body) || is_mixed(body))
            }
            Self::Upper(exact) => {
                body.len() == exact && body.iter().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
            }
            Self::Address(least) => (least..=LONGEST).contains(&body.len()),
        }
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
            "sk-proj-Ab1_cdEFgh-ijklmnopq1234567890rstuv",
            "sk-ant-api03-x_yZ0123456789abcdef-ghijkl_mnop",
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
            "AKIAshort",
            "en_GB.UTF-8",
            "-----BEGIN CERTIFICATE-----",
            "ghp_",
        ] {
            assert!(!looks_like_key(value.as_bytes()), "{value}");
        }
    }
}

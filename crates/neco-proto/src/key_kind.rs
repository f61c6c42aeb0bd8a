//! What the keys and tokens of well-known services look like: what takes them out of texts and what hides them while
//! they are typed know the same ones.

/// What the part of a key after its prefix is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyBody {
    /// At least so many letters, digits, `_` or `-`, with a random-looking run among them.
    Random(usize),
    /// The same with dots.
    Dotted(usize),
    /// Exactly so many upper-case letters and digits.
    Upper(usize),
    /// Exactly so many hexadecimal digits, in small letters.
    Hexadecimal(usize),
    /// At least so many letters, digits, `_`, `-` or `/`: the end of an address.
    Address(usize),
}

/// Keys that differ only in what they begin with.
#[derive(Clone, Copy, Debug)]
pub struct KeyKind {
    /// What they begin with, apart by blanks.
    pub prefixes: &'static str,
    /// What follows.
    pub body: KeyBody,
    /// What one is called where it was taken out.
    pub what: &'static str,
}

/// All kinds. The longer of two beginnings that are alike stands first.
pub const KEY_KINDS: &[KeyKind] = &[
    kind("sk-ant-", KeyBody::Random(20), "Anthropic key"),
    kind("sk-or-v1-", KeyBody::Random(20), "OpenRouter key"),
    kind("sk-proj- sk-svcacct- sk-admin-", KeyBody::Random(20), "OpenAI key"),
    kind("sk-", KeyBody::Random(20), "API key"),
    kind("sk_live_ sk_test_ rk_live_ rk_test_", KeyBody::Random(16), "Stripe key"),
    kind("sk_", KeyBody::Random(24), "API key"),
    kind("whsec_", KeyBody::Random(24), "Stripe key"),
    kind("ghp_ gho_ ghu_ ghs_ ghr_ github_pat_", KeyBody::Random(20), "GitHub token"),
    kind("glpat-", KeyBody::Dotted(16), "GitLab token"),
    kind("gldt- glrt- glptt- glcbt- glsoat-", KeyBody::Random(16), "GitLab token"),
    kind("xoxb- xoxp- xoxa- xoxr- xoxs- xoxe- xapp-", KeyBody::Random(16), "Slack token"),
    kind("hooks.slack.com/services/", KeyBody::Address(20), "webhook address"),
    kind("discord.com/api/webhooks/", KeyBody::Address(40), "webhook address"),
    kind("AIza", KeyBody::Random(30), "Google key"),
    kind("ya29.", KeyBody::Dotted(20), "Google token"),
    kind("GOCSPX-", KeyBody::Random(20), "Google key"),
    kind("AKIA ASIA ABIA ACCA", KeyBody::Upper(16), "AWS key"),
    kind("hf_", KeyBody::Random(30), "Hugging Face token"),
    kind("gsk_", KeyBody::Random(30), "Groq key"),
    kind("xai-", KeyBody::Random(30), "xAI key"),
    kind("pplx-", KeyBody::Random(30), "Perplexity key"),
    kind("nvapi-", KeyBody::Random(30), "NVIDIA key"),
    kind("r8_", KeyBody::Random(30), "Replicate key"),
    kind("npm_", KeyBody::Random(30), "npm token"),
    kind("pypi-", KeyBody::Random(30), "PyPI token"),
    kind("dckr_pat_", KeyBody::Random(20), "Docker token"),
    kind("dop_v1_", KeyBody::Random(40), "DigitalOcean token"),
    kind("SG.", KeyBody::Dotted(40), "SendGrid key"),
    kind("shpat_ shpss_", KeyBody::Random(30), "Shopify token"),
    kind("lin_api_", KeyBody::Random(30), "Linear key"),
    kind("PMAK-", KeyBody::Random(40), "Postman key"),
    kind("hvs. hvb.", KeyBody::Random(24), "Vault token"),
    kind("dapi", KeyBody::Random(32), "Databricks token"),
    kind("glsa_", KeyBody::Random(30), "Grafana token"),
    kind("AGE-SECRET-KEY-1", KeyBody::Random(50), "age key"),
    kind(SERVER_TOKEN, KeyBody::Hexadecimal(64), "Neco token"),
];

/// Digits from which on hardly anything is a name.
const LONG: usize = 16;

/// What a token of our own server begins with.
pub const SERVER_TOKEN: &str = "neco_";

const fn kind(prefixes: &'static str, body: KeyBody, what: &'static str) -> KeyKind {
    KeyKind { prefixes, body, what }
}

/// Whether a word begins as a key does.
#[must_use]
pub fn begins_like_key(word: &str) -> bool {
    let begins = |kind: &KeyKind| {
        let mut rests = kind.prefixes.split_whitespace().filter_map(|prefix| word.strip_prefix(prefix));
        // Names of ours begin as our tokens do.
        let is_name = |rest: &str| rest.len() < LONG || !rest.bytes().all(is_digit);
        rests.any(|rest| !matches!(kind.body, KeyBody::Hexadecimal(_)) || !is_name(rest))
    };
    KEY_KINDS.iter().any(begins)
}

/// Whether it is a hexadecimal digit, as keys have them.
#[must_use]
pub const fn is_digit(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'a'..=b'f')
}

//! What is taken out.

use std::fmt::Write;

use neco_safety::secrets::{KnownSecret, Redactor, Scope};

/// Text with a secret between `⟦` and `⟧`, and what it is called. Split so that no scanner of
/// repositories takes the table for a leak.
pub const SECRETS: &[(&str, &str)] = &[
    ("⟦sk-aBcDeFgHiJ0123456789aBcDeFgHiJ0123456789aBcDeFgH⟧", "API key"),
    ("OPENAI_API_KEY=⟦sk-proj-Ab1_cdEFgh-ijklmnopq1234567890rstuvWXYZ⟧\n", "OpenAI key"),
    ("key: ⟦sk-svcacct-Ab1cdEFghijklmnopq1234567890rstuvWXYZ⟧, next", "OpenAI key"),
    ("\"⟦sk-ant-api03-x_yZ0123456789abcdef-ghijkl_mnopQRSTUV-AA⟧\"", "Anthropic key"),
    ("export OPENROUTER=⟦sk-or-v1-0123456789abcdef0123456789abcdef0123456789abcdef⟧", "OpenRouter key"),
    ("the key (⟦AIzaSyA-1234567890abcdefghijklmnopqrstu⟧) works", "Google key"),
    ("token ⟦ya29.a0AfH6SMBx1234567890abcdefghij-klmnopqrst_uvw⟧", "Google token"),
    ("⟦GOCSPX-1234567890abcdefghijklmnopqr⟧", "Google key"),
    ("remote: ⟦ghp_abcdefghijklmnopqrstuvwxyz0123456789⟧.", "GitHub token"),
    ("⟦gho_abcdefghijklmnopqrstuvwxyz0123456789⟧", "GitHub token"),
    ("⟦ghu_abcdefghijklmnopqrstuvwxyz0123456789⟧", "GitHub token"),
    ("⟦ghs_abcdefghijklmnopqrstuvwxyz0123456789⟧", "GitHub token"),
    ("⟦ghr_abcdefghijklmnopqrstuvwxyz0123456789⟧", "GitHub token"),
    ("⟦github_pat_11ABCDEFG0abcdefghijklmnop_qrstuvwxyz0123456789ABCDEF⟧", "GitHub token"),
    ("https://⟦ghp_abcdefghijklmnopqrstuvwxyz0123456789⟧@github.com/a/b", "GitHub token"),
    ("curl https://api.host/v1/⟦ghp_abcdefghijklmnopqrstuvwxyz0123456789⟧", "GitHub token"),
    ("{\"log\":\"a\\n⟦ghp_abcdefghijklmnopqrstuvwxyz0123456789⟧\\n\"}", "GitHub token"),
    ("GITHUB_TOKEN=⟦ghp_abcdefghijklmnopqrstuvwxyz0123456789⟧", "GitHub token"),
    ("Authorization: Bearer ⟦ghp_abcdefghijklmnopqrstuvwxyz0123456789⟧", "GitHub token"),
    ("⟦glpat-1234567890abcdefghij⟧", "GitLab token"),
    ("⟦glrt-1234567890abcdefghij⟧", "GitLab token"),
    ("aws_access_key_id = ⟦AKIAIOSFODNN7ABCDEFG⟧", "AWS key"),
    ("⟦ASIAIOSFODNN7ABCDEFG⟧", "AWS key"),
    ("⟦AKIAIOSFODNN7ABCDEFG,wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzzzzzzKEY⟧", "AWS key"),
    ("aws_secret_access_key = ⟦wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzzzzzzKEY⟧\n", "secret"),
    ("\"SecretAccessKey\": \"⟦wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzzzzzzKEY⟧\",", "secret"),
    ("⟦xoxb-123456789012-123456789012-abcdefGHIJKL12345678⟧", "Slack token"),
    ("⟦xapp-1-A012345678-1234567890123-abcdef0123456789⟧", "Slack token"),
    ("https://hooks.slack.com/services/⟦T00000000/B00000000/abcdefGHIJKLmnopQRSTuvwx⟧", "webhook address"),
    ("https://discord.com/api/webhooks/⟦123456789012345678/abcdefghij_klmnopqrst-uvwxyz0123⟧", "webhook address"),
    ("⟦sk_live_4eC39HqLyjWDarjtT1zdp7dc⟧", "Stripe key"),
    ("⟦rk_live_4eC39HqLyjWDarjtT1zdp7dc⟧", "Stripe key"),
    ("⟦whsec_4eC39HqLyjWDarjtT1zdp7dc9abc⟧", "Stripe key"),
    ("//packages.example.com/:_authToken=⟦npm_abcdefghijklmnopqrstuvwxyz0123456789⟧", "npm token"),
    ("⟦pypi-AgEIcHlwaS5vcmcCJDEyMzQ1Njc4LTEyMzQtMTIzNC0xMjM0⟧", "PyPI token"),
    ("⟦hf_abcdefghijKLMNOPQRSTuvwxyz01234567⟧", "Hugging Face token"),
    ("⟦gsk_abcdefghij1234567890KLMNOPQRSTuvwxyz01234567⟧", "Groq key"),
    ("⟦xai-abcdefghij1234567890KLMNOPQRSTuvwxyz01234567⟧", "xAI key"),
    ("⟦nvapi-abcdefghij1234567890KLMNOPQRSTuvwxyz01234567⟧", "NVIDIA key"),
    ("⟦r8_abcdefghij1234567890KLMNOPQRSTuvwxyz0⟧", "Replicate key"),
    ("⟦dckr_pat_abcdefghij1234567890KLM⟧", "Docker token"),
    ("⟦dop_v1_0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef⟧", "DigitalOcean token"),
    ("⟦SG.abcdefghij1234567890AB.abcdefghij1234567890KLMNOPQRSTuvwxyz0123456⟧", "SendGrid key"),
    ("⟦shpat_0123456789abcdef0123456789abcdef⟧", "Shopify token"),
    ("⟦hvs.CAESIJ1234567890abcdefghijklmnop⟧", "Vault token"),
    ("⟦AGE-SECRET-KEY-1QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7LQPZRY9X8GF2TVDW0S3JN5⟧", "age key"),
    (
        "session=⟦eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9⟧;",
        "JWT",
    ),
    (
        "a\n⟦-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEAz3Qqk1Yv0abcdefghijklmnopqrstuvwxyz012345\nabc=\n-----END RSA PRIVATE KEY-----⟧\nb",
        "private key",
    ),
    (
        "     1\t⟦-----BEGIN OPENSSH PRIVATE KEY-----\n     2\tb3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAB\n     3\t-----END OPENSSH PRIVATE KEY-----⟧\n",
        "private key",
    ),
    (
        "{\"private_key\": \"⟦-----BEGIN PRIVATE KEY-----\\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQ\\n-----END PRIVATE KEY-----⟧\\n\"}",
        "private key",
    ),
    ("postgres://me:⟦hunter2⟧@db.example.com/x", "password"),
    ("DATABASE_URL=mysql://root:⟦s3cr3tPassw0rd⟧@127.0.0.1:3306/app", "password"),
    ("redis://:⟦p4ssw0rd99⟧@cache:6379", "password"),
    ("git clone https://bot:⟦Zx81Spectrum⟧@git.host/a.git", "password"),
    ("amqp://u:⟦a:b1⟧@h", "password"),
    ("DB_PASSWORD=⟦Tr0ub4dor.3x⟧\n", "secret"),
    ("password: \"⟦Corr3ct-Horse⟧\"", "secret"),
    ("SECRET_KEY_BASE=⟦0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d⟧", "secret"),
    ("\"client_secret\": \"⟦9f8A7b6C5d4E3f2G1h0I9j8K⟧\",", "secret"),
    ("api_key = '⟦a1B2c3D4e5F6g7H8i9J0⟧'", "secret"),
    ("X-Api-Key: ⟦7d9f0a3b5c1e4827a6b0c9d8e7f61234⟧\r\n", "secret"),
    ("tool --token ⟦q1W2e3R4t5Y6u7I8o9P0⟧ run", "secret"),
    ("<password>⟦Corr3ct-Horse⟧</password>", "secret"),
    (
        "AccountKey=⟦Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr==⟧;EndpointSuffix=x",
        "secret",
    ),
    ("auth_token=>\"⟦0123456789abcdef0123456789abcdef⟧\"", "secret"),
    ("{\\\"access_token\\\":\\\"⟦a1B2c3D4e5F6g7H8i9J0⟧\\\"}", "secret"),
    ("HEROKU_API_KEY=⟦01234567-89ab-cdef-0123-456789abcdef⟧", "secret"),
    ("Authorization: Bearer ⟦a1B2c3D4e5F6g7H8i9J0k1L2⟧", "bearer token"),
    ("authorization: basic ⟦dXNlcjpwYXNzd29yZDEyMw==⟧", "credentials"),
    ("bot 123456789:⟦AAabcdefghijklmnopqrstuvwxyz0123456⟧ is up", "Telegram token"),
];

/// The text as it is, and as it must be.
pub fn case(text: &str, what: &str) -> (String, String) {
    let before = text.replace(['⟦', '⟧'], "");
    let (head, rest) = text.split_once('⟦').unwrap();
    let (_, tail) = rest.split_once('⟧').unwrap();
    (before, format!("{head}[redacted: {what}]{tail}"))
}

#[test]
fn secrets_are_taken_out_and_nothing_around_them() {
    assert!(SECRETS.len() >= 60, "{}", SECRETS.len());
    let mut wrong = String::new();
    for (text, what) in SECRETS {
        let (before, expected) = case(text, what);
        let redactor = Redactor::default();
        let found = redactor.redact(&before, Scope::Outside);
        if found != expected || redactor.count() != 1 {
            writeln!(wrong, "{before:?}\n  gave     {found:?}\n  expected {expected:?}").unwrap();
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
fn values_that_are_known_are_taken_out_whatever_they_look_like() {
    let redactor = Redactor::new([
        known("MY_KEY", "correct horse battery 9"),
        known("SHORT", "abc"),
        known("WORD", "production"),
        known("FOLDER", "/home/me/a1b2c3d4"),
        known("OLLAMA_API_KEY", "nothing-special-1"),
    ]);
    let text = "a correct horse battery 9, abc in production at /home/me/a1b2c3d4: nothing-special-1!";
    let expected = "a [redacted: MY_KEY], abc in production at /home/me/a1b2c3d4: [redacted: OLLAMA_API_KEY]!";
    for scope in [Scope::Outside, Scope::Said] {
        assert_eq!(redactor.redact(text, scope), expected);
    }
    assert_eq!(redactor.count(), 4);
}

#[test]
fn what_people_write_loses_only_what_can_be_nothing_else() {
    let redactor = Redactor::default();
    let text = "set PASSWORD=Corr3ct-Horse for postgres://me:hunter2@db and ghp_abcdefghijklmnopqrstuvwxyz0123456789";
    let said = redactor.redact(text, Scope::Said);
    assert_eq!(said, "set PASSWORD=Corr3ct-Horse for postgres://me:hunter2@db and [redacted: GitHub token]");
}

#[test]
fn several_secrets_in_one_text_are_counted() {
    let redactor = Redactor::default();
    let key = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";
    let text = format!("{key} {key}\npostgres://me:hunter2@db {key}");
    let mark = "[redacted: GitHub token]";
    assert_eq!(
        redactor.redact(&text, Scope::Outside),
        format!("{mark} {mark}\npostgres://me:[redacted: password]@db {mark}")
    );
    assert_eq!(redactor.count(), 4);
}

fn known(what: &str, value: &str) -> KnownSecret {
    KnownSecret { what: what.to_owned(), value: value.to_owned() }
}

#[test]
fn a_mark_that_nobody_has_seen_the_text_of_is_known() {
    let redactor = Redactor::new([known("MY_KEY", "correct horse battery 9")]);
    let text = "a = [redacted: GitHub token]\nb = [redacted: MY_KEY]";
    assert_eq!(redactor.marks(text).collect::<Vec<_>>(), ["[redacted: GitHub token]", "[redacted: MY_KEY]"]);
    assert_eq!(redactor.unseen_mark(text, "x"), Some("[redacted: GitHub token]"));
    assert_eq!(redactor.unseen_mark(text, "[redacted: GitHub token]"), Some("[redacted: MY_KEY]"));
    assert_eq!(redactor.unseen_mark(text, text), None);
}

#[test]
fn what_only_looks_like_a_mark_is_none() {
    let redactor = Redactor::new([known("MY_KEY", "correct horse battery 9")]);
    let long = format!("[redacted: {}é]", "x".repeat(1000));
    for other in [
        "[redacted]",
        "[redacted: ]",
        "[redacted: a\nb]",
        "[redacted: {what}]",
        "[redacted: ",
        "log.info(\"[redacted: email]\")",
        "[redacted: OTHER_KEY]",
        &long,
    ] {
        assert_eq!(redactor.marks(other).next(), None, "{other}");
    }
}

#[test]
fn a_known_value_is_found_as_json_writes_it() {
    let value = "pa\"ss\\wörd\n1";
    let redactor = Redactor::new([known("MINE", value)]);
    let plain = serde_json::to_string(value).unwrap();
    let ascii = plain.replace('ö', "\\u00f6");
    assert_ne!(plain, ascii);
    for text in [value, &plain, &ascii] {
        let redacted = redactor.redact(text, Scope::Said);
        assert_eq!(redacted.trim_matches('"'), "[redacted: MINE]", "{text}");
    }
}

#[test]
fn a_shorter_value_does_not_betray_the_rest_of_a_longer_one() {
    let redactor =
        Redactor::new([known("SHORT", "hunter2-hunter2"), known("LONG", "my hunter2-hunter2 and the rest 9")]);
    let text = "say my hunter2-hunter2 and the rest 9, or my hunter2-hunter2 alone";
    let expected = "say [redacted: LONG], or my [redacted: SHORT] alone";
    assert_eq!(redactor.redact(text, Scope::Said), expected);
    for cut in 0..text.len() {
        let mut stream = redactor.stream(Scope::Said);
        let out = stream.push_str(&text[..cut]) + &stream.push_str(&text[cut..]) + &stream.finish_str();
        assert_eq!(out, expected, "cut at {cut}");
    }
}

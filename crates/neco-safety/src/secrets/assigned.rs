//! Values whose name says that they are secret: `DB_PASSWORD=…`, `"api_key": "…"`, `--token …`.
//!
//! The name decides that there may be a secret, and the value must look like one: a variable, a call,
//! a word or a placeholder is none. What is taken for a value never holds anything that a shell would
//! obey.

use super::bytes::{changes, classes, contains_folded, entropy, is_word_byte, random_run, run_before, run_of};
use super::cost::looked_at;
use super::find::Verdict;

/// What names of secrets contain. All in lower case; names are compared without case.
pub(super) const NAMES: &str = "secret token passw passphrase pwd apikey api_key api-key access_key accesskey \
    accountkey account_key private_key privatekey signing_key encryption_key master_key credential _auth";

/// What in a name says that the value is something else.
const OTHERWISE: &str = "hash digest checksum public _id -id name type file path url uri field length limit size iz \
    expir ttl header prefix suffix pattern regex provider manager service class kind stream index arn version format \
    label hint page cursor continuation next csrf uuid policy";

/// What stands where a secret is to be filled in.
const PLACEHOLDERS: &str = "example your xxxx changeme change_me placeholder dummy sample redacted fake test";

/// What is longer is data, and a longer name is text.
const LONGEST: usize = 1024;
const LONGEST_NAME: usize = 64;
/// In a longer run that is no value no other name is looked for: `token=token=token=…` would be judged
/// as a whole at each of its words.
const LONGEST_NESTED: usize = 64;

/// Whether a name around the bytes from `at` to `end` is given a secret.
pub(super) fn judge(text: &[u8], at: usize, end: usize, more: bool) -> Verdict {
    let before = text.get(..at).unwrap_or_default();
    let start = at - run_before(before, LONGEST_NAME, |byte| is_word_byte(byte) || byte == b'.');
    let rest = text.get(end..).unwrap_or_default();
    let end = end + run_of(rest, LONGEST_NAME, is_word_byte);
    if more && end == text.len() {
        return Verdict::OpenFrom(start);
    }
    let name = text.get(start..end).unwrap_or_default();
    let after = text.get(end..).unwrap_or_default();
    let place = Place { is_flag: name.starts_with(b"--"), is_tag: before_is_tag(text, start) };
    let Some(gap) = separator(after, place) else {
        let unfinished = more && after.len() < 8 && !after.contains(&b'\n');
        return if unfinished { Verdict::OpenFrom(start) } else { Verdict::No };
    };
    if name.len() > LONGEST_NAME || OTHERWISE.split_whitespace().any(|word| contains_folded(name, word)) {
        return Verdict::No;
    }
    let value_at = end + gap;
    let value = text.get(value_at..).unwrap_or_default();
    let length = run_of(value, LONGEST + 1, is_value_byte);
    let is_cut = length == value.len() || value == b"\\";
    if more && is_cut && length < LONGEST {
        return Verdict::OpenFrom(start);
    }
    let quoted = value_at.checked_sub(1).and_then(|quote| text.get(quote)).filter(|byte| is_quote(**byte));
    let next = value.get(length);
    let ends = match quoted {
        Some(quote) => next == Some(quote) || next == Some(&b'\\'),
        None if place.is_tag && next == Some(&b'<') => true,
        // A call, an index or a substitution is code and no value.
        None => !matches!(next, Some(b'(' | b'[' | b'{' | b'$' | b'`' | b'<' | b'\'' | b'"')),
    };
    let value = value.get(..length).unwrap_or_default();
    let value = if quoted.is_some() { value } else { trimmed(value) };
    if ends && is_secret(name, value) {
        return Verdict::Secret { start: value_at, end: value_at + value.len() };
    }
    if length > LONGEST_NESTED { Verdict::NoneNamedBefore(value_at + length) } else { Verdict::No }
}

/// What stands around a name.
#[derive(Clone, Copy)]
struct Place {
    is_flag: bool,
    is_tag: bool,
}

fn before_is_tag(text: &[u8], start: usize) -> bool {
    start.checked_sub(1).and_then(|before| text.get(before)) == Some(&b'<')
}

/// How many bytes lie between a name and its value; `None` when no value follows.
fn separator(after: &[u8], place: Place) -> Option<usize> {
    let mut at = quotes(after);
    at += blanks(after.get(at..)?);
    let rest = after.get(at..)?;
    let sign = match rest {
        [b':', b'=', ..] | [b'=', b'>', ..] | [b'=', b'=', ..] => 2,
        [b'=' | b':', ..] => 1,
        [b'>', ..] if place.is_tag => 1,
        _ if place.is_flag && at > 0 => 0,
        _ => return None,
    };
    at += sign;
    at += blanks(after.get(at..)?);
    at += quotes(after.get(at..)?);
    for scheme in ["bearer ", "token ", "basic "] {
        let next = after.get(at..at + scheme.len());
        if next.is_some_and(|next| next.eq_ignore_ascii_case(scheme.as_bytes())) {
            at += scheme.len();
        }
    }
    (at < after.len()).then_some(at)
}

fn blanks(text: &[u8]) -> usize {
    run_of(text, 16, |byte| byte == b' ' || byte == b'\t')
}

/// A quote, or one that is escaped because it stands inside of others.
fn quotes(text: &[u8]) -> usize {
    match text {
        [b'\\', byte, ..] if is_quote(*byte) => 2,
        [byte, ..] if is_quote(*byte) => 1,
        _ => 0,
    }
}

fn is_quote(byte: u8) -> bool {
    matches!(byte, b'"' | b'\'' | b'`')
}

/// Nothing that a shell or a template would do something about.
fn is_value_byte(byte: u8) -> bool {
    is_word_byte(byte) || matches!(byte, b'+' | b'/' | b'=' | b'.' | b'~' | b'!' | b'@' | b'%' | b'^' | b'*' | b'#')
}

/// Without what ends a sentence rather than a value.
fn trimmed(value: &[u8]) -> &[u8] {
    let end = value.iter().rposition(|byte| !matches!(byte, b'.' | b'!')).map_or(0, |last| last + 1);
    value.get(..end).unwrap_or_default()
}

fn is_secret(name: &[u8], value: &[u8]) -> bool {
    looked_at(value.len());
    if value.len() > LONGEST || PLACEHOLDERS.split_whitespace().any(|word| contains_folded(value, word)) {
        return false;
    }
    if value.starts_with(b"/") || value.starts_with(b"./") || value.starts_with(b"../") {
        return false;
    }
    let is_password = ["passw", "passphrase", "pwd"].iter().any(|word| contains_folded(name, word));
    if is_password && (8..16).contains(&value.len()) {
        return classes(value) >= 3 && !is_dotted_name(value);
    }
    value.len() >= 16 && is_random(name, value)
}

fn is_random(name: &[u8], value: &[u8]) -> bool {
    if is_dotted_name(value) {
        return false;
    }
    if is_uuid(value) {
        return ["secret", "key", "passw"].iter().any(|word| contains_folded(name, word));
    }
    let mixed = random_run(value) && changes(value) >= 3 && entropy(value) >= 3.0;
    mixed || value.len() >= 32 && classes(value) >= 3 && entropy(value) >= 4.2 && !value.contains(&b'_')
}

/// `self.session.token_v2`: names joined by dots, none of them random.
fn is_dotted_name(value: &[u8]) -> bool {
    value.contains(&b'.')
        && value.split(|byte| *byte == b'.').all(|part| {
            part.first().is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_')
                && part.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
                && changes(part) < 3
        })
}

fn is_uuid(value: &[u8]) -> bool {
    let parts: Vec<usize> = value.split(|byte| *byte == b'-').map(<[u8]>::len).collect();
    parts == [8, 4, 4, 4, 12] && value.iter().all(|byte| byte.is_ascii_hexdigit() || *byte == b'-')
}

//! Secrets that are known by what stands around them: private keys, passwords in addresses, signed
//! tokens, what an `Authorization` header carries.

use super::bytes::{contains_folded, is_word_byte, random_run, run_before, run_of};
use super::cost::looked_at;
use super::find::Verdict;

/// How a private key begins, together with a few words before the next dashes.
pub(super) const PEM_BEGIN: &str = "-----BEGIN ";
const PEM_END: &[u8] = b"-----END ";
const DASHES: &[u8] = b"-----";
/// The words between the dashes are shorter.
const LONGEST_LABEL: usize = 40;
/// A key that is longer, or has no end, is taken out this far.
const LONGEST_PEM: usize = 16 * 1024;
/// Nothing has a longer token.
const LONGEST_TOKEN: usize = 8 * 1024;
/// What is longer is no user, password and host.
const LONGEST_AUTHORITY: usize = 1024;
/// How long the secret part of a Telegram bot's token is.
const BOT_TOKEN: usize = 35;
/// What the parts of a signed token begin with, and how long they are at least. The first two are JSON.
const TOKEN_PARTS: [(&[u8], usize); 3] = [(b"eyJ", 12), (b"eyJ", 12), (b"", 20)];

/// Passwords that are none: they stand in examples and in settings for one's own machine.
const PLACEHOLDERS: &str = "password passwd pass pw pwd secret changeme example test postgres mysql redis root admin \
    guest user username token key dev local xxx xxxx xxxxx xxxxxx mypassword yourpassword your_password \
    your-password";

/// A private key from its first line to its last.
pub(super) fn private_key(text: &[u8], at: usize, more: bool) -> Verdict {
    let rest = text.get(at..).unwrap_or_default();
    let label_at = PEM_BEGIN.len();
    let label = rest.get(label_at..(label_at + LONGEST_LABEL).min(rest.len())).unwrap_or_default();
    let Some(length) = find(label, DASHES) else {
        return if more && label.len() < LONGEST_LABEL { Verdict::Open } else { Verdict::No };
    };
    if find(label.get(..length).unwrap_or_default(), b"PRIVATE KEY").is_none() {
        return Verdict::No;
    }
    let body_at = label_at + length + DASHES.len();
    let body = rest.get(body_at..(body_at + LONGEST_PEM).min(rest.len())).unwrap_or_default();
    // Before its end is looked for, which costs more.
    if !is_body(body, more) {
        return Verdict::No;
    }
    looked_at(body.len());
    let last = last_line(body);
    if more && matches!(last, None | Some((_, false))) && body.len() < LONGEST_PEM {
        return Verdict::Open;
    }
    if !is_body(body, false) {
        return Verdict::No;
    }
    let end = match last {
        Some((end, _)) => end,
        None => run_of(body, LONGEST_PEM, |byte| byte.is_ascii_alphanumeric() || b"+/=\\ \t\r\n:,-|".contains(&byte)),
    };
    Verdict::Secret { start: at, end: at + body_at + end }
}

/// Where the last line of a key ends, and whether that is certain.
fn last_line(body: &[u8]) -> Option<(usize, bool)> {
    let words = find(body, PEM_END)? + PEM_END.len();
    let line = body.get(words..).unwrap_or_default();
    // Without dashes of its own the rest of the line must not be swallowed.
    let dashes = find(line.get(..line.len().min(LONGEST_LABEL)).unwrap_or_default(), DASHES);
    Some(match dashes {
        Some(dashes) => (words + dashes + DASHES.len(), true),
        None => (words, line.len() >= LONGEST_LABEL),
    })
}

/// Whether a key follows its first line, and not the rest of a sentence about such lines.
fn is_body(body: &[u8], unfinished: bool) -> bool {
    let near = body.get(..body.len().min(300)).unwrap_or_default();
    let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
    let mut runs = near.split(|byte| !is_base64(*byte)).map(<[u8]>::len);
    let breaks = matches!(near, [b'\n' | b'\r' | b'\\' | b' ' | b'"', ..]) || near.is_empty();
    breaks && (runs.any(|run| run >= 32) || unfinished && near.len() < 300)
}

/// `scheme://user:password@host`: the password alone is taken out.
pub(super) fn password(text: &[u8], at: usize, more: bool) -> Verdict {
    let before = text.get(..at).unwrap_or_default();
    if !before.last().is_some_and(u8::is_ascii_alphanumeric) {
        return Verdict::No;
    }
    let scheme = run_before(before, 20, |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'));
    let authority = text.get(at + 3..).unwrap_or_default();
    let length = run_of(authority, LONGEST_AUTHORITY, |byte| {
        byte.is_ascii_graphic() && !b"/?#\"'<>`\\,;|&(){}$".contains(&byte)
    });
    let authority = authority.get(..length).unwrap_or_default();
    if more && at + 3 + length == text.len() && length < LONGEST_AUTHORITY {
        return Verdict::OpenFrom(at - scheme);
    }
    let Some(host) = authority.iter().rposition(|byte| *byte == b'@') else { return Verdict::No };
    let user = authority.get(..host).unwrap_or_default();
    let Some(colon) = user.iter().position(|byte| *byte == b':') else { return Verdict::No };
    let (name, password) = (user.get(..colon).unwrap_or_default(), user.get(colon + 1..).unwrap_or_default());
    if password.is_empty() || password == name || is_placeholder(password) {
        return Verdict::No;
    }
    let start = at + 3 + colon + 1;
    Verdict::Secret { start, end: start + password.len() }
}

fn is_placeholder(password: &[u8]) -> bool {
    password.iter().all(|byte| *byte == b'*' || *byte == b'.')
        || password.starts_with(b"%")
        || PLACEHOLDERS.split_whitespace().any(|word| password.eq_ignore_ascii_case(word.as_bytes()))
}

/// Three parts of base64, the first two of which are JSON.
pub(super) fn signed_token(text: &[u8], at: usize, more: bool) -> Verdict {
    let starts = at.checked_sub(1).and_then(|before| text.get(before)).is_none_or(|byte| !is_word_byte(*byte));
    if !starts {
        return Verdict::No;
    }
    // Part by part: a text of nothing but beginnings is given up at the first part that is too short,
    // and no part is looked at more often than three times.
    let mut end = at;
    for (number, (beginning, least)) in TOKEN_PARTS.into_iter().enumerate() {
        if number > 0 {
            match text.get(end) {
                Some(b'.') => end += 1,
                Some(_) | None => return Verdict::No,
            }
        }
        let part = text.get(end..).unwrap_or_default();
        let length = run_of(part, part.len(), is_word_byte);
        end += length;
        if more && end == text.len() && end - at < LONGEST_TOKEN {
            return Verdict::Open;
        }
        if length < least || !part.starts_with(beginning) {
            return Verdict::No;
        }
    }
    Verdict::Secret { start: at, end }
}

/// What follows `Bearer `.
pub(super) fn bearer(text: &[u8], end: usize, more: bool) -> Verdict {
    carried(text, end, more, |token| token.len() >= 20 && random_run(token))
}

/// What follows `Basic ` in an `Authorization` header.
pub(super) fn basic(text: &[u8], at: usize, end: usize, more: bool) -> Verdict {
    let before = text.get(at.saturating_sub(24)..at).unwrap_or_default();
    if !contains_folded(before, "authorization") {
        return Verdict::No;
    }
    carried(text, end, more, |token| token.len() >= 12)
}

fn carried(text: &[u8], end: usize, more: bool, fits: impl Fn(&[u8]) -> bool) -> Verdict {
    let rest = text.get(end..).unwrap_or_default();
    // Whatever leads here ends with a blank, so that no byte is counted twice.
    let length =
        run_of(rest, rest.len(), |byte| is_word_byte(byte) || matches!(byte, b'.' | b'/' | b'+' | b'=' | b'~'));
    if more && length == rest.len() && length < LONGEST_TOKEN {
        return Verdict::Open;
    }
    let token = rest.get(..length).unwrap_or_default();
    if fits(token) { Verdict::Secret { start: end, end: end + length } } else { Verdict::No }
}

/// A Telegram bot's token: `123456789:AA…`, found at its colon.
pub(super) fn bot_token(text: &[u8], at: usize, more: bool) -> Verdict {
    let digits = run_before(text.get(..at).unwrap_or_default(), 11, |byte| byte.is_ascii_digit());
    if !(8..=10).contains(&digits) {
        return Verdict::No;
    }
    let rest = text.get(at + 1..).unwrap_or_default();
    let length = run_of(rest, BOT_TOKEN + 1, is_word_byte);
    if more && length == rest.len() && length <= BOT_TOKEN {
        return Verdict::Open;
    }
    // The number is the bot's public name.
    if length == BOT_TOKEN { Verdict::Secret { start: at + 1, end: at + 1 + length } } else { Verdict::No }
}

fn find(text: &[u8], wanted: &[u8]) -> Option<usize> {
    memchr::memmem::find(text, wanted)
}

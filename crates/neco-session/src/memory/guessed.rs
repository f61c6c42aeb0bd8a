//! What may be a password, guessed more strictly than elsewhere: an entry is kept for good and told again and again,
//! so a word too few costs less here than a password too many.

use neco_safety::is_listed;

/// What names of secrets end with; in lower case.
const NAMES: [&str; 13] = [
    "password",
    "passwort",
    "passwd",
    "passphrase",
    "pwd",
    "passcode",
    "secret",
    "token",
    "api key",
    "api_key",
    "api-key",
    "apikey",
    "密码",
];

/// What follows when the value is something else than the secret itself.
const SPOKEN_OF: &str = "\
    required optional none null nil true false empty string text yes unknown missing needed expired invalid wrong \
    rotated stored kept changed hidden secret mandatory encrypted hashed default redacted bearer basic";

/// The mark that a value is replaced by.
const MARK: &str = "[redacted: a password?]";

/// The shortest value.
const SHORTEST: usize = 4;

/// The text without what is called a password, a secret, a token or a key and is given a value.
pub fn without_guessed(text: &str) -> String {
    text.split_inclusive('\n').map(line_without).collect()
}

fn line_without(line: &str) -> String {
    // As many bytes as before, so that places in the one are places in the other.
    let folded = line.to_ascii_lowercase();
    let mut out = String::with_capacity(line.len());
    let mut done = 0;
    let mut at = 0;
    while let Some((name_end, rest)) = next_name(&folded, at).and_then(|end| Some((end, line.get(end..)?))) {
        at = name_end;
        let Some((start, value)) = value_of(rest) else { continue };
        let start = name_end + start;
        out.push_str(line.get(done..start).unwrap_or_default());
        out.push_str(MARK);
        done = start + value.len();
        at = done;
    }
    out.push_str(line.get(done..).unwrap_or_default());
    out
}

/// Where the next name of a secret ends.
fn next_name(folded: &str, from: usize) -> Option<usize> {
    let rest = folded.get(from..)?;
    let ends = NAMES.iter().filter_map(|name| rest.find(name).map(|at| from + at + name.len()));
    ends.min()
}

/// The value that follows a name, and where it begins; nothing when none does.
fn value_of(rest: &str) -> Option<(usize, &str)> {
    let after_name = rest.trim_start_matches(['s', '"', '\'', '`', '*']);
    let (sign, after) = sign(after_name.trim_start())?;
    let value = after.trim_start().trim_start_matches(['"', '\'', '`', '*']);
    let end =
        value.find(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | ',' | ';')).unwrap_or(value.len());
    let start = rest.len() - value.len();
    let value = value.get(..end)?.trim_end_matches(['.', '!', '?', ')', '*']);
    let is_last = rest.get(start + value.len()..)?.chars().all(|c| !c.is_alphanumeric());
    is_secret(value, sign, is_last).then_some((start, value))
}

/// What stands between a name and its value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sign {
    Equals,
    Colon,
    Is,
}

fn sign(text: &str) -> Option<(Sign, &str)> {
    let signs = [("==", None), ("=", Some(Sign::Equals)), (":", Some(Sign::Colon)), ("：", Some(Sign::Colon))];
    for (written, sign) in signs.into_iter().chain([("is ", Some(Sign::Is)), ("是", Some(Sign::Is))]) {
        if let Some(after) = text.strip_prefix(written) {
            return Some((sign?, after));
        }
    }
    None
}

fn is_secret(value: &str, sign: Sign, is_last: bool) -> bool {
    let is_elsewhere = value.starts_with(['$', '<', '{', '%', '[', '(', '/', '~', '@', '-', '&', ':'])
        || value.contains("://")
        || value.contains('(')
        || value.contains("::");
    let is_variable = value.chars().all(|c| c.is_ascii_uppercase() || c == '_') && value.contains('_');
    if value.chars().count() < SHORTEST || is_elsewhere || is_variable {
        return false;
    }
    if is_listed(&value.to_ascii_lowercase(), SPOKEN_OF) {
        return false;
    }
    let is_a_word = value.chars().all(|c| c.is_alphabetic() || c == '-');
    match sign {
        Sign::Equals => true,
        Sign::Colon => !is_a_word || is_last,
        Sign::Is => !is_a_word,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_given_as_a_password_is_left_out() {
        for (text, kept) in [
            ("password=hunter2secret", "password=[redacted: a password?]"),
            ("The DB_PASSWORD: correcthorse99battery.", "The DB_PASSWORD: [redacted: a password?]."),
            ("pwd: swordfish", "pwd: [redacted: a password?]"),
            ("the staging password is Winter2026!", "the staging password is [redacted: a password?]!"),
            ("password='a b' token = \"zz9plural\", ok", "password='a b' token = \"[redacted: a password?]\", ok"),
            ("密码：秘密的abc1 x", "密码：[redacted: a password?] x"),
            ("first\nsecret: abcd1\nlast", "first\nsecret: [redacted: a password?]\nlast"),
        ] {
            assert_eq!(without_guessed(text), kept);
            assert_eq!(without_guessed(kept), kept, "what is left out stays out");
        }
    }

    #[test]
    fn what_only_speaks_of_one_stays() {
        for text in [
            "Passwords are kept in the vault",
            "password: see the vault in 1password",
            "a token is required",
            "token=$GITHUB_TOKEN",
            "API_TOKEN: GITHUB_TOKEN",
            "secret: <your secret>",
            "the password is stored hashed",
            "token: required",
            "let token = parse(input)",
            "if token == expected",
            "secrets: /run/secrets/db",
            "The tokens of a request: count them first",
            "",
        ] {
            assert_eq!(without_guessed(text), text);
        }
    }
}

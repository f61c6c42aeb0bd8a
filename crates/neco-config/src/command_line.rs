//! Command lines: their words, and how they may be shown, as people write tokens into them.

use crate::address::{HIDDEN, without_secrets};

/// Parts of names whose values are secret.
const SECRET_PARTS: &[&str] =
    &["auth", "authorization", "bearer", "cookie", "credential", "credentials", "key", "apikey", "pass", "pat", "pwd"];

/// What secret names hold anywhere.
const SECRET_INSIDE: &[&str] = &["token", "secret", "passw", "passphrase", "connection_string", "connectionstring"];

/// How keys begin that vendors give out.
const BEGINNINGS: &[&str] = &[
    "sk-",
    "pk-",
    "ghp_",
    "gho_",
    "ghs_",
    "ghu_",
    "github_pat_",
    "glpat-",
    "xox",
    "AKIA",
    "AIza",
    "eyJ",
    "hf_",
    "npm_",
];

/// So many letters and digits in a row are a key, not a word.
const LONG: usize = 24;

/// The words of a command line, divided as a shell does it and without the quotes; `${NAME:-a b}` is within one word.
/// Nothing where a quote or such a name never ends.
pub fn words(line: &str) -> Option<Vec<String>> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    let mut chars = line.chars().peekable();
    while let Some(char) = chars.next() {
        match (quote, char) {
            (_, '$') if chars.peek() == Some(&'{') => {
                let word = word.get_or_insert_default();
                word.push(char);
                loop {
                    let inner = chars.next()?;
                    word.push(inner);
                    if inner == '}' {
                        break;
                    }
                }
            }
            (None, '\\') => word.get_or_insert_default().push(chars.next()?),
            (Some('"'), '\\') => {
                let word = word.get_or_insert_default();
                let next = chars.next()?;
                // Within quotes it stands for itself, but before what would mean something.
                word.extend((!matches!(next, '"' | '\\' | '$' | '`')).then_some(char));
                word.push(next);
            }
            (None, '"' | '\'') => {
                quote = Some(char);
                word.get_or_insert_default();
            }
            (Some(open), _) if open == char => quote = None,
            (None, _) if char.is_whitespace() => words.extend(word.take()),
            (_, _) => word.get_or_insert_default().push(char),
        }
    }
    words.extend(word);
    quote.is_none().then_some(words)
}

/// The words of a command with `***` for what is named as a secret or looks like one: `--token`, `***`;
/// `API_KEY=***`; `Authorization: ***`.
pub fn words_without_secrets<'a>(words: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let mut before = "";
    let mut shown = Vec::new();
    for word in words {
        shown.push(shown_word(word, before));
        before = word;
    }
    shown
}

/// The same of a command in one text, which is divided as a shell does it. What a shell takes for one word is divided
/// at its blanks.
pub(crate) fn line_without_secrets(line: &str) -> String {
    let divided = match pieces(line, true) {
        several if several.iter().filter(|piece| !piece.trim().is_empty()).count() > 1 => several,
        _ => pieces(line, false),
    };
    let mut before = "";
    let mut shown = String::with_capacity(line.len());
    for piece in divided {
        let word = piece.trim_end();
        if !word.is_empty() {
            shown.push_str(&shown_word(word, before));
            before = word;
        }
        shown.push_str(piece.strip_prefix(word).unwrap_or_default());
    }
    shown
}

/// The words of a line, each with the blank behind it; a second blank is a piece of its own.
fn pieces(line: &str, heeds_quotes: bool) -> Vec<&str> {
    let (mut quote, mut is_escaped) = (None, false);
    let ends_word = move |char: char| {
        if std::mem::take(&mut is_escaped) {
            return false;
        }
        match (quote, char) {
            (None | Some('"'), '\\') => is_escaped = heeds_quotes,
            (None, '"' | '\'') if heeds_quotes => quote = Some(char),
            (Some(open), _) if open == char => quote = None,
            _ => {}
        }
        quote.is_none() && char.is_whitespace()
    };
    line.split_inclusive(ends_word).collect()
}

fn shown_word(word: &str, before: &str) -> String {
    let bare = word.trim_matches(['"', '\'']);
    let follows = before.trim_matches(['"', '\'']);
    let is_asked_for = follows.starts_with('-') && !follows.contains('=') && names_secret(follows);
    let is_of_header = follows.strip_suffix(':').is_some_and(|name| names_secret(last_name(name)));
    let is_credential = ["bearer", "basic"].iter().any(|kind| follows.eq_ignore_ascii_case(kind));
    if (is_asked_for && !bare.starts_with('-')) || is_of_header || is_credential || looks_secret(bare) {
        return HIDDEN.to_owned();
    }
    for quote in ['"', '\''] {
        if let Some(inner) = word.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote)) {
            return format!("{quote}{}{quote}", shown_word(inner, ""));
        }
    }
    for sign in ['=', ':'] {
        // What stands behind the colon of an address is its place.
        if let Some((name, value)) = word.split_once(sign).filter(|(_, value)| !value.starts_with("//"))
            && !name.contains(char::is_whitespace)
            && (names_secret(last_name(name)) || looks_secret(value.trim_matches(['"', '\'', ' '])))
            && !value.is_empty()
        {
            let space = if value.starts_with(' ') { " " } else { "" };
            return format!("{name}{sign}{space}{HIDDEN}");
        }
    }
    if word.contains(char::is_whitespace) { line_without_secrets(word) } else { without_secrets(word) }
}

/// The name that stands before a colon: `Authorization` of `--header=Authorization`.
fn last_name(text: &str) -> &str {
    text.rsplit('=').next().unwrap_or(text)
}

fn names_secret(name: &str) -> bool {
    let name = name.trim_matches(['-', '"', '\'', ' ']).to_lowercase();
    let has = |inside: &&str| name.contains(*inside);
    // By itself it is the folder that is worked in.
    name.len() <= 64
        && name != "pwd"
        && (SECRET_INSIDE.iter().any(has) || name.split(['-', '_', '.', ' ']).any(|part| SECRET_PARTS.contains(&part)))
}

fn looks_secret(word: &str) -> bool {
    let is_plain = word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let mixes = word.chars().any(|c| c.is_ascii_digit()) && word.chars().any(|c| c.is_ascii_alphabetic());
    let begins = BEGINNINGS.iter().any(|beginning| word.starts_with(beginning)) && word.len() >= 12;
    (begins && !word.contains('/')) || (is_plain && mixes && word.len() >= LONG)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_divided_as_a_shell_does_it() {
        for (line, expected) in [
            ("npx -y @scope/server /path", &["npx", "-y", "@scope/server", "/path"][..]),
            ("  a\t b  ", &["a", "b"]),
            ("'/opt/my tools/run' \"it's\" ''", &["/opt/my tools/run", "it's", ""]),
            ("a\\ b c\\\"d", &["a b", "c\"d"]),
            (r#""a\"b \x" 'c\d'"#, &["a\"b \\x", "c\\d"]),
            ("${HOME}/x ${NAME:-a b} \"${X:-'}\" $y", &["${HOME}/x", "${NAME:-a b}", "${X:-'}", "$y"]),
            ("sh -c 'a | b; c &'", &["sh", "-c", "a | b; c &"]),
            ("", &[]),
        ] {
            assert_eq!(words(line).unwrap(), expected, "{line}");
        }
        for open in ["a 'b", "a \"b", "a \\", "a ${B", "'${a"] {
            assert_eq!(words(open), None, "{open}");
        }
    }

    #[test]
    fn what_is_named_or_looks_like_a_secret_is_hidden_and_the_rest_stays() {
        for (line, shown) in [
            (
                "npx -y @modelcontextprotocol/server-filesystem /path",
                "npx -y @modelcontextprotocol/server-filesystem /path",
            ),
            ("server --token abc --port 80", "server --token *** --port 80"),
            ("server --api-key=abc -v", "server --api-key=*** -v"),
            ("env GITHUB_TOKEN=abc MODE=x server", "env GITHUB_TOKEN=*** MODE=x server"),
            ("server --verbose ghp_abcdefghij0123456789", "server --verbose ***"),
            ("server --token --port 80", "server --token --port 80"),
            (
                "curl -H \"Authorization: Bearer abc\" https://me:pw@host/v1",
                "curl -H \"Authorization: ***\" https://***@host/v1",
            ),
            ("server --keyboard us --author me", "server --keyboard us --author me"),
            (
                "docker run --rm -i mcp/postgres postgresql://u:p@h/db",
                "docker run --rm -i mcp/postgres postgresql://***@h/db",
            ),
            ("server --token  abc --port 80", "server --token  *** --port 80"),
            ("server --token\tabc", "server --token\t***"),
            ("server --password 'my secret pass' --port 80", "server --password *** --port 80"),
            ("server --password my\\ secret --port 80", "server --password *** --port 80"),
            ("sh -c \"cd 'a b' && server --token abc\" x", "sh -c \"cd 'a b' && server --token ***\" x"),
            ("echo it's --token abc", "echo it's --token ***"),
            ("curl -H X-Api-Key: abc", "curl -H X-Api-Key: ***"),
            ("", ""),
        ] {
            assert_eq!(line_without_secrets(line), shown, "{line}");
        }
        assert_eq!(words_without_secrets(["--header", "X-Api-Key: abc"]), ["--header", "X-Api-Key: ***"]);
        assert_eq!(words_without_secrets(["-c", "cd x && server --token abc"]), ["-c", "cd x && server --token ***"]);
        assert_eq!(words_without_secrets(["--header=Authorization: Bearer abc"]), ["--header=Authorization: ***"]);
        assert_eq!(words_without_secrets(["--password", "my secret pass"]), ["--password", "***"]);
        assert_eq!(words_without_secrets(["server --token abc -H X-Key:d"]), ["server --token *** -H X-Key:***"]);
        assert_eq!(words_without_secrets(["-p", "0123456789abcdef0123456789abcdef"]), ["-p", "***"]);
    }
}

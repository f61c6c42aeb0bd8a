//! Names of variables in the place of secrets.

use std::collections::BTreeMap;

use neco_config::{without_secrets, words, words_without_secrets};
use neco_safety::secrets::scrub;

/// Headers whose values are no secrets.
const PLAIN_HEADERS: [&str; 6] = ["accept", "content-type", "user-agent", "x-mcp-readonly", "x-mcp-toolsets", "origin"];

/// Letters of the longest value that is a word, and no secret.
const LONGEST_WORD: usize = 16;

/// Digits of the longest number in one.
const LONGEST_NUMBER: usize = 4;

/// What a secret is called that has no name.
const SECRET: &str = "SECRET";

/// What a credential in a header begins with.
const SCHEMES: [&str; 5] = ["Bearer", "bearer", "Basic", "basic", "token"];

/// What others call folders, and what means the same here: servers start in the folder that is worked in.
const FOLDERS: [(&str, &str); 4] =
    [("${workspaceFolder}", "."), ("${userHome}", "${HOME}"), ("${pathSeparator}", "/"), ("${/}", "/")];

/// How others begin the reference to a variable, and how they end it.
const MARKS: [(&str, &str); 4] = [("${env:", "}"), ("{env:", "}"), ("${", "}"), ("$env:", "")];

/// A value that may stand in settings, and the variable that holds what was in it, where that was a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Referred {
    /// The value.
    pub value: String,
    /// The variable that has to be set for it.
    pub set: Option<String>,
}

impl Referred {
    fn plain(value: String) -> Self {
        Self { value, set: None }
    }
}

/// The variables that stand for the secrets of a set-up. No two secrets have the same one.
#[derive(Default)]
pub struct Variables(BTreeMap<String, String>);

impl Variables {
    /// A reference to the variable of this name; one with a number where that stands for another secret. The scheme of a
    /// credential stays before it, so that the same token serves elsewhere.
    fn refer(&mut self, name: &str, secret: &str) -> Referred {
        let (mut variable, mut number) = (name.to_owned(), 1);
        while self.0.get(&variable).is_some_and(|other| other != secret) {
            number += 1;
            variable = format!("{name}_{number}");
        }
        self.0.insert(variable.clone(), secret.to_owned());
        Referred { value: format!("{}${{{variable}}}", scheme(secret)), set: Some(variable) }
    }

    /// The value of a variable of a server.
    pub fn of_variable(&mut self, server: &str, name: &str, value: &str) -> Referred {
        let value = ours(value);
        match is_reference(&value) || !is_secret(name, &value) {
            true => Referred::plain(value),
            false => self.refer(&own_name(server, name), &value),
        }
    }

    /// The value of a header of a server.
    pub fn of_header(&mut self, server: &str, name: &str, value: &str) -> Referred {
        let value = ours(value);
        let lower = name.to_ascii_lowercase();
        let is_plain = (PLAIN_HEADERS.contains(&lower.as_str()) || is_word(&value)) && !is_secret(name, &value);
        match is_plain || is_reference(&value) {
            true => Referred::plain(value),
            false => self.refer(&own_name(server, name), &value),
        }
    }

    /// The words of a command line.
    pub fn of_words(&mut self, server: &str, words: &[String]) -> (Vec<String>, Vec<String>) {
        let words: Vec<String> = words.iter().map(|word| ours(word)).collect();
        let shown = words_without_secrets(words.iter().map(String::as_str));
        let mut set = Vec::new();
        let word = |(word, shown): (&String, String)| {
            let (mut clean, mut secrets) = self.of_hidden(server, word, &shown);
            if holds_key(&clean) {
                let whole = self.refer(&own_name(server, SECRET), word);
                (clean, secrets) = (whole.value, whole.set.into_iter().collect());
            }
            set.extend(secrets);
            clean
        };
        let words = words.iter().zip(shown).map(word).collect();
        (words, set)
    }

    /// An address: what its query says, a login in it and a key in its path are secrets.
    pub fn of_address(&mut self, server: &str, address: &str) -> (String, Vec<String>) {
        let address = ours(address);
        self.of_hidden(server, &address, &without_keys(&without_secrets(&address)))
    }

    /// A text of which only a part is secret: what is shown as `***`.
    fn of_hidden(&mut self, server: &str, text: &str, shown: &str) -> (String, Vec<String>) {
        let mut pieces = shown.split("***");
        let mut written = pieces.next().unwrap_or_default().to_owned();
        let (mut rest, mut set) = (text.strip_prefix(written.as_str()).unwrap_or_default(), Vec::new());
        for piece in pieces {
            let end = if piece.is_empty() { None } else { rest.find(piece) };
            let (hidden, behind) = rest.split_at_checked(end.unwrap_or(rest.len())).unwrap_or((rest, ""));
            rest = behind.strip_prefix(piece).unwrap_or_default();
            // A shell puts in what `$NAME` and `$(command)` stand for.
            if is_reference(&ours(hidden)) || hidden.starts_with("$(") {
                written.push_str(hidden);
            } else {
                let referred = self.refer(&own_name(server, SECRET), hidden);
                written.push_str(&referred.value);
                set.extend(referred.set);
            }
            written.push_str(piece);
        }
        (written, set)
    }
}

/// An address with `***` for the parts of its path that look like keys.
fn without_keys(address: &str) -> String {
    let (place, query) = address.split_at(address.find(['?', '#']).unwrap_or(address.len()));
    let begins = place.find("://").map_or(0, |at| at + 3);
    let host = place.get(begins..).and_then(|rest| rest.find('/')).map_or(place.len(), |at| begins + at);
    let (host, path) = place.split_at(host);
    let parts: Vec<&str> = path.split('/').map(|part| if is_key(part) { "***" } else { part }).collect();
    format!("{host}{}{query}", parts.join("/"))
}

/// Whether a part of a path looks like a key: long, with letters and digits that are not apart from each other.
fn is_key(part: &str) -> bool {
    part.len() > LONGEST_WORD
        && part.chars().all(|char| char.is_ascii_alphanumeric() || "-_=.~".contains(char))
        && part.chars().any(|char| char.is_ascii_digit())
        && part.chars().any(|char| char.is_ascii_alphabetic())
        && !part.split(['-', '_', '.']).all(is_word)
}

/// What is to be said of variables that have to be set.
pub fn told(set: &[String]) -> Option<String> {
    let mut names: Vec<&str> = set.iter().map(String::as_str).collect();
    names.sort_unstable();
    names.dedup();
    (!names.is_empty()).then(|| format!("a secret is not copied: set {} in your environment", names.join(", ")))
}

/// The name of the variable that a value refers to, and nothing besides.
pub fn variable(value: &str) -> Option<String> {
    let value = ours(value);
    let name = value.strip_prefix("${")?.strip_suffix('}')?;
    is_name(name).then(|| name.to_owned())
}

/// A value with references to variables as they are written here.
fn ours(value: &str) -> String {
    let value = FOLDERS.iter().fold(value.to_owned(), |value, (theirs, own)| value.replace(theirs, own));
    let mut written = String::with_capacity(value.len());
    let mut rest = value.as_str();
    'text: while !rest.is_empty() {
        for (begins, ends) in MARKS {
            let Some(inside) = rest.strip_prefix(begins) else { continue };
            let end = match ends {
                "" => inside.find(|char: char| !char.is_ascii_alphanumeric() && char != '_').unwrap_or(inside.len()),
                ends => inside.find(ends).unwrap_or(0),
            };
            let Some(name) = inside.get(..end).filter(|name| is_name(name.split(":-").next().unwrap_or_default()))
            else {
                continue;
            };
            let name = match name.split_once(":-") {
                Some((name, default)) if is_secret(name, default) && !is_word(default) => name,
                Some(_) | None => name,
            };
            written.push_str(&format!("${{{name}}}"));
            rest = inside.get(end + ends.len()..).unwrap_or_default();
            continue 'text;
        }
        let mut chars = rest.chars();
        written.extend(chars.next());
        rest = chars.as_str();
    }
    match written.strip_prefix('$').filter(|name| is_name(name)) {
        Some(name) => format!("${{{name}}}"),
        None => written,
    }
}

/// Whether a value is references, and nothing else that could be secret.
fn is_reference(value: &str) -> bool {
    let mut pieces = value.split("${");
    let before = pieces.next().unwrap_or_default();
    let behind: Vec<&str> = pieces.map(|piece| piece.split_once('}').map_or(piece, |(_, behind)| behind)).collect();
    let besides = format!("{before}{}", behind.concat());
    !behind.is_empty() && (besides.trim().is_empty() || SCHEMES.contains(&besides.trim()))
}

/// The scheme that a credential begins with, and the blank behind it.
fn scheme(value: &str) -> &str {
    let is_scheme = |(name, _): &(&str, &str)| SCHEMES.contains(name);
    value.split_once(' ').filter(is_scheme).and_then(|(name, _)| value.get(..=name.len())).unwrap_or_default()
}

fn is_secret(name: &str, value: &str) -> bool {
    let word = format!("{name}={value}");
    let by_name = words_without_secrets([word.as_str()]).first() != Some(&word);
    by_name || holds_key(value) || !scheme(value).is_empty()
}

/// Whether a value is made of words such as `eu`, `none`, `us-east-1` or `2025-06-18`: nobody's key is so short, and
/// letters and digits stand apart.
fn is_word(value: &str) -> bool {
    let is_part = |part: &str| {
        part.chars().all(|char| char.is_ascii_alphabetic())
            || part.len() <= LONGEST_NUMBER && part.chars().all(|char| char.is_ascii_digit())
    };
    value.len() <= LONGEST_WORD && value.split(|char| "-_.,;/* ".contains(char)).all(is_part)
}

/// Whether a text looks like a key, or has a password in an address.
fn holds_key(text: &str) -> bool {
    !scrub(vec![("value".into(), text.into())], &[]).hidden.is_empty()
}

/// Whether a command line holds a secret by its name or its looks, and no reference to one.
pub fn holds_secret(line: &str) -> bool {
    let words = words(line).unwrap_or_else(|| line.split_whitespace().map(str::to_owned).collect());
    !Variables::default().of_words("", &words).1.is_empty()
}

/// A command line as it may be shown.
pub fn shown(line: &str) -> String {
    if holds_secret(line) { words_without_secrets([line]).concat() } else { line.to_owned() }
}

fn is_name(text: &str) -> bool {
    text.starts_with(|char: char| char.is_ascii_alphabetic() || char == '_')
        && text.chars().all(|char| char.is_ascii_alphanumeric() || char == '_')
}

/// A name as variables have it.
pub fn upper(name: &str) -> String {
    let letter = |char: char| if char.is_ascii_alphanumeric() { char.to_ascii_uppercase() } else { '_' };
    let upper: String = name.chars().map(letter).collect();
    if upper.starts_with(|char: char| char.is_ascii_digit()) { format!("_{upper}") } else { upper }
}

/// The variable for something of a server: it begins with the server's name, so that another one with a key of the same
/// name has its own.
fn own_name(server: &str, name: &str) -> String {
    let (server, name) = (upper(server), upper(name));
    let is_own = name.strip_prefix(&server).is_some_and(|rest| rest.is_empty() || rest.starts_with('_'));
    if is_own { name } else { format!("{server}_{name}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "sk-ant-api03-Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4";

    #[test]
    fn secrets_become_names_and_the_rest_stays() {
        let mut variables = Variables::default();
        for (name, value, expected) in [
            ("PORT", "8080", "8080"),
            ("LOG_LEVEL", "debug", "debug"),
            ("GITHUB_TOKEN", "abc", "${HUB_GITHUB_TOKEN}"),
            ("HUB_TOKEN", "abc", "${HUB_TOKEN}"),
            ("WHATEVER", KEY, "${HUB_WHATEVER}"),
            ("DB", "postgres://me:hunter2@db/x", "${HUB_DB}"),
            ("A_KEY", "${MY_KEY}", "${MY_KEY}"),
            ("A_KEY", "${env:MY_KEY}", "${MY_KEY}"),
            ("A_KEY", "{env:MY_KEY}", "${MY_KEY}"),
            ("A_KEY", "$MY_KEY", "${MY_KEY}"),
            ("A_KEY", "${MY_KEY:-sk-ant-api03-Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4}", "${MY_KEY}"),
            ("A_KEY", "${MINE}hunter2", "${HUB_A_KEY}"),
            ("A_KEY", "${MY_KEY:-none}", "${MY_KEY:-none}"),
            ("PORT", "${PORT:-8080}", "${PORT:-8080}"),
            ("FOLDER", "${HOME}/notes", "${HOME}/notes"),
            ("MYSQL_PWD", "hunter2", "${HUB_MYSQL_PWD}"),
            ("SSH_PASSPHRASE", "one two", "${HUB_SSH_PASSPHRASE}"),
            ("CONNECTION_STRING", "Server=db;Password=x", "${HUB_CONNECTION_STRING}"),
        ] {
            assert_eq!(variables.of_variable("hub", name, value).value, expected, "{name}={value}");
        }
        let bearer = variables.of_header("git-hub", "Authorization", &format!("Bearer {KEY}"));
        assert_eq!(bearer.value, "Bearer ${GIT_HUB_AUTHORIZATION}");
        let variable = variables.of_variable("linear", "AUTH_HEADER", "Bearer abc");
        assert_eq!(variable.value, "Bearer ${LINEAR_AUTH_HEADER}");
        assert_eq!(variables.of_variable("linear", "GREETING", "Bearer abc").set.as_deref(), Some("LINEAR_GREETING"));
        assert_eq!(variables.of_header("x", "Accept", "text/plain").set, None);
        for (name, value, expected) in [
            ("X-Team", "acme", "acme"),
            ("X-Team", "a1b2c3", "${X_TEAM}"),
            ("X-Api-Key", "acme", "${X_API_KEY}"),
            ("X-Region", "us-east-1", "us-east-1"),
            ("Notion-Version", "2022-06-28", "2022-06-28"),
            ("X-Pin", "12345678", "${X_PIN}"),
        ] {
            assert_eq!(variables.of_header("x", name, value).value, expected, "{name}: {value}");
        }
        assert_eq!(variables.of_header("x", "Authorization", "Bearer {env:T}").value, "Bearer ${T}");
    }

    #[test]
    fn command_lines_and_addresses_lose_theirs() {
        let mut variables = Variables::default();
        let words = ["-y", "server", "--api-key", "hunter2hunter2", "--level=3"].map(str::to_owned);
        let (words, set) = variables.of_words("x", &words);
        assert_eq!(words, ["-y", "server", "--api-key", "${X_SECRET}", "--level=3"]);
        assert_eq!(set, ["X_SECRET"]);
        let (flag, _) = variables.of_words("x", &[format!("--token={KEY}")]);
        assert_eq!(flag, ["--token=${X_SECRET_2}"]);
        for (theirs, ours, expected) in [
            ("Authorization: Bearer ${LIN}", "Authorization: Bearer ${LIN}", None),
            ("Authorization: Bearer ${env:LIN}", "Authorization: Bearer ${LIN}", None),
            ("Authorization:${AUTH_HEADER}", "Authorization:${AUTH_HEADER}", None),
            ("Authorization: Bearer lin_abc", "Authorization: Bearer ${Y_SECRET}", Some("Y_SECRET")),
            ("--header=X-Api-Key: abc", "--header=X-Api-Key: ${Y_SECRET}", Some("Y_SECRET")),
            ("cd x && server --token abc -v", "cd x && server --token ${Y_SECRET} -v", Some("Y_SECRET")),
            ("--token=${MINE}", "--token=${MINE}", None),
            ("--root=${workspaceFolder}${/}src", "--root=./src", None),
            ("${userHome}/notes", "${HOME}/notes", None),
        ] {
            let (words, set) = Variables::default().of_words("y", &["--header".to_owned(), theirs.to_owned()]);
            assert_eq!((words[1].as_str(), set.first().map(String::as_str)), (ours, expected), "{theirs}");
        }
        let (address, set) = Variables::default().of_address("x", &format!("https://me:pw@h/mcp?key={KEY}&a=b"));
        assert!(!address.contains(KEY) && !address.contains("pw@"), "{address}");
        assert!(address.starts_with("https://${X_SECRET}@h/mcp?key=${X_SECRET_2}"), "{address}");
        assert!(set.len() >= 2);
        for plain in [
            "https://h/mcp",
            "https://h/v1/modelcontextprotocol-servers/2025-06-18?",
            "https://long-host-12.example.com:8080",
        ] {
            assert_eq!(variables.of_address("x", plain).0, plain);
        }
        let (address, _) = variables.of_address("zap", "https://h/api/s/NGY1ZTk4YjctODM0ZC00/mcp");
        assert_eq!(address, "https://h/api/s/${ZAP_SECRET}/mcp");
        let (address, set) = variables.of_address("hub", "https://h/mcp?a=hunter2&b=${B}");
        assert_eq!((address.as_str(), set.len()), ("https://h/mcp?a=${HUB_SECRET}&b=${B}", 1));
    }

    #[test]
    fn a_line_holds_a_secret_by_its_name_and_none_where_it_refers_to_one() {
        for line in [
            "PGPASSWORD=hunter2 psql",
            "curl -H 'X-Api-Key: abc' h",
            "server --token abc",
            "login ghp_abcdefghij0123456789",
        ] {
            assert!(holds_secret(line), "{line}");
            assert!(!shown(line).contains("hunter2") && !shown(line).contains("abc"), "{}", shown(line));
        }
        for line in [
            "gh auth",
            "npm token list",
            "GH_TOKEN=$GH_TOKEN gh pr list",
            "T_TOKEN=${X} a",
            "K_KEY=$(pass x) a",
            "git push",
        ] {
            assert!(!holds_secret(line), "{line}");
        }
    }

    #[test]
    fn every_secret_has_a_variable_of_its_own() {
        let mut variables = Variables::default();
        let mut set = |server: &str, name: &str, value: &str| variables.of_variable(server, name, value).set.unwrap();
        assert_eq!(set("one", "API_KEY", "a"), "ONE_API_KEY");
        assert_eq!(set("two", "API_KEY", "b"), "TWO_API_KEY");
        assert_eq!(set("one", "API_KEY", "a"), "ONE_API_KEY", "the same secret is the same variable");
        assert_eq!(set("one_api", "KEY", "c"), "ONE_API_KEY_2", "another one never is");
    }
}

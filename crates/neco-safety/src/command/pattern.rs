//! Patterns for file names: what they might find.

use std::path::Path;

use crate::path::sensitive::is_sensitive_file;

/// Names that stand for their kind, to try patterns on.
const SENSITIVE: &str = ".env .env.local .env.production .envrc credentials credentials.json secrets.json \
    secrets.yml id_rsa id_ed25519 id_ecdsa server.key private.key cert.pem key.pem store.p12 store.jks .netrc .npmrc \
    .git-credentials .pgpass .ssh .aws .gnupg .bashrc .gitconfig";

/// Folders whose files no pattern may choose from.
const FOLDERS: &str = ".. .git .ssh .aws .gnupg .config .neco .docker .kube .vscode .idea .npm";

/// Names that any pattern for many files finds too.
const ORDINARY: [&str; 4] = ["main.rs", "readme", "index.html", ".gitignore"];

/// Whether a pattern finds all there is: it says nothing about names.
pub(crate) fn is_everything(pattern: &str) -> bool {
    matches!(pattern, "*" | "**" | ".*" | ".[!.]*" | ".??*" | "?*" | "*.*" | "." | "{*,.*}")
}

/// Whether the last name of a path is a pattern made for sensitive files.
pub(crate) fn finds_sensitive(path: &Path) -> bool {
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return false };
    if !is_pattern(name) || name.chars().count() > 200 {
        return false;
    }
    let end = literal_end(name);
    let mut possible = SENSITIVE.split_whitespace().filter(|sensitive| ends_with(sensitive, end));
    if possible.any(|sensitive| matches(name, sensitive)) && !ORDINARY.iter().any(|plain| matches(name, plain)) {
        return true;
    }
    let stripped: String = name.chars().filter(|letter| !matches!(letter, '*' | '?' | '[' | ']')).collect();
    is_sensitive_file(Path::new(&stripped)).is_some()
}

/// What a pattern ends with whatever it finds: most end so that none of the names above does.
fn literal_end(pattern: &str) -> &[u8] {
    let end = pattern.rsplit(['*', '?', '[', ']']).next().unwrap_or_default();
    // A letter that has another form in small letters may be any of several.
    if end.is_ascii() { end.as_bytes() } else { b"" }
}

fn ends_with(name: &str, end: &[u8]) -> bool {
    let start = name.len().checked_sub(end.len());
    start.and_then(|start| name.as_bytes().get(start..)).is_some_and(|tail| tail.eq_ignore_ascii_case(end))
}

/// Whether a pattern might find a sensitive file among others.
pub(crate) fn may_find_sensitive(text: &str) -> bool {
    let (folders, name) = text.rsplit_once('/').unwrap_or(("", text));
    may_find(name, SENSITIVE) || folders.split('/').any(|folder| may_find(folder, FOLDERS))
}

/// Whether a pattern might find the folder above.
pub(crate) fn may_climb(text: &str) -> bool {
    text.split('/').any(|name| may_find(name, ".."))
}

/// Whether a pattern might find one of the names. Quotes are gone from it, so nobody can tell where a
/// bracket ends: from there on it fits anything.
fn may_find(pattern: &str, names: &str) -> bool {
    let open = pattern.split('[').next().filter(|start| start.len() < pattern.len()).map(|start| format!("{start}*"));
    let pattern = match &open {
        Some(start) if start == "*" => return true,
        Some(start) => start,
        None => pattern,
    };
    is_pattern(pattern)
        && (pattern.chars().count() > 200 || names.split_whitespace().any(|name| matches(pattern, name)))
}

fn is_pattern(name: &str) -> bool {
    name.contains(['*', '?', '['])
}

/// Whether a pattern fits one of the names above, as the shell sees it: a leading dot is not found by a wildcard.
pub(super) fn matches(pattern: &str, name: &str) -> bool {
    if name.starts_with('.') && pattern.starts_with('*') {
        return false;
    }
    if pattern.is_ascii() {
        return reaches(pattern.bytes().map(|byte| char::from(byte.to_ascii_lowercase())), name);
    }
    reaches(pattern.chars().flat_map(char::to_lowercase), name)
}

fn reaches(mut letters: impl Iterator<Item = char> + Clone, name: &str) -> bool {
    // One bit for each place in the name that some way of reading the pattern has come to, so that many
    // stars cost no more than few. The names are much shorter than there are bits.
    let mut reached: u64 = 1;
    while let Some(letter) = letters.next() {
        reached = match letter {
            _ if reached == 0 => return false,
            '*' => u64::MAX << reached.trailing_zeros(),
            '?' => reached << 1,
            // What is in brackets is taken to fit: it costs a question at worst.
            '[' if letters.clone().any(|letter| letter == ']') => {
                letters.by_ref().find(|letter| *letter == ']');
                reached << 1
            }
            literal => (reached & places_of(literal, name)) << 1,
        };
    }
    reached.checked_shr(u32::try_from(name.len()).unwrap_or(u32::MAX)).is_some_and(|reached| reached & 1 == 1)
}

/// The places of a letter in a name, a bit for each.
fn places_of(letter: char, name: &str) -> u64 {
    let found = name.bytes().take(63).enumerate().filter(|(_, byte)| char::from(*byte) == letter);
    found.fold(0, |places, (at, _)| places | 1 << at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_made_for_secrets_are_known() {
        for pattern in
            [".en*", ".e*", "*.key", "*.pem", "id_*", ".[e]nv", "?env", "cred*", ".env*", "*.p12", "secrets.*"]
        {
            assert!(finds_sensitive(Path::new(pattern)), "{pattern}");
        }
        for pattern in ["*", "*.rs", "*.html", "src*", ".git*", "r*", "**"] {
            assert!(!finds_sensitive(Path::new(pattern)), "{pattern}");
        }
        assert!(may_find_sensitive("src/*"));
        assert!(!may_find_sensitive("*.rs"));
        assert!(!may_find_sensitive("src/main.rs"));
        for pattern in [".[[:lower:]]nv", ".gi?/config", ".[]e]nv", ".?/x", "src/[a]/../.e*", ".g*/x/config"] {
            assert!(may_find_sensitive(pattern), "{pattern}");
        }
        assert!(may_climb(".?") && may_climb("a/.*/b") && !may_climb("*/a") && !may_climb("../*"));
    }

    #[test]
    fn many_stars_cost_no_more_than_few() {
        assert!(!matches(&"*a".repeat(100), &"a".repeat(50)));
        assert!(matches(&"*a".repeat(50), &"a".repeat(50)));
    }

    #[test]
    fn wildcards_brackets_and_letters_fit_as_in_a_shell() {
        for (pattern, name, fits) in [
            ("a*c", "abbc", true),
            ("a*c", "abbd", false),
            ("a?c", "abc", true),
            ("a?c", "ac", false),
            ("*", "", true),
            ("", "", true),
            ("", "a", false),
            ("[xy]b", "ab", true),
            ("[b", "[b", true),
            ("[b", "ab", false),
            ("A*", "abc", true),
            ("abc", "ab", false),
            ("ab", "abc", false),
            (".*", ".env", true),
            ("*v", ".env", false),
        ] {
            assert_eq!(matches(pattern, name), fits, "{pattern} {name}");
        }
    }
}

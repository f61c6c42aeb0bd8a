//! Patterns for file names: what they might find.

use std::path::Path;

use crate::path::sensitive::is_sensitive_file;

/// Names that stand for their kind, to try patterns on.
const SENSITIVE: [&str; 26] = [
    ".env",
    ".env.local",
    ".env.production",
    ".envrc",
    "credentials",
    "credentials.json",
    "secrets.json",
    "secrets.yml",
    "id_rsa",
    "id_ed25519",
    "id_ecdsa",
    "server.key",
    "private.key",
    "cert.pem",
    "key.pem",
    "store.p12",
    "store.jks",
    ".netrc",
    ".npmrc",
    ".git-credentials",
    ".pgpass",
    ".ssh",
    ".aws",
    ".gnupg",
    ".bashrc",
    ".gitconfig",
];

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
    let stripped: String = name.chars().filter(|letter| !matches!(letter, '*' | '?' | '[' | ']')).collect();
    SENSITIVE.iter().any(|sensitive| matches(name, sensitive)) && !ORDINARY.iter().any(|plain| matches(name, plain))
        || is_sensitive_file(Path::new(&stripped)).is_some()
}

/// Whether a pattern might find a sensitive file among others.
pub(crate) fn may_find_sensitive(text: &str) -> bool {
    let name = text.rsplit('/').next().unwrap_or_default();
    is_pattern(name) && (name.chars().count() > 200 || SENSITIVE.iter().any(|sensitive| matches(name, sensitive)))
}

fn is_pattern(name: &str) -> bool {
    name.contains(['*', '?', '['])
}

/// Whether a pattern fits a name, as the shell sees it: a leading dot is not found by a wildcard.
fn matches(pattern: &str, name: &str) -> bool {
    if name.starts_with('.') && pattern.starts_with('*') {
        return false;
    }
    let pattern: Vec<char> = pattern.chars().flat_map(char::to_lowercase).collect();
    let name: Vec<char> = name.chars().collect();
    // Where each way of reading the pattern stands, so that many stars cost no more than few.
    let mut reached = vec![false; name.len() + 1];
    if let Some(start) = reached.first_mut() {
        *start = true;
    }
    let mut at = 0;
    while let Some(letter) = pattern.get(at) {
        let (fits, length): (Box<dyn Fn(char) -> bool>, usize) = match letter {
            '*' => {
                let mut any = false;
                for place in &mut reached {
                    any |= *place;
                    *place = any;
                }
                at += 1;
                continue;
            }
            '?' => (Box::new(|_| true), 1),
            // What is in brackets is taken to fit: it costs a question at worst.
            '[' => match pattern.iter().skip(at + 1).position(|letter| *letter == ']') {
                Some(length) => (Box::new(|_| true), length + 2),
                None => (Box::new(|found| found == '['), 1),
            },
            literal => {
                let literal = *literal;
                (Box::new(move |found| found == literal), 1)
            }
        };
        let mut next = vec![false; reached.len()];
        for (index, found) in name.iter().enumerate() {
            if let (Some(true), Some(place)) = (reached.get(index), next.get_mut(index + 1)) {
                *place = fits(*found);
            }
        }
        reached = next;
        at += length;
    }
    reached.last().copied().unwrap_or(false)
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
    }

    #[test]
    fn many_stars_cost_no_more_than_few() {
        assert!(!matches(&"*a".repeat(100), &"a".repeat(50)));
    }
}

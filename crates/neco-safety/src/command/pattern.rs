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

/// Folders whose files no pattern may choose from.
const FOLDERS: [&str; 12] =
    ["..", ".git", ".ssh", ".aws", ".gnupg", ".config", ".neco", ".docker", ".kube", ".vscode", ".idea", ".npm"];

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
    let (folders, name) = text.rsplit_once('/').unwrap_or(("", text));
    may_find(name, &SENSITIVE) || folders.split('/').any(|folder| may_find(folder, &FOLDERS))
}

/// Whether a pattern might find the folder above.
pub(crate) fn may_climb(text: &str) -> bool {
    text.split('/').any(|name| may_find(name, &[".."]))
}

/// Whether a pattern might find one of the names. Quotes are gone from it, so nobody can tell where a
/// bracket ends: from there on it fits anything.
fn may_find(pattern: &str, names: &[&str]) -> bool {
    let open = pattern.split('[').next().filter(|start| start.len() < pattern.len()).map(|start| format!("{start}*"));
    let pattern = match &open {
        Some(start) if start == "*" => return true,
        Some(start) => start,
        None => pattern,
    };
    is_pattern(pattern) && (pattern.chars().count() > 200 || names.iter().any(|name| matches(pattern, name)))
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
        for pattern in [".[[:lower:]]nv", ".gi?/config", ".[]e]nv", ".?/x", "src/[a]/../.e*", ".g*/x/config"] {
            assert!(may_find_sensitive(pattern), "{pattern}");
        }
        assert!(may_climb(".?") && may_climb("a/.*/b") && !may_climb("*/a") && !may_climb("../*"));
    }

    #[test]
    fn many_stars_cost_no_more_than_few() {
        assert!(!matches(&"*a".repeat(100), &"a".repeat(50)));
    }
}

//! Paths as models write them: in quotes, as an address, with a slash behind a file.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// Signs that a path may stand between.
const AROUND: [(char, char); 4] = [('"', '"'), ('\'', '\''), ('`', '`'), ('<', '>')];

/// What is meant by a path that names nothing as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Meant {
    /// Nobody gives a file such a name.
    Surely(PathBuf),
    /// Somebody might, so it is meant only if it is there.
    IfThere(PathBuf),
}

/// The path that may be meant; nothing when it is written as paths are.
pub(crate) fn meant(given: &Path) -> Option<Meant> {
    let given = given.to_str()?;
    let plain = without_address(without_signs(given));
    if plain.as_os_str().is_empty() {
        return None;
    }
    if plain != Path::new(given) {
        return Some(Meant::Surely(plain));
    }
    let without_slash = given.trim_end_matches('/');
    if without_slash != given && !without_slash.is_empty() {
        return Some(Meant::IfThere(without_slash.into()));
    }
    given.contains('\\').then(|| Meant::IfThere(given.replace('\\', "/").into()))
}

fn without_signs(given: &str) -> &str {
    let trimmed = given.trim();
    let inner = AROUND.iter().find_map(|(open, close)| trimmed.strip_prefix(*open)?.strip_suffix(*close));
    inner.filter(|inner| !inner.is_empty()).map_or(trimmed, str::trim)
}

/// The path of a `file:` address.
fn without_address(text: &str) -> PathBuf {
    let Some(rest) = text.strip_prefix("file://") else { return text.into() };
    let rest = rest.strip_prefix("localhost/").map_or_else(|| rest.to_owned(), |rest| format!("/{rest}"));
    let mut bytes = Vec::with_capacity(rest.len());
    let mut left = rest.as_bytes();
    while let [first, after @ ..] = left {
        let digit = |at: usize| after.get(at).and_then(|byte| char::from(*byte).to_digit(16));
        let escaped = digit(0).zip(digit(1)).filter(|_| *first == b'%');
        (left, _) = match escaped.and_then(|(high, low)| u8::try_from(high * 16 + low).ok()) {
            Some(byte) => (after.get(2..).unwrap_or_default(), bytes.push(byte)),
            None => (after, bytes.push(*first)),
        };
    }
    PathBuf::from(OsString::from_vec(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_around_a_path_is_no_part_of_it() {
        let surely = |path: &str| Some(Meant::Surely(path.into()));
        let if_there = |path: &str| Some(Meant::IfThere(path.into()));
        for (given, expected) in [
            ("src/a.rs", None),
            ("a b's.txt", None),
            ("\"src/a.rs\"", surely("src/a.rs")),
            ("'a.rs'", surely("a.rs")),
            ("`a.rs`", surely("a.rs")),
            (" a.rs\n", surely("a.rs")),
            ("<a.rs>", surely("a.rs")),
            ("file:///project/a%20b.rs", surely("/project/a b.rs")),
            ("file://localhost/project/a.rs", surely("/project/a.rs")),
            ("file://a.rs", surely("a.rs")),
            ("file:///a%zz%4", surely("/a%zz%4")),
            ("a.rs/", if_there("a.rs")),
            ("src\\a.rs", if_there("src/a.rs")),
            ("/", None),
            ("\"\"", None),
            ("", None),
        ] {
            assert_eq!(meant(Path::new(given)), expected, "{given:?}");
        }
    }
}

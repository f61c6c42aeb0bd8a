//! Patterns of file names: what `glob` finds and what `grep` is narrowed by.

use std::path::{Path, PathBuf};

use globset::{GlobBuilder, GlobMatcher};
use neco_proto::ErrorCode;
use neco_toolkit::ToolError;

/// A pattern of paths. `*` and `?` stay inside one name, `**` crosses folders, `{a,b}` and `[ab]` are choices.
#[derive(Debug)]
pub struct Pattern {
    matcher: GlobMatcher,
    /// Whether names alone are compared.
    names_only: bool,
    negated: bool,
}

impl Pattern {
    /// A pattern; without a `/` it is for names in any folder, with a `!` in front for what does not fit.
    pub fn new(pattern: &str) -> Result<Self, ToolError> {
        let mut new = Self::anchored(pattern)?;
        new.names_only = !pattern.trim_start_matches("./").contains('/');
        Ok(new)
    }

    /// A pattern that starts at one folder, whatever it contains.
    pub fn anchored(pattern: &str) -> Result<Self, ToolError> {
        let (negated, rest) = pattern.strip_prefix('!').map_or((false, pattern), |rest| (true, rest));
        let rest = rest.trim_start_matches("./");
        let whole = if rest.ends_with('/') { format!("{rest}**") } else { rest.to_owned() };
        let glob =
            GlobBuilder::new(&whole).literal_separator(true).empty_alternates(true).build().map_err(|error| {
                ToolError::new(ErrorCode::InvalidArguments, format!("{pattern:?} is not a pattern: {}", error.kind()))
            })?;
        Ok(Self { matcher: glob.compile_matcher(), names_only: false, negated })
    }

    /// Whether it is for what does not fit.
    pub fn is_negated(&self) -> bool {
        self.negated
    }

    /// Whether a path, relative to where the pattern starts, fits.
    pub fn fits(&self, relative: &Path) -> bool {
        let fits = match relative.file_name() {
            Some(name) if self.names_only => self.matcher.is_match(Path::new(name)),
            Some(_) | None => self.matcher.is_match(relative),
        };
        fits != self.negated
    }
}

/// The folders that a pattern names outright, and the rest of it.
pub fn split(pattern: &str) -> (PathBuf, String) {
    let mut folder = PathBuf::new();
    let mut rest = pattern;
    while let Some((name, after)) = rest.split_once('/') {
        if name.contains(['*', '?', '[', '{', '\\']) || after.is_empty() {
            break;
        }
        folder.push(if name.is_empty() && folder.as_os_str().is_empty() { "/" } else { name });
        rest = after;
    }
    (folder, rest.to_owned())
}

/// Whether a pattern asks for hidden names by name.
pub fn names_hidden(pattern: &str) -> bool {
    pattern.split(['/', '{', ',']).any(|name| name.len() > 1 && name.starts_with('.') && name != "..")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_fit_as_people_expect() {
        let table = [
            ("*.rs", "src/deep/a.rs", true),
            ("*.rs", "a.rsx", false),
            ("src/*.rs", "src/a.rs", true),
            ("src/*.rs", "src/deep/a.rs", false),
            ("src/**/*.rs", "src/a.rs", true),
            ("**/*.{ts,tsx}", "web/a.tsx", true),
            ("./src/**", "src/a/b", true),
            ("src/", "src/a/b", true),
            ("!*.md", "a.md", false),
            ("!*.md", "a.rs", true),
            ("*.test.[jt]s", "x/a.test.js", true),
        ];
        for (pattern, path, expected) in table {
            assert_eq!(Pattern::new(pattern).unwrap().fits(Path::new(path)), expected, "{pattern} {path}");
        }
        assert_eq!(Pattern::new("[a").unwrap_err().code, ErrorCode::InvalidArguments);
    }

    #[test]
    fn what_a_pattern_names_is_taken_apart() {
        let table = [
            ("src/a/*.rs", "src/a", "*.rs"),
            ("*.rs", "", "*.rs"),
            ("**/x", "", "**/x"),
            ("/abs/dir/**", "/abs/dir", "**"),
            ("src/{a,b}/c", "src", "{a,b}/c"),
            ("../out/*", "../out", "*"),
            ("src/", "", "src/"),
        ];
        for (pattern, folder, rest) in table {
            assert_eq!(split(pattern), (PathBuf::from(folder), rest.to_owned()), "{pattern}");
        }
        assert!(names_hidden("**/.env*") && names_hidden("{.a,b}/c") && !names_hidden("a.b/*.rs"));
        assert!(!names_hidden("../x") && !names_hidden("./x"));
    }
}

//! The formats.

use std::path::{Path, PathBuf};

use regex::Regex;

use super::super::problem::Problem;
use super::{cargo, linters, pattern};

/// How the output of a checker reads.
#[derive(Clone, Debug)]
pub(in crate::diagnostics) enum Format {
    /// `cargo … --message-format=json`.
    Cargo,
    /// `tsc --pretty false`.
    Tsc,
    /// `eslint --format json`.
    Eslint,
    /// `ruff check --output-format json-lines`.
    Ruff,
    /// `go vet -json`.
    GoVet,
    /// `file:line:column: message`.
    Usual,
    /// Lines that match.
    Pattern(Regex),
}

impl Format {
    /// The problems in the output of a checker that ran in a folder.
    pub(in crate::diagnostics) fn read(&self, output: &str, folder: &Path) -> Vec<Problem> {
        match self {
            Self::Cargo => cargo::read(output, folder),
            Self::Tsc => pattern::tsc(output, folder),
            Self::Eslint => linters::eslint(output, folder),
            Self::Ruff => linters::ruff(output, folder),
            Self::GoVet => linters::go_vet(output, folder),
            Self::Usual => pattern::usual(output, folder),
            Self::Pattern(regex) => pattern::read(regex, output, folder),
        }
    }
}

/// A file as a checker names it, without `./`.
pub(super) fn file(name: &str, folder: &Path) -> Option<PathBuf> {
    let name = name.trim();
    (!name.is_empty()).then(|| folder.join(name.strip_prefix("./").unwrap_or(name)))
}

/// A message on one line of ordinary length.
pub(super) fn message(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(500) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line,
    }
}

/// A number of a line or column; 0 says nothing.
pub(super) fn number(value: Option<&serde_json::Value>) -> Option<u32> {
    value?.as_u64().and_then(|number| u32::try_from(number).ok()).filter(|number| *number > 0)
}

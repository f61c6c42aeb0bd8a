//! One thing that a checker found.

use std::fmt;
use std::path::{Path, PathBuf};

/// How bad it is; the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Severity {
    /// It does not work.
    Error,
    /// It may be wrong.
    Warning,
    /// Worth knowing.
    Info,
}

impl Severity {
    /// The severity of a checker's own word for it.
    pub(super) fn of_word(word: &str) -> Self {
        match word.trim().to_ascii_lowercase().as_str() {
            "warning" | "warn" | "w" | "style" | "convention" | "refactor" => Self::Warning,
            "info" | "information" | "message" | "note" | "hint" | "help" | "suggestion" | "i" => Self::Info,
            _ => Self::Error,
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Info => "info",
        }
    }
}

/// One thing that a checker found.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Problem {
    pub(super) severity: Severity,
    /// The file, absolute where it could be found.
    pub(super) file: Option<PathBuf>,
    /// The line, from 1.
    pub(super) line: Option<u32>,
    /// The column, from 1.
    pub(super) column: Option<u32>,
    /// What the checker says, on one line.
    pub(super) message: String,
    /// The name of the rule.
    pub(super) code: Option<String>,
}

impl Problem {
    /// What makes it the same problem after an edit moved it.
    pub(super) fn identity(&self) -> (Severity, Option<PathBuf>, Option<String>, String) {
        (self.severity, self.file.clone(), self.code.clone(), self.message.clone())
    }

    /// `src/a.rs:3:5: error: mismatched types [E0308]`, from a folder on.
    pub(super) fn shown<'a>(&'a self, from: &'a Path) -> impl fmt::Display + 'a {
        Shown { problem: self, from }
    }
}

struct Shown<'a> {
    problem: &'a Problem,
    from: &'a Path,
}

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let problem = self.problem;
        if let Some(file) = &problem.file {
            write!(f, "{}:", file.strip_prefix(self.from).unwrap_or(file).display())?;
            for number in [problem.line, problem.column].into_iter().flatten() {
                write!(f, "{number}:")?;
            }
            f.write_str(" ")?;
        }
        write!(f, "{}: {}", problem.severity.name(), problem.message)?;
        match &problem.code {
            Some(code) => write!(f, " [{code}]"),
            None => Ok(()),
        }
    }
}

//! One line of the doctor's report.

use std::fmt::Write;

use serde::Serialize;

use crate::print::clean::clean_line;
use crate::print::paint::Paint;

/// How it stands with a thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Health {
    /// As it should be.
    Ok,
    /// Neither good nor bad.
    Info,
    /// Works, but the person should know.
    Warn,
    /// Does not work.
    Fail,
}

/// One line of the report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// How it stands.
    pub health: Health,
    /// With what.
    pub subject: &'static str,
    /// What was found.
    pub words: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
}

impl Finding {
    /// As it should be.
    pub fn ok(subject: &'static str, words: impl Into<String>) -> Self {
        Self { health: Health::Ok, subject, words: words.into(), fix: None }
    }

    /// Neither good nor bad.
    pub fn info(subject: &'static str, words: impl Into<String>) -> Self {
        Self { health: Health::Info, ..Self::ok(subject, words) }
    }

    /// Works, but the person should know.
    pub fn warn(subject: &'static str, words: impl Into<String>) -> Self {
        Self { health: Health::Warn, ..Self::ok(subject, words) }
    }

    /// Does not work.
    pub fn fail(subject: &'static str, words: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { health: Health::Fail, fix: Some(fix.into()), ..Self::ok(subject, words) }
    }
}

/// The report for a person.
#[must_use]
pub fn as_lines(findings: &[Finding], paint: Paint) -> String {
    let mut text = String::new();
    for finding in findings {
        let health = match finding.health {
            Health::Ok => paint.green("ok  "),
            Health::Info => paint.dim("info"),
            Health::Warn => paint.yellow("warn"),
            Health::Fail => paint.red("fail"),
        };
        let _ = writeln!(text, "{health}  {:<9} {}", finding.subject, clean_line(&finding.words));
        if let Some(fix) = &finding.fix {
            let _ = writeln!(text, "{:16}{}", "", paint.cyan(&format!("→ {}", clean_line(fix))));
        }
    }
    text
}

//! What is there, what is missing, and how to put it right.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::request::{Watch, request};
use super::settings::SettingProblem;

/// Looks at everything that work in a folder stands on. No model is asked, and a check never stops the ones after it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Examine {
    /// The folder.
    pub folder: String,
}

request!(Examine => Examined, "doctor.examine", Get "/doctor", Read, repeatable);

impl Watch for Examine {
    type Item = Finding;
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Examined {
    /// The version of the program.
    pub version: String,
    /// One by one, in the order in which they matter.
    pub findings: Vec<Finding>,
}

/// Tells what commands run in.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ShowSandbox {
    /// The folder.
    pub folder: String,
    /// The open session that is meant, which may have one of its own; empty for what the folder's settings say.
    pub session: String,
}

request!(ShowSandbox => ShownSandbox, "doctor.sandbox", Get "/doctor/sandbox", Read, repeatable);

/// What commands run in.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ShownSandbox {
    /// In a few words, for a person.
    pub in_short: String,
    /// What stays open in it.
    pub gaps: Vec<String>,
    /// Its level, by its name.
    #[serde(default)]
    pub level: String,
    /// What makes the settings unusable; what is told holds all the same.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<SettingProblem>,
}

/// Gives one open session another sandbox, from its next turn on and as long as it is open.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SetSandbox {
    /// The session.
    pub session: String,
    /// The level, by its name.
    pub level: String,
}

request!(SetSandbox => ShownSandbox, "doctor.set_sandbox", Put "/doctor/sandbox", Manage, repeatable);

/// One thing that was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// How it stands.
    pub health: Health,
    /// With what: `config`, `model`, `group`, `provider`, `key`, `local`, `store` and so on.
    pub subject: String,
    /// What was found, for a person.
    pub words: String,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
}

/// How it stands with a thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
    /// Something that only a newer version knows.
    #[serde(other)]
    Other,
}

impl Finding {
    /// As it should be.
    pub fn ok(subject: &str, words: impl Into<String>) -> Self {
        Self { health: Health::Ok, subject: subject.to_owned(), words: words.into(), fix: None }
    }

    /// Neither good nor bad.
    pub fn info(subject: &str, words: impl Into<String>) -> Self {
        Self { health: Health::Info, ..Self::ok(subject, words) }
    }

    /// Works, but the person should know.
    pub fn warn(subject: &str, words: impl Into<String>) -> Self {
        Self { health: Health::Warn, ..Self::ok(subject, words) }
    }

    /// Does not work.
    pub fn fail(subject: &str, words: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { health: Health::Fail, fix: Some(fix.into()), ..Self::ok(subject, words) }
    }
}

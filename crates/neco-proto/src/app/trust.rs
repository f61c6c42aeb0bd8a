//! Which folders may switch something on by themselves.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::request::request;

/// Lists the folders that something was decided about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ListTrust {}

request!(ListTrust => TrustList, "trust.list", Get "/trust", Read, repeatable);

/// The folders that something was decided about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TrustList {
    /// The folders.
    pub folders: Vec<TrustRow>,
}

/// A folder that something was decided about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TrustRow {
    /// The folder.
    pub path: String,
    /// What was decided.
    pub state: TrustState,
}

/// What was decided about a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum TrustState {
    /// It may switch on what was seen.
    #[serde(rename = "trusted")]
    Trusted,
    /// It may not.
    #[serde(rename = "not trusted")]
    Declined,
    /// Another folder is there now, or none.
    #[serde(rename = "gone")]
    Gone,
    /// Something that only a newer version knows.
    #[serde(rename = "other", other)]
    Other,
}

/// Tells what a folder would switch on by itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ShowTrust {
    /// The folder.
    pub folder: String,
}

request!(ShowTrust => FolderTrust, "trust.show", Get "/trust/folder", Read, repeatable);

/// What a folder would switch on by itself, and how that stands.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FolderTrust {
    /// What it would switch on, for the person who decides; empty when that is nothing.
    pub described: String,
    /// The same in a line for each thing: what it is called, and what it runs.
    #[serde(default)]
    pub names: String,
    /// What exactly was described: a decision is about that and nothing else.
    pub seen: String,
    /// Its parts in a line each, which can be taken or left one by one.
    #[serde(default)]
    pub parts: Vec<String>,
    /// Whether all of it is on.
    pub all_on: bool,
    /// What is left out, and why.
    #[serde(default)]
    pub warnings: Vec<String>,
}

/// Decides whether a folder may switch on what it has.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct DecideTrust {
    /// The folder.
    pub folder: String,
    /// What exactly the person saw, as [`ShowTrust`] told it.
    pub seen: String,
    /// Whether it may.
    pub trusted: bool,
    /// The only parts that it may switch on where it may, by their places in [`FolderTrust::parts`]; without this, all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub only: Option<Vec<usize>>,
}

request!(DecideTrust => FolderTrust, "trust.decide", Put "/trust/folder", Manage, repeatable);

/// What a person says to what a folder would switch on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TrustAnswer {
    /// All of it may.
    All,
    /// Nothing of it may.
    Nothing,
    /// These parts may, by their places in [`FolderTrust::parts`].
    Only(Vec<usize>),
}

/// Forgets what was decided about a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ForgetTrust {
    /// The folder.
    pub folder: String,
}

request!(ForgetTrust => ForgottenTrust, "trust.forget", Delete "/trust/folder", Manage, repeatable);

/// Whether there was anything to forget.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ForgottenTrust {
    /// Whether something had been decided.
    pub known: bool,
}

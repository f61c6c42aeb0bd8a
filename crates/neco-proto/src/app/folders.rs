//! Folders that a session may work in besides its own.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::request::request;

/// Lists the folders that an open session may read and write besides its own.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ListFolders {
    /// The session, by its id.
    pub session: String,
}

request!(ListFolders => OpenFolders, "folders.list", Get "/folders", Read, repeatable);

/// Lets an open session read and write one more folder, from its next turn on and as long as it is open.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct AddFolder {
    /// The session, by its id.
    pub session: String,
    /// The folder, as a whole path.
    pub folder: String,
}

request!(AddFolder => OpenFolders, "folders.add", Put "/folders", Manage, repeatable);

/// The folders that a session may read and write besides its own.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OpenFolders {
    /// The folders, with every link resolved; the last one was added last.
    pub folders: Vec<String>,
}

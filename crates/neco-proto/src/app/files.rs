//! The files of a folder, as people name them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::request::request;

/// Lists the files and folders below a folder, what git ignores left out; as many as there are in a few seconds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ListFiles {
    /// The folder.
    pub folder: String,
}

request!(ListFiles => FileList, "files.list", Get "/files", Read, repeatable);

/// Names of files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileList {
    /// The names, in their order; those of folders end with a slash.
    pub names: Vec<String>,
}

/// Tells the branch that a folder is on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ShowBranch {
    /// The folder.
    pub folder: String,
}

request!(ShowBranch => Branch, "files.branch", Get "/files/branch", Read, repeatable);

/// Where a repository stands.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Branch {
    /// The branch, or the commit in brackets; none where there is no repository.
    pub name: Option<String>,
}

//! What a folder brings before anything is said in it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::request::request;

/// Tells what a folder brings: what is not committed there, and what agents know from the beginning. Git itself looks,
/// which can take a while.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ShowProject {
    /// The folder.
    pub folder: String,
}

request!(ShowProject => Project, "project.show", Get "/project", Read, repeatable);

/// What a folder brings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Project {
    /// How many files of its repository are not committed, new ones included; none where there is no repository, where
    /// it is too large to be looked through for a number, or where git can't say.
    pub uncommitted: Option<usize>,
    /// The rules files that agents are told, as they are called in the repository.
    pub rules: Vec<String>,
    /// How many entries of the memory are about work there.
    pub memories: usize,
}

//! Where something comes from that people can bring along.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::mode::names;

/// Where something comes from that people can bring along.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Origin {
    /// It comes with the program.
    #[serde(rename = "built-in")]
    BuiltIn,
    /// A file of the person.
    #[serde(rename = "yours")]
    Person,
    /// A file of the folder that is worked in.
    #[serde(rename = "folder")]
    Folder,
    /// A file that somebody named.
    #[serde(rename = "file")]
    Named,
}

names!(Origin {
    Origin::BuiltIn => "built-in",
    Origin::Person => "yours",
    Origin::Folder => "folder",
    Origin::Named => "file",
});

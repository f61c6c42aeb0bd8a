//! Where something comes from that people can bring along.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::mode::names;

names! {
    /// Where something comes from that people can bring along.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    pub enum Origin {
        /// It comes with the program.
        BuiltIn = "built-in",
        /// A file of the person.
        Person = "yours",
        /// A file of the folder that is worked in.
        Folder = "folder",
        /// A file that somebody named; also a place that only a newer version knows.
        #[serde(other)]
        Named = "file",
    }
}

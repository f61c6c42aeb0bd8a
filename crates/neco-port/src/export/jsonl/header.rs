//! The first line.

use serde::{Deserialize, Serialize};

use crate::export::About;

/// The version of the format that is written.
pub const FORMAT: u32 = 1;

/// The first line of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// The version of the format; what makes the line a header.
    pub neco_session: u32,
    /// The session.
    #[serde(flatten)]
    pub about: About,
    /// How many events follow, as far as that was known when the file was begun.
    #[serde(default)]
    pub events: u64,
}

impl Header {
    /// The header of a file that is written now.
    pub fn new(about: About, events: u64) -> Self {
        Self { neco_session: FORMAT, about, events }
    }
}

//! What a file says of its session besides the events.

use neco_proto::SessionId;
use serde::{Deserialize, Serialize};

/// What a file says of its session besides the events.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct About {
    /// Its id.
    pub id: SessionId,
    /// A few words about it.
    #[serde(default)]
    pub title: String,
    /// The folder it works in.
    #[serde(default)]
    pub cwd: String,
    /// When it was made, in milliseconds since 1970.
    #[serde(default)]
    pub created_ms: i64,
    /// When it was last used, in milliseconds since 1970.
    #[serde(default)]
    pub updated_ms: i64,
    /// The version of Neco that writes the file.
    #[serde(default)]
    pub neco: String,
}

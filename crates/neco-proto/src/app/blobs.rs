//! Bytes that belong to a session and are too many to stand in an answer.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::request::request;
use crate::ids::{Seq, SessionId};

/// Where bytes of a session are: all of an output that was too big for the model, with the event that ends its call; or a
/// picture, with the event of its message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BlobId {
    /// The session.
    pub session: SessionId,
    /// The event.
    pub seq: Seq,
    /// Which part of the message, from 0.
    #[serde(default)]
    pub part: usize,
}

/// Reads bytes of a session; [`dyn App::bytes`](super::App) asks for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReadBytes {
    /// Where they are.
    #[serde(flatten)]
    pub id: BlobId,
    /// The first one.
    #[serde(default)]
    pub start: u64,
    /// The one after the last; at most [`ReadBytes::MOST`] come at a time.
    pub end: u64,
}

impl ReadBytes {
    /// How many bytes come at a time at most.
    pub const MOST: u64 = 4 * 1024 * 1024;
}

request!(ReadBytes => BlobPiece, "sessions.bytes", Get "/sessions/{session}/events/{seq}/bytes", Read, repeatable);

/// Some bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BlobPiece {
    /// The bytes; none behind the end.
    #[serde(with = "as_base64")]
    #[schemars(with = "String")]
    pub bytes: Vec<u8>,
    /// How many there are in all.
    pub total: u64,
}

/// Bytes in base64, as wires carry them.
mod as_base64 {
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&STANDARD.encode(bytes))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
        STANDARD.decode(String::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

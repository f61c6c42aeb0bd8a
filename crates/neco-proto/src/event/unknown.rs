//! Events of other versions: kept as they are, passed over by whoever does not know them.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// An event that this version can't read: its type is new, or a value in it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UnknownEvent {
    /// The value of `type`.
    #[serde(rename = "type")]
    pub name: String,
    /// All other fields, in their order.
    #[serde(flatten)]
    pub fields: Map<String, Value>,
}

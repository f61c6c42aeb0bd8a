//! Session ids as people are shown them.

use neco_proto::SessionId;

/// The characters that hold the time and the first of the chance: two sessions that share them were
/// begun in the same millisecond, and even then hardly ever.
const SHOWN: usize = 18;

/// The beginning of an id that stands for it wherever an id is asked for.
#[must_use]
pub fn short_id(id: SessionId) -> String {
    id.to_string().chars().take(SHOWN).collect()
}

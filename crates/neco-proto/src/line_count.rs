//! Lines that a change adds and removes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Lines that a change adds and removes.
///
/// ```
/// use neco_proto::LineCount;
///
/// let unified = "--- a/b\n+++ b/b\n@@ -1,2 +1,2 @@\n same\n-old\n+new\n+more\n";
/// assert_eq!(LineCount::of(unified), LineCount { added: 2, removed: 1 });
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LineCount {
    /// Lines added.
    pub added: u64,
    /// Lines removed.
    pub removed: u64,
}

impl LineCount {
    /// Counts the lines of a unified diff, with or without its head.
    #[must_use]
    pub fn of(unified: &str) -> Self {
        let mut lines = Self::default();
        for line in unified.lines().skip_while(|line| !line.starts_with("@@")) {
            match line.as_bytes().first() {
                Some(b'+') => lines.added += 1,
                Some(b'-') => lines.removed += 1,
                Some(_) | None => {}
            }
        }
        lines
    }
}

//! What is remembered from one session to the next.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is remembered from one session to the next.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct MemorySection {
    /// Whether there is a memory at all. Without it nothing is remembered and nothing is recalled;
    /// the files stay where they are.
    pub enabled: bool,
    /// Most entries whose title and summary the model is given at the start of a session; what does
    /// not fit into the memory's share of the context falls out before that.
    #[schemars(range(min = 0, max = 1000))]
    pub max_entries: usize,
    /// Whether a session that ends is looked through for what is worth keeping, with one small model
    /// call. Not set means: where a person sits at the terminal, and a real model answers.
    pub extract: Option<bool>,
    /// The model or group that is asked then; not set means the session's own.
    #[schemars(length(min = 1))]
    pub extract_model: Option<String>,
    /// Seconds that call may take at the end of a session; then nothing is kept.
    #[schemars(range(max = 600), extend("exclusiveMinimum" = 0))]
    pub extract_timeout: f64,
}

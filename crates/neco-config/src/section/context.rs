//! What the model is told, and how much of each.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the model is told, and how much of each.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ContextSection {
    /// How full the context may be, in percent of what is left beside the answer, before the
    /// conversation is compacted.
    #[schemars(range(min = 20, max = 95))]
    pub compact_at: u8,
    /// Tokens that are kept free for the answer; never more than a quarter of the window.
    #[schemars(range(min = 256))]
    pub answer_reserve: u64,
    /// How many of the last turns a compaction leaves as they are. The first three stay too, where they fit.
    #[schemars(range(min = 1, max = 50))]
    pub keep_turns: usize,
    /// Whether outputs and arguments of earlier calls are shortened when they are outdated, or long and used.
    pub trim: bool,
    /// Whether rules files such as AGENTS.md are read.
    pub rules: bool,
    /// Most bytes that are read of one rules file.
    #[schemars(range(min = 256, max = 1_048_576))]
    pub max_rules_file: usize,
    /// How deep rules files may import others with `@path`.
    #[schemars(range(min = 0, max = 10))]
    pub import_depth: u8,
    /// Tokens for a map of the repository: what its most used definitions are and where. 0 leaves it
    /// out. A repository that was never indexed gets its map in the session after the first.
    #[schemars(range(min = 0, max = 100_000))]
    pub repo_map: u32,
    /// Whether a model puts the hits of `code_search`, `web_search` and `memory_search` in order, what helps most
    /// first, with one small call for each search that found three or more.
    pub rerank: bool,
    /// The model or group that is asked for that order; not set means the session's own.
    #[schemars(length(min = 1))]
    pub rerank_model: Option<String>,
    /// Most of the window that a part may take, in percent.
    pub shares: ContextShares,
}

/// Most of the window that a part may take, in percent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ContextShares {
    /// Rules files.
    #[schemars(range(min = 0, max = 100))]
    pub rules: u8,
    /// Lists of skills and agents.
    #[schemars(range(min = 0, max = 100))]
    pub skills: u8,
    /// Titles and summaries of what is remembered.
    #[schemars(range(min = 0, max = 100))]
    pub memory: u8,
    /// Active files and the map of the repository.
    #[schemars(range(min = 0, max = 100))]
    pub files: u8,
    /// Pieces of files that fit the words of your message, given along with it; 0 gives none. None are given to a model
    /// whose window is smaller than 32,000 tokens or not known, and never more than 6,000 tokens with one message.
    #[schemars(range(min = 0, max = 25))]
    pub request_files: u8,
    /// The summary of the conversation that was compacted.
    #[schemars(range(min = 1, max = 100))]
    pub summary: u8,
}

//! What the model is told: prompts, rules, and a conversation that always fits.

#![allow(clippy::unwrap_used, clippy::string_slice, reason = "tests stop at the first thing that is wrong")]

mod compaction;
mod folder_rules;
mod model;
mod prefix;
mod prompt;
mod request_files;
mod search_order;
mod soak;
mod stage;

//! The rooms of neco-tools that decide where an edit belongs, without the tools around them.

#[path = "../../../crates/neco-tools/src/files/matching/mod.rs"]
pub mod matching;
#[path = "../../../crates/neco-tools/src/files/text.rs"]
pub mod text;

//! OpenAI chat completions, which most vendors and local servers speak, each a little differently.
//!
//! Reading order: `dialect` (how they differ), `encode` (request), `chunk` (what arrives),
//! `decode` (what it means) with `calls`, `think` and `details`, `problem` (errors).

mod calls;
mod chunk;
mod decode;
mod details;
mod dialect;
mod encode;
pub(super) mod problem;
mod think;

pub use decode::ChatDecoder;
pub use dialect::{Dialect, ReasoningBack, ReasoningParameter};
pub use encode::OpenaiChat;

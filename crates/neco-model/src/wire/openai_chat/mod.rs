//! OpenAI chat completions, which most vendors and local servers speak, each a little differently.
//!
//! Reading order: `dialect` (how they differ), `encode` (request) with
//! `messages`, `chunk` (what arrives), `decode` (what it means) with `calls` and `think`, `problem` (errors).

mod calls;
mod chunk;
mod decode;
mod dialect;
mod encode;
mod messages;
pub(super) mod problem;
mod think;

pub use decode::ChatDecoder;
pub use dialect::{Dialect, OutputForm, ReasoningBack, ReasoningParameter};
pub use encode::OpenaiChat;

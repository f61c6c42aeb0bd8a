//! OpenAI chat completions, which most vendors and local servers speak, each a little differently.
//!
//! Reading order: `dialect` (how they differ), `calling` (how calls are made), `encode` (request) with
//! `head` and `messages`, `chunk` (what arrives), `decode` (what it means) with `calls`, `think` and `details`, `problem` (errors).

mod calling;
mod calls;
mod chunk;
mod decode;
mod details;
mod dialect;
mod encode;
mod head;
mod messages;
pub(super) mod problem;
mod think;

pub use decode::ChatDecoder;
pub use dialect::{Dialect, OutputForm, ReasoningBack, ReasoningParameter};
pub use encode::OpenaiChat;

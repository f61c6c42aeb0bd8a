//! Gemini `generateContent`: the conversation and the answer are contents made of parts.
//!
//! Thoughts travel as signatures on the parts they led to, and go back on the very same parts. A
//! stream has no end mark; the finish reason on its last piece is one.
//!
//! Reading order: `encode` (request) with `contents` (messages),
//! `chunk` (what arrives), `decode` (what it means), `problem` (errors).

mod chunk;
mod contents;
mod decode;
mod encode;
mod problem;

pub use decode::GeminiDecoder;
pub use encode::Gemini;

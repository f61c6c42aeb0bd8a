//! How vendors are spoken to: one file or folder for each wire format.
//!
//! A wire turns a request into shared pieces of bytes and the bytes of an answer into deltas. It
//! knows nothing of connections, keys and retries. Invariants: bytes may arrive in any split; what
//! is unknown is skipped; an answer without its end mark is no answer; a call is only announced
//! as whole by the answer's finish.
//!
//! Reading order: [`target`], [`mod@format`] (what a wire is), [`sse`], [`reader`] (bytes to deltas);
//! what wires share: `heads` and `kept` (bytes that are made once), `arguments`, `loose`, `counts`, `cut`,
//! [`text_calls`]; then [`openai_chat`], [`openai_responses`], [`anthropic`], [`gemini`].

pub mod anthropic;
pub(crate) mod arguments;
mod counts;
mod cut;
pub mod format;
pub mod gemini;
mod heads;
mod kept;
mod loose;
pub mod openai_chat;
pub mod openai_responses;
pub mod reader;
pub mod sse;
pub mod target;
pub mod text_calls;

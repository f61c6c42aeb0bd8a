//! Anthropic messages, which some other vendors and gateways speak too.
//!
//! Reading order: `encode` (request), `thinking` (how thought is asked for), `happening` (what arrives), `decode` (what it means). Errors have the shape that
//! chat completions give them.

mod decode;
mod encode;
mod happening;
mod thinking;

pub use decode::AnthropicDecoder;
pub use encode::Anthropic;

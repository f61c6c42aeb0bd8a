//! OpenAI responses: the conversation and the answer are lists of items.
//!
//! Nothing is stored at the vendor's, so thoughts travel encrypted: they come as items that must go
//! back whole, in order, before what they led to. An item that the vendor did not give an encrypted
//! form of can't go back at all.
//!
//! Reading order: `encode` (request), `happening` (what arrives),
//! `decode` (what it means) with `items_in`.

mod decode;
mod encode;
mod happening;
mod items_in;

pub use decode::ResponsesDecoder;
pub use encode::OpenaiResponses;

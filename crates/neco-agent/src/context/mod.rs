//! What the model is told before the conversation: layers in a fixed order, so that prompt caches hit.
//!
//! Reading order: [`layer`], [`source`], [`assemble`].

mod assemble;
mod layer;
mod source;

pub use assemble::Context;
pub use layer::Layer;
pub use source::{Situation, Source};

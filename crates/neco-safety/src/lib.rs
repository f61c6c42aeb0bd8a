//! Decides whether a call may happen, and builds the box it happens in.
//!
//! What the model asks for is untrusted. [`policy`] judges a call from what it would touch, purely;
//! [`world`] is what a tool is handed to touch anything at all, so that a path or a process that
//! was not judged can't be reached.
//!
//! Reading order: [`policy`], [`path`], [`world`], [`secrets`], `sandbox`.

pub mod path;
pub mod policy;
mod sandbox;
pub mod secrets;
pub mod world;

pub use path::{Located, PathError};
pub use policy::{Action, Grant, Policy, Ruling, Touch, Verdict, Who};
pub use world::World;

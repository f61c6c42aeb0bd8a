//! Decides whether a call may happen.
//!
//! What the model asks for is untrusted. [`policy`] judges a call from what it would touch, purely;
//! [`world`] is what a tool is handed to touch anything at all, so that a path or a process that
//! was not judged can't be reached.
//!
//! Reading order: [`tools`], [`policy`], [`command`], [`path`], [`world`], [`secrets`], [`untrusted`] and [`invisible`] (what
//! texts may hide from whoever reads them), [`trust`].

pub mod command;
pub mod invisible;
mod listed;
pub mod path;
pub mod policy;
pub mod secrets;
pub mod tools;
pub mod trust;
pub mod untrusted;
pub mod world;

pub use listed::is_listed;
pub use path::{Located, PathError};
pub use policy::{Action, Confinement, Grant, Policy, Ruling, SideEffect, Verdict, Who};
pub use trust::Trust;
pub use world::World;

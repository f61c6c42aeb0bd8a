//! Talks to any model: wire formats, providers as data, groups, retries, cost, the scripted model.
//!
//! Everything that can be asked is a [`Provider`]; retry, group and the scripted model are
//! providers around or beside the ones that speak HTTP, so whoever holds one needs to know none.
//!
//! Reading order: [`provider`], [`request`], [`history`], [`delta`], [`error`].

pub mod delta;
pub mod error;
pub mod history;
pub mod provider;
pub mod request;

pub use delta::{Answer, Delta, FinishReason, RawCall};
pub use error::{ErrorKind, ModelError, Place};
pub use history::{Entry, History};
pub use provider::{DeltaStream, Provider};
pub use request::{Request, ToolDeclaration};

//! Talks to any model: wire formats, providers as data, groups, retries, cost, the scripted model.
//!
//! Everything that can be asked is a [`Provider`]; retry, group and the scripted model are
//! providers around or beside the ones that speak HTTP, so whoever holds one needs to know none.
//! [`Models`] is what the configuration makes of it all.
//!
//! Reading order: [`provider`], [`request`], [`history`], [`delta`], [`error`] (the faces);
//! [`models`] and [`setup`] (from a name to a provider); [`route`], [`adapt`], [`wire`], `http`, [`group`];
//! [`catalogue`], [`cost`] and [`tokens`]; [`probe`] and [`trial`] (what a person
//! is told); [`scripted`].

#![cfg_attr(test, allow(clippy::string_slice))]

pub mod adapt;
mod assemble;
pub mod catalogue;
mod catalogue_models;
pub mod cost;
pub mod delta;
pub mod error;
pub mod group;
pub mod history;
mod http;
pub mod models;
pub mod probe;
pub mod provider;
pub mod request;
pub mod route;
pub mod scripted;
pub mod setup;
pub mod tokens;
pub mod trial;
pub mod wire;

pub use catalogue::{Catalogue, ModelInfo};
pub use cost::Price;
pub use delta::{Answer, Bound, Bounded, Delta, FinishReason, Piece, RawCall};
pub use error::{ErrorKind, ModelError, Place};
pub use history::{Entry, History};
pub use http::{BuildError, build_client, is_loopback};
pub use models::{Description, State};
pub use models::{GROUPS, Models};
pub use probe::{KeyTrial, LocalServer, Served, try_key};
pub use provider::{DeltaStream, Provider};
pub use request::{ACTIVATE, CALL, OutputSchema, Request, ToolDeclaration};
pub use route::{KeySources, NoKeys};
pub use scripted::Script;
pub use setup::{LookedFor, SetupError};
pub use tokens::TokenCount;
pub use trial::Trial;

//! What a session puts before its agents. It is gathered once, when the session is opened, so that the
//! prompt stays the same from turn to turn.
//!
//! Reading order: [`environment`], [`reader`] (files that are told without a call), [`rules`], [`overrides`] (files in the place of prompts),
//! [`repo_map`], [`request_files`] (what fits a message).

mod environment;
mod overrides;
pub(crate) mod reader;
mod repo_map;
mod request_files;
mod rules;

pub(crate) use environment::{Facts, Fixed, programs};
pub use overrides::prompt_files;
pub(crate) use repo_map::map_of_repository;
pub(crate) use request_files::PiecesBelow;
pub use rules::{Rules, RulesFile, RulesPlaces, Scope, rules_files};
pub(crate) use rules::{RulesBelow, RulesSearch};

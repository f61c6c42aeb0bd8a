//! Rules files: what the project and the person wrote down for agents.
//!
//! Invariants: only regular files are read, inside the repository or the person's own folders, through no link that
//! leads out, none that holds secrets and none that a rule closes to reading; whatever is cut or left out is said
//! where the model and the person see it; every text is marked with the file it comes from, can't pretend to end there
//! and hides nothing.
//!
//! Reading order: [`mod@find`] (which files there are), [`import`] (what they bring along), [`frontmatter`],
//! [`source`] (what the model is told), [`below`] (those of folders that are touched later).

mod below;
mod find;
mod frontmatter;
mod import;
mod source;

pub use below::RulesBelow;
pub use find::{RulesFile, RulesPlaces, RulesSearch, Scope, rules_files};
pub use source::Rules;

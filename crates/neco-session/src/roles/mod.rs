//! Roles: who a child agent can be.
//!
//! A definition says what an agent of its name is told, which tools exist for it and how far it may go.
//! They come with the program, from the person's own folders and from the folder that is worked in, also
//! in the form that other agents use.
//!
//! Invariants: a definition only narrows what its parent has: tools, rules, limits; one that can't be
//! understood does not exist, and the reason names file and line; what a folder brings that nobody trusts
//! replaces nobody else's definition and chooses no model.
//!
//! Reading order: [`definition`] (what one is),
//! [`read`] with [`fields`] (what the fields mean, and tools by the names of other agents), [`inputs`] (what an agent is
//! started with), [`find`] (where they are), [`builtin`].

mod builtin;
mod definition;
mod fields;
mod find;
mod inputs;
mod read;
#[cfg(test)]
mod tests;

pub(crate) use definition::Narrowing;
pub(crate) use definition::ToolChoice;
pub use definition::{Definition, Origin, RoleModel};
pub use find::{DefinitionFile, DefinitionPlaces, Definitions, IsTrusted, UnknownDefinition};
pub(crate) use read::model_of;
pub use read::read_definition;

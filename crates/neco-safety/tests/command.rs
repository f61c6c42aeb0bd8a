//! What command lines are rated as: a table, and properties that hold for all lines.

#![allow(clippy::unwrap_used)]

#[path = "command/cover.rs"]
mod cover;
#[path = "command/links.rs"]
mod links;
#[path = "command/properties.rs"]
mod properties;
#[path = "command/property.rs"]
mod property;
#[path = "command/real.rs"]
mod real;
#[path = "command/table.rs"]
mod table;

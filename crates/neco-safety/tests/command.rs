//! What command lines are rated as: a table, and properties that hold for all lines.

#[path = "command/cover.rs"]
mod cover;
#[path = "command/properties.rs"]
mod properties;
#[path = "command/property.rs"]
mod property;
#[path = "command/table.rs"]
mod table;

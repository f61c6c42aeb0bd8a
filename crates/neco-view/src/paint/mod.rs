//! Painters: what people see as text of one kind or another.
//!
//! Invariant: nothing that came from a model, a tool or a file is painted with its control characters.
//!
//! Reading order: [`colour`], [`wrap`], then [`text`] (for terminals and for whoever reads a run as lines) and
//! [`lists`] (answers of the program).

pub mod colour;
pub mod lists;
pub mod text;
pub mod wrap;

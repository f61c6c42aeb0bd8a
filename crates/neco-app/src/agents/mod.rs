//! Who a child agent can be.
//!
//! Reading order: [`mod@definitions`], [`mod@check`].

mod check;
mod definitions;

pub(crate) use check::check;
pub(crate) use definitions::{list, show};

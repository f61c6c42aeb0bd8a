//! The plan of a box: what is seen of the machine, what of it can be changed, and what rules close.
//!
//! Reading order: [`layout`] with [`names`], [`named`] and [`listed`], [`closing`] with [`hard_links`], [`shut`].

pub(crate) mod closing;
mod hard_links;
pub(crate) mod layout;
pub(crate) mod listed;
pub(crate) mod named;
pub(crate) mod names;
mod shut;

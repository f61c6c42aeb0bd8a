//! One box: what it is made of, and how whoever builds it is told.
//!
//! Reading order: [`confined`], [`walls`], [`bwrap`] or [`rules`] with [`carve`], [`order`]; beside it [`proxy`].

pub(crate) mod bwrap;
mod carve;
pub(crate) mod confined;
pub(crate) mod order;
pub(crate) mod proxy;
mod rules;
pub(crate) mod walls;

//! One box: what it is made of, and how whoever builds it is told.
//!
//! Reading order: [`confined`], [`walls`], [`bwrap`] or [`rules`], [`order`]; beside it [`proxy`].

pub(crate) mod bwrap;
pub(crate) mod confined;
pub(crate) mod order;
pub(crate) mod proxy;
mod rules;
pub(crate) mod walls;

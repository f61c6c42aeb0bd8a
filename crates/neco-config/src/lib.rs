//! Reads the layered TOML and tells where every value came from.
//!
//! The one crate that reads environment variables and finds home directories; everybody else is
//! handed what was found. Sections hold raw values as people write them; the crate that owns a
//! setting's meaning converts it, once.
//!
//! Reading order: [`section`] (what can be set).

pub mod section;

pub use section::Config;

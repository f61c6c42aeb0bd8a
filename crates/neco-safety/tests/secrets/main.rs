//! Secrets are taken out of text, however it comes, and nothing else is.

#![allow(clippy::string_slice, clippy::unwrap_used)]

mod ordinary;
mod properties;
mod secret;
mod speed;

//! All automation.
fn main() {}

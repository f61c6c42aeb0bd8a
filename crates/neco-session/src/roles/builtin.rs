//! The definitions that come with the program, written as everybody writes them.

use std::sync::OnceLock;

use super::definition::{Definition, Origin};
use super::read::read_definition;

/// The files, by their names.
pub const BUILT_IN: [(&str, &str); 7] = [
    ("explore", include_str!("builtin/explore.md")),
    ("planner", include_str!("builtin/planner.md")),
    ("coder", include_str!("builtin/coder.md")),
    ("reviewer", include_str!("builtin/reviewer.md")),
    ("researcher", include_str!("builtin/researcher.md")),
    ("documenter", include_str!("builtin/documenter.md")),
    ("general", include_str!("builtin/general.md")),
];

/// The definitions; read once. They are part of the program and a test reads them, so they can be read.
pub(super) fn definitions() -> &'static [Definition] {
    static DEFINITIONS: OnceLock<Vec<Definition>> = OnceLock::new();
    DEFINITIONS.get_or_init(|| {
        let read = |(name, text): &(&str, &str)| read_definition(text, name, name, Origin::BuiltIn).0;
        BUILT_IN.iter().filter_map(read).collect()
    })
}

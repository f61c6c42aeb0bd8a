//! The tasks that come with the program, a file for each language.

/// The files.
pub const FILES: [&str; 6] = [
    include_str!("tasks/python.yaml"),
    include_str!("tasks/javascript.yaml"),
    include_str!("tasks/rust.yaml"),
    include_str!("tasks/go.yaml"),
    include_str!("tasks/shell.yaml"),
    include_str!("tasks/c.yaml"),
];

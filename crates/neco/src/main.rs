//! The door: arguments, wiring, subcommands, exit codes.
fn main() {}

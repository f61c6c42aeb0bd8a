//! Any bytes as a command line: nothing panics, and nothing with a denied command in it is rated below critical.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/neco-safety/tests/command/property.rs"]
mod property;

fuzz_target!(|bytes: &[u8]| {
    let Some((first, line)) = bytes.split_first() else { return };
    let denied = property::DENIED[usize::from(*first) % property::DENIED.len()];
    property::check(&String::from_utf8_lossy(line), denied);
});

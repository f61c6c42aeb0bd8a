//! Any text as a patch, read strictly and loosely: nothing panics, and what is read changes some file.

#![no_main]
#![allow(dead_code, missing_docs)]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/neco-tools/src/files/patch/envelope.rs"]
mod envelope;
#[path = "../../crates/neco-tools/src/files/patch/header.rs"]
mod header;
#[path = "../../crates/neco-tools/src/files/patch/hunk.rs"]
mod hunk;
#[path = "../../crates/neco-tools/src/files/patch/loose.rs"]
mod loose;
#[path = "../../crates/neco-tools/src/files/patch/read.rs"]
mod read;
#[path = "../../crates/neco-tools/src/files/patch/unified.rs"]
mod unified;

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    if let Ok(files) = read::read(&text) {
        assert!(!files.is_empty());
    }
    if let Some(files) = read::read_loosely(&text) {
        assert!(!files.is_empty());
    }
});

//! Any bytes on the socket: nothing panics, no line is longer than allowed, and what can be read can be said again.

#![no_main]
#![allow(dead_code, missing_docs)]

use libfuzzer_sys::fuzz_target;
use serde::Serialize;
use serde::de::DeserializeOwned;

#[path = "../../crates/neco-server/src/remote/frames.rs"]
mod frames;
#[path = "../../crates/neco-server/src/remote/lines.rs"]
mod lines;

use frames::{Numbered, Reply, Request};

/// Bytes that a line may have here.
const MOST: usize = 4096;

fuzz_target!(|bytes: &[u8]| {
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().build() else { return };
    let mut source = lines::Lines::new(bytes, MOST);
    while let Ok(lines::Read::Line(line)) = runtime.block_on(source.next()) {
        assert!(line.len() <= MOST && !line.contains(&b'\n'));
        check::<Request>(&line);
        check::<Reply>(&line);
    }
});

fn check<T: Serialize + DeserializeOwned + std::fmt::Debug>(line: &[u8]) {
    let Ok(read) = serde_json::from_slice::<Numbered<T>>(line) else { return };
    assert_eq!(frames::id_of(line), Some(read.id));
    let Ok(said) = frames::line(read.id, &read.says) else { return };
    let again: Numbered<T> = serde_json::from_slice(&said).expect("what was said can be read");
    // Not byte for byte: an event with a field twice is unknown and kept, and without the second one it is known.
    assert_eq!(again.id, read.id);
}

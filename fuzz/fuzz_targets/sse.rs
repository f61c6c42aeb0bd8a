//! Any bytes as a stream of events: wherever it is cut, the events are the same.

#![no_main]
#![allow(dead_code, missing_docs)]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/neco-model/src/wire/sse.rs"]
mod sse;

fn events<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> Vec<(Vec<u8>, Vec<u8>)> {
    let (mut parser, mut found) = (sse::Parser::default(), Vec::new());
    let mut keep = |event: sse::Event<'_>| found.push((event.name.to_vec(), event.data.to_vec()));
    for piece in pieces {
        // Nothing here is as long as the limit.
        assert!(parser.push(piece, &mut keep).is_ok());
    }
    assert!(parser.finish(&mut keep).is_ok());
    found
}

fuzz_target!(|bytes: &[u8]| {
    let Some((first, stream)) = bytes.split_first() else { return };
    let whole = events(std::iter::once(stream));
    assert_eq!(events(stream.chunks(usize::from(*first).max(1))), whole);
    assert_eq!(events(stream.chunks(1)), whole);
});

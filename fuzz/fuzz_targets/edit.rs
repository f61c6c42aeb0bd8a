//! Any bytes as a file and any text to be replaced in it: nothing panics, and only places that were found are changed.

#![no_main]
#![allow(dead_code, missing_docs, unused_imports)]

use libfuzzer_sys::fuzz_target;

#[path = "edit/files.rs"]
mod files;

use files::matching::{Replacement, apply};

/// What is put in the place of the old text.
const MARK: &str = "⟦new⟧";

fuzz_target!(|bytes: &[u8]| {
    // The first byte says how much is replaced; a byte that is in no text parts the file from the old text.
    let Some((first, rest)) = bytes.split_first() else { return };
    let mut parts = rest.splitn(3, |byte| *byte == 0xff);
    let content = parts.next().unwrap_or_default();
    let old = String::from_utf8_lossy(parts.next().unwrap_or_default());
    let new = String::from_utf8_lossy(parts.next().unwrap_or_default());
    let all = first % 2 == 1;
    let _ = apply(content, &Replacement { old: &old, new: &new, all }, &|| false);
    let Ok(edited) = apply(content, &Replacement { old: &old, new: MARK, all }, &|| false) else { return };
    let is_mark = |at: &usize| edited.content[*at..].starts_with(MARK.as_bytes());
    let marks: Vec<usize> = (0..edited.content.len()).filter(is_mark).collect();
    let before = content.windows(MARK.len()).filter(|part| *part == MARK.as_bytes()).count();
    assert!(edited.count > 0 && marks.len() <= edited.count + before);
    if before == 0 {
        assert_eq!(marks.len(), edited.count);
        assert!(content.ends_with(&edited.content[marks[marks.len() - 1] + MARK.len()..]));
    }
});

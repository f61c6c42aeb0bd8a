//! Any text as a file with a head: nothing panics, nothing of the body is lost, and every line number is one of the head.

#![no_main]

use libfuzzer_sys::fuzz_target;
use neco_config::front_matter::{Parted, Reading, part};

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    for reading in [Reading::Strict, Reading::Loose] {
        let Parted::Whole { fields, stray, body, body_line } = part(&text, reading) else { continue };
        assert!(text.ends_with(body));
        let head = 2..body_line - 1;
        assert!(stray.iter().all(|(line, _)| head.contains(line)));
        for field in &fields {
            assert!(head.contains(&field.line) && field.below().all(|(line, _)| head.contains(&line)));
            let _ = (field.words(), field.one_line(), field.items());
            if let Err((line, words)) = field.value() {
                assert!(line >= field.line && !words.is_empty(), "{line}: {words}");
            }
        }
    }
});

//! A line of about a thousand bytes a second: what is on its way in front of a key is counted, not the time.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::pty::{Far, Line, PATIENCE, PLACE};
use crate::support::say;
use crate::tmux::house;

const SLOW: Line = Line { arguments: &[], piece: (20, Duration::from_millis(20)), answers: &[PLACE] };

#[test]
fn keys_and_answers_to_them_do_not_wait_behind_what_streams() {
    let paragraph = |number: usize| (0..30).map(|word| format!("p{number}w{word}")).collect::<Vec<_>>().join(" ");
    let text = (0..60).map(paragraph).collect::<Vec<_>>().join("\n\n");
    let house = house(json!([{ "say": text, "between_ms": 4 }, say("unused")]));
    let mut line = Far::with_neco(&house, SLOW);
    line.until("Ask, or say", 0);
    line.types("go");
    line.until("o", 0);
    line.until("p1w", line.types("\r"));
    for key in ["Ж", "Ю", "Я"] {
        // More than ten thousand would be on their way if they were not counted.
        let ahead = line.until(key, line.types(key));
        assert!(ahead < 3000, "{ahead} bytes came before the key");
    }
    let ahead = line.until("Stopped", line.types("\x1b"));
    assert!(ahead < 4000, "{ahead} bytes came before it was said that it stopped");
    // The first Ctrl-C empties the field, the next two leave.
    line.until("restores it", line.types("\x03"));
    let ahead = line.until("\x1b[?2004l", line.types("\x03\x03"));
    assert!(ahead < 6000, "{ahead} bytes came before the end");
    let begun = Instant::now();
    while line.neco.try_wait().unwrap().is_none() {
        assert!(begun.elapsed() < PATIENCE, "the window does not end");
        std::thread::sleep(Duration::from_millis(20));
    }
}

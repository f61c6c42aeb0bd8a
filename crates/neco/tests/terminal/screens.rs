//! The alternate screen is for terminals that say that they have one.

use std::time::Duration;

use crate::pty::{Far, Line, PLACE};
use crate::support::{eventually, lives};
use crate::tmux::one_waits;

/// What a terminal answers that has an alternate screen, and what mosh does, which has none.
const HAS_ONE: &[(&str, &str)] = &[("\x1b[?1049$p", "\x1b[?1049;2$y"), PLACE];
const SAYS_NOTHING: &[(&str, &str)] = &[PLACE];

#[test]
fn an_agent_is_shown_on_the_alternate_screen_only_where_there_is_one() {
    for (answers, seconds, has_one) in [(HAS_ONE, "4733", true), (SAYS_NOTHING, "4734", false)] {
        let house = one_waits(seconds);
        let line = Line { arguments: &["--yes"], piece: (4096, Duration::ZERO), answers };
        let far = Far::with_neco(&house, line);
        far.until("Ask, or say", 0);
        far.types("go\r");
        eventually("the agent is at work", || lives(seconds));
        far.until("Ctrl-X", far.types("\x14"));
        far.until("begin to wait", far.types("\r"));
        assert_eq!(far.find("\x1b[?1049h", 0).is_some(), has_one, "{answers:?}");
    }
}

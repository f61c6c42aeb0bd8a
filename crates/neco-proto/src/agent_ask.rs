//! What came of stopping agents, in words: told by the session and by every window.

use crate::clean::clean_line;
use crate::event::SessionStop;

/// Agents that ended with the turn that was stopped, since its calls waited for them; nothing when there are none.
#[must_use]
pub fn ended_with_turn(names: &[String]) -> Option<String> {
    let listed = names.iter().map(|name| clean_line(name)).collect::<Vec<_>>().join(", ");
    match names.len() {
        0 => None,
        1 => Some(format!("1 agent of this turn was stopped with it: {listed}")),
        many => Some(format!("{many} agents of this turn were stopped with it: {listed}")),
    }
}

/// What came of stopping everybody; nothing when nobody worked.
#[must_use]
pub fn stopped(stop: &SessionStop) -> Option<String> {
    match stop.paused.len() {
        0 => None,
        1 => Some("1 agent is paused; nothing it did is lost".to_owned()),
        many => Some(format!("{many} agents are paused; nothing they did is lost")),
    }
}

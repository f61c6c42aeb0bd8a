//! The clock of a session.

use std::time::{Duration, Instant};

use neco_agent::Clock;

/// Time since the session was opened.
pub struct SessionClock {
    opened: Instant,
}

impl SessionClock {
    /// A clock that starts now.
    #[allow(clippy::new_without_default, reason = "starting a clock is an act, not a default")]
    pub fn new() -> Self {
        Self { opened: Instant::now() }
    }
}

impl Clock for SessionClock {
    fn now(&self) -> Duration {
        self.opened.elapsed()
    }
}

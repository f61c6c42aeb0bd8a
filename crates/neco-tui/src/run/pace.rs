//! Over a slow line frames come no faster than it takes them: what is on its way in front of a key is what the person
//! waits for.

use std::time::Duration;

use tokio::time::Instant;

/// A frame that took longer found the way to the terminal full.
const FULL: Duration = Duration::from_millis(60);

/// Bytes that are on their way then: what the system keeps for a terminal.
const ON_THEIR_WAY: f64 = 8192.0;

/// What may be on its way when the next frame is drawn.
const AHEAD: Duration = Duration::from_millis(100);

/// The longest that nothing is drawn.
const LONGEST: Duration = Duration::from_secs(10);

/// A line that takes so many bytes a second is not slow.
const QUICK: f64 = 200_000.0;

/// How fast the line is, as far as it was found to be slow, and until when it is busy.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pace {
    rate: Option<f64>,
    busy_until: Option<Instant>,
}

impl Pace {
    /// A frame of so many bytes was taken within this time.
    pub(super) fn took(&mut self, bytes: usize, took: Duration, now: Instant) {
        #[allow(clippy::cast_precision_loss, reason = "a frame is small")]
        let bytes = bytes as f64;
        if took >= FULL {
            let rate = (bytes / took.as_secs_f64()).max(50.0);
            let rate = self.rate.map_or(rate, |before| (before + rate) / 2.0);
            self.rate = Some(rate);
            self.busy_until = Some(now + seconds(ON_THEIR_WAY / rate));
        } else if let Some(before) = self.rate {
            // It may have become faster; where it has not, the way is full again some time.
            let rate = before * 1.05;
            self.rate = (rate < QUICK).then_some(rate);
            self.busy_until = Some(self.busy_until.unwrap_or(now).max(now) + seconds(bytes / rate));
        }
    }

    /// Whether the line was found to be slow.
    pub(super) fn is_slow(&self) -> bool {
        self.rate.is_some()
    }

    /// When the next frame can be drawn.
    pub(super) fn next(&self, now: Instant) -> Instant {
        let until = self.busy_until.filter(|_| self.rate.is_some()).unwrap_or(now);
        until.checked_sub(AHEAD).unwrap_or(now)
    }
}

fn seconds(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or(LONGEST).min(LONGEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_line_is_given_what_it_takes() {
        let (mut pace, now) = (Pace::default(), Instant::now());
        pace.took(500_000, Duration::from_millis(3), now);
        assert!(pace.next(now) <= now, "a quick one is never waited for");
        pace.took(960, Duration::from_secs(1), now);
        let drained = now + Duration::from_secs(8);
        assert!(pace.next(now) > drained, "what is on its way comes first");
        let later = now + Duration::from_secs(9);
        pace.took(960, Duration::from_millis(1), later);
        let wait = pace.next(later) - later;
        assert!(wait > Duration::from_millis(700) && wait < Duration::from_secs(1), "{wait:?}");
    }
}

//! Over a slow line frames come no faster than it takes them: what is on its way in front of a key is what the person
//! waits for.
//!
//! The system takes some thousand bytes for a terminal that nobody has seen yet, so a line is to be known as slow before
//! they are full. The terminal is asked before the first frame and behind it, and once more if the line seems to be slow.
//! What it took longer then is the time of the frame: far away is not slow. After that it is not asked any more, and told
//! from how long it takes what is written.

use std::time::Duration;

use tokio::time::Instant;

/// A line that takes fewer bytes a second is slow.
const SLOW: f64 = 8000.0;

/// A frame with fewer bytes says nothing about a line.
const TELLING: usize = 180;

/// How much of what a line was found to take it is given: what fills up once is never emptied again.
const SHARE: f64 = 0.8;

/// How long frames wait for an answer, and how long the next question waits for a frame.
const PATIENCE: Duration = Duration::from_secs(1);

/// A frame that took longer found the way to the terminal full.
const FULL: Duration = Duration::from_millis(60);

/// Bytes that are on their way then: what the system keeps for a terminal.
const ON_THEIR_WAY: f64 = 8192.0;

/// The longest that a quick line is left alone after it took nothing for a while.
const HICCUP: Duration = Duration::from_secs(2);

/// What may be on its way when keys are drawn.
const AHEAD: Duration = Duration::from_millis(800);

/// How much of a line's time a frame may take.
const FRAME: f64 = 0.4;

/// The longest that nothing is drawn.
const LONGEST: Duration = Duration::from_secs(10);

/// A line that takes so many bytes a second is not slow, whatever was found before.
const NEVER_SLOW: f64 = 200_000.0;

/// How fast the line is, as far as it was found to be slow, and until when it is busy.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pace {
    rate: Option<f64>,
    busy_until: Option<Instant>,
    /// How long the last frame keeps the line busy.
    last: Duration,
    /// How long the terminal takes to answer when nothing is on its way, once that is known.
    far: Option<Duration>,
    /// Since when there is one more question to ask.
    open: Option<Instant>,
    /// When the terminal was asked, and the bytes in front of the question.
    question: Option<(Instant, f64)>,
    /// What the first frame spoke of, if that was a slow line.
    seemed: Option<f64>,
    /// Whether two frames did.
    measured: bool,
}

impl Pace {
    /// Whether there is one more question to ask; not for ever, as nobody hears the keys until then.
    pub(super) fn is_open(&self, now: Instant) -> bool {
        self.question.is_some() || self.open.is_some_and(|since| now < since + PATIENCE)
    }

    /// Whether a question is to follow a frame of so many bytes.
    pub(super) fn asks(&self, bytes: usize, now: Instant) -> bool {
        bytes >= TELLING && self.question.is_none() && self.is_open(now)
    }

    /// The terminal is asked: the first time with nothing before it, then behind a frame of so many bytes.
    pub(super) fn asked(&mut self, bytes: usize, now: Instant) {
        self.question = Some((now, counted(bytes)));
    }

    /// It answered after this time, or did not.
    pub(super) fn answered(&mut self, took: Option<Duration>, now: Instant) {
        self.open = None;
        let (Some((_, bytes)), Some(took)) = (self.question.take(), took) else { return };
        let Some(far) = self.far else {
            self.far = Some(took);
            self.open = Some(now);
            return;
        };
        let found = bytes / took.saturating_sub(far).as_secs_f64().max(0.001);
        match self.seemed {
            None if found < SLOW => (self.seemed, self.open) = (Some(found), Some(now)),
            // Something else may have held up one of the answers, and nothing makes them come sooner.
            Some(seemed) if found.max(seemed) < SLOW => {
                self.rate = Some(found.max(seemed) * SHARE);
                self.busy_until = Some(now);
                self.measured = true;
            }
            None | Some(_) => {}
        }
    }

    /// A frame of so many bytes is handed over.
    pub(super) fn sent(&mut self, bytes: usize, now: Instant) {
        let Some(rate) = self.rate else { return };
        self.last = seconds(counted(bytes) / rate);
        self.busy_until = Some(self.busy_until.unwrap_or(now).max(now) + self.last);
    }

    /// A frame of so many bytes was taken within this time.
    pub(super) fn took(&mut self, bytes: usize, took: Duration, now: Instant) {
        if took >= FULL {
            let rate = (counted(bytes) / took.as_secs_f64()).max(50.0);
            let rate = self.rate.map_or(rate, |before| f64::midpoint(before, rate));
            self.rate = Some(rate);
            let wait = seconds(ON_THEIR_WAY / rate);
            // One that was quick so far had something else to do for a while.
            self.busy_until = Some(now + if self.is_known_quick() { wait.min(HICCUP) } else { wait });
        } else if let Some(before) = self.rate.filter(|_| !self.measured) {
            // It may have become faster; where it has not, the way is full again some time.
            let rate = before * if self.is_known_quick() { 2.0 } else { 1.05 };
            self.rate = (rate < NEVER_SLOW).then_some(rate);
        }
    }

    /// Whether the terminal answered, and not like one at the end of a slow line.
    pub(super) fn is_known_quick(&self) -> bool {
        self.far.is_some() && !self.measured && self.open.is_none()
    }

    /// Whether the line was found to be slow.
    pub(super) fn is_slow(&self) -> bool {
        self.rate.is_some()
    }

    /// The bytes of a frame on a line that is so slow that marks which turn are too much for it.
    pub(super) fn room(&self) -> Option<usize> {
        let rate = self.rate.filter(|rate| *rate < SLOW)?;
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "both ends are small")]
        Some((rate * FRAME).clamp(200.0, 4096.0) as usize)
    }

    /// When keys can be drawn: they are so few bytes that there is nothing to gain by waiting for the rest.
    pub(super) fn keys_at(&self, now: Instant) -> Instant {
        self.busy_until.and_then(|until| until.checked_sub(AHEAD)).unwrap_or(now)
    }

    /// When what was handed over is on the screen.
    pub(super) fn arrives(&self, now: Instant) -> Instant {
        self.busy_until.filter(|_| self.rate.is_some()).unwrap_or(now)
    }

    /// When the next frame can be drawn.
    pub(super) fn next(&self, now: Instant) -> Instant {
        let free = match (self.rate, self.busy_until) {
            (Some(_), Some(until)) => until + self.last / 4,
            _ => now,
        };
        let heard = self.question.filter(|_| self.far.is_some()).map(|(asked, _)| asked + PATIENCE);
        heard.map_or(free, |heard| heard.max(free))
    }
}

#[allow(clippy::cast_precision_loss, reason = "a frame is small")]
fn counted(bytes: usize) -> f64 {
    bytes as f64
}

fn seconds(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or(LONGEST).min(LONGEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(milliseconds: u64) -> Duration {
        Duration::from_millis(milliseconds)
    }

    /// A line that answers after `far`, and takes `rate` bytes a second, when it is asked no more.
    fn opened(far: Duration, rate: f64) -> (Pace, Instant) {
        let (mut pace, mut now) = (Pace::default(), Instant::now());
        pace.asked(0, now);
        assert!(pace.next(now) <= now, "the first frame does not wait");
        pace.answered(Some(far), now);
        while pace.asks(600, now) {
            pace.asked(600, now);
            assert!(pace.next(now) > now, "nothing more before it is known");
            now += far + Duration::from_secs_f64(600.0 / rate);
            pace.answered(Some(far + Duration::from_secs_f64(600.0 / rate)), now);
        }
        assert!(!pace.is_open(now));
        (pace, now)
    }

    #[test]
    fn far_away_is_not_slow() {
        for (far, rate) in [(ms(0), 1e6), (ms(1), 1e6), (ms(20), 20_000.0), (ms(200), 1e6), (ms(600), 50_000.0)] {
            let (pace, now) = opened(far, rate);
            assert!(!pace.is_slow() && pace.next(now) <= now, "{far:?}");
        }
    }

    #[test]
    fn a_slow_line_is_known_before_it_is_full() {
        let (mut pace, now) = opened(ms(30), 1000.0);
        assert_eq!(pace.room(), Some(320), "somewhat less than it takes");
        assert!(pace.next(now) <= now);
        pace.sent(320, now);
        assert!(pace.next(now) >= now + ms(400) && pace.keys_at(now) <= now);
        pace.took(320, ms(1), now + ms(500));
        assert_eq!(pace.room(), Some(320), "that it was taken says nothing");
    }

    #[test]
    fn one_late_answer_does_not_make_a_line_slow() {
        let (mut pace, now) = (Pace::default(), Instant::now());
        pace.asked(0, now);
        pace.answered(Some(ms(30)), now);
        pace.asked(600, now);
        pace.answered(Some(ms(300)), now);
        assert!(pace.asks(600, now) && !pace.is_slow());
        pace.asked(600, now);
        pace.answered(Some(ms(31)), now);
        assert!(!pace.is_slow() && !pace.is_open(now));
        // Nor does a terminal that takes nothing for a while.
        pace.took(960, Duration::from_secs(12), now);
        assert!(pace.next(now) > now && pace.next(now) <= now + HICCUP);
        assert!(pace.is_known_quick(), "what can't wait need not");
        for frame in 0..12 {
            pace.took(960, ms(1), now + HICCUP + ms(frame));
        }
        assert!(!pace.is_slow());
    }

    #[test]
    fn a_terminal_that_answers_nothing_is_told_from_what_it_takes() {
        let (mut pace, now) = (Pace::default(), Instant::now());
        pace.asked(0, now);
        assert!(pace.is_open(now));
        pace.answered(None, now);
        assert!(!pace.is_open(now) && !pace.asks(960, now), "it is not asked again");
        pace.took(500_000, ms(3), now);
        assert!(pace.next(now) <= now, "a quick one is never waited for");
        pace.took(960, Duration::from_secs(1), now);
        assert!(pace.next(now) > now + Duration::from_secs(8), "what is on its way comes first");
        let later = now + Duration::from_secs(9);
        pace.sent(960, later);
        assert!(pace.next(later) >= later + ms(900));
    }
}

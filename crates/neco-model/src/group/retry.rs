//! Whether and when the same thing is tried again.

use std::hash::{BuildHasher, RandomState};
use std::time::{Duration, Instant};

use neco_config::section::{NetworkSection, RetrySection};

use crate::error::{ErrorKind, ModelError};

/// The share of a wait by which it may be longer, so that many clients do not come back at once.
const JITTER: f64 = 0.25;
/// No wait of our own is longer, whatever the configuration says.
const LONGEST_WAIT: Duration = Duration::from_secs(3600);
/// How often a server that loads its model is asked at least.
const LOADING_WAIT: Duration = Duration::from_secs(5);
const LEAST_LOADING_WAIT: Duration = Duration::from_millis(10);

/// How failed calls are tried again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RetryPolicy {
    /// How often.
    pub retries: u32,
    /// The wait before the first retry; doubled each time.
    pub backoff: Duration,
    /// The longest wait that a vendor may ask for.
    pub max_retry_after: Duration,
    /// How long a server may load its model; that is no failure.
    pub load_timeout: Duration,
}

impl From<&NetworkSection> for RetryPolicy {
    fn from(network: &NetworkSection) -> Self {
        Self {
            retries: network.retries,
            backoff: duration(network.backoff),
            max_retry_after: duration(network.max_retry_after),
            load_timeout: duration(network.load_timeout),
        }
    }
}

/// How often one candidate failed so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Failures {
    ordinary: u32,
    /// While its model was being loaded, which is no failure of its own.
    loading: u32,
    /// How long that was waited for.
    loaded_for: Duration,
    /// When it first said so.
    loading_since: Option<Instant>,
}

impl Failures {
    /// All of them.
    pub fn total(self) -> u32 {
        self.ordinary.saturating_add(self.loading)
    }

    /// How long its model is being loaded: with the time that its answers took.
    fn loads_for(self) -> Duration {
        let since = self.loading_since.map(|since| since.elapsed()).unwrap_or_default();
        since.max(self.loaded_for)
    }
}

/// What no clock can wait for is no wait.
fn duration(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or_default()
}

impl RetryPolicy {
    /// This, but for what a provider has of its own.
    #[must_use]
    pub fn laid_over(self, own: RetrySection) -> Self {
        Self {
            retries: own.retries.unwrap_or(self.retries),
            backoff: own.backoff.map_or(self.backoff, duration),
            max_retry_after: own.max_retry_after.map_or(self.max_retry_after, duration),
            load_timeout: own.load_timeout.map_or(self.load_timeout, duration),
        }
    }

    /// Counts `error` and says how long to wait before another try, if there is to be one. What the
    /// vendor asks for is the least, and so is our own wait.
    pub fn wait(&self, failures: &mut Failures, error: &ModelError) -> Option<Duration> {
        let loading = self.waits_for_loading(error);
        if loading {
            failures.loading_since.get_or_insert_with(Instant::now);
        }
        let loads_for = failures.loads_for();
        let (count, longest) =
            if loading { (&mut failures.loading, LOADING_WAIT) } else { (&mut failures.ordinary, LONGEST_WAIT) };
        *count = count.saturating_add(1);
        // Who waits for nothing between two tries does not ask all the time while a model is loaded.
        let first = if loading { self.backoff.max(LEAST_LOADING_WAIT) } else { self.backoff };
        let doubled = first.saturating_mul(2u32.saturating_pow(count.saturating_sub(1)));
        let is_enough = if loading { loads_for >= self.load_timeout } else { *count > self.retries };
        if !error.retryable() || is_enough || self.asks_too_much(error) {
            return None;
        }
        let least = error.retry_after.unwrap_or_default();
        let wait = doubled.min(longest).max(least).mul_f64(1.0 + JITTER * chance());
        if loading {
            failures.loaded_for = failures.loaded_for.saturating_add(wait);
        }
        Some(wait)
    }

    /// How many attempts there are at most, after `failures` of which `error` is the last.
    pub fn attempts(&self, failures: &Failures, error: &ModelError) -> u32 {
        let left = if self.waits_for_loading(error) {
            let time = self.load_timeout.saturating_sub(failures.loads_for()).as_secs_f64();
            // The cast saturates.
            (time / LOADING_WAIT.as_secs_f64()).ceil() as u32
        } else {
            self.retries.saturating_sub(failures.ordinary)
        };
        failures.total().saturating_add(1).saturating_add(left)
    }

    /// A server that still reads its model from the disk answers when it is done; who wants no retries waits for
    /// nothing.
    fn waits_for_loading(&self, error: &ModelError) -> bool {
        self.retries > 0 && error.kind == ErrorKind::Loading
    }

    /// Adds to `error` that the vendor asks for a longer wait than is allowed, if it does.
    pub(super) fn mention_long_wait(&self, error: &mut ModelError) {
        let Some(asked) = error.retry_after.filter(|_| self.asks_too_much(error)) else { return };
        let (asked, allowed) = (spoken(asked), spoken(self.max_retry_after));
        let wait = format!("; it asks to wait {asked}, more than network.max_retry_after ({allowed})");
        error.message.push_str(&wait);
        error.advice.get_or_insert_with(|| "try later, add a key or set another model".to_owned());
    }

    fn asks_too_much(&self, error: &ModelError) -> bool {
        error.retryable() && error.retry_after.is_some_and(|asked| asked > self.max_retry_after)
    }
}

/// A duration for a person, to the two largest units.
fn spoken(duration: Duration) -> String {
    let seconds = duration.as_secs() + u64::from(duration.subsec_nanos() > 0);
    let units = [(seconds / 3600, "h"), (seconds % 3600 / 60, "min"), (seconds % 60, "s")];
    let told: Vec<String> =
        units.iter().filter(|(count, _)| *count > 0).take(2).map(|(count, unit)| format!("{count} {unit}")).collect();
    if told.is_empty() { "0 s".to_owned() } else { told.join(" ") }
}

/// From 0 to 1, another one each time.
fn chance() -> f64 {
    let random = RandomState::new().hash_one(0_u8);
    random as f64 / u64::MAX as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Place;

    const POLICY: RetryPolicy = RetryPolicy {
        retries: 3,
        backoff: Duration::from_secs(1),
        max_retry_after: Duration::from_secs(60),
        load_timeout: Duration::from_secs(300),
    };

    fn error(kind: ErrorKind, retry_after: Option<u64>) -> ModelError {
        let mut error = ModelError::new(kind, Place::Http, "");
        error.retry_after = retry_after.map(Duration::from_secs);
        error
    }

    /// The wait after so many failures of the same kind.
    fn wait(policy: RetryPolicy, failures: u32, error: &ModelError) -> Option<Duration> {
        let mut counted = Failures::default();
        (0..failures).map(|_| policy.wait(&mut counted, error)).last().flatten()
    }

    fn is_about(wait: Option<Duration>, seconds: f64) {
        let wait = wait.unwrap().as_secs_f64();
        assert!((seconds..=seconds * (1.0 + JITTER)).contains(&wait), "{wait}");
    }

    #[test]
    fn waits_double_and_end() {
        for (failures, seconds) in [(1, 1.0), (2, 2.0), (3, 4.0)] {
            is_about(wait(POLICY, failures, &error(ErrorKind::ServerError, None)), seconds);
        }
        assert_eq!(wait(POLICY, 4, &error(ErrorKind::ServerError, None)), None);
    }

    #[test]
    fn how_many_attempts_there_are_stays_the_same() {
        let failed = error(ErrorKind::ServerError, None);
        let mut failures = Failures::default();
        for attempt in 2..=4 {
            assert!(POLICY.wait(&mut failures, &failed).is_some());
            assert_eq!((failures.total() + 1, POLICY.attempts(&failures, &failed)), (attempt, 4));
        }
    }

    #[test]
    fn what_the_vendor_asks_for_is_obeyed_up_to_a_limit() {
        is_about(wait(POLICY, 1, &error(ErrorKind::RateLimit, Some(60))), 60.0);
        // Not sooner than we would by ourselves.
        is_about(wait(POLICY, 1, &error(ErrorKind::RateLimit, Some(0))), 1.0);
        is_about(wait(POLICY, 3, &error(ErrorKind::RateLimit, Some(1))), 4.0);
        assert_eq!(wait(POLICY, 1, &error(ErrorKind::RateLimit, Some(61))), None);
        let mut long = error(ErrorKind::RateLimit, Some(3660));
        POLICY.mention_long_wait(&mut long);
        let told = "; it asks to wait 1 h 1 min, more than network.max_retry_after (1 min)";
        assert_eq!(long.to_string(), format!("{told}; try later, add a key or set another model"));
        let mut short = error(ErrorKind::RateLimit, Some(3));
        POLICY.mention_long_wait(&mut short);
        assert_eq!(short, error(ErrorKind::RateLimit, Some(3)));
    }

    #[test]
    fn a_model_that_is_being_loaded_is_waited_for() {
        let loading = error(ErrorKind::Loading, None);
        let mut failures = Failures::default();
        let waits: Vec<Duration> = std::iter::from_fn(|| POLICY.wait(&mut failures, &loading)).collect();
        let (sum, last) = (waits.iter().sum::<Duration>(), waits.last().copied());
        is_about(last, 5.0);
        assert!(sum >= POLICY.load_timeout && sum < POLICY.load_timeout + Duration::from_secs(7), "{sum:?}");
        assert_eq!(POLICY.attempts(&failures, &loading), failures.total() + 1);
        for impatient in [RetryPolicy { retries: 0, ..POLICY }, RetryPolicy { load_timeout: Duration::ZERO, ..POLICY }]
        {
            assert_eq!(wait(impatient, 1, &loading), None);
        }
        // What fails afterwards has all its tries.
        let mut failures = Failures::default();
        for _ in 0..5 {
            assert!(POLICY.wait(&mut failures, &loading).is_some());
        }
        is_about(POLICY.wait(&mut failures, &error(ErrorKind::StreamCut, None)), 1.0);
        assert_eq!(failures.total(), 6);
        // The time that its answers took counts as well.
        let patient = RetryPolicy { load_timeout: Duration::from_millis(500), ..POLICY };
        let since = Instant::now().checked_sub(Duration::from_secs(1));
        let mut failures = Failures { loading_since: since, ..Failures::default() };
        assert!(since.is_some() && patient.wait(&mut failures, &loading).is_none());
    }

    #[test]
    fn what_can_not_succeed_is_not_tried_again() {
        assert_eq!(wait(POLICY, 1, &error(ErrorKind::InvalidRequest, None)), None);
        let forbidden = ModelError { never_retry: true, ..error(ErrorKind::RateLimit, None) };
        assert_eq!(wait(POLICY, 1, &forbidden), None);
    }
}

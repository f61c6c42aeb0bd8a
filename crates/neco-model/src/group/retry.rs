//! Whether and when the same thing is tried again.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use neco_config::section::NetworkSection;

use crate::error::{ErrorKind, ModelError};

/// The share of a wait by which it may be longer, so that many clients do not come back at once.
const JITTER: f64 = 0.25;
/// No wait of our own is longer, whatever the configuration says.
const LONGEST_WAIT: Duration = Duration::from_secs(3600);
/// Large models take minutes to load.
const LOADING_RETRIES: u32 = 60;
const LOADING_WAIT: Duration = Duration::from_secs(5);

/// How failed calls are tried again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RetryPolicy {
    /// How often.
    pub retries: u32,
    /// The wait before the first retry; doubled each time.
    pub backoff: Duration,
    /// The longest wait that a vendor may ask for.
    pub max_retry_after: Duration,
}

impl From<&NetworkSection> for RetryPolicy {
    fn from(network: &NetworkSection) -> Self {
        let duration = |seconds: f64| Duration::try_from_secs_f64(seconds).unwrap_or_default();
        Self {
            retries: network.retries,
            backoff: duration(network.backoff),
            max_retry_after: duration(network.max_retry_after),
        }
    }
}

impl RetryPolicy {
    /// How long to wait before another try after `failures` failures, if there is to be one.
    #[must_use]
    pub fn wait(&self, failures: u32, error: &ModelError) -> Option<Duration> {
        let loading = self.retries > 0 && is_loading(error);
        let (retries, longest) = if loading { (LOADING_RETRIES, LOADING_WAIT) } else { (self.retries, LONGEST_WAIT) };
        if !error.retryable() || failures > retries {
            return None;
        }
        match error.retry_after {
            Some(asked) => (asked <= self.max_retry_after).then_some(asked),
            None => {
                let doubled = self.backoff.saturating_mul(2u32.saturating_pow(failures.saturating_sub(1)));
                Some(doubled.min(longest).mul_f64(1.0 + JITTER * chance()))
            }
        }
    }
}

/// A local server that is still reading its model from disk answers when it is done.
fn is_loading(error: &ModelError) -> bool {
    error.kind == ErrorKind::Overloaded && error.message.to_lowercase().contains("loading model")
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

    const POLICY: RetryPolicy =
        RetryPolicy { retries: 3, backoff: Duration::from_secs(1), max_retry_after: Duration::from_secs(60) };

    fn error(kind: ErrorKind, retry_after: Option<u64>) -> ModelError {
        let mut error = ModelError::new(kind, Place::Http, "");
        error.retry_after = retry_after.map(Duration::from_secs);
        error
    }

    #[test]
    fn waits_double_and_end() {
        for (failures, seconds) in [(1, 1.0), (2, 2.0), (3, 4.0)] {
            let wait = POLICY.wait(failures, &error(ErrorKind::ServerError, None)).unwrap().as_secs_f64();
            assert!((seconds..=seconds * 1.25).contains(&wait), "{wait}");
        }
        assert_eq!(POLICY.wait(4, &error(ErrorKind::ServerError, None)), None);
    }

    #[test]
    fn what_the_vendor_asks_for_is_obeyed_up_to_a_limit() {
        assert_eq!(POLICY.wait(1, &error(ErrorKind::RateLimit, Some(60))), Some(Duration::from_secs(60)));
        assert_eq!(POLICY.wait(1, &error(ErrorKind::RateLimit, Some(0))), Some(Duration::ZERO));
        assert_eq!(POLICY.wait(1, &error(ErrorKind::RateLimit, Some(61))), None);
    }

    #[test]
    fn a_model_that_is_being_loaded_is_waited_for() {
        let mut error = error(ErrorKind::Overloaded, None);
        error.message = "llama.cpp has no room right now (HTTP 503): Loading model".to_owned();
        let wait = POLICY.wait(LOADING_RETRIES, &error).unwrap().as_secs_f64();
        assert!((5.0..=6.25).contains(&wait), "{wait}");
        assert_eq!(POLICY.wait(LOADING_RETRIES + 1, &error), None);
        assert_eq!(RetryPolicy { retries: 0, ..POLICY }.wait(1, &error), None);
    }

    #[test]
    fn what_can_not_succeed_is_not_tried_again() {
        assert_eq!(POLICY.wait(1, &error(ErrorKind::InvalidRequest, None)), None);
        let forbidden = ModelError { never_retry: true, ..error(ErrorKind::RateLimit, None) };
        assert_eq!(POLICY.wait(1, &forbidden), None);
    }
}

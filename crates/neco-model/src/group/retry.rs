//! Whether and when the same thing is tried again.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use neco_config::section::NetworkSection;

use crate::error::ModelError;

/// The share of a wait by which it may be longer, so that many clients do not come back at once.
const JITTER: f64 = 0.25;

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
        if !error.retryable() || failures > self.retries {
            return None;
        }
        match error.retry_after {
            Some(asked) => (asked <= self.max_retry_after).then_some(asked),
            None => {
                let doubled = self.backoff.saturating_mul(2u32.saturating_pow(failures.saturating_sub(1)));
                Some(doubled.mul_f64(1.0 + JITTER * chance()).min(Duration::from_secs(3600)))
            }
        }
    }
}

/// From 0 to 1, another one each time.
fn chance() -> f64 {
    let random = RandomState::new().hash_one(0_u8);
    random as f64 / u64::MAX as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{ErrorKind, Place};

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
    fn what_can_not_succeed_is_not_tried_again() {
        assert_eq!(POLICY.wait(1, &error(ErrorKind::InvalidRequest, None)), None);
        let forbidden = ModelError { never_retry: true, ..error(ErrorKind::RateLimit, None) };
        assert_eq!(POLICY.wait(1, &forbidden), None);
    }
}

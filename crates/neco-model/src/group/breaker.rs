//! Resting what failed, so that not every call runs into the same wall first.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use tokio::time::Instant;

use crate::error::{ErrorKind, ModelError};

/// The rest after the first failure; doubled with each one that follows without a success between.
const FIRST_REST: Duration = Duration::from_secs(30);
/// A bad key or empty account does not mend itself quickly.
const KEY_REST: Duration = Duration::from_secs(300);
const LONGEST_REST: Duration = Duration::from_secs(3600);

/// The origin of the milliseconds below.
static EPOCH: LazyLock<Instant> = LazyLock::new(Instant::now);

/// Whether one key of one model is rested.
#[derive(Debug, Default)]
pub struct Breaker {
    failures: AtomicU32,
    /// Milliseconds since [`EPOCH`]; it is tried last before then.
    rested_until: AtomicU64,
}

impl Breaker {
    /// It gave up.
    pub(super) fn failed(&self, error: &ModelError) {
        let before = self.failures.fetch_add(1, Ordering::Relaxed);
        let of_the_key = matches!(error.kind, ErrorKind::Auth | ErrorKind::Permission | ErrorKind::Quota);
        let first = if of_the_key { KEY_REST } else { FIRST_REST };
        let grown = first.saturating_mul(2u32.saturating_pow(before.min(16)));
        let rest = error.retry_after.unwrap_or(grown).min(LONGEST_REST);
        self.rested_until.store(now() + milliseconds(rest), Ordering::Relaxed);
    }

    /// It answered.
    pub(super) fn succeeded(&self) {
        self.failures.store(0, Ordering::Relaxed);
        self.rested_until.store(0, Ordering::Relaxed);
    }

    /// Whether it is better left alone for now.
    pub(super) fn rests(&self) -> bool {
        now() < self.rested_until.load(Ordering::Relaxed)
    }
}

fn now() -> u64 {
    milliseconds(EPOCH.elapsed())
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Place;

    #[tokio::test(start_paused = true)]
    async fn a_rest_ends_by_itself_and_grows_until_a_success() {
        let breaker = Breaker::default();
        assert!(!breaker.rests());
        let error = ModelError::new(ErrorKind::ServerError, Place::Http, "");
        breaker.failed(&error);
        assert!(breaker.rests());
        tokio::time::advance(FIRST_REST + Duration::from_millis(1)).await;
        assert!(!breaker.rests());
        breaker.failed(&error);
        tokio::time::advance(FIRST_REST + Duration::from_millis(1)).await;
        assert!(breaker.rests());
        breaker.succeeded();
        assert!(!breaker.rests());
    }

    #[tokio::test(start_paused = true)]
    async fn what_the_vendor_asks_for_counts() {
        let breaker = Breaker::default();
        let mut error = ModelError::new(ErrorKind::RateLimit, Place::Http, "");
        error.retry_after = Some(Duration::from_secs(90));
        breaker.failed(&error);
        tokio::time::advance(Duration::from_secs(89)).await;
        assert!(breaker.rests());
        tokio::time::advance(Duration::from_secs(2)).await;
        assert!(!breaker.rests());
    }
}

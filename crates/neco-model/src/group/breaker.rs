//! Resting what failed, so that not every call runs into the same wall first.
//!
//! A breaker is closed, or it rests until a moment, or that moment has passed: then one caller
//! probes and the others still count it as rested, until the probe succeeded, failed or was dropped.
//! However many calls fail in one outage, the rest is doubled once: only the failure of a call that
//! began when the breaker stood as it stands now counts.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use tokio::time::Instant;

use crate::error::{ErrorKind, ModelError};

/// The rest after the first failure; doubled with each one that follows without a success between.
const FIRST_REST: Duration = Duration::from_secs(30);
/// A bad key or empty account does not mend itself quickly.
const KEY_REST: Duration = Duration::from_secs(300);
const LONGEST_REST: Duration = Duration::from_secs(3600);
/// A vendor that limits the rate knows when it will have room; nobody is asked again sooner.
const LEAST_REST: Duration = Duration::from_secs(1);
/// More doublings than the longest rest has room for.
const MOST_DOUBLINGS: u64 = 16;

/// The origin of the milliseconds below.
static EPOCH: LazyLock<Instant> = LazyLock::new(Instant::now);

/// Whether something is rested.
#[derive(Debug, Default)]
pub struct Breaker {
    /// The number of failures and the end of the rest, in one so that they change together.
    standing: AtomicU64,
    probed: AtomicBool,
}

/// Leave to ask what is behind a breaker. Dropped, it lets the next one probe.
#[derive(Debug)]
pub(super) struct Pass {
    breaker: Arc<Breaker>,
    /// How the breaker stood; nothing when it was rested and asked all the same.
    seen: Option<u64>,
    probes: bool,
}

impl Breaker {
    /// Leave to ask, unless it rests or another caller probes it.
    pub(super) fn enter(self: &Arc<Self>) -> Option<Pass> {
        let standing = self.standing.load(Ordering::Acquire);
        if standing == 0 {
            return Some(Pass { breaker: self.clone(), seen: Some(0), probes: false });
        }
        if now() < until(standing) || self.probed.swap(true, Ordering::AcqRel) {
            return None;
        }
        // The probe before this one may have ended between the two.
        let standing = self.standing.load(Ordering::Acquire);
        let pass = Pass { breaker: self.clone(), seen: Some(standing), probes: true };
        (now() >= until(standing)).then_some(pass)
    }

    /// Leave to ask although it rests, because nothing else is left.
    pub(super) fn enter_rested(self: &Arc<Self>) -> Pass {
        Pass { breaker: self.clone(), seen: None, probes: false }
    }

    /// Whether it is better left alone for now.
    pub(super) fn rests(&self) -> bool {
        let standing = self.standing.load(Ordering::Acquire);
        standing != 0 && (now() < until(standing) || self.probed.load(Ordering::Acquire))
    }

    /// Puts another standing in place of the one that `change` is given.
    fn change(&self, change: impl Fn(u64) -> u64) {
        // It always gives one, so there is no failure to see.
        let _ = self.standing.fetch_update(Ordering::AcqRel, Ordering::Acquire, |standing| Some(change(standing)));
    }
}

impl Pass {
    pub(super) fn failed(&self, error: &ModelError) {
        let now = now();
        self.breaker.change(|standing| {
            let failures = failures(standing);
            let counts = failures == 0 || self.seen == Some(standing);
            let doublings = if counts { failures } else { failures.saturating_sub(1) };
            let end = now.saturating_add(milliseconds(rest(error, doublings)));
            // A rest is never shortened by a failure.
            stand(if counts { failures + 1 } else { failures }, end.max(until(standing)))
        });
    }

    pub(super) fn succeeded(&self) {
        self.breaker.standing.store(0, Ordering::Release);
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        if self.probes {
            self.breaker.probed.store(false, Ordering::Release);
        }
    }
}

fn rest(error: &ModelError, doublings: u64) -> Duration {
    let first = if matches!(error.kind, ErrorKind::Auth | ErrorKind::Permission | ErrorKind::Quota) {
        KEY_REST
    } else if error.kind == ErrorKind::RateLimit && error.retry_after.is_some_and(|asked| !asked.is_zero()) {
        LEAST_REST
    } else {
        FIRST_REST
    };
    let doublings = u32::try_from(doublings.min(MOST_DOUBLINGS)).unwrap_or(u32::MAX);
    let grown = first.saturating_mul(2u32.saturating_pow(doublings));
    grown.max(error.retry_after.unwrap_or_default()).min(LONGEST_REST)
}

/// The bits of a standing that tell the end of the rest: milliseconds since [`EPOCH`].
const END_BITS: u32 = 48;

fn stand(failures: u64, end: u64) -> u64 {
    failures.min(u64::from(u16::MAX)) << END_BITS | end.min((1 << END_BITS) - 1)
}

fn failures(standing: u64) -> u64 {
    standing >> END_BITS
}

fn until(standing: u64) -> u64 {
    standing & ((1 << END_BITS) - 1)
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

    fn error(kind: ErrorKind, retry_after: Option<u64>) -> ModelError {
        let mut error = ModelError::new(kind, Place::Http, "");
        error.retry_after = retry_after.map(Duration::from_secs);
        error
    }

    /// How long it rests from here on, in whole seconds.
    fn seconds(breaker: &Breaker) -> u64 {
        until(breaker.standing.load(Ordering::Relaxed)).saturating_sub(now()).div_ceil(1000)
    }

    async fn pass(time: Duration) {
        tokio::time::advance(time + Duration::from_millis(1)).await;
    }

    #[tokio::test(start_paused = true)]
    async fn a_rest_ends_by_itself_and_grows_until_a_success() {
        let breaker = Arc::new(Breaker::default());
        assert!(!breaker.rests());
        let error = error(ErrorKind::ServerError, None);
        breaker.enter().unwrap().failed(&error);
        assert!(breaker.rests() && breaker.enter().is_none());
        pass(FIRST_REST).await;
        assert!(!breaker.rests());
        breaker.enter().unwrap().failed(&error);
        pass(FIRST_REST).await;
        assert!(breaker.rests());
        breaker.enter_rested().succeeded();
        assert!(!breaker.rests());
    }

    #[tokio::test(start_paused = true)]
    async fn calls_that_fail_in_one_outage_count_once() {
        let breaker = Arc::new(Breaker::default());
        let passes: Vec<Pass> = (0..8).map(|_| breaker.enter().unwrap()).collect();
        let error = error(ErrorKind::ServerError, None);
        passes.iter().for_each(|pass| pass.failed(&error));
        // Nor do those that had nothing else to ask.
        breaker.enter_rested().failed(&error);
        assert_eq!((seconds(&breaker), failures(breaker.standing.load(Ordering::Relaxed))), (30, 1));
        pass(FIRST_REST).await;
        breaker.enter().unwrap().failed(&error);
        assert_eq!(seconds(&breaker), 60);
    }

    #[tokio::test(start_paused = true)]
    async fn one_caller_probes_and_lets_go_however_it_ends() {
        let breaker = Arc::new(Breaker::default());
        breaker.enter().unwrap().failed(&error(ErrorKind::Timeout, None));
        pass(FIRST_REST).await;
        let probe = breaker.enter().unwrap();
        assert!(breaker.rests() && breaker.enter().is_none() && breaker.enter().is_none());
        drop(probe);
        let probe = breaker.enter().unwrap();
        probe.succeeded();
        drop(probe);
        assert!(!breaker.rests());
        assert!(breaker.enter().is_some_and(|_| breaker.enter().is_some()), "closed, it lets everyone in");
    }

    #[tokio::test(start_paused = true)]
    async fn what_the_vendor_asks_for_counts_and_shortens_nothing() {
        let breaker = Arc::new(Breaker::default());
        breaker.enter().unwrap().failed(&error(ErrorKind::RateLimit, Some(90)));
        assert_eq!(seconds(&breaker), 90);
        breaker.enter_rested().failed(&error(ErrorKind::RateLimit, Some(1)));
        assert_eq!(seconds(&breaker), 90);
        for (kind, asked, rest) in [
            (ErrorKind::RateLimit, Some(5), 5),
            (ErrorKind::RateLimit, Some(0), 30),
            (ErrorKind::Overloaded, Some(0), 30),
            (ErrorKind::Overloaded, Some(7200), 3600),
            (ErrorKind::Auth, None, 300),
        ] {
            let breaker = Arc::new(Breaker::default());
            breaker.enter().unwrap().failed(&error(kind, asked));
            assert_eq!(seconds(&breaker), rest, "{kind:?} {asked:?}");
        }
    }

    #[test]
    fn at_once_from_many_threads_one_probes() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        let breaker = Arc::new(Breaker::default());
        // A rest that ended long ago.
        breaker.standing.store(stand(1, 0), Ordering::Relaxed);
        let _guard = runtime.enter();
        let handle = runtime.handle();
        let held: Vec<Option<Pass>> = std::thread::scope(|scope| {
            let enter = || {
                let _guard = handle.enter();
                breaker.enter()
            };
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(enter)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(held.iter().flatten().count(), 1);
    }
}

//! What an agent used and may use: tokens, money and time.

use std::sync::Arc;
use std::time::Duration;

use neco_model::Provider;
use neco_proto::Usage;
use neco_proto::event::{BudgetReached, UsageEvent};

use super::setup::Budget;
use crate::ports::Clock;

/// What was used, by the session and since the agent last began, and what the session may use.
pub(super) struct Accounts {
    clock: Arc<dyn Clock>,
    pub(super) budget: Budget,
    /// Since the session began.
    pub(super) session_usage: Usage,
    /// Since the agent last began.
    pub(super) usage: Usage,
    /// How long the session worked before the present request.
    worked: Duration,
    began_at: Duration,
    /// How long the person was waited for in the present request, and since when they are.
    waited: Duration,
    waits_since: Option<Duration>,
}

impl Accounts {
    pub(super) fn new(clock: Arc<dyn Clock>, budget: Budget, session_usage: Usage, worked: Duration) -> Self {
        Self {
            clock,
            budget,
            session_usage,
            usage: Usage::default(),
            worked,
            began_at: Duration::ZERO,
            waited: Duration::ZERO,
            waits_since: None,
        }
    }

    pub(super) fn start_over(&mut self) {
        self.began_at = self.clock.now();
        self.waited = Duration::ZERO;
        self.waits_since = None;
        self.usage = Usage::default();
    }

    /// The present request is over; says how long it took, and how much of that the person was waited for.
    pub(super) fn close(&mut self) -> (Duration, Duration) {
        let (duration, waited) = (self.clock.now().saturating_sub(self.began_at), self.waited);
        self.worked += duration.saturating_sub(waited);
        self.began_at = self.clock.now();
        self.waited = Duration::ZERO;
        (duration, waited)
    }

    /// Whether the person is waited for from now on: that is no work.
    pub(super) fn wait_for_person(&mut self, waits: bool) {
        if waits {
            self.waits_since.get_or_insert(self.clock.now());
        } else if let Some(since) = self.waits_since.take() {
            self.waited += self.clock.now().saturating_sub(since);
        }
    }

    /// Counts what a model used.
    pub(super) fn spend(&mut self, provider: &dyn Provider, model: &str, usage: Usage) -> UsageEvent {
        let used = UsageEvent::of(model, usage, provider.scripted());
        self.usage += used.usage;
        self.session_usage += used.usage;
        used
    }

    /// The limit that is reached, if one is.
    pub(super) fn reached(&self) -> Option<BudgetReached> {
        self.budget.reached(&self.session_usage, self.worked())
    }

    /// How much of the time of work is left, where it is limited.
    pub(super) fn time_left(&self) -> Option<Duration> {
        self.budget.time.map(|limit| limit.saturating_sub(self.worked()))
    }

    fn worked(&self) -> Duration {
        let waits = self.waits_since.map_or(Duration::ZERO, |since| self.clock.now().saturating_sub(since));
        self.worked + self.clock.now().saturating_sub(self.began_at).saturating_sub(self.waited + waits)
    }
}

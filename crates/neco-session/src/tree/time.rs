//! How long agents may take: one that works for longer than its definition allows is ended, whatever it is at.

use std::sync::Weak;
use std::time::Duration;

use neco_proto::AgentId;
use tokio::time::Instant;

use super::op::Op;
use super::supervisor::AgentSupervisor;

/// How soon is looked again at the earliest: while an agent waits for the person its time stands still.
const SOONEST: Duration = Duration::from_millis(100);

/// When the time of an agent began.
#[derive(Clone, Copy)]
struct Began {
    at: Instant,
    /// How long it had waited for others until then.
    waited: Duration,
    /// How long it may work.
    most: Duration,
}

impl Began {
    /// What is left to one that has waited for `waited` in all.
    fn left(self, now: Instant, waited: Duration) -> Duration {
        let worked = now.saturating_duration_since(self.at).saturating_sub(waited.saturating_sub(self.waited));
        self.most.saturating_sub(worked)
    }
}

impl AgentSupervisor {
    /// Ends an agent when it has worked for `most` from now on; waiting for the person and pauses are no work.
    pub(super) fn watch_time(&self, agent: AgentId, most: Option<Duration>) {
        let Some(most) = most else { return };
        let supervisor = Weak::clone(&self.me);
        // What it waited before is not of this time.
        let began = Began { at: Instant::now(), waited: self.notes.waited(agent), most };
        tokio::spawn(async move {
            let mut left = most;
            loop {
                tokio::time::sleep(left).await;
                let Some(supervisor) = supervisor.upgrade() else { return };
                match supervisor.check_time(agent, began).await {
                    Some(more) => left = more.max(SOONEST),
                    None => return,
                }
            }
        });
    }

    /// How much time is left to an agent; nothing when it has ended, or was ended for it.
    async fn check_time(&self, agent: AgentId, began: Began) -> Option<Duration> {
        let mut state = self.lock().await;
        let node = state.tree.node(agent).filter(|node| node.state.is_live())?;
        if state.closed {
            return None;
        }
        let left = began.left(Instant::now(), self.notes.waited(agent));
        if !left.is_zero() {
            return Some(left);
        }
        let last = node.last_message.as_deref().map(str::trim).filter(|words| !words.is_empty()).unwrap_or("(none)");
        let limit = began.most.as_secs_f64();
        let message = format!("it took longer than the {limit} s that its definition gives it; its last words: {last}");
        if let Err(error) = self.apply(&mut state, Op::Fail { agent, code: None, message }).await {
            tracing::warn!(%error, "the end of an agent could not be recorded");
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_waited_since_then_is_no_work() {
        let minutes = |minutes: u64| Duration::from_secs(60 * minutes);
        let at = Instant::now();
        // It was paused for an hour before it was made again, and waited for the person for two minutes since.
        let began = Began { at, waited: minutes(60), most: minutes(5) };
        assert_eq!(began.left(at + minutes(4), minutes(62)), minutes(3));
        assert_eq!(began.left(at + minutes(7), minutes(62)), Duration::ZERO);
    }
}

//! How long agents may take: one that works for longer than its definition allows is ended, whatever it is at.

use std::sync::Weak;
use std::time::Duration;

use neco_proto::AgentId;
use tokio::time::Instant;

use super::company::Company;
use super::op::Op;

/// How soon is looked again at the earliest: while an agent waits for the person its time stands still.
const SOONEST: Duration = Duration::from_millis(100);

impl Company {
    /// Ends an agent when it has worked for `most` from now on; waiting for the person and pauses are no work.
    pub(super) fn watch_time(&self, agent: AgentId, most: Option<Duration>) {
        let Some(most) = most else { return };
        let (company, began) = (Weak::clone(&self.me), Instant::now());
        tokio::spawn(async move {
            let mut left = most;
            loop {
                tokio::time::sleep(left).await;
                let Some(company) = company.upgrade() else { return };
                match company.check_time(agent, began, most).await {
                    Some(more) => left = more.max(SOONEST),
                    None => return,
                }
            }
        });
    }

    /// How much time is left to an agent; nothing when it has ended, or was ended for it.
    async fn check_time(&self, agent: AgentId, began: Instant, most: Duration) -> Option<Duration> {
        let mut state = self.lock().await;
        let node = state.tree.node(agent).filter(|node| node.state.is_live())?;
        if state.closed {
            return None;
        }
        let left = most.saturating_sub(began.elapsed().saturating_sub(self.notes.waited(agent)));
        if !left.is_zero() {
            return Some(left);
        }
        let last = node.last_message.as_deref().map(str::trim).filter(|words| !words.is_empty()).unwrap_or("(none)");
        let limit = most.as_secs_f64();
        let message = format!("it took longer than the {limit} s that its definition gives it; its last words: {last}");
        if let Err(error) = self.apply(&mut state, Op::Fail { agent, code: None, message }, true).await {
            tracing::warn!(%error, "the end of an agent could not be recorded");
        }
        None
    }
}

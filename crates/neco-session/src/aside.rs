//! What a session itself asks models, beside its agents: its title, what of it is worth keeping. A stop ends that too.

use std::sync::Arc;

use neco_proto::{AgentOrder, Command, WorkflowOrder};
use tokio::sync::watch;

/// Whether a session may ask models by itself; clones are of the same session.
#[derive(Clone, Debug, Default)]
pub struct Aside {
    stopped: Arc<watch::Sender<bool>>,
}

impl Aside {
    /// A window sends `command`: who stops the work stops this too, until they want something done.
    pub fn hear(&self, command: &Command) {
        match command {
            Command::Cancel | Command::StopAll => self.stop(),
            Command::UserMessage { .. }
            | Command::Steer { .. }
            | Command::Compact { .. }
            | Command::RunWorkflow { .. }
            | Command::WorkflowCommand { order: WorkflowOrder::Resume, .. }
            | Command::AgentCommand {
                order:
                    AgentOrder::Task { .. } | AgentOrder::Redirect { .. } | AgentOrder::Answer { .. } | AgentOrder::Resume,
                ..
            } => drop(self.stopped.send_replace(false)),
            Command::Withdraw { .. }
            | Command::Approve { .. }
            | Command::SetIdeContext { .. }
            | Command::Answer { .. }
            | Command::SetMode { .. }
            | Command::SetModel { .. }
            | Command::SetGeneration { .. }
            | Command::SetApproval { .. }
            | Command::Rewind { .. }
            | Command::RestoreCheckpoint { .. }
            | Command::UndoRewind
            | Command::RedoRewind
            | Command::Rename { .. }
            | Command::AgentCommand {
                order: AgentOrder::Pause | AgentOrder::Cancel | AgentOrder::UpdateParameters(_),
                ..
            }
            | Command::WorkflowCommand { order: WorkflowOrder::Cancel, .. }
            | Command::Shutdown => {}
        }
    }

    /// Nothing is asked any more, and what is being asked is dropped.
    pub fn stop(&self) {
        self.stopped.send_replace(true);
    }

    /// What comes of asking; nothing when that is, or was, stopped.
    pub async fn unless_stopped<T>(&self, asks: impl Future<Output = T>) -> Option<T> {
        let mut stopped = self.stopped.subscribe();
        tokio::select! {
            biased;
            _ = stopped.wait_for(|stopped| *stopped) => None,
            came = asks => Some(came),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_stop_ends_what_is_asked_and_holds_until_the_person_wants_something() {
        let aside = Aside::default();
        assert_eq!(aside.unless_stopped(std::future::ready(1)).await, Some(1));
        let asking = aside.clone();
        let asking = tokio::spawn(async move { asking.unless_stopped(std::future::pending::<()>()).await });
        tokio::task::yield_now().await;
        aside.hear(&Command::Cancel);
        assert_eq!(asking.await.unwrap(), None);
        aside.hear(&Command::Rename { title: "t".to_owned() });
        assert_eq!(aside.unless_stopped(std::future::ready(1)).await, None, "nobody wanted anything since");
        aside.hear(&Command::Steer { text: "go on".to_owned() });
        assert_eq!(aside.unless_stopped(std::future::ready(1)).await, Some(1));
    }
}

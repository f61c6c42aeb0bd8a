//! What a session itself asks models, beside its agents: its title, what of it is worth keeping. A stop ends that too.

use std::sync::Arc;

use futures::StreamExt;
use neco_agent::context::transcript;
use neco_model::tokens::Family;
use neco_model::{Answer, Delta, FinishReason, History, ModelError, OutputSchema, Provider, Request, SetupError};
use neco_proto::event::{SideCall, SidePurpose};
use neco_proto::{AgentOrder, Command, EventBody, Message, WorkflowOrder};
use neco_store::StoreError;
use tokio::sync::watch;

use crate::hub::SessionCore;

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
            | Command::CommandMessage { .. }
            | Command::Compact { .. }
            | Command::RunWorkflow { .. }
            | Command::WorkflowCommand { order: WorkflowOrder::Resume, .. } => self.go_on(),
            Command::AgentCommand { order, .. } => match order {
                AgentOrder::Task { .. }
                | AgentOrder::Redirect { .. }
                | AgentOrder::Answer { .. }
                | AgentOrder::Resume
                | AgentOrder::Retry => self.go_on(),
                AgentOrder::Pause | AgentOrder::Cancel | AgentOrder::UpdateParameters(_) => {}
            },
            // Nothing else begins any work, or ends all of it.
            _ => {}
        }
    }

    /// Nothing is asked any more, and what is being asked is dropped.
    pub fn stop(&self) {
        self.stopped.send_replace(true);
    }

    fn go_on(&self) {
        self.stopped.send_replace(false);
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

/// Why nothing came of asking a model.
#[derive(Debug, thiserror::Error)]
pub enum AsideError {
    #[error(transparent)]
    Setup(#[from] SetupError),
    #[error(transparent)]
    Model(#[from] ModelError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("the answer has no end")]
    NoEnd,
    #[error("the answer is not whole: {0:?}")]
    NotWhole(FinishReason),
    #[error("the answer holds no title")]
    NoTitle,
    #[error("the model took too long")]
    TooSlow,
    #[error("the model sees no pictures of this kind: {0}")]
    Unseen(String),
}

/// What comes of asking a model for `purpose`; windows are told that it is asked, and when that is over.
pub async fn told<T>(core: &SessionCore, purpose: SidePurpose, asks: impl Future<Output = T>) -> T {
    let tell = |running| core.emit(EventBody::SideCall(SideCall { purpose, running }));
    // Nobody acts on it, so what can't be told is not missed.
    let _ = tell(true).await;
    let came = asks.await;
    let _ = tell(false).await;
    came
}

/// What a model answers to one question about `messages`, of which it is shown `most` tokens, and why it ended there.
/// Without messages it is asked the question alone.
pub async fn ask(
    provider: &dyn Provider,
    messages: Vec<Message>,
    most: u64,
    (system, question): (&str, &str),
    output: Option<OutputSchema>,
) -> Result<(Answer, FinishReason), AsideError> {
    let history: History = messages.into_iter().collect();
    let asked = if history.is_empty() {
        question.to_owned()
    } else {
        let told = transcript(&history, history.len(), most, Family::of(provider.label()));
        format!("<conversation>\n{}\n</conversation>\n\n{question}", told.trim())
    };
    let history = History::from_iter([Message::user(asked)]);
    answer(provider, Request { output: output.map(Arc::new), ..request(system, history) }).await
}

/// A request without tools and without wishes.
pub fn request(system: &str, history: History) -> Request {
    Request {
        system: system.trim().into(),
        tools: Arc::from([]),
        history,
        cache_key: String::new(),
        output: None,
        temperature: None,
        max_output: None,
        agent: None,
    }
}

/// What a model answers to a request, and why it ended there.
pub async fn answer(provider: &dyn Provider, request: Request) -> Result<(Answer, FinishReason), AsideError> {
    let mut stream = provider.whole(request);
    let mut answer = Answer::default();
    while let Some(delta) = stream.next().await {
        let delta = delta?;
        answer.add(&delta);
        if let Delta::Finish(reason) = delta {
            return Ok((answer, reason));
        }
    }
    Err(AsideError::NoEnd)
}

#[cfg(test)]
mod tests {
    use neco_proto::AgentId;

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
        let order = |order| Command::AgentCommand { agent_id: AgentId::new(), order };
        aside.hear(&Command::StopAll);
        aside.hear(&order(AgentOrder::Pause));
        assert_eq!(aside.unless_stopped(std::future::ready(1)).await, None);
        aside.hear(&order(AgentOrder::Retry));
        assert_eq!(aside.unless_stopped(std::future::ready(1)).await, Some(1), "an agent begins anew");
    }
}

//! What does the tasks of a workflow, and where what came of them is kept.

use std::time::Duration;

use futures::future::BoxFuture;
use jiff::Timestamp;
use neco_agent::SinkError;
use neco_proto::event::WorkflowUpdate;
use neco_proto::{AgentId, WorkflowId};
use neco_store::StoreError;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::definition::Work;
use super::error::WorkflowError;
use crate::roles::UnknownDefinition;
use crate::tree::TreeError;

/// A task that is to be done.
#[derive(Clone, Debug)]
pub struct TaskCall {
    /// The workflow.
    pub workflow: WorkflowId,
    /// The task.
    pub task: String,
    /// What to do, every template filled in.
    pub work: Work,
    /// How long it may take, for what has to know; whoever calls sees to it.
    pub timeout: Option<f64>,
    /// Set when it is to stop. What does it stops all that it started before it ends.
    pub cancel: CancellationToken,
}

/// How a task ended: what it gave, or why it failed.
pub type Ended = Result<Value, TaskError>;

/// Why a task failed.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the message says what each one is")]
pub enum TaskError {
    /// What did it says so itself: an agent's last words, what a command printed.
    #[error("{0}")]
    Failed(String),
    #[error("it was stopped")]
    Stopped,
    #[error("it took longer than {seconds} s")]
    TooSlow { seconds: f64 },
    #[error("the call was never made")]
    NotCalled,
    #[error("it crashed; this is a bug in Neco")]
    Crashed,
    #[error(transparent)]
    Template(#[from] WorkflowError),
    #[error(transparent)]
    Role(#[from] UnknownDefinition),
    #[error(transparent)]
    Tree(#[from] TreeError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A task that has begun.
pub struct Begun {
    /// The agent that does it.
    pub agent: Option<AgentId>,
    /// How it ends.
    pub end: BoxFuture<'static, Ended>,
}

/// Does tasks.
pub trait Hands: Send + Sync {
    /// Begins a task. The error is why it could not.
    fn begin(&self, call: TaskCall) -> BoxFuture<'static, Result<Begun, TaskError>>;

    /// Ends all agents that an earlier process left of a workflow: their tasks are done again, or not at all.
    fn abandon(&self, _workflow: WorkflowId) -> BoxFuture<'static, ()> {
        Box::pin(std::future::ready(()))
    }
}

/// Keeps what happens to a workflow.
pub trait Record: Send + Sync {
    /// Keeps an update; ready when it is on the disk.
    fn commit(&self, update: WorkflowUpdate) -> BoxFuture<'_, Result<(), SinkError>>;
}

/// The time of a workflow.
pub trait TaskClock: Send + Sync {
    fn now(&self) -> Timestamp;

    /// Ready when so much time is over.
    fn wait(&self, how_long: Duration) -> BoxFuture<'static, ()>;
}

/// The time everybody has.
pub struct RealTime;

impl TaskClock for RealTime {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    fn wait(&self, how_long: Duration) -> BoxFuture<'static, ()> {
        Box::pin(tokio::time::sleep(how_long))
    }
}

//! What an agent can be told, and the way to it.

use std::sync::Arc;

use neco_model::Provider;
use neco_proto::event::Admission;
use neco_proto::{
    Actor, ApprovalMode, CallId, ContextReport, Decision, IdeContext, Message, MessageId, Mode, PromptReport,
    QuestionId, Reply, SessionRules, Usage,
};
use neco_safety::policy::Rule;
use tokio::sync::{mpsc, oneshot};

use super::setup::Budget;
use crate::capability_level::CapabilityLevel;
use crate::machine::Halt;
use crate::plan::ReplyError;
use crate::ports::SinkError;
use crate::scheduler::CallError;
use crate::skills::InUse;

/// What an agent can be told.
#[allow(missing_docs, reason = "a variant says what it carries")]
pub enum AgentInput {
    /// Something to do, or to know. When the agent works, `admission` says when it is given to it.
    Message { message: Message, admission: Admission },
    /// Messages that wait are taken back.
    Withdraw(Vec<MessageId>),
    /// Neco says something that it hears at once, or at its next turn where it works; no reason to begin one.
    Tell(String),
    /// A call of its conversation that failed is judged and run once more, with the same arguments.
    Retry(CallId),
    /// The rules that are kept for good are these now.
    KeptRules(Vec<Rule>),
    /// A decision on a call that waits.
    Approve { call_id: CallId, decision: Decision },
    /// The answer to a question.
    Answer { question_id: QuestionId, reply: Reply },
    /// Make the conversation shorter that the model has.
    Compact {
        /// What the summary should pay attention to.
        focus: Option<String>,
    },
    /// What the person has open in an editor.
    SetIdeContext(IdeContext),
    /// Say how much room everything takes.
    Report(oneshot::Sender<ContextReport>),
    /// Say exactly what the model would be told.
    Prompt(oneshot::Sender<PromptReport>),
    /// Say what is done without asking because of rules.
    Rules(oneshot::Sender<SessionRules>),
    /// Another agent says something, which it hears at its next turn.
    Letter {
        message: Message,
        /// Whether that is a reason to begin a turn.
        wakes: bool,
        /// An older letter that it takes the place of, unless that was heard.
        replaces: Option<MessageId>,
    },
    /// Begin no further turn, and stop the present one as far as this says.
    Hold(Halt),
    /// Go on where it was held.
    Release,
    /// Say whether nothing would be cut short if it were handed over now: it is held between two turns, waits for a
    /// person, or has nothing to do.
    AtBoundary(oneshot::Sender<bool>),
    /// Another process goes on with it: when its handles are gone it leaves what is under way as the log has it.
    HandOver,
    /// The present turn is the last one: its task is done.
    Finish,
    /// Agents below it used this.
    OthersUsed(Usage),
    /// Only these of its tools exist from the next turn on.
    KeepTools(Vec<String>),
    /// It may use this in all.
    SetBudget(Budget),
    /// What this call runs goes on in the background.
    Background(CallId),
    /// Stop the present work.
    Cancel,
    /// Another mode from the next turn on.
    SetMode(Mode),
    /// Another generation from the next turn on.
    SetGeneration(CapabilityLevel),
    /// Another approval mode.
    SetApproval(ApprovalMode),
    /// Another model from the next turn on.
    SetModel(Arc<dyn Provider>),
}

/// Why an agent did not take an input.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InputError {
    /// It is gone.
    #[error("the agent has ended")]
    Gone,
    /// The input makes no sense now.
    #[error("{0}")]
    Refused(String),
    /// What is said of a call has no effect.
    #[error(transparent)]
    Call(#[from] CallError),
    /// It is no answer to the question.
    #[error(transparent)]
    Reply(#[from] ReplyError),
    /// It could not be recorded.
    #[error(transparent)]
    Sink(#[from] SinkError),
}

pub(super) struct Mail {
    pub input: AgentInput,
    /// Whom it came from; nobody when it follows from something else.
    pub by: Option<Actor>,
    pub reply: oneshot::Sender<Result<(), InputError>>,
}

/// The way to an agent. Dropping every handle ends it.
#[derive(Clone)]
pub struct AgentHandle {
    pub(super) mailbox: mpsc::Sender<Mail>,
    pub(super) in_use: InUse,
}

impl AgentHandle {
    /// Tells the agent something; ready when it has recorded it.
    pub async fn send(&self, input: AgentInput) -> Result<(), InputError> {
        self.send_as(None, input).await
    }

    /// The same, with whom it came from.
    pub async fn send_as(&self, by: Option<Actor>, input: AgentInput) -> Result<(), InputError> {
        let (reply, answer) = oneshot::channel();
        self.mailbox.send(Mail { input, by, reply }).await.map_err(|_| InputError::Gone)?;
        answer.await.map_err(|_| InputError::Gone)?
    }

    /// The skills of its present request.
    pub fn skills_in_use(&self) -> &InUse {
        &self.in_use
    }

    /// How much room everything takes that the model is told.
    pub async fn report(&self) -> Result<ContextReport, InputError> {
        let (reply, answer) = oneshot::channel();
        self.send(AgentInput::Report(reply)).await?;
        answer.await.map_err(|_| InputError::Gone)
    }

    /// Exactly what the model would be told now.
    pub async fn prompt(&self) -> Result<PromptReport, InputError> {
        let (reply, answer) = oneshot::channel();
        self.send(AgentInput::Prompt(reply)).await?;
        answer.await.map_err(|_| InputError::Gone)
    }

    /// Whether nothing would be cut short if it were handed over now.
    pub async fn is_at_boundary(&self) -> Result<bool, InputError> {
        let (reply, answer) = oneshot::channel();
        self.send(AgentInput::AtBoundary(reply)).await?;
        answer.await.map_err(|_| InputError::Gone)
    }

    /// What it does without asking because of rules.
    pub async fn rules(&self) -> Result<SessionRules, InputError> {
        let (reply, answer) = oneshot::channel();
        self.send(AgentInput::Rules(reply)).await?;
        answer.await.map_err(|_| InputError::Gone)
    }
}

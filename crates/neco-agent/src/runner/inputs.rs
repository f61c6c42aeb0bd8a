//! What people say to an agent, and how it gets there.

use std::collections::VecDeque;
use std::sync::Arc;

use neco_model::Provider;
use neco_proto::event::{Admission, MessageQueued, ModeChange};
use neco_proto::{
    ApprovalMode, CallId, ContextReport, Decision, EventBody, IdeContext, Message, MessageId, Mode, Part, PromptReport,
    QuestionId, Reply, Usage,
};
use neco_safety::policy::Rule;
use tokio::sync::{mpsc, oneshot};

use super::agent::Agent;
use super::setup::Budget;
use crate::capability_level::CapabilityLevel;
use crate::machine::{End, Input};
use crate::ports::SinkError;

/// What an agent can be told.
pub enum AgentInput {
    /// Something to do, or to know. When the agent works, `admission` says when it is given to it.
    Message {
        /// What is said.
        message: Message,
        /// When, if it works.
        admission: Admission,
    },
    /// Messages that wait are taken back.
    Withdraw(Vec<MessageId>),
    /// The rules that are kept for good are these now.
    KeptRules(Vec<Rule>),
    /// A decision on a call that waits.
    Approve {
        /// The call.
        call_id: CallId,
        /// The decision.
        decision: Decision,
    },
    /// The answer to a question.
    Answer {
        /// The question.
        question_id: QuestionId,
        /// What the person says.
        reply: Reply,
    },
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
    /// Another agent says something, which it hears at its next turn.
    Letter {
        /// What is said.
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
    /// The present turn is the last one: its task is done.
    Finish,
    /// Agents below it used this.
    OthersUsed(Usage),
    /// Only these of its tools exist from the next turn on.
    KeepTools(Vec<String>),
    /// It may use this in all.
    SetBudget(Budget),
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

/// How much of the present turn of an agent that is held still happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Halt {
    /// All of it.
    AfterTurn,
    /// Its calls come to their end; an answer that is being written is broken off.
    AfterCalls,
    /// Nothing: the answer and every call are broken off.
    AtOnce,
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
    /// It could not be recorded.
    #[error(transparent)]
    Sink(#[from] SinkError),
}

pub(super) struct Mail {
    pub input: AgentInput,
    pub reply: oneshot::Sender<Result<(), InputError>>,
}

/// The way to an agent. Dropping every handle ends it.
#[derive(Clone)]
pub struct AgentHandle {
    pub(super) mailbox: mpsc::Sender<Mail>,
}

impl AgentHandle {
    /// Tells the agent something; ready when it has recorded it.
    ///
    /// # Errors
    /// When the agent is gone, refuses, or can't record it.
    pub async fn send(&self, input: AgentInput) -> Result<(), InputError> {
        let (reply, answer) = oneshot::channel();
        self.mailbox.send(Mail { input, reply }).await.map_err(|_| InputError::Gone)?;
        answer.await.map_err(|_| InputError::Gone)?
    }

    /// How much room everything takes that the model is told.
    ///
    /// # Errors
    /// When the agent is gone.
    pub async fn report(&self) -> Result<ContextReport, InputError> {
        let (reply, answer) = oneshot::channel();
        self.send(AgentInput::Report(reply)).await?;
        answer.await.map_err(|_| InputError::Gone)
    }

    /// Exactly what the model would be told now.
    ///
    /// # Errors
    /// When the agent is gone.
    pub async fn prompt(&self) -> Result<PromptReport, InputError> {
        let (reply, answer) = oneshot::channel();
        self.send(AgentInput::Prompt(reply)).await?;
        answer.await.map_err(|_| InputError::Gone)
    }
}

impl Agent {
    pub(super) async fn take_mail(&mut self, Mail { input, reply }: Mail) -> Result<(), SinkError> {
        let result = self.take(input).await;
        let failed = match &result {
            Err(InputError::Sink(error)) => Err(error.clone()),
            Ok(()) | Err(InputError::Gone | InputError::Refused(_)) => Ok(()),
        };
        // The sender may have given up waiting; what it asked for is done all the same.
        let _ = reply.send(result);
        failed
    }

    async fn take(&mut self, input: AgentInput) -> Result<(), InputError> {
        match input {
            AgentInput::Message { message, admission } => {
                self.check_pictures(&message)?;
                self.hear(message, admission).await?;
            }
            AgentInput::Withdraw(ids) => self.withdraw(&ids).await?,
            AgentInput::KeptRules(rules) => self.scheduler.policy_mut().renew_kept(rules),
            AgentInput::Approve { call_id, decision } => {
                let records = self.scheduler.decide(&call_id, decision).map_err(InputError::Refused)?;
                self.record(records).await?;
                self.calls_moved().await?;
            }
            AgentInput::Answer { question_id, reply } => self.take_reply(question_id, reply).await?,
            AgentInput::Cancel if self.machine.busy() => self.on(Input::Cancel).await?,
            AgentInput::Cancel => {
                // Nobody below it is a reason to begin: that takes the person.
                self.letters.wakeable = false;
                if self.room.drop_compaction() {
                    self.not_compacted("it was cancelled").await?;
                }
                self.leave_gate().await?;
            }
            AgentInput::Letter { message, wakes, replaces } => self.hear_letter(message, wakes, replaces).await?,
            AgentInput::Hold(halt) => self.hold(halt).await?,
            AgentInput::Release => self.release().await?,
            AgentInput::Finish => self.on(Input::Halt(End::DONE)).await?,
            AgentInput::OthersUsed(usage) => self.note_others(usage).await?,
            AgentInput::KeepTools(names) => self.keep_tools(names),
            AgentInput::SetBudget(budget) => self.budget = budget,
            AgentInput::Compact { focus } => self.compact_as_asked(focus).await?,
            AgentInput::SetIdeContext(open) => self.editor.set(open),
            // Who asked may have given up waiting.
            AgentInput::Report(reply) => drop(reply.send(self.context_report())),
            AgentInput::Prompt(reply) => drop(reply.send(self.prompt_report())),
            AgentInput::SetMode(mode) => {
                self.settings.mode = mode;
                self.plans_from = None;
                self.change(ModeChange { mode: Some(mode), ..ModeChange::default() }).await?;
            }
            AgentInput::SetGeneration(generation) => {
                self.generation = generation;
                // The calls of the answer under way are those that it was told of.
                self.tools_changed = self.machine.busy();
                if !self.tools_changed {
                    self.scheduler.set_registry(generation.narrow(&self.tools));
                }
                self.change(ModeChange { generation: Some(generation.number()), ..ModeChange::default() }).await?;
            }
            AgentInput::SetApproval(approval) => {
                self.settings.approval = approval;
                self.change(ModeChange { approval: Some(approval), ..ModeChange::default() }).await?;
            }
            AgentInput::SetModel(provider) => {
                self.provider = provider;
                let model = Some(self.provider.label().to_owned());
                self.change(ModeChange { model, ..ModeChange::default() }).await?;
            }
        }
        Ok(())
    }

    /// Nobody should wait for an answer about a picture that was never sent.
    fn check_pictures(&self, message: &Message) -> Result<(), InputError> {
        let unseen = message.parts.iter().find_map(|part| match part {
            Part::Image { media_type, .. } => Some(media_type).filter(|kind| !self.provider.sees(kind)),
            Part::Text { .. } | Part::Reasoning { .. } | Part::ToolCall(_) | Part::ToolResult(_) => None,
        });
        let Some(media_type) = unseen else { return Ok(()) };
        let model = self.provider.label();
        // One form may be all that it lacks.
        let what = if self.provider.sees("image/png") { media_type } else { "pictures" };
        let (whose, hint) = if model.contains('/') {
            (model.to_owned(), format!("; if it does, set vision = true in [models.\"{model}\"]"))
        } else {
            (format!("no model of the group {model}"), String::new())
        };
        let does = if hint.is_empty() { "sees" } else { "does not see" };
        Err(InputError::Refused(format!(
            "{whose} {does} {what}, as far as is known: ask one that does with --model{hint}"
        )))
    }

    async fn hear(&mut self, message: Message, admission: Admission) -> Result<(), SinkError> {
        if self.machine.busy() {
            self.sink
                .commit(
                    self.turn_id,
                    EventBody::MessageQueued(MessageQueued { when: admission, message: message.clone() }),
                )
                .await?;
            self.queued.push_back((admission, message));
            return Ok(());
        }
        if self.messages_are_gated() {
            let queued = MessageQueued { when: Admission::TurnBoundary, message: message.clone() };
            self.sink.commit(None, EventBody::MessageQueued(queued)).await?;
            self.queued.push_back((Admission::TurnBoundary, message));
            self.queued.iter_mut().for_each(|(when, _)| *when = Admission::TurnBoundary);
            return self.begin().await;
        }
        // What was said before this and never got its turn comes first.
        self.admit_letters().await?;
        for (_, earlier) in std::mem::take(&mut self.queued) {
            self.admit_said(earlier).await?;
        }
        self.admit_said(message).await?;
        self.begin().await
    }

    /// Takes back those of the messages that still wait. One that is at the gate is being looked at, and stays.
    async fn withdraw(&mut self, ids: &[MessageId]) -> Result<(), InputError> {
        let (gone, stay): (VecDeque<_>, VecDeque<_>) =
            self.queued.drain(..).partition(|(_, message)| ids.contains(&message.id));
        self.queued = stay;
        if gone.is_empty() {
            return Err(InputError::Refused("the agent was given that already".to_owned()));
        }
        for (_, message) in gone {
            let told = MessageQueued { when: Admission::Withdrawn, message };
            self.sink.commit(self.turn_id, EventBody::MessageQueued(told)).await?;
        }
        Ok(())
    }

    /// A message enters the conversation.
    pub(super) async fn admit(&mut self, message: Message) -> Result<(), SinkError> {
        self.sink.commit(None, EventBody::Message(message.clone())).await?;
        self.history.push(message);
        Ok(())
    }

    async fn change(&mut self, change: ModeChange) -> Result<(), SinkError> {
        self.sink.commit(None, EventBody::ModeChange(change)).await
    }
}

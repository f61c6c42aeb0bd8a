//! The actor: takes commands in order, turns them into inputs of the agent, answers questions.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use neco_agent::runner::InputError;
use neco_agent::{Agent, AgentHandle, AgentInput, CapabilityLevel, SinkError};
use neco_proto::event::{Admission, TitleSource};
use neco_proto::{
    Actor, AgentId, AgentOrder, Answer, Attachment, ClientError, Command, Message, Part, Query, Receipt, Seq,
};
use neco_safety::policy::Rule;
use neco_safety::secrets::Redactor;
use neco_store::{Catalog, EventLog, Lease, SessionRecord, StoreError};
use tokio::sync::{Mutex, mpsc, oneshot};
use tokio::task::JoinHandle;

use super::answer::Answers;
use super::ran::presentable;
use super::remember::Remembers;
use super::shown::Shown;
use crate::aside::Aside;
use crate::error::SessionError;
use crate::hub::{FindModel, Remembering, SessionContext};
use crate::journal::Journal;
use crate::memory::to_remember;
use crate::title::{TitleKeeper, TitleSettings};

/// What an actor is made of.
pub struct ActorSetup {
    /// The session.
    pub record: SessionRecord,
    /// Its root agent.
    pub root: AgentId,
    /// Its journal.
    pub journal: Arc<Journal>,
    /// The root agent.
    pub agent: Agent,
    /// The way to it.
    pub handle: AgentHandle,
    /// What makes it again when the session goes back.
    pub ctx: SessionContext,
    /// Held as long as the actor lives.
    pub lease: Arc<Lease>,
    /// The last event before this run.
    pub first_seq: Seq,
    /// Where its events are.
    pub log: Arc<dyn EventLog>,
    /// Where its title is.
    pub catalog: Arc<dyn Catalog>,
    /// Where models come from.
    pub find_model: FindModel,
    /// Takes secrets out of its title, and out of what the person ran.
    pub redactor: Redactor,
    /// How a model makes its title; nothing when none does.
    pub titles: Option<TitleSettings>,
    /// What it remembers with; nothing when there is no memory.
    pub remembering: Option<Remembering>,
}

pub(super) enum Mail {
    Command(Actor, Command, oneshot::Sender<Result<Receipt, ClientError>>),
    Query(Query, oneshot::Sender<Result<Answer, ClientError>>),
    KeptRules(Vec<Rule>, oneshot::Sender<()>),
}

pub(super) struct SessionActor {
    pub(super) record: SessionRecord,
    pub(super) root: AgentId,
    pub(super) journal: Arc<Journal>,
    pub(super) handle: AgentHandle,
    pub(super) agent: JoinHandle<Result<(), SinkError>>,
    pub(super) ctx: SessionContext,
    pub(super) log: Arc<dyn EventLog>,
    pub(super) find_model: FindModel,
    pub(super) remembers: Remembers,
    /// What windows were shown of a way back.
    pub(super) shown: Shown,
    /// Files of which an editor sent something that is not told.
    pub(super) withheld: HashSet<String>,
    pub(super) title: Arc<TitleKeeper>,
    /// Waits for the first work that is done, where a model makes the title.
    titling: Option<JoinHandle<()>>,
    first_seq: Seq,
    mailbox: mpsc::Receiver<Mail>,
    pub(super) aside: Aside,
    /// Free when the actor is dropped, after everything is written.
    _lease: Arc<Lease>,
}

impl SessionActor {
    pub fn new(setup: ActorSetup, mailbox: mpsc::Receiver<Mail>, aside: Aside) -> Self {
        let remembers = Remembers {
            with: setup.remembering,
            session: setup.record.id,
            root: setup.root,
            journal: Arc::clone(&setup.journal),
            first_seq: setup.first_seq,
            log: Arc::clone(&setup.log),
            find_model: Arc::clone(&setup.find_model),
            aside: aside.clone(),
        };
        let title = Arc::new(TitleKeeper {
            session: setup.record.id,
            root: setup.root,
            journal: Arc::clone(&setup.journal),
            log: Arc::clone(&setup.log),
            catalog: setup.catalog,
            find_model: Arc::clone(&setup.find_model),
            redactor: setup.redactor,
            settings: setup.titles,
            // A title of whom nobody knows who made it stays until somebody makes a better one.
            by: Mutex::new(match setup.record.title.is_empty() {
                true => None,
                false => Some(setup.record.title_by.unwrap_or(TitleSource::FirstWords)),
            }),
            asking: Mutex::new(()),
            aside: aside.clone(),
        });
        let titling =
            title.settings.is_some().then(|| tokio::spawn(Arc::clone(&title).after_first_work(setup.first_seq)));
        Self {
            record: setup.record,
            root: setup.root,
            journal: setup.journal,
            handle: setup.handle,
            agent: tokio::spawn(setup.agent.run()),
            ctx: setup.ctx,
            log: setup.log,
            find_model: setup.find_model,
            remembers,
            shown: Shown::default(),
            withheld: HashSet::new(),
            title,
            titling,
            first_seq: setup.first_seq,
            mailbox,
            aside,
            _lease: setup.lease,
        }
    }

    pub async fn run(self) {
        let journal = Arc::clone(&self.journal);
        self.work().await;
        journal.close();
    }

    async fn work(mut self) {
        let mut goodbye = None;
        loop {
            let mail = tokio::select! {
                mail = self.mailbox.recv() => mail,
                // The agent ends by itself only when nothing can be recorded any more. The lock is not
                // given up before what was recorded is written, as far as that is possible.
                _ = &mut self.agent => {
                    self.ctx.supervisor.close().await;
                    self.ctx.supervisor.settle().await;
                    let _ = self.log.commit(self.record.id).await;
                    return;
                }
            };
            match mail {
                Some(Mail::Command(_, Command::Shutdown, reply)) => {
                    goodbye = Some(reply);
                    break;
                }
                Some(Mail::Command(by, Command::AgentCommand { agent_id, order }, reply)) if agent_id != self.root => {
                    self.command(by, agent_id, order, reply);
                }
                Some(Mail::Command(by, Command::StopAll, reply)) => self.stop_all(by, reply).await,
                Some(Mail::Command(by, Command::WorkflowCommand { workflow_id, order }, reply)) => {
                    self.command_workflow(by, workflow_id, order, reply);
                }
                Some(Mail::Command(by, command, reply)) => {
                    let result = self.take(by, command).await;
                    // The window may be gone; what it asked for is done all the same.
                    let _ = reply.send(result);
                }
                Some(Mail::Query(query, reply)) => {
                    let answers = self.answers();
                    tokio::spawn(async move {
                        let _ = reply.send(answers.answer(query).await);
                    });
                }
                Some(Mail::KeptRules(rules, reply)) => {
                    self.renew_kept(rules).await;
                    let _ = reply.send(());
                }
                None => break,
            }
        }
        let receipt = self.shut_down().await;
        if let Some(reply) = goodbye {
            let _ = reply.send(receipt);
        }
    }

    /// The agent first, which stops its work, then the log.
    async fn shut_down(self) -> Result<Receipt, ClientError> {
        // Whoever leaves while something is done stops it.
        if self.is_at_work().await {
            self.aside.stop();
        }
        let Self { handle, agent, log, journal, record, remembers, title, titling, first_seq, ctx, .. } = self;
        drop(handle);
        ctx.workflows.close().await;
        ctx.supervisor.close().await;
        let stopped = agent.await;
        // What its calls left to others is done before the log is.
        ctx.supervisor.settle().await;
        if matches!(stopped, Ok(Ok(()))) {
            title.at_end(first_seq).await;
            remembers.at_end().await;
        }
        titling.inspect(JoinHandle::abort);
        remembers.close().await;
        log.commit(record.id).await.map_err(|error| store_failed(&error))?;
        ctx.hub.settle_checkpoints(Path::new(&record.cwd)).await;
        match stopped {
            Ok(Ok(())) => Ok(Receipt { seq: journal.standing().last_seq, message_id: None }),
            Ok(Err(error)) => Err(ClientError::Failed { code: error.code, message: error.message }),
            Err(_) => Err(ClientError::Gone),
        }
    }

    async fn take(&mut self, by: Actor, command: Command) -> Result<Receipt, ClientError> {
        let mut receipt = Receipt { seq: self.journal.standing().last_seq, message_id: None };
        let input = match command {
            Command::UserMessage { content, attachments } => {
                let note = to_remember(&content).filter(|_| attachments.is_empty() && self.remembers.is_on());
                if let Some(note) = note {
                    self.remembers.note(note).await?;
                    return Ok(receipt);
                }
                self.see_pictures(&attachments).await?;
                self.message(&by, content, attachments, Admission::AfterWork).await?
            }
            Command::Steer { text } => self.message(&by, text, Vec::new(), Admission::TurnBoundary).await?,
            Command::Withdraw { message_ids } => AgentInput::Withdraw(message_ids),
            Command::Approve { call_id, decision } => {
                let below = self.ctx.supervisor.asks_about(&call_id).await;
                let input = AgentInput::Approve { call_id, decision };
                match below {
                    Some(child) => return child.send_as(Some(by), input).await.map(|()| receipt).map_err(not_taken),
                    None => input,
                }
            }
            Command::Answer { question_id, reply } => {
                let below = self.ctx.supervisor.asked(question_id).await;
                let input = AgentInput::Answer { question_id, reply };
                match below {
                    Some(child) => return child.send_as(Some(by), input).await.map(|()| receipt).map_err(not_taken),
                    None => input,
                }
            }
            Command::Compact { focus } => AgentInput::Compact { focus },
            Command::SetIdeContext { context } => AgentInput::SetIdeContext(self.may_be_told(context).await?),
            Command::Cancel => return self.cancel(by).await.map(|()| receipt),
            // Only orders for the root come here.
            Command::AgentCommand { order: AgentOrder::Cancel, .. } => {
                self.aside.stop();
                return self.cancel(by).await.map(|()| receipt);
            }
            Command::SetMode { mode } => AgentInput::SetMode(mode),
            Command::SetGeneration { generation } => {
                let known =
                    CapabilityLevel::new(generation).map_err(|error| ClientError::Refused(error.to_string()))?;
                AgentInput::SetGeneration(known)
            }
            Command::SetApproval { approval } => AgentInput::SetApproval(approval),
            Command::SetModel { model } => self.set_model(&model)?,
            Command::Rename { title } => {
                return match self.title.rename(&title).await {
                    Ok(true) => Ok(receipt),
                    Ok(false) => Err(ClientError::Refused(SessionError::EmptyTitle.to_string())),
                    Err(error) => Err(store_failed(&error)),
                };
            }
            Command::Rewind { message_id, what } => return self.rewind(by, message_id, what).await,
            Command::RestoreCheckpoint { rev } => return self.restore(by, &rev).await,
            Command::UndoRewind => return self.undo_rewind(by).await,
            Command::RedoRewind => return self.redo_rewind(by).await,
            Command::AgentCommand { order, .. } => self.for_root(&by, order).await?,
            Command::RunWorkflow { definition, inputs } => {
                self.run_workflow(&definition, &inputs).await?;
                return Ok(receipt);
            }
            // Carried out elsewhere.
            Command::StopAll | Command::WorkflowCommand { .. } | Command::Shutdown => return Ok(receipt),
        };
        if let AgentInput::Message { message, .. } = &input {
            receipt.message_id = Some(message.id);
            // What other agents said before is heard before.
            self.ctx.supervisor.flush_root().await;
        }
        if let Err(error) = self.handle.send_as(Some(by), input).await {
            // What was recalled for a message that was not taken is not for the next one.
            if receipt.message_id.is_some() {
                self.remembers.recall_again();
            }
            return Err(not_taken(error));
        }
        Ok(receipt)
    }

    /// The permission rules that are kept for good changed: they hold at once, for all agents.
    async fn renew_kept(&self, rules: Vec<Rule>) {
        self.ctx.current.keep(rules.clone());
        self.ctx.supervisor.renew_kept(&rules).await;
        // An agent that is gone asks for nothing any more.
        let _ = self.handle.send(AgentInput::KeptRules(rules)).await;
    }

    pub(super) fn set_model(&mut self, model: &str) -> Result<AgentInput, ClientError> {
        let provider = (self.find_model)(model).map_err(ClientError::Refused)?;
        self.ctx.provider = Arc::clone(&provider);
        self.ctx.options.model = Some(model.to_owned());
        self.ctx.supervisor.choose(model);
        Ok(AgentInput::SetModel(provider))
    }

    fn answers(&self) -> Answers {
        Answers {
            session: self.record.id,
            root: self.root,
            cwd: PathBuf::from(&self.record.cwd),
            journal: Arc::clone(&self.journal),
            log: Arc::clone(&self.log),
            handle: self.handle.clone(),
            hub: self.ctx.hub.clone(),
            supervisor: Arc::clone(&self.ctx.supervisor),
            workflows: self.ctx.workflows.clone(),
            shown: self.shown.clone(),
        }
    }

    pub(super) async fn message(
        &mut self,
        by: &Actor,
        text: String,
        attachments: Vec<Attachment>,
        admission: Admission,
    ) -> Result<AgentInput, ClientError> {
        if text.trim().is_empty() {
            return Err(ClientError::Refused("the message is empty".to_owned()));
        }
        let text = presentable(text, &self.title.redactor);
        self.title.first_words(&text).await.map_err(|error| store_failed(&error))?;
        self.remembers.recall(&text).await?;
        let mut message = Message { by: Some(by.clone()), ..Message::user(text) };
        message.parts.extend(attachments.into_iter().map(|attachment| match attachment {
            Attachment::Image { media_type, data } => Part::Image { media_type, data },
        }));
        Ok(AgentInput::Message { message, admission })
    }
}

pub(super) fn not_taken(error: InputError) -> ClientError {
    match error {
        InputError::Gone => ClientError::Gone,
        InputError::Refused(words) => ClientError::Refused(words),
        InputError::Sink(error) => ClientError::Failed { code: error.code, message: error.message },
    }
}

pub(super) fn store_failed(error: &StoreError) -> ClientError {
    ClientError::Failed { code: error.code(), message: error.to_string() }
}

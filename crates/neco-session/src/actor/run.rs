//! The actor: takes commands in order, turns them into inputs of the agent, answers questions.

use std::sync::Arc;

use neco_agent::runner::InputError;
use neco_agent::{Agent, AgentHandle, AgentInput, Generation, SinkError};
use neco_proto::event::Admission;
use neco_proto::{
    AgentId, Answer, Attachment, ClientError, Command, Message, Part, Query, Receipt, Seq, SessionId, SessionSnapshot,
};
use neco_safety::secrets::{Redactor, Scope};
use neco_store::{Catalog, EventLog, SessionLock, SessionRecord, StoreError};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use super::remember::Remembers;
use crate::fold::Fold;
use crate::hub::{FindModel, Remembering};
use crate::journal::Journal;
use crate::memory::to_remember;

/// How many events are read from a log at a time.
pub(super) const PAGE: usize = 2048;

/// Characters of the first message that make a title.
const TITLE: usize = 60;

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
    /// Held as long as the actor lives.
    pub lock: SessionLock,
    /// The last event before this run.
    pub first_seq: Seq,
    /// Where its events are.
    pub log: Arc<dyn EventLog>,
    /// Where its title is.
    pub catalog: Arc<dyn Catalog>,
    /// Where models come from.
    pub find_model: FindModel,
    /// Takes secrets out of its title.
    pub redactor: Redactor,
    /// What it remembers with; nothing when there is no memory.
    pub remembering: Option<Remembering>,
}

pub(super) enum Mail {
    Command(Command, oneshot::Sender<Result<Receipt, ClientError>>),
    Query(Query, oneshot::Sender<Result<Answer, ClientError>>),
}

pub(super) struct Actor {
    record: SessionRecord,
    root: AgentId,
    journal: Arc<Journal>,
    handle: AgentHandle,
    agent: JoinHandle<Result<(), SinkError>>,
    log: Arc<dyn EventLog>,
    catalog: Arc<dyn Catalog>,
    find_model: FindModel,
    redactor: Redactor,
    remembers: Remembers,
    mailbox: mpsc::Receiver<Mail>,
    /// Free when the actor is dropped, after everything is written.
    _lock: SessionLock,
}

impl Actor {
    pub fn new(setup: ActorSetup, mailbox: mpsc::Receiver<Mail>) -> Self {
        let remembers = Remembers {
            with: setup.remembering,
            session: setup.record.id,
            root: setup.root,
            journal: Arc::clone(&setup.journal),
            first_seq: setup.first_seq,
            log: Arc::clone(&setup.log),
            find_model: Arc::clone(&setup.find_model),
        };
        Self {
            record: setup.record,
            root: setup.root,
            journal: setup.journal,
            handle: setup.handle,
            agent: tokio::spawn(setup.agent.run()),
            log: setup.log,
            catalog: setup.catalog,
            find_model: setup.find_model,
            redactor: setup.redactor,
            remembers,
            mailbox,
            _lock: setup.lock,
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
                    let _ = self.log.commit(self.record.id).await;
                    return;
                }
            };
            match mail {
                Some(Mail::Command(Command::Shutdown, reply)) => {
                    goodbye = Some(reply);
                    break;
                }
                Some(Mail::Command(command, reply)) => {
                    let result = self.take(command).await;
                    // The window may be gone; what it asked for is done all the same.
                    let _ = reply.send(result);
                }
                Some(Mail::Query(query, reply)) => {
                    // Aside: a long log must not keep a cancel waiting.
                    let (session, root) = (self.record.id, self.root);
                    let (journal, log) = (Arc::clone(&self.journal), Arc::clone(&self.log));
                    let handle = self.handle.clone();
                    tokio::spawn(async move {
                        let _ = reply.send(answer(query, session, root, &journal, log.as_ref(), &handle).await);
                    });
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
        let Self { handle, agent, log, journal, record, remembers, .. } = self;
        drop(handle);
        let stopped = agent.await;
        if matches!(stopped, Ok(Ok(()))) {
            remembers.at_end().await;
        }
        remembers.close().await;
        log.commit(record.id).await.map_err(|error| store_failed(&error))?;
        match stopped {
            Ok(Ok(())) => Ok(Receipt { seq: journal.standing().last_seq }),
            Ok(Err(error)) => Err(ClientError::Failed { code: error.code, message: error.message }),
            Err(_) => Err(ClientError::Gone),
        }
    }

    async fn take(&mut self, command: Command) -> Result<Receipt, ClientError> {
        let receipt = Receipt { seq: self.journal.standing().last_seq };
        let input = match command {
            Command::UserMessage { content, attachments } => {
                let note = to_remember(&content).filter(|_| attachments.is_empty() && self.remembers.is_on());
                if let Some(note) = note {
                    self.remembers.note(note).await?;
                    return Ok(receipt);
                }
                self.message(content, attachments, Admission::AfterWork).await?
            }
            Command::Steer { text } => self.message(text, Vec::new(), Admission::TurnBoundary).await?,
            Command::Approve { call_id, decision } => AgentInput::Approve { call_id, decision },
            Command::Answer { question_id, reply } => AgentInput::Answer { question_id, reply },
            Command::Compact { focus } => AgentInput::Compact { focus },
            Command::SetIdeContext { context } => AgentInput::SetIdeContext(context),
            Command::Cancel => AgentInput::Cancel,
            Command::SetMode { mode } => AgentInput::SetMode(mode),
            Command::SetGeneration { generation } => {
                let known = Generation::new(generation).map_err(|error| ClientError::Refused(error.to_string()))?;
                AgentInput::SetGeneration(known)
            }
            Command::SetApproval { approval } => AgentInput::SetApproval(approval),
            Command::SetModel { model } => {
                AgentInput::SetModel((self.find_model)(&model).map_err(ClientError::Refused)?)
            }
            Command::Shutdown => return Ok(receipt),
        };
        self.handle.send(input).await.map_err(not_taken)?;
        Ok(receipt)
    }

    async fn message(
        &mut self,
        text: String,
        attachments: Vec<Attachment>,
        admission: Admission,
    ) -> Result<AgentInput, ClientError> {
        if text.trim().is_empty() {
            return Err(ClientError::Refused("the message is empty".to_owned()));
        }
        if self.record.title.is_empty() {
            let title = title_of(&self.redactor.redact(&text, Scope::Said));
            self.catalog.set_title(self.record.id, &title).await.map_err(|error| store_failed(&error))?;
            self.record.title = title;
        }
        self.remembers.recall(&text).await?;
        let mut message = Message::user(text);
        message.parts.extend(attachments.into_iter().map(|attachment| match attachment {
            Attachment::Image { media_type, data } => Part::Image { media_type, data },
        }));
        Ok(AgentInput::Message { message, admission })
    }
}

async fn answer(
    query: Query,
    session: SessionId,
    root: AgentId,
    journal: &Journal,
    log: &dyn EventLog,
    agent: &AgentHandle,
) -> Result<Answer, ClientError> {
    match query {
        Query::Snapshot => {
            let standing = journal.standing();
            Ok(Answer::Snapshot(SessionSnapshot {
                session_id: session,
                root_agent: root,
                last_seq: standing.last_seq,
                cwd: standing.cwd,
                model: standing.model,
                mode: standing.mode,
                approval: standing.approval,
                state: standing.state,
                usage: standing.usage,
                pending: standing.pending,
                questions: standing.questions,
                generation: standing.generation,
                todos: standing.todos,
                plan: standing.plan,
                findings: standing.findings,
            }))
        }
        Query::Context => Ok(Answer::Context(agent.report().await.map_err(not_taken)?)),
        Query::Prompt => Ok(Answer::Prompt(agent.prompt().await.map_err(not_taken)?)),
        Query::Messages => Ok(Answer::Messages { messages: messages(session, log).await? }),
    }
}

async fn messages(session: SessionId, log: &dyn EventLog) -> Result<Vec<Message>, ClientError> {
    let mut fold = Fold::default();
    loop {
        let since = fold.standing.last_seq;
        let page = log.read(session, since, PAGE).await.map_err(|error| store_failed(&error))?;
        page.iter().for_each(|event| fold.apply(event));
        if page.len() < PAGE {
            return Ok(fold.messages);
        }
    }
}

fn not_taken(error: InputError) -> ClientError {
    match error {
        InputError::Gone => ClientError::Gone,
        InputError::Refused(words) => ClientError::Refused(words),
        InputError::Sink(error) => ClientError::Failed { code: error.code, message: error.message },
    }
}

pub(super) fn store_failed(error: &StoreError) -> ClientError {
    ClientError::Failed { code: error.code(), message: error.to_string() }
}

/// The first words of the first message, in one line.
fn title_of(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= TITLE {
        return line;
    }
    let cut: String = line.chars().take(TITLE - 1).collect();
    format!("{}…", cut.trim_end())
}

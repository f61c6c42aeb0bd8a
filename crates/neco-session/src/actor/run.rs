//! The actor: takes commands in order, turns them into inputs of the agent, answers questions.

use std::sync::Arc;
use std::time::Instant;

use neco_agent::runner::InputError;
use neco_agent::{Agent, AgentHandle, AgentInput, CapabilityLevel, Halt, SinkError};
use neco_model::Provider;
use neco_proto::event::{Admission, Notification, NotificationLevel, NotificationTopic, TitleSource};
use neco_proto::{
    Actor, AgentId, AgentOrder, AgentParameters, Answer, Attachment, ClientError, Command, CommandWants, EventBody,
    Message, Part, Query, Receipt, Seq, WorkflowId, WorkflowOrder,
};
use neco_safety::policy::Rule;
use neco_store::Lease;
use serde_json::Value;
use tokio::sync::{Mutex, mpsc, oneshot};
use tokio::task::JoinHandle;

use super::answer::{Answers, background_of};
use super::attached::{attach, named, presentable, whole};
use super::opened::Withheld;
use super::remember::Remembers;
use super::reverting;
use super::shown::Shown;
use crate::aside::Aside;
use crate::error::SessionError;
use crate::exchanges::ExchangeKeeper;
use crate::hub::{Remembering, SessionContext, SessionCore};
use crate::memory::to_remember;
use crate::title::TitleKeeper;

/// The group for pictures.
const PICTURES: &str = "image";

/// What the last event of a process says that hands its session over.
const HANDED_OVER: &str = "The session goes on in another process";

/// What an actor is made of.
pub struct ActorSetup {
    /// The session, and what makes its agent again when it goes back.
    pub ctx: SessionContext,
    pub agent: Agent,
    pub handle: AgentHandle,
    /// Held as long as the actor lives.
    pub lease: Arc<Lease>,
    /// The last event before this run.
    pub first_seq: Seq,
    /// What it remembers with; nothing when there is no memory.
    pub remembering: Option<Remembering>,
}

pub(super) enum Mail {
    Command(Actor, Command, oneshot::Sender<Result<Receipt, ClientError>>),
    Query(Query, oneshot::Sender<Result<Answer, ClientError>>),
    KeptRules(Vec<Rule>, oneshot::Sender<()>),
    /// Whether turns begin.
    Hold(bool, oneshot::Sender<()>),
    /// Whether nothing would be cut short if another process went on with the session now.
    AtBoundary(oneshot::Sender<bool>),
    /// The session ends as it is, and another process goes on with it.
    HandOver(oneshot::Sender<Result<(), ClientError>>),
}

pub(super) struct SessionActor {
    pub(super) handle: AgentHandle,
    pub(super) agent: JoinHandle<Result<(), SinkError>>,
    pub(super) ctx: SessionContext,
    pub(super) remembers: Remembers,
    exchanges: ExchangeKeeper,
    /// What windows were shown of a way back.
    pub(super) shown: Shown,
    withheld: Withheld,
    title: Arc<TitleKeeper>,
    /// Waits for the first work that is done, where a model makes the title.
    titling: Option<JoinHandle<()>>,
    first_seq: Seq,
    mailbox: mpsc::Receiver<Mail>,
    aside: Aside,
    /// Free when the actor is dropped, after everything is written.
    _lease: Arc<Lease>,
}

impl SessionActor {
    pub fn new(setup: ActorSetup, mailbox: mpsc::Receiver<Mail>, aside: Aside) -> Self {
        let ActorSetup { ctx, agent, handle, lease, first_seq, remembering } = setup;
        let core = SessionCore::clone(&ctx);
        let deps = core.hub.deps();
        // A title of whom nobody knows who made it stays until somebody makes a better one.
        let by = (!core.record.title.is_empty()).then(|| core.record.title_by.unwrap_or(TitleSource::FirstWords));
        let title = Arc::new(TitleKeeper {
            redactor: deps.redactor.clone(),
            settings: deps.titles.clone(),
            core: core.clone(),
            by: Mutex::new(by),
            asking: Mutex::new(()),
            aside: aside.clone(),
        });
        let titling = title.settings.is_some().then(|| tokio::spawn(Arc::clone(&title).after_first_work(first_seq)));
        Self {
            handle,
            agent: tokio::spawn(agent.run()),
            ctx,
            exchanges: ExchangeKeeper::start(core.clone()),
            remembers: Remembers { core, with: remembering, first_seq, aside: aside.clone() },
            shown: Shown::default(),
            withheld: Withheld::default(),
            title,
            titling,
            first_seq,
            mailbox,
            aside,
            _lease: lease,
        }
    }

    pub async fn run(self) {
        let journal = Arc::clone(&self.ctx.journal);
        self.work().await;
        journal.close();
    }

    async fn work(mut self) {
        let goodbye = loop {
            let mail = tokio::select! {
                mail = self.mailbox.recv() => mail,
                // The agent ends by itself only when nothing can be recorded any more. The lock is not
                // given up before what was recorded is written, as far as that is possible.
                _ = &mut self.agent => {
                    self.ctx.supervisor.close().await;
                    self.ctx.supervisor.settle().await;
                    let _ = self.ctx.log().commit(self.ctx.id()).await;
                    return;
                }
            };
            match mail {
                Some(Mail::Command(_, Command::Shutdown, reply)) => break Some(reply),
                Some(Mail::HandOver(reply)) => {
                    let _ = reply.send(self.hand_over().await);
                    return;
                }
                Some(Mail::Hold(held, reply)) => {
                    let input = if held { AgentInput::Hold(Halt::AfterTurn) } else { AgentInput::Release };
                    // An agent that is gone begins no turn.
                    let _ = self.handle.send(input).await;
                    let _ = reply.send(());
                }
                Some(Mail::AtBoundary(reply)) => {
                    let others_work = self.ctx.workflows.is_busy() || self.ctx.supervisor.is_at_work().await;
                    let _ = reply.send(!others_work && self.handle.is_at_boundary().await.unwrap_or(true));
                }
                Some(Mail::Command(by, Command::AgentCommand { agent_id, order }, reply))
                    if agent_id != self.ctx.root =>
                {
                    self.command(by, agent_id, order, reply);
                }
                Some(Mail::Command(by, Command::StopAll, reply)) => self.stop_all(by, reply).await,
                Some(Mail::Command(by, Command::WorkflowCommand { workflow_id, order }, reply)) => {
                    self.command_workflow(by, workflow_id, order, reply);
                }
                Some(Mail::Command(_, Command::StopBackground { agent_id, name }, reply)) => {
                    self.stop_background(agent_id, name, reply);
                }
                Some(Mail::Command(by, command, reply)) => {
                    let result = self.take(by, command).await;
                    // The window may be gone; what it asked for is done all the same.
                    let _ = reply.send(result);
                }
                Some(Mail::Query(query, reply)) => {
                    let (ctx, handle, shown) = (self.ctx.clone(), self.handle.clone(), self.shown.clone());
                    let answers = Answers { ctx, handle, shown };
                    tokio::spawn(async move {
                        let _ = reply.send(answers.answer(query).await);
                    });
                }
                Some(Mail::KeptRules(rules, reply)) => {
                    self.renew_kept(rules).await;
                    let _ = reply.send(());
                }
                None => break None,
            }
        };
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
        let Self { handle, agent, remembers, exchanges, title, titling, first_seq, ctx, .. } = self;
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
        ctx.log().commit(ctx.id()).await?;
        exchanges.close().await;
        ctx.hub.settle_checkpoints(ctx.cwd()).await;
        match stopped {
            Ok(Ok(())) => Ok(Receipt { seq: ctx.journal.standing().last_seq, message_id: None }),
            Ok(Err(error)) => Err(ClientError::Failed { code: error.code, message: error.message }),
            Err(_) => Err(ClientError::Gone),
        }
    }

    /// Ends as it is: nothing of what is under way is told to have ended, for it goes on in another process. The last
    /// event says so.
    async fn hand_over(self) -> Result<(), ClientError> {
        self.aside.stop();
        let Self { handle, agent, remembers, exchanges, titling, ctx, .. } = self;
        let _ = handle.send(AgentInput::HandOver).await;
        drop(handle);
        ctx.workflows.close().await;
        ctx.supervisor.leave_running().await;
        ctx.supervisor.close().await;
        let stopped = agent.await;
        ctx.supervisor.settle().await;
        titling.inspect(JoinHandle::abort);
        remembers.close().await;
        exchanges.close().await;
        match stopped {
            Ok(Ok(())) => {
                let told = Notification::new(NotificationLevel::Info, HANDED_OVER.to_owned());
                ctx.commit(EventBody::Notification(told.about(NotificationTopic::HandedOver))).await?;
                ctx.log().commit(ctx.id()).await?;
                Ok(())
            }
            Ok(Err(error)) => Err(ClientError::Failed { code: error.code, message: error.message }),
            Err(_) => Err(ClientError::Gone),
        }
    }

    async fn take(&mut self, by: Actor, command: Command) -> Result<Receipt, ClientError> {
        let mut receipt = self.receipt();
        let input = match command {
            Command::UserMessage { content, attachments } => {
                let note = to_remember(&content).filter(|_| attachments.is_empty() && self.remembers.is_on());
                if let Some(note) = note {
                    self.remembers.note(note).await?;
                    return Ok(receipt);
                }
                self.see_pictures(&attachments).await?;
                let message = self.message(&by, content, None, attachments).await?;
                AgentInput::Message { message, admission: Admission::AfterWork }
            }
            Command::Steer { text } => {
                let message = self.message(&by, text, None, Vec::new()).await?;
                AgentInput::Message { message, admission: Admission::TurnBoundary }
            }
            Command::CommandMessage { pieces, attachments, steers, allow, model } => {
                self.see_pictures(&attachments).await?;
                let (text, said) = whole(&pieces, &self.title.redactor);
                let message = self.message(&by, text, said, attachments).await?;
                let message = Message { wants: CommandWants { allow, model }, ..message };
                let admission = if steers { Admission::TurnBoundary } else { Admission::AfterWork };
                AgentInput::Message { message, admission }
            }
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
            Command::SetIdeContext { context } => {
                let told = self.withheld.may_be_told(&self.ctx, context).await;
                AgentInput::SetIdeContext(told?)
            }
            Command::Background { call_id } => AgentInput::Background(call_id),
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
                    Err(error) => Err(error.into()),
                };
            }
            Command::Rewind { message_id, what } => {
                let course = self.course().await?;
                return self.go(by, &course.way(course.point(message_id)?, what)?).await;
            }
            Command::RestoreCheckpoint { rev } => {
                let course = self.course().await?;
                return self.go(by, &course.way_to_state(course.state(&rev)?)).await;
            }
            Command::RevertFiles { from, changes } => return reverting::revert_files(self, by, &from, changes).await,
            Command::RetryCall { call_id } => AgentInput::Retry(call_id),
            Command::UndoRewind => return self.go(by, &self.course().await?.undo()?).await,
            Command::RedoRewind => return self.go(by, &self.course().await?.redo()?).await,
            Command::AgentCommand { order, .. } => self.for_root(&by, order).await?,
            Command::RunWorkflow { definition, inputs } => {
                self.run_workflow(&definition, &inputs).await?;
                return Ok(receipt);
            }
            // Carried out elsewhere.
            Command::StopAll | Command::WorkflowCommand { .. } | Command::StopBackground { .. } | Command::Shutdown => {
                return Ok(receipt);
            }
        };
        if let AgentInput::Message { message, .. } = &input {
            receipt.message_id = Some(message.id);
            // What other agents said before is heard before.
            self.ctx.supervisor.flush(self.ctx.root).await;
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

    fn set_model(&mut self, model: &str) -> Result<AgentInput, ClientError> {
        let provider = self.ctx.model(model).map_err(|error| ClientError::Refused(error.to_string()))?;
        self.ctx.provider = Arc::clone(&provider);
        self.ctx.options.model = Some(model.to_owned());
        self.ctx.supervisor.choose(model);
        Ok(AgentInput::SetModel(provider))
    }

    async fn message(
        &mut self,
        by: &Actor,
        text: String,
        said: Option<String>,
        attachments: Vec<Attachment>,
    ) -> Result<Message, ClientError> {
        if text.trim().is_empty() {
            return Err(ClientError::Refused("the message is empty".to_owned()));
        }
        let text = presentable(text, &self.title.redactor);
        let words = said.as_ref().unwrap_or(&text);
        self.title.first_words(words).await?;
        self.remembers.recall(words).await?;
        let names = named(said.as_deref().unwrap_or_else(|| Message::written(&text)));
        let (text, pictures) = attach(&self.ctx, &self.title.redactor, by, (text, names)).await?;
        self.see_pictures(&pictures).await?;
        let mut message = Message { by: Some(by.clone()), said, ..Message::user(text) };
        message.parts.extend(attachments.into_iter().chain(pictures).map(|attachment| match attachment {
            Attachment::Image { media_type, data } => Part::Image { media_type, data },
        }));
        Ok(message)
    }

    /// What a command is answered with that begins nothing itself.
    pub(super) fn receipt(&self) -> Receipt {
        Receipt { seq: self.ctx.journal.standing().last_seq, message_id: None }
    }

    /// Passes an order on to an agent below the root. It is carried out aside: whoever has to stop what an
    /// agent runs must not keep a cancel waiting.
    fn command(
        &self,
        by: Actor,
        agent: AgentId,
        order: AgentOrder,
        reply: oneshot::Sender<Result<Receipt, ClientError>>,
    ) {
        let supervisor = Arc::clone(&self.ctx.supervisor);
        let receipt = self.receipt();
        tokio::spawn(async move {
            let done = match supervisor.order(by, agent, order).await {
                Ok(()) => Ok(receipt),
                Err(error) => Err(ClientError::Refused(supervisor.words(&error).await)),
            };
            // The window may be gone; what it asked for is done all the same.
            let _ = reply.send(done);
        });
    }

    /// Pictures are for a model that sees them: when the present one does not, and nobody chose it, the group for
    /// pictures is asked from now on, as the conversation holds them from now on.
    async fn see_pictures(&mut self, attachments: &[Attachment]) -> Result<(), ClientError> {
        let kinds: Vec<&str> = attachments
            .iter()
            .map(|attachment| match attachment {
                Attachment::Image { media_type, .. } => media_type.as_str(),
            })
            .collect();
        let sees = |provider: &dyn Provider| kinds.iter().all(|kind| provider.sees(kind));
        if self.ctx.options.model.is_some() || sees(self.ctx.provider.as_ref()) {
            return Ok(());
        }
        // Without a group that sees them, the agent says that it does not.
        let Some(seeing) = self.ctx.model(PICTURES).ok().filter(|provider| sees(provider.as_ref())) else {
            return Ok(());
        };
        let (blind, other) = (self.ctx.provider.label(), seeing.label());
        let text = format!("The model {blind} does not see pictures; {other} takes over");
        let told = EventBody::Notification(Notification::new(NotificationLevel::Info, text));
        self.ctx.emit(told).await?;
        self.ctx.provider = Arc::clone(&seeing);
        self.handle.send(AgentInput::SetModel(seeing)).await.map_err(not_taken)
    }

    /// What an order is when it is for the root.
    async fn for_root(&mut self, by: &Actor, order: AgentOrder) -> Result<AgentInput, ClientError> {
        match order {
            AgentOrder::Task { text } => {
                let message = self.message(by, text, None, Vec::new()).await?;
                Ok(AgentInput::Message { message, admission: Admission::AfterWork })
            }
            AgentOrder::Redirect { text } | AgentOrder::Answer { text } => {
                let message = self.message(by, text, None, Vec::new()).await?;
                Ok(AgentInput::Message { message, admission: Admission::TurnBoundary })
            }
            // Carried out elsewhere.
            AgentOrder::Cancel => Ok(AgentInput::Cancel),
            AgentOrder::Pause | AgentOrder::Resume => {
                Err(ClientError::Refused("the root agent can't be paused; cancel stops its work".to_owned()))
            }
            AgentOrder::Retry => Err(ClientError::Refused(
                "the root agent can't be started over; a rewind goes back to an earlier message".to_owned(),
            )),
            AgentOrder::UpdateParameters(AgentParameters { model_group: Some(model), budget: None, tools: None }) => {
                self.set_model(&model)
            }
            AgentOrder::UpdateParameters(_) => Err(ClientError::Refused(
                "of the root agent only the model can be changed; its budget and tools are the session's".to_owned(),
            )),
        }
    }

    /// Stops the work of the root, which its agents do not wake before the person says something. Every window is told
    /// who ended with it, when they have.
    async fn cancel(&mut self, by: Actor) -> Result<(), ClientError> {
        let (idle, since) = (!self.ctx.journal.standing().state.is_at_work(), Instant::now());
        // Before what its calls wait for ends otherwise, and before anything that could take long: the tree is not to be
        // had while somebody is made.
        self.handle.send_as(Some(by.clone()), AgentInput::Cancel).await.map_err(not_taken)?;
        // What is interrupted can be gone on with.
        self.ctx.workflows.interrupt();
        if !idle {
            self.ctx.supervisor.tell_ended_with_turn(since);
        }
        if idle && self.ctx.supervisor.live_count().await > 0 {
            let told = self.ctx.supervisor.tell_stop(by, Vec::new()).await;
            return told.map_err(|error| ClientError::Refused(error.to_string()));
        }
        Ok(())
    }

    /// Stops everything that could ask a model. The reply comes when nothing does any more; meanwhile other commands
    /// are heard.
    async fn stop_all(&mut self, by: Actor, reply: oneshot::Sender<Result<Receipt, ClientError>>) {
        let supervisor = Arc::clone(&self.ctx.supervisor);
        let workflows = self.ctx.workflows.clone();
        let root = async {
            // Before the root, which may take long to hear: workflows go on asking meanwhile.
            workflows.interrupt();
            self.handle.send_as(Some(by.clone()), AgentInput::Cancel).await.map_err(not_taken)
        };
        let (paused, cancelled) = supervisor.stop_everybody(by.clone(), root).await;
        let receipt = self.receipt();
        tokio::spawn(async move {
            let done = match paused {
                Ok(stopping) => {
                    supervisor.stopped(stopping, workflows.close()).await;
                    cancelled
                }
                Err(error) => Err(ClientError::Refused(supervisor.words(&error).await)),
            };
            // The window may be gone; what it asked for is done all the same.
            let _ = reply.send(done.map(|()| receipt));
        });
    }

    /// Ends a command in the background of an agent. It is carried out aside: a command may take its time to end.
    fn stop_background(&self, agent: AgentId, name: String, reply: oneshot::Sender<Result<Receipt, ClientError>>) {
        let (ctx, receipt) = (self.ctx.clone(), self.receipt());
        tokio::spawn(async move {
            let done = match background_of(&ctx, agent, &name).await {
                Ok(command) => {
                    command.end().await;
                    Ok(receipt)
                }
                Err(error) => Err(error),
            };
            // The window may be gone; what it asked for is done all the same.
            let _ = reply.send(done);
        });
    }

    /// Whether the root, an agent or a workflow is at work.
    async fn is_at_work(&self) -> bool {
        self.ctx.journal.standing().state.is_at_work()
            || self.ctx.workflows.is_busy()
            || self.ctx.supervisor.is_at_work().await
    }

    /// Begins a workflow on behalf of the person: its agents are children of the root.
    async fn run_workflow(&mut self, definition: &Value, inputs: &Value) -> Result<(), ClientError> {
        let checked =
            self.ctx.workflows.check(definition, inputs).map_err(|error| ClientError::Refused(error.to_string()))?;
        let name = definition.get("name").and_then(Value::as_str).unwrap_or_default();
        self.title.first_words(&format!("workflow {name}")).await?;
        self.ctx.workflows.start_checked(self.ctx.root, checked);
        Ok(())
    }

    /// Passes an order on to a workflow. It is carried out aside: it may read all of the log, and a cancel does not
    /// wait for that.
    fn command_workflow(
        &self,
        by: Actor,
        id: WorkflowId,
        order: WorkflowOrder,
        reply: oneshot::Sender<Result<Receipt, ClientError>>,
    ) {
        let workflows = self.ctx.workflows.clone();
        let receipt = self.receipt();
        tokio::spawn(async move {
            let done = match order {
                WorkflowOrder::Cancel => workflows.cancel(by, id).await,
                WorkflowOrder::Resume => workflows.resume(id).await,
            };
            // The window may be gone; what it asked for is done all the same.
            let _ = reply.send(done.map(|()| receipt).map_err(|error| ClientError::Refused(error.to_string())));
        });
    }
}

pub(super) fn not_taken(error: InputError) -> ClientError {
    match error {
        InputError::Gone => ClientError::Gone,
        InputError::Refused(_) | InputError::Call(_) | InputError::Reply(_) => ClientError::Refused(error.to_string()),
        InputError::Sink(error) => ClientError::Failed { code: error.code, message: error.message },
    }
}

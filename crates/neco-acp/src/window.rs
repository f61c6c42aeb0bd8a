//! One session as an editor has it: its events are followed, what it asks is brought to the person, and every prompt is
//! answered when the work is over.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use agent_client_protocol::v1::schema as acp;
use agent_client_protocol::v1::{ConnectionTo, Responder};
use agent_client_protocol::{Client as Editor, Error};
use futures::StreamExt;
use neco_proto::app::{App, Caller};
use neco_proto::event::{Admission, AgentComplete, CompleteReason, HookOutcome};
use neco_proto::{Answer, Client, Command, Event, EventBody, EventStream, MessageId, Query, Seq, Subject};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;
use tokio::task::{AbortHandle, JoinHandle};

use crate::commands::{self, Wanted};
use crate::failure;
use crate::forms;
use crate::permission::{Asked, AskedId};
use crate::prompt::Said;
use crate::terminal::Terminals;
use crate::transcript::{Transcript, aside};

/// How often an editor is told what running commands print.
const BEAT: Duration = Duration::from_millis(100);

/// How long a session that was stopped may take to tell that.
const MOMENT: Duration = Duration::from_secs(1);

/// The answer to a prompt.
pub(crate) type Prompted = Responder<acp::PromptResponse>;

/// What a session of an editor stands on.
#[derive(Clone)]
pub(crate) struct Base {
    /// Its name in messages.
    pub id: acp::SessionId,
    /// The session.
    pub client: Arc<dyn Client>,
    /// The program.
    pub app: Arc<dyn App>,
    /// The folder that the session works in.
    pub folder: String,
    /// The way to the editor.
    pub editor: ConnectionTo<Editor>,
    /// Who speaks by way of the editor.
    pub caller: Caller,
    /// Whether another process has it open, which goes on with it.
    pub shared: bool,
    /// The editor's terminals, where it shows commands in them.
    pub terminals: Option<Arc<Terminals>>,
    /// Whether the editor shows forms.
    pub forms: bool,
    /// The models that can be chosen.
    pub models: Arc<[String]>,
}

impl Base {
    /// Tells the editor something.
    pub fn tell(&self, update: acp::SessionUpdate) {
        let told = self.editor.send_notification(acp::SessionNotification::new(self.id.clone(), update));
        if let Err(error) = told {
            tracing::debug!(%error, "the editor is gone");
        }
    }

    /// Everything that came of what was just done is told until this event.
    async fn last_seq(&self) -> Seq {
        match self.client.ask(Query::Snapshot).await {
            Ok(Answer::Snapshot(snapshot)) => snapshot.last_seq,
            _ => 0,
        }
    }

    /// Tells the session something.
    async fn send(&self, command: Command) -> Result<neco_proto::Receipt, neco_proto::ClientError> {
        self.client.send_as(self.caller.actor.clone(), command).await
    }
}

/// What is wanted of a session that is followed.
pub(crate) enum Order {
    /// A prompt.
    Prompt(Box<(Said, Prompted)>),
    /// What is done is stopped.
    Cancel,
    /// Somebody waits until every prompt is answered: this is dropped then.
    Settle(oneshot::Sender<()>),
}

/// A session that an editor has open.
pub(crate) struct Window {
    /// What it stands on.
    pub base: Base,
    orders: UnboundedSender<Order>,
    follows: JoinHandle<()>,
}

impl Window {
    /// Follows a session from after `since`; `asks` wait for the person already.
    pub fn new(base: Base, transcript: Transcript, since: Seq, asks: Vec<Asked>) -> Self {
        // Unbounded: an editor's orders are as many as it has sent, and a cancel must not wait behind them.
        let (orders, wanted) = unbounded_channel();
        let events = base.client.events(since);
        let own = orders.clone();
        let mut follower = Follower {
            base: base.clone(),
            transcript,
            orders: own,
            prompts: Vec::new(),
            settling: Vec::new(),
            asked: HashMap::new(),
            complete: None,
            error: None,
        };
        let follows = tokio::spawn(async move {
            asks.into_iter().for_each(|asked| follower.ask(asked));
            follower.follow(events, wanted).await;
        });
        Self { base, orders, follows }
    }

    /// Hands over an order; it is gone when the session is.
    pub fn order(&self, order: Order) {
        if let Err(gone) = self.orders.send(order)
            && let Order::Prompt(prompt) = gone.0
        {
            answer(prompt.1, Err(failure::of_client(neco_proto::ClientError::Gone)));
        }
    }

    /// Ready when every prompt is answered, or after a moment.
    pub async fn settle(&self) {
        let (sender, settled) = oneshot::channel();
        self.order(Order::Settle(sender));
        let _ = tokio::time::timeout(MOMENT, settled).await;
    }

    /// Follows it no longer.
    pub fn leave(&self) {
        self.follows.abort();
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        self.leave();
    }
}

fn answer(prompted: Prompted, result: Result<acp::PromptResponse, Error>) {
    if let Err(error) = prompted.respond_with_result(result) {
        tracing::debug!(%error, "nobody waits for the answer");
    }
}

/// A task that ends with whoever has this.
struct Task(AbortHandle);

impl Drop for Task {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// A prompt that is not answered yet.
struct Pending {
    prompted: Prompted,
    awaits: Awaits,
    /// Whether the editor wants it stopped.
    cancelled: bool,
    /// Whoever looks whether the editor takes the request back.
    _watch: Task,
}

/// What a prompt waits for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Awaits {
    /// The agent has not read the message yet.
    Reading(MessageId),
    /// The end of the work.
    Work,
    /// What the session tells until this event.
    Event(Seq),
}

struct Follower {
    base: Base,
    transcript: Transcript,
    orders: UnboundedSender<Order>,
    prompts: Vec<Pending>,
    /// Who waits until there is no prompt.
    settling: Vec<oneshot::Sender<()>>,
    /// What the person is being asked.
    asked: HashMap<AskedId, Task>,
    /// How the last work ended.
    complete: Option<AgentComplete>,
    /// What went wrong last.
    error: Option<String>,
}

impl Follower {
    async fn follow(mut self, mut events: EventStream, mut wanted: UnboundedReceiver<Order>) {
        let mut beat = tokio::time::interval(BEAT);
        loop {
            tokio::select! {
                biased;
                Some(order) = wanted.recv() => self.order(order).await,
                event = events.next() => match event {
                    Some(Ok(event)) => self.event(&event),
                    Some(Err(error)) => return self.end(&failure::of_client(error)),
                    None => return self.end(&failure::of_client(neco_proto::ClientError::Gone)),
                },
                _ = beat.tick(), if self.transcript.has_printed() => {
                    self.transcript.printed().into_iter().for_each(|update| self.base.tell(update));
                }
            }
        }
    }

    /// The session is gone.
    fn end(&mut self, why: &Error) {
        for pending in self.prompts.drain(..) {
            let cancelled = Ok(acp::PromptResponse::new(acp::StopReason::Cancelled));
            answer(pending.prompted, if pending.cancelled { cancelled } else { Err(why.clone()) });
        }
    }

    async fn order(&mut self, order: Order) {
        match order {
            Order::Prompt(prompt) => {
                let (said, prompted) = *prompt;
                self.prompt(said, prompted).await;
            }
            Order::Cancel => self.cancel(),
            Order::Settle(sender) => {
                self.settling.push(sender);
                self.answer_finished();
            }
        }
    }

    async fn prompt(&mut self, said: Said, prompted: Prompted) {
        if let Some(context) = said.open.clone()
            && let Err(error) = self.base.send(Command::SetIdeContext { context }).await
        {
            tracing::debug!(%error, "what is open is not known");
        }
        let Base { app, client, caller, folder, .. } = &self.base;
        let wanted = match commands::read(app.as_ref(), client.as_ref(), caller, folder, said).await {
            Ok(wanted) => wanted,
            Err(error) => return answer(prompted, Err(error)),
        };
        let (Wanted::Work(command) | Wanted::Act(command)) = wanted.clone();
        let receipt = match self.base.send(command).await {
            Ok(receipt) => receipt,
            Err(error) => return answer(prompted, Err(failure::of_client(error))),
        };
        let awaits = match (&wanted, receipt.message_id) {
            (Wanted::Work(_), Some(message)) => {
                self.transcript.said(message);
                Awaits::Reading(message)
            }
            (Wanted::Work(_) | Wanted::Act(_), _) => Awaits::Event(self.base.last_seq().await),
        };
        let (orders, taken_back) = (self.orders.clone(), prompted.cancellation());
        let watch = tokio::spawn(async move {
            taken_back.cancelled().await;
            let _ = orders.send(Order::Cancel);
        });
        self.prompts.push(Pending { prompted, awaits, cancelled: false, _watch: Task(watch.abort_handle()) });
        self.answer_finished();
    }

    /// Stops what is done, whoever does it, and takes back what was not read yet.
    fn cancel(&mut self) {
        // What others wanted in their own process is theirs to stop.
        if self.base.shared && self.prompts.is_empty() {
            return;
        }
        let unread = self.prompts.iter().filter_map(|pending| match pending.awaits {
            Awaits::Reading(message) => Some(message),
            Awaits::Work | Awaits::Event(_) => None,
        });
        let unread: Vec<MessageId> = unread.collect();
        self.prompts.iter_mut().for_each(|pending| pending.cancelled = true);
        let stop = if self.transcript.view().is_alone() { Command::Cancel } else { Command::StopAll };
        let base = self.base.clone();
        tokio::spawn(async move {
            if !unread.is_empty() {
                let _ = base.send(Command::Withdraw { message_ids: unread }).await;
            }
            if let Err(error) = base.send(stop).await {
                tracing::debug!(%error, "there was nothing to stop");
            }
        });
    }

    fn event(&mut self, event: &Event) {
        if let Some(terminals) = self.base.terminals.as_ref().filter(|_| self.transcript.view().is_own(event)) {
            terminals.event(event);
        }
        match &event.body {
            EventBody::Message(message) => self.read(message.id),
            EventBody::HookRun(run) if matches!(run.outcome, HookOutcome::Blocked | HookOutcome::Stopped) => {
                run.message_id.into_iter().for_each(|message| self.read(message));
            }
            EventBody::MessageQueued(queued) if queued.when == Admission::Withdrawn => {
                self.withdrawn(queued.message.id)
            }
            EventBody::PermissionDecision(decided) => drop(self.asked.remove(&AskedId::Call(decided.call_id.clone()))),
            EventBody::ToolCallEnd(end) => drop(self.asked.remove(&AskedId::Call(end.call_id.clone()))),
            EventBody::QuestionAnswer(answer) => drop(self.asked.remove(&AskedId::Question(answer.question_id))),
            EventBody::Error(error) => self.error = Some(error.message.clone()),
            EventBody::AgentComplete(complete) if self.transcript.view().is_own(event) => {
                self.complete = Some(complete.clone());
                // After any other end nobody reads what waited for it.
                if !matches!(complete.reason, CompleteReason::Natural | CompleteReason::IterationLimit) {
                    self.take_back_unread(complete);
                }
            }
            // Nothing else decides about prompts and questions.
            _ => {}
        }
        if self.transcript.has_printed() && !matches!(event.body, EventBody::ToolOutputChunk(_)) {
            self.transcript.printed().into_iter().for_each(|update| self.base.tell(update));
        }
        let news = self.transcript.apply(event);
        news.updates.into_iter().for_each(|update| self.base.tell(update));
        if news.set {
            let options = self.transcript.settings().options(&self.base.models);
            self.base.tell(acp::SessionUpdate::ConfigOptionUpdate(acp::ConfigOptionUpdate::new(options)));
        }
        news.asks.into_iter().for_each(|asked| self.ask(asked));
        self.answer_finished();
    }

    /// The agent has read a message, or a hook kept it from that.
    fn read(&mut self, message: MessageId) {
        let of = |pending: &&mut Pending| pending.awaits == Awaits::Reading(message);
        if let Some(pending) = self.prompts.iter_mut().find(of) {
            pending.awaits = Awaits::Work;
            (self.complete, self.error) = (None, None);
        }
    }

    /// Answers the prompts that nobody has read as the work ended that they waited for.
    fn take_back_unread(&mut self, complete: &AgentComplete) {
        let is_unread = |pending: &mut Pending| matches!(pending.awaits, Awaits::Reading(_));
        let mut message_ids = Vec::new();
        for pending in self.prompts.extract_if(.., is_unread) {
            message_ids.extend(match pending.awaits {
                Awaits::Reading(message) => Some(message),
                Awaits::Work | Awaits::Event(_) => None,
            });
            answer(pending.prompted, came_to(complete, self.error.as_deref(), &self.base));
        }
        if !message_ids.is_empty() {
            let base = self.base.clone();
            tokio::spawn(async move { base.send(Command::Withdraw { message_ids }).await.map(drop) });
        }
    }

    fn withdrawn(&mut self, message: MessageId) {
        let of = |pending: &mut Pending| pending.awaits == Awaits::Reading(message);
        for pending in self.prompts.extract_if(.., of) {
            answer(pending.prompted, Ok(acp::PromptResponse::new(acp::StopReason::Cancelled)));
        }
    }

    /// Answers the prompts whose work is over.
    fn answer_finished(&mut self) {
        let (is_over, seen) = (self.transcript.view().over, self.transcript.view().last_seq());
        let compacts = self.transcript.view().standing.compacting;
        let (complete, error) = (&self.complete, &self.error);
        let is_finished = |pending: &mut Pending| match pending.awaits {
            Awaits::Reading(_) => false,
            Awaits::Work => is_over && complete.is_some(),
            Awaits::Event(seq) => seen >= seq && !compacts,
        };
        for pending in self.prompts.extract_if(.., is_finished) {
            let result = match (pending.awaits, complete) {
                _ if pending.cancelled => Ok(acp::PromptResponse::new(acp::StopReason::Cancelled)),
                (Awaits::Work, Some(complete)) => came_to(complete, error.as_deref(), &self.base),
                _ => Ok(acp::PromptResponse::new(acp::StopReason::EndTurn)),
            };
            answer(pending.prompted, result);
        }
        if self.prompts.is_empty() {
            self.settling.clear();
        }
    }

    /// Brings something to the person.
    fn ask(&mut self, asked: Asked) {
        if let Some(call) = self.transcript.call_of(&asked) {
            self.base.tell(call);
        }
        let about = asked.about(self.transcript.folder());
        let (id, base) = (asked.id(), self.base.clone());
        let task = tokio::spawn(async move {
            let Some(command) = bring(&base, &asked, about).await else { return };
            if let Err(error) = base.send(command).await {
                tracing::debug!(%error, "it was answered elsewhere");
            }
        });
        self.asked.insert(id, Task(task.abort_handle()));
    }
}

/// Brings a question to the person; what the session is told of their answer. An editor that has gone decides nothing, and
/// one that can't ask leaves it to others who have the session open.
async fn bring(base: &Base, asked: &Asked, about: acp::ToolCallUpdateFields) -> Option<Command> {
    let unasked = |error: Error| {
        let is_gone = base.shared || agent_client_protocol::is_incoming_transport_closed(&error);
        (!is_gone).then(|| asked.unasked(&error.message))
    };
    if let Asked::Question(question) = asked
        && let Subject::Choices { items } = &question.subject
        && base.forms
    {
        let form = forms::form(&base.id, asked.call(), items);
        return match base.editor.send_request(form).block_task().await {
            Ok(answer) => {
                let (question_id, reply) = (question.question_id, forms::reply(items, answer));
                Some(Command::Answer { question_id, reply })
            }
            Err(error) => unasked(error),
        };
    }
    let mut chosen = Vec::new();
    for options in asked.rounds() {
        let call = acp::ToolCallUpdate::new(asked.call(), about.clone());
        let request = acp::RequestPermissionRequest::new(base.id.clone(), call, options);
        match base.editor.send_request(request).block_task().await {
            Ok(acp::RequestPermissionResponse { outcome: acp::RequestPermissionOutcome::Selected(one), .. }) => {
                chosen.push(Some(one.option_id.0.to_string()));
            }
            Ok(_) => chosen.push(None),
            Err(error) => return unasked(error),
        }
    }
    Some(asked.command(&chosen))
}

/// How a prompt ended. What failed is an error, which editors show.
fn came_to(complete: &AgentComplete, error: Option<&str>, base: &Base) -> Result<acp::PromptResponse, Error> {
    let stop = match complete.reason {
        CompleteReason::Natural | CompleteReason::LoopDetected => acp::StopReason::EndTurn,
        CompleteReason::IterationLimit => acp::StopReason::MaxTurnRequests,
        CompleteReason::Cancelled => acp::StopReason::Cancelled,
        CompleteReason::Budget => {
            let words = complete.budget.as_ref().map(neco_view::figures::budget);
            base.tell(aside(words.as_deref().unwrap_or("The budget of this session is used up")));
            acp::StopReason::MaxTurnRequests
        }
        CompleteReason::Stopped => acp::StopReason::EndTurn,
        CompleteReason::Failed => {
            let words = error.unwrap_or("the model could not be asked");
            return Err(failure::of_work(complete.error_code, words));
        }
    };
    Ok(acp::PromptResponse::new(stop))
}

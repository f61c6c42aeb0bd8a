//! A session that is followed: its events become updates, the editor's orders are carried out in their order, and every
//! prompt is answered when the work is over.
//!
//! One task does all of that and never stands still: what takes a while is polled beside the rest, and what the editor is
//! told waits for room without keeping an order from being heard.

use std::collections::{HashMap, VecDeque};
use std::future::pending;
use std::mem;
use std::time::Duration;

use agent_client_protocol::Error;
use agent_client_protocol::v1::schema as acp;
use futures::StreamExt;
use futures::future::BoxFuture;
use neco_proto::event::{Admission, AgentComplete, CompleteReason, HookOutcome};
use neco_proto::{
    Actor, ClientError, Command, Event, EventBody, EventStream, Message, MessageId, QuestionId, Role, Seq,
};
use tokio::sync::mpsc::{UnboundedReceiver, WeakUnboundedSender};
use tokio::sync::oneshot;
use tokio::time::{Instant, MissedTickBehavior, sleep_until};

use self::opening::{Opens, Stage, begun, retell};
use self::orders::{Job, Stop, Work};
use crate::asking::{Brought, bring};
use crate::failure;
use crate::permission::{Asked, AskedId};
use crate::prompts::{Awaits, Pending, Prompted, Prompts, answer};
use crate::questions::{Next, OpenQuestion};
use crate::transcript::Transcript;
use crate::updates::{aside, done_by, is_of_work, told_late};
use crate::window::{Base, Order, Start, Task};

mod opening;
mod orders;

/// How often an editor is told what running commands print.
const BEAT: Duration = Duration::from_millis(100);

/// What the editor is told next, in order.
enum Told {
    Update(acp::SessionUpdate),
    /// The answer to a prompt.
    Answer(Prompted, Result<acp::PromptResponse, Error>),
    /// Something is brought to the person.
    Ask(Asked),
    /// What is past is told: how it is set, and when what follows may be told.
    Shown(Opens),
    /// Every prompt is answered.
    Closed(oneshot::Sender<()>),
    /// A terminal is not told of any more.
    LetGo(oneshot::Sender<()>),
}

/// A session that is followed.
pub(crate) struct Follower {
    base: Base,
    transcript: Transcript,
    orders: WeakUnboundedSender<Order>,
    /// The last event that was taken in.
    seen: Seq,
    /// Whether somebody is at work whose beginning was not seen.
    at_work: bool,
    /// Orders whose turn has not come.
    queue: VecDeque<Job>,
    work: Option<Work>,
    /// What is being stopped, before which no other order is carried out, and what is to be stopped behind that.
    stops: Option<BoxFuture<'static, Option<Seq>>>,
    to_stop: VecDeque<Stop>,
    /// When those are answered that were stopped.
    answers_by: Option<Instant>,
    stage: Stage,
    /// What waited for the person when the session was opened, or while work was given up.
    waiting: Vec<Asked>,
    outbox: VecDeque<Told>,
    /// An event that may be about the message that is on its way.
    held: Option<Event>,
    prompts: Prompts,
    closing: Vec<oneshot::Sender<()>>,
    /// What the person is being asked.
    asked: HashMap<AskedId, Task>,
    /// What of that the person's next message answers.
    questions: Vec<OpenQuestion>,
    /// Work may go on whose prompt is answered as stopped: until it is over, and this event was seen, the editor is told
    /// no more of that.
    given_up: Option<Seq>,
    /// Whether that kept something from the editor since it was told how everything stands.
    missed: bool,
    /// What was done all the same of work that is given up.
    late: Vec<String>,
    /// How the last work ended.
    complete: Option<AgentComplete>,
    /// What went wrong last.
    error: Option<String>,
}

impl Follower {
    pub fn new(base: Base, start: Start, orders: WeakUnboundedSender<Order>) -> Self {
        let Start { transcript, since, asks, at_work } = start;
        Self {
            base,
            transcript,
            orders,
            seen: since,
            at_work,
            queue: VecDeque::new(),
            work: None,
            stops: None,
            to_stop: VecDeque::new(),
            answers_by: None,
            stage: Stage::Unseen,
            waiting: asks,
            outbox: VecDeque::new(),
            held: None,
            prompts: Prompts::default(),
            closing: Vec::new(),
            asked: HashMap::new(),
            questions: Vec::new(),
            given_up: None,
            missed: false,
            late: Vec::new(),
            complete: None,
            error: None,
        }
    }

    /// Follows the session until it ends, or nobody wants anything of it any more.
    pub async fn follow(mut self, mut events: EventStream, mut wanted: UnboundedReceiver<Order>) {
        let mut beat = tokio::time::interval(BEAT);
        // Nobody waits for it while nothing is printed: those beats are not made up for.
        beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            self.go_on();
            self.tell();
            // What happens waits for an editor that reads slowly, or that just opens the session.
            let is_told = self.outbox.is_empty();
            let is_open = is_told && matches!(self.stage, Stage::Open);
            let begins = matches!(self.stage, Stage::Begins(_));
            tokio::select! {
                biased;
                order = wanted.recv() => match order {
                    Some(Order::Leave) | None => return self.end(&failure::of_client(ClientError::Gone)),
                    Some(order) => self.order(order),
                },
                last = done(self.stops.as_mut()) => self.stopped(last),
                () = at(self.answers_by) => self.answer_cancelled(),
                done = done(self.work.as_mut().map(|work| &mut work.done)) => self.carried_out(done),
                () = begun(&mut self.stage), if begins => self.stage = Stage::Open,
                () = self.base.room.take(), if !begins && !is_told => self.tell_next(),
                () = tokio::task::yield_now(), if is_told && matches!(self.stage, Stage::Retells(..)) => retell(&mut self),
                event = events.next(), if is_open && self.held.is_none() => match event {
                    Some(Ok(event)) => self.heard(event),
                    Some(Err(error)) => return self.end(&failure::of_client(error)),
                    None => return self.end(&failure::of_client(ClientError::Gone)),
                },
                _ = beat.tick(), if is_open && self.transcript.has_printed() => self.printed(),
            }
        }
    }

    /// The session is gone, or the editor has left it: whoever waits is answered.
    fn end(mut self, why: &Error) {
        for told in mem::take(&mut self.outbox) {
            match told {
                Told::Answer(prompted, result) => answer(prompted, result),
                Told::Shown(opens) => drop(opens.shown.send(Err(why.clone()))),
                Told::Update(_) | Told::Ask(_) | Told::Closed(_) | Told::LetGo(_) => {}
            }
        }
        for pending in self.prompts.take(|_| true) {
            answer(pending.prompted, if pending.cancelled { cancelled() } else { Err(why.clone()) });
        }
        if let Stage::Reads(opens) | Stage::Retells(_, opens) = self.stage {
            let _ = opens.shown.send(Err(why.clone()));
        }
        self.queue.into_iter().for_each(|job| job.fail(why));
        self.base.terminals.iter().for_each(|terminals| terminals.end());
    }

    /// Tells the editor what there is room for.
    fn tell(&mut self) {
        while !matches!(self.stage, Stage::Begins(_))
            && let Some(told) = self.outbox.front()
        {
            if matches!(told, Told::Update(_)) && !self.base.room.try_take() {
                return;
            }
            self.tell_next();
        }
    }

    /// Tells the editor the next thing; an update has its room.
    fn tell_next(&mut self) {
        match self.outbox.pop_front() {
            Some(Told::Update(update)) => self.base.tell(update),
            Some(Told::Answer(prompted, result)) => answer(prompted, result),
            Some(Told::Ask(asked)) => self.ask(asked),
            Some(Told::Shown(Opens { shown, begins })) => {
                let _ = shown.send(Ok(self.transcript.settings()));
                self.stage = Stage::Begins(begins);
            }
            Some(Told::Closed(done) | Told::LetGo(done)) => drop(done.send(())),
            None => {}
        }
    }

    fn update(&mut self, update: acp::SessionUpdate) {
        self.outbox.push_back(Told::Update(update));
    }

    /// What came of work, unless it is given up: then the editor does not know it.
    fn updates(&mut self, updates: Vec<acp::SessionUpdate>) {
        for update in updates {
            if self.given_up.is_none() || !is_of_work(&update) {
                self.update(update);
                continue;
            }
            self.missed = true;
            self.late.extend(done_by(&update));
            if let acp::SessionUpdate::ToolCall(call) = &update {
                self.transcript.untold(&call.tool_call_id);
            }
        }
    }

    /// What running commands printed since the editor was told.
    fn printed(&mut self) {
        let printed = self.transcript.printed();
        self.updates(printed);
    }

    /// An event came. One that may be about the message that is on its way waits until that has its name.
    fn heard(&mut self, event: Event) {
        if self.work.as_ref().is_some_and(|work| work.says) && self.may_be_own(&event) {
            self.held = Some(event);
        } else {
            self.event(&event);
        }
    }

    fn may_be_own(&self, event: &Event) -> bool {
        // Another process says in its own words whom it heard.
        let is_by_us = |by: Option<&Actor>| self.base.shared || by == Some(&self.base.caller.actor);
        let by_us = |message: &Message| {
            message.role == Role::User && is_by_us(message.by.as_ref()) && !self.transcript.is_own(message.id)
        };
        match &event.body {
            EventBody::Message(message) => by_us(message),
            EventBody::MessageQueued(queued) => by_us(&queued.message),
            EventBody::HookRun(run) => run.message_id.is_some_and(|message| !self.transcript.is_own(message)),
            _ => false,
        }
    }

    fn event(&mut self, event: &Event) {
        self.seen = event.seq;
        // Calls of agents below are shown in no terminal, but what ends their processes is forgotten with them, too.
        let is_of_terminals = self.transcript.view().is_own(event) || matches!(event.body, EventBody::ToolCallEnd(_));
        if let Some(terminals) = self.base.terminals.as_ref().filter(|_| is_of_terminals) {
            terminals.event(event, self.transcript.view(), &self.orders);
        }
        match &event.body {
            EventBody::Message(message) => {
                self.read(message.id);
                // Nothing of it comes behind the answer to what was given up: with the next work it is all told.
                if self.given_up.is_none() && mem::take(&mut self.missed) {
                    let late = told_late(&mem::take(&mut self.late));
                    late.into_iter().for_each(|late| self.update(late));
                    let stands = self.transcript.stands_again();
                    self.updates(stands);
                }
            }
            EventBody::HookRun(run) if matches!(run.outcome, HookOutcome::Blocked | HookOutcome::Stopped) => {
                run.message_id.into_iter().for_each(|message| self.read(message));
            }
            EventBody::MessageQueued(queued) if queued.when == Admission::Withdrawn => {
                self.withdrawn(queued.message.id)
            }
            EventBody::PermissionDecision(decided) => self.settled(&AskedId::Call(decided.call_id.clone())),
            EventBody::ToolCallEnd(end) => self.settled(&AskedId::Call(end.call_id.clone())),
            EventBody::QuestionAnswer(answer) => self.settled(&AskedId::Question(answer.question_id)),
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
            self.printed();
        }
        let news = self.transcript.apply(event);
        self.updates(news.updates);
        if news.set {
            let options = self.transcript.settings().options(&self.base.models);
            self.update(acp::SessionUpdate::ConfigOptionUpdate(acp::ConfigOptionUpdate::new(options)));
        }
        match self.given_up {
            None => news.asks.into_iter().for_each(|asked| self.wants(asked)),
            Some(_) => self.waiting.extend(news.asks),
        }
        self.answer_finished();
    }

    /// The agent has read a message, or a hook kept it from that.
    fn read(&mut self, message: MessageId) {
        if let Some(pending) = self.prompts.unread(message) {
            pending.awaits = Awaits::Work;
            self.given_up = self.given_up.filter(|_| pending.cancelled);
            (self.complete, self.error) = (None, None);
        }
    }

    /// Answers the prompts that nobody has read as the work ended that they waited for. What came behind that end, which is
    /// heard of later, is read in work of its own.
    fn take_back_unread(&mut self, complete: &AgentComplete) {
        let left: Vec<MessageId> = self.transcript.view().unread().map(|said| said.message_id).collect();
        let is_left = |awaits: Awaits| matches!(awaits, Awaits::Reading(message) if left.contains(&message));
        let mut message_ids = Vec::new();
        for pending in self.prompts.take(|pending| is_left(pending.awaits)) {
            if let Awaits::Reading(message) = pending.awaits {
                message_ids.push(message);
            }
            self.came_to(pending.prompted, complete);
        }
        if !message_ids.is_empty() {
            self.stop(vec![Stop::Tell(Command::Withdraw { message_ids })]);
        }
    }

    fn withdrawn(&mut self, message: MessageId) {
        for pending in self.prompts.take(|pending| pending.awaits == Awaits::Reading(message)) {
            self.answer(pending.prompted, cancelled());
        }
    }

    /// Answers the prompts whose work is over.
    fn answer_finished(&mut self) {
        let (is_over, seen) = (self.transcript.view().over, self.seen);
        let (compacts, complete) = (self.transcript.view().standing.compacting, self.complete.clone());
        let finished = self.prompts.take(|pending| match pending.awaits {
            Awaits::Turn | Awaits::Taking | Awaits::Reading(_) => false,
            Awaits::Work => is_over && complete.is_some(),
            Awaits::Event(seq) => seen >= seq && !compacts,
        });
        for pending in finished {
            match (pending.awaits, &complete) {
                _ if pending.cancelled => self.answer(pending.prompted, cancelled()),
                (Awaits::Work, Some(complete)) => self.came_to(pending.prompted, complete),
                _ => self.answer(pending.prompted, Ok(acp::PromptResponse::new(acp::StopReason::EndTurn))),
            }
        }
        let is_quiet = is_over && self.work.is_none() && self.stops.is_none();
        self.given_up = self.given_up.filter(|until| !is_quiet || seen < *until);
        if self.given_up.is_none() && matches!(self.stage, Stage::Open) {
            mem::take(&mut self.waiting).into_iter().for_each(|asked| self.wants(asked));
        }
        if self.prompts.is_empty() && self.stops.is_none() {
            self.outbox.extend(mem::take(&mut self.closing).into_iter().map(Told::Closed));
        }
    }

    /// Answers the prompts that were stopped, whatever the session says. What is done about them all the same, the
    /// editor is not told any more. Where somebody else is at work, and nobody is on theirs, that goes on being told.
    fn answer_cancelled(&mut self) {
        self.answers_by = None;
        let late = self.prompts.take(|pending| pending.cancelled);
        let view = self.transcript.view();
        // Then whatever begins is theirs.
        let rests = view.over || (view.is_alone() && !view.standing.state.is_at_work());
        let is_worked_on = |pending: &Pending| rests || matches!(pending.awaits, Awaits::Work | Awaits::Event(_));
        if late.iter().any(is_worked_on) && self.prompts.is_empty() {
            let ends = self.transcript.give_up();
            self.updates(ends);
            self.given_up = Some(Seq::MAX);
            // When that is done it is known what came of it.
            self.stop(vec![Stop::Look]);
        }
        for pending in late {
            self.answer(pending.prompted, cancelled());
        }
        self.answer_finished();
    }

    fn answer(&mut self, prompted: Prompted, result: Result<acp::PromptResponse, Error>) {
        self.outbox.push_back(Told::Answer(prompted, result));
    }

    /// Answers a prompt with how its work ended. What failed is an error, which editors show.
    fn came_to(&mut self, prompted: Prompted, complete: &AgentComplete) {
        let stop = match complete.reason {
            CompleteReason::Natural | CompleteReason::LoopDetected | CompleteReason::Stopped => {
                acp::StopReason::EndTurn
            }
            CompleteReason::IterationLimit => acp::StopReason::MaxTurnRequests,
            CompleteReason::Cancelled => acp::StopReason::Cancelled,
            CompleteReason::Budget => {
                let words = complete.budget.as_ref().map(neco_view::figures::budget);
                self.update(aside(words.as_deref().unwrap_or("The budget of this session is used up")));
                acp::StopReason::MaxTurnRequests
            }
            CompleteReason::Failed => {
                let words = self.error.as_deref().unwrap_or("the model could not be asked");
                let error = failure::of_work(complete.error_code, words);
                return self.answer(prompted, Err(error));
            }
        };
        self.answer(prompted, Ok(acp::PromptResponse::new(stop)));
    }

    /// Something is to be brought to the person; the editor knows the call first that it is about.
    fn wants(&mut self, asked: Asked) {
        let call = self.transcript.call_of(&asked);
        self.outbox.extend(call.map(Told::Update));
        self.outbox.push_back(Told::Ask(asked));
    }

    /// Brings something to the person.
    fn ask(&mut self, asked: Asked) {
        let id = asked.id();
        self.forget_question(&id);
        match &asked {
            Asked::Question(question) => {
                let question_id = question.question_id;
                self.questions.push(OpenQuestion::new(question.clone()));
                match asked.form(self.base.forms) {
                    Some(_) => self.bring(asked, 0),
                    None => self.ask_on(question_id),
                }
            }
            Asked::Call(_) => self.bring(asked, 0),
        }
    }

    /// Brings a round of something to the person.
    fn bring(&mut self, asked: Asked, round: usize) {
        let about = asked.about(self.transcript.folder());
        let (id, base, orders) = (asked.id(), self.base.clone(), self.orders.clone());
        let task = Task::spawn(async move {
            let command = match (bring(&base, &asked, round, about).await, &asked) {
                (Brought::Answer(command), _) => command,
                (Brought::Chose(chosen), Asked::Call(_)) => asked.command(&[chosen]),
                (Brought::Chose(chosen), Asked::Question(question)) => {
                    if let Some(orders) = orders.upgrade() {
                        let _ = orders.send(Order::Chose { question: question.question_id, round, chosen });
                    }
                    return;
                }
                (Brought::Nothing, _) => return,
            };
            answered(&base, command).await;
        });
        self.asked.insert(id, task);
    }

    /// The person chose something in a round of a question, or nothing.
    fn chose(&mut self, question: QuestionId, round: usize, chosen: Option<String>) {
        let open = self.questions.iter_mut().find(|open| open.id() == question);
        if open.is_some_and(|open| open.choose(round, chosen)) {
            self.ask_on(question);
        }
    }

    /// Asks what is to be known next of a question: with choices, or for the person's next message, which answers this
    /// one then.
    fn ask_on(&mut self, question: QuestionId) {
        let Some(at) = self.questions.iter().position(|open| open.id() == question) else { return };
        let open = &self.questions[at];
        match open.next() {
            Next::Round(round) => {
                let asked = open.asked();
                self.bring(asked, round);
            }
            Next::Words(words) => {
                let open = self.questions.remove(at);
                self.questions.insert(0, open);
                self.ask_for_words(&words);
            }
            Next::Whole(command) => {
                let base = self.base.clone();
                let task = Task::spawn(async move { answered(&base, command).await });
                self.asked.insert(AskedId::Question(question), task);
            }
        }
    }

    /// The person answers in their next message. Most editors take that when the prompt is answered.
    fn ask_for_words(&mut self, words: &str) {
        self.update(aside(words));
        for pending in self.prompts.take(|pending| pending.awaits == Awaits::Work && !pending.cancelled) {
            self.answer(pending.prompted, Ok(acp::PromptResponse::new(acp::StopReason::EndTurn)));
        }
    }

    fn forget_question(&mut self, id: &AskedId) {
        self.questions.retain(|open| AskedId::Question(open.id()) != *id);
    }

    /// What the person is asked is answered elsewhere.
    fn settled(&mut self, id: &AskedId) {
        self.asked.remove(id);
        self.forget_question(id);
        let is_it = |told: &Told| matches!(told, Told::Ask(asked) if asked.id() == *id);
        self.outbox.retain(|told| !is_it(told));
        self.waiting.retain(|asked| asked.id() != *id);
    }
}

/// The session is told what the person answered.
async fn answered(base: &Base, command: Command) {
    if let Err(error) = base.send(command).await {
        tracing::debug!(%error, "it was answered elsewhere");
    }
}

fn cancelled() -> Result<acp::PromptResponse, Error> {
    Ok(acp::PromptResponse::new(acp::StopReason::Cancelled))
}

/// Ready when what there is to do is done; never where there is nothing.
async fn done<T>(work: Option<&mut BoxFuture<'static, T>>) -> T {
    match work {
        Some(work) => work.await,
        None => pending().await,
    }
}

/// Ready at that time; never where there is none.
async fn at(time: Option<Instant>) {
    match time {
        Some(time) => sleep_until(time).await,
        None => pending().await,
    }
}

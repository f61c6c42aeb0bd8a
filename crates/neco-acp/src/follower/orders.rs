//! What an editor wants of a session: carried out one after the other, stopped at once.

use std::mem;
use std::path::PathBuf;
use std::time::Duration;

use agent_client_protocol::Error;
use agent_client_protocol::v1::schema as acp;
use futures::FutureExt;
use futures::future::BoxFuture;
use neco_proto::{ClientError, Command, MessageId, QuestionId, Receipt, Seq};
use tokio::time::Instant;

use super::opening::{Opens, Stage, show};
use super::{Follower, Told, cancelled};
use crate::commands::{self, Wanted};
use crate::failure;
use crate::options::Settings;
use crate::past::Retelling;
use crate::permission::AskedId;
use crate::prompt::{self, Said, Sent};
use crate::prompts::Awaits;
use crate::questions::{Answered, OpenQuestion};
use crate::sessions::standing;
use crate::window::{Base, Order, Past, SetReply};

/// How long what was stopped may take to tell that; its prompts are answered then all the same.
const PATIENCE: Duration = Duration::from_millis(700);

/// How long a session may take to stop something before the next order is carried out.
const MOMENT: Duration = Duration::from_secs(1);

/// An order that has its turn.
pub(super) enum Job {
    /// A prompt.
    Say { number: u64, sent: Box<Sent> },
    /// Something is set.
    Set { command: Command, reply: SetReply },
    /// The editor opens the session.
    Show { past: Past, opens: Opens },
}

impl Job {
    /// It is not carried out any more.
    pub fn fail(self, why: &Error) {
        match self {
            Self::Set { reply, .. } => reply(Err(why.clone())),
            Self::Show { opens, .. } => drop(opens.shown.send(Err(why.clone()))),
            // The prompt itself is answered with those that wait.
            Self::Say { .. } => {}
        }
    }
}

/// An order that is being carried out.
pub(super) struct Work {
    /// The prompt that is being read: nothing has come of it, and it can be given up.
    pub reads: Option<u64>,
    /// Whether a message of this editor is on its way, whose name is not known yet.
    pub says: bool,
    pub done: BoxFuture<'static, Done>,
}

/// What the session is told of a prompt.
struct Sending {
    step: Step,
    /// Answers to questions, which come first.
    before: Vec<Command>,
    command: Command,
    /// The question that it answers, with what was said.
    answers: Option<(QuestionId, Said)>,
}

/// What is to be stopped.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Stop {
    /// The session is told this.
    Tell(Command),
    /// A message is taken back; where it is read already and nobody else is at work, what is done about it is stopped.
    TakeBack { message: MessageId, is_alone: bool },
    /// Nothing: it is only found out until which event everything came that was done.
    Look,
}

impl Stop {
    async fn carry_out(self, base: &Base) -> Option<Seq> {
        match self {
            Self::Tell(command) => {
                stopped(base, command).await;
            }
            // One that can be taken back waits for the work of others, which goes on.
            Self::TakeBack { message, is_alone } => {
                if !stopped(base, Command::Withdraw { message_ids: vec![message] }).await && is_alone {
                    stopped(base, Command::Cancel).await;
                }
            }
            // Of a session that does not say, it is all until it rests.
            Self::Look => return Some(tokio::time::timeout(MOMENT, base.last_seq()).await.unwrap_or_default()),
        }
        None
    }
}

/// What an order came to.
pub(super) enum Done {
    /// What a prompt wants is known.
    Read { number: u64, wanted: Result<Wanted, Error> },
    /// The session has taken what a prompt wants; what comes of an act is told until this event.
    Sent { number: u64, step: Step, sent: Result<(Receipt, Seq), ClientError> },
    /// The question does not wait any more that this was to answer.
    Gone { number: u64, question: QuestionId, said: Said },
    /// Something is set.
    Set { reply: SetReply, options: Result<Vec<acp::SessionConfigOption>, Error> },
    /// The past is read.
    Past(Result<Box<Retelling>, Error>),
}

/// What a prompt is to the session.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// A message, which the agent reads.
    Message,
    /// The answer to a question, with which the agent goes on.
    Answer,
    /// The session does something by itself.
    Act,
}

impl Follower {
    /// Takes in what is wanted.
    pub(super) fn order(&mut self, order: Order) {
        match order {
            Order::Prompt(prompt) => {
                let (sent, prompted) = *prompt;
                let open = self.questions.iter().map(OpenQuestion::id).collect();
                let number = self.prompts.add(prompted, self.orders.clone(), open);
                self.queue.push_back(Job::Say { number, sent: Box::new(sent) });
            }
            Order::Set { command, reply } => self.queue.push_back(Job::Set { command, reply }),
            Order::Show { past, shown, begins } => {
                self.queue.push_back(Job::Show { past, opens: Opens { shown, begins } });
            }
            Order::Chose { question, round, chosen } => self.chose(question, round, chosen),
            Order::Tell(update) => self.update(*update),
            Order::PrintsIn(call, terminal) => {
                let begins = self.base.terminals.as_ref().and_then(|terminals| terminals.prints_in(&call, terminal));
                self.updates(begins.into_iter().collect());
            }
            Order::LetGo(call, told) => {
                self.base.terminals.iter().for_each(|terminals| terminals.let_go(&call));
                self.outbox.push_back(Told::LetGo(told));
            }
            Order::Cancel(which) => self.cancel(which),
            Order::Close(done) => {
                self.close();
                self.closing.push(done);
                self.answer_finished();
            }
            // Whoever follows has left already.
            Order::Leave => {}
        }
    }

    /// Begins with the next order, unless another one or a stop is under way.
    pub(super) fn go_on(&mut self) {
        while self.work.is_none() && self.stops.is_none() && matches!(self.stage, Stage::Unseen | Stage::Open) {
            match self.queue.pop_front() {
                Some(Job::Say { number, sent }) if self.prompts.get(number).is_some() => {
                    let done = read(self.base.clone(), number, *sent).boxed();
                    self.work = Some(Work { reads: Some(number), says: false, done });
                }
                // It was stopped before it had its turn.
                Some(Job::Say { .. }) => {}
                Some(Job::Set { command, reply }) => {
                    let done = set(self.base.clone(), command, reply).boxed();
                    self.work = Some(Work { reads: None, says: false, done });
                }
                Some(Job::Show { past, opens }) => show(self, past, opens),
                None => return,
            }
        }
    }

    /// An order is carried out.
    pub(super) fn carried_out(&mut self, done: Done) {
        self.work = None;
        match done {
            Done::Read { number, wanted: Ok(wanted) } => self.wanted(number, wanted),
            Done::Read { number, wanted: Err(error) } => self.refused(number, error),
            Done::Sent { number, sent: Err(error), .. } => self.refused(number, failure::of_client(error)),
            Done::Sent { number, step, sent: Ok((receipt, last)) } => self.sent(number, step, receipt, last),
            Done::Gone { number, question, said } => self.unanswered(number, question, said),
            Done::Set { reply, options } => reply(options),
            Done::Past(Ok(retelling)) => {
                retelling.begin(&mut self.transcript);
                if let Stage::Reads(opens) = mem::replace(&mut self.stage, Stage::Open) {
                    self.stage = Stage::Retells(retelling, opens);
                }
            }
            Done::Past(Err(error)) => {
                if let Stage::Reads(opens) = mem::replace(&mut self.stage, Stage::Open) {
                    let _ = opens.shown.send(Err(error));
                }
            }
        }
        // What waited for the name of a message can be told from others now.
        if !self.work.as_ref().is_some_and(|work| work.says)
            && let Some(event) = self.held.take()
        {
            self.event(&event);
        }
        self.answer_finished();
    }

    /// It is known what a prompt wants: the session is told. What was said while a question waited for that answers it.
    fn wanted(&mut self, number: u64, wanted: Wanted) {
        let open = self.prompts.get(number).map(|pending| pending.open.clone()).unwrap_or_default();
        let sending = match wanted {
            Wanted::Nothing => return self.over(number),
            Wanted::Act(command) => Sending { step: Step::Act, before: Vec::new(), command, answers: None },
            // Whoever begins something else does not answer.
            Wanted::Work(command) => {
                let dismissed = self.questions.iter().filter(|question| open.contains(&question.id()));
                let before = dismissed.map(OpenQuestion::dismissed).collect();
                Sending { step: Step::Message, before, command, answers: None }
            }
            Wanted::Say(said) => match self.says(&open, said) {
                Ok(sending) => sending,
                Err((question, next)) => {
                    // The choices that are still shown are taken back.
                    self.asked.remove(&AskedId::Question(question));
                    self.ask_for_words(&next);
                    return self.over(number);
                }
            },
        };
        let step = sending.step;
        if let Some(pending) = self.prompts.get(number) {
            pending.awaits = if step == Step::Answer { Awaits::Work } else { Awaits::Taking };
        }
        if step == Step::Answer {
            (self.complete, self.error) = (None, None);
        }
        let done = send(self.base.clone(), number, sending).boxed();
        self.work = Some(Work { reads: None, says: step == Step::Message, done });
    }

    /// What the session is told where something is said: the answer to the first of the questions that were open then,
    /// or a message.
    /// The error is what is asked next of that question.
    fn says(&mut self, open: &[QuestionId], said: Said) -> Result<Sending, (QuestionId, String)> {
        let first = open.first();
        let question = self.questions.iter_mut().find(|question| Some(&question.id()) == first);
        let Some(question) = question else {
            let command = commands::message(said);
            return Ok(Sending { step: Step::Message, before: Vec::new(), command, answers: None });
        };
        let id = question.id();
        match question.write(&said) {
            Answered::Asks(next) => Err((id, next)),
            Answered::Whole(command, pictures) if pictures.is_empty() => {
                Ok(Sending { step: Step::Answer, before: Vec::new(), command, answers: Some((id, said)) })
            }
            Answered::Whole(answer, pictures) => {
                let command = commands::along(said.words, pictures);
                Ok(Sending { step: Step::Message, before: vec![answer], command, answers: None })
            }
        }
    }

    /// A question was answered elsewhere, or taken back, before this answer came: it is said as a message.
    fn unanswered(&mut self, number: u64, question: QuestionId, said: Said) {
        self.settled(&AskedId::Question(question));
        match self.prompts.get(number).is_some_and(|pending| !pending.cancelled) {
            true => self.wanted(number, Wanted::Say(said)),
            false => self.refused(number, failure::of_client(ClientError::Gone)),
        }
    }

    /// Nothing more comes of a prompt.
    fn over(&mut self, number: u64) {
        for pending in self.prompts.take(|pending| pending.number == number) {
            self.answer(pending.prompted, Ok(acp::PromptResponse::new(acp::StopReason::EndTurn)));
        }
    }

    /// The session has taken what a prompt wants. What was stopped on its way is stopped there.
    fn sent(&mut self, number: u64, step: Step, receipt: Receipt, last: Seq) {
        let message = receipt.message_id.filter(|_| step == Step::Message);
        message.into_iter().for_each(|message| self.transcript.said(message));
        // What is at work is another one then, which it waited for.
        let is_alone = self.prompts.iter_mut().all(|pending| pending.awaits != Awaits::Work);
        let pending = self.prompts.get(number);
        let is_stopped = pending.as_ref().is_none_or(|pending| pending.cancelled);
        match (pending, message, step) {
            (Some(pending), Some(message), _) => pending.awaits = Awaits::Reading(message),
            // It is answered with the work.
            (Some(_), None, Step::Answer) => {}
            (Some(pending), None, Step::Message | Step::Act) => pending.awaits = Awaits::Event(last),
            (None, ..) => {}
        }
        match message.filter(|_| is_stopped) {
            Some(message) => self.stop(vec![Stop::TakeBack { message, is_alone }]),
            None if is_stopped && is_alone => self.stop(vec![Stop::Tell(Command::Cancel)]),
            None => {}
        }
    }

    /// The session does not do what a prompt wants.
    fn refused(&mut self, number: u64, error: Error) {
        for pending in self.prompts.take(|pending| pending.number == number) {
            self.answer(pending.prompted, if pending.cancelled { cancelled() } else { Err(error.clone()) });
        }
    }

    /// Stops a prompt, or all that is done, whoever does it; what was not read yet is taken back.
    fn cancel(&mut self, which: Option<u64>) {
        // What others wanted in their own process is theirs to stop.
        if self.base.shared && self.prompts.is_empty() {
            return;
        }
        let (message_ids, at_work) = self.give_up(which);
        let mut stops = Vec::new();
        if !message_ids.is_empty() {
            stops.push(Stop::Tell(Command::Withdraw { message_ids }));
        }
        if at_work || (which.is_none() && !self.base.shared) {
            let is_alone = self.transcript.view().is_alone();
            stops.push(Stop::Tell(if is_alone { Command::Cancel } else { Command::StopAll }));
        }
        self.stop(stops);
    }

    /// Stops everything for good. What others do in their own process goes on.
    fn close(&mut self) {
        if self.base.shared {
            return self.cancel(None);
        }
        self.give_up(None);
        let gone = failure::of_client(ClientError::Gone);
        mem::take(&mut self.queue).into_iter().for_each(|job| job.fail(&gone));
        self.stop(vec![Stop::Tell(Command::StopAll)]);
    }

    /// The editor does not want these prompts any more. What nobody has begun with is answered; gives the messages that
    /// nobody has read, and whether somebody is at work on another.
    fn give_up(&mut self, which: Option<u64>) -> (Vec<MessageId>, bool) {
        let is_meant = |number: u64| which.is_none_or(|which| which == number);
        if self.work.as_ref().is_some_and(|work| work.reads.is_some_and(is_meant)) {
            self.work = None;
        }
        for pending in self.prompts.take(|pending| is_meant(pending.number) && pending.awaits == Awaits::Turn) {
            self.answer(pending.prompted, cancelled());
        }
        let (mut unread, mut at_work) = (Vec::new(), false);
        for pending in self.prompts.iter_mut().filter(|pending| is_meant(pending.number)) {
            // Who is stopped is not answered later because somebody else is stopped, too.
            if !mem::replace(&mut pending.cancelled, true) {
                self.answers_by.get_or_insert(Instant::now() + PATIENCE);
            }
            match pending.awaits {
                Awaits::Reading(message) => unread.push(message),
                // It is stopped when it is known what it is.
                Awaits::Turn | Awaits::Taking => {}
                Awaits::Work | Awaits::Event(_) => at_work = true,
            }
        }
        (unread, at_work)
    }

    /// Has the session stop something, behind what it is stopping already. What waits as the last is not said twice.
    pub(super) fn stop(&mut self, stops: Vec<Stop>) {
        self.given_up = self.given_up.map(|_| Seq::MAX);
        if !self.to_stop.make_contiguous().ends_with(&stops) {
            self.to_stop.extend(stops);
        }
        self.stop_next();
    }

    /// Begins with the next stop, unless one is under way. Where work is given up, it is found out at the end until
    /// which event all comes that came of it.
    fn stop_next(&mut self) {
        if self.stops.is_some() {
            return;
        }
        let looks = (self.given_up == Some(Seq::MAX)).then_some(Stop::Look);
        let base = self.base.clone();
        let next = self.to_stop.pop_front().or(looks);
        self.stops = next.map(|stop| async move { stop.carry_out(&base).await }.boxed());
    }

    /// What was to stop has stopped; all that came of work that is given up comes until the event `last`, where nothing
    /// else is to stop.
    pub(super) fn stopped(&mut self, last: Option<Seq>) {
        self.stops = None;
        if let Some(last) = last.filter(|_| self.to_stop.is_empty()) {
            self.given_up = self.given_up.map(|_| last);
        }
        self.stop_next();
        self.answer_finished();
    }
}

/// Has the session stop something; whether it did. What takes longer keeps nothing else from being stopped.
async fn stopped(base: &Base, command: Command) -> bool {
    match tokio::time::timeout(MOMENT, base.send(command)).await {
        Ok(Ok(_)) => true,
        Ok(Err(error)) => {
            tracing::debug!(%error, "there was nothing to stop");
            false
        }
        Err(_) => {
            tracing::debug!("the session takes its time to stop");
            false
        }
    }
}

/// Finds out what a prompt wants, once the session knows what the person has open. What came along may be long, and keeps
/// no thread of the runtime.
async fn read(base: Base, number: u64, sent: Sent) -> Done {
    let (folder, check, files) = (PathBuf::from(&base.folder), base.pictures, base.files.clone());
    let read = move || {
        if let Some(files) = files {
            files.learn(sent.files(&folder).into_iter());
        }
        prompt::read(sent, &folder, check)
    };
    let said = tokio::task::spawn_blocking(read).await;
    let said = match said.unwrap_or_else(|error| Err(failure::invalid(error.to_string()))) {
        Ok(said) => said,
        Err(error) => return Done::Read { number, wanted: Err(error) },
    };
    if let Some(context) = said.open.clone()
        && let Err(error) = base.send(Command::SetIdeContext { context }).await
    {
        tracing::debug!(%error, "what is open is not known");
    }
    Done::Read { number, wanted: commands::read(&base, said).await }
}

/// Has the session do what a prompt wants, and answer what comes before it.
async fn send(base: Base, number: u64, sending: Sending) -> Done {
    let Sending { step, before, command, answers } = sending;
    for answer in before {
        let waiting = asked_by(&answer);
        if let Err(error) = base.send(answer).await
            && waits(&base, waiting).await
        {
            return Done::Sent { number, step, sent: Err(error) };
        }
    }
    let sent = match base.send(command).await {
        Ok(receipt) if receipt.message_id.is_some() || step == Step::Answer => Ok((receipt, receipt.seq)),
        Ok(receipt) => Ok((receipt, base.last_seq().await)),
        Err(error) => {
            if let Some((question, said)) = answers
                && !waits(&base, Some(question)).await
            {
                return Done::Gone { number, question, said };
            }
            Err(error)
        }
    };
    Done::Sent { number, step, sent }
}

/// The question that a command answers.
fn asked_by(command: &Command) -> Option<QuestionId> {
    match command {
        Command::Answer { question_id, .. } => Some(*question_id),
        _ => None,
    }
}

/// Whether a question still waits for an answer; if not, it was given elsewhere, or nobody wants it any more.
async fn waits(base: &Base, question: Option<QuestionId>) -> bool {
    match standing(base.client.as_ref()).await {
        Ok(session) => session.questions.iter().any(|open| Some(open.question_id) == question),
        Err(_) => false,
    }
}

/// Sets something; how everything is set then.
async fn set(base: Base, command: Command, reply: SetReply) -> Done {
    let options = async {
        base.send(command).await.map_err(failure::of_client)?;
        let session = standing(base.client.as_ref()).await?;
        Ok(Settings::from(&session).options(&base.models))
    };
    Done::Set { options: options.await, reply }
}

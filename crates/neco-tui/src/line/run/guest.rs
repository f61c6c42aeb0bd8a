//! The main thread's loop of a process that is attached to a session of another one: shows what happens, answers what
//! is asked, and leaves without stopping anything.

use futures::StreamExt;
use neco_proto::{
    AgentId, Client, ClientError, ErrorCode, Event, EventBody, Message, MessageId, Role, SessionId, SessionSnapshot,
};
use neco_view::short_id::short_id;
use tokio::sync::mpsc::Receiver;

use super::drive::{Judge, judged};
use super::exit::Exit;
use super::outcome::{Outcome, RunError};
use super::report::Report;
use crate::line::signals::Signal;
use crate::line::{LineWindow, LoopEvent};

/// Events that are looked through for what happened lately.
const LATELY: u64 = 2000;

/// What happened since a person said something last.
pub async fn lately(client: &dyn Client, snapshot: &SessionSnapshot) -> Vec<Event> {
    let since = snapshot.last_seq.saturating_sub(LATELY);
    let count = usize::try_from(snapshot.last_seq - since).unwrap_or_default();
    let events = client.events(since).take(count).take_while(|event| futures::future::ready(event.is_ok()));
    let mut events: Vec<Event> = events.filter_map(|event| futures::future::ready(event.ok())).collect().await;
    let root = snapshot.root_agent;
    let said = |event: &Event| {
        event.agent_id == root && matches!(&event.body, EventBody::Message(message) if is_said(message))
    };
    let begins = events.iter().rposition(said).unwrap_or_default();
    events.split_off(begins)
}

fn is_said(message: &Message) -> bool {
    message.role == Role::User && !message.is_neco()
}

/// The message of this process.
struct Mine {
    id: MessageId,
    /// Whether it is in the conversation.
    admitted: bool,
}

/// What the main thread has in its hands.
pub struct Guest {
    id: SessionId,
    root: AgentId,
    /// The process that has the session open.
    owner: u32,
    window: LineWindow,
    outcome: Outcome,
    /// The message of this process, if it has one.
    mine: Option<Mine>,
    watches: bool,
    /// How the process ends, when it does.
    done: Option<Exit>,
    /// What the run has to come to.
    judge: Judge,
}

impl Guest {
    /// A guest of process `owner` that waits for what comes of its message; without one it watches until the session is
    /// closed. `judge` has the last word about how it ended.
    #[must_use]
    pub fn new(
        id: SessionId,
        (root, owner): (AgentId, u32),
        window: LineWindow,
        message: Option<MessageId>,
        judge: Judge,
    ) -> Self {
        let mine = message.map(|id| Mine { id, admitted: false });
        let (outcome, watches) = (Outcome::of_root(root), mine.is_none());
        Self { id, root, owner, window, outcome, mine, watches, done: None, judge }
    }

    /// Shows what happens until what was said is done; gives how the process ends.
    pub fn until_done(&mut self, happenings: &mut Receiver<LoopEvent>) -> Exit {
        while self.done.is_none() {
            match happenings.blocking_recv() {
                Some(LoopEvent::Event(event)) => self.event(event),
                Some(LoopEvent::Typed(number, typed)) => self.window.typed(number, typed),
                Some(LoopEvent::Tick) => self.window.tick(),
                Some(LoopEvent::Stopped(signal)) => self.stopped(signal),
                Some(LoopEvent::Leave { cancelled, signal }) => self.leave(cancelled, signal),
                Some(LoopEvent::Over) => self.closed(),
                Some(LoopEvent::Lost(error)) => self.lost(&error),
                None => break,
            }
            if self.window.unread().is_some() {
                self.done.get_or_insert(Exit::Unread);
            }
        }
        let exit = self.done.unwrap_or(Exit::Failed);
        let exit = judged(&self.judge, exit, &mut self.outcome, &mut self.window);
        let printed = self.window.close().finish(|| Report::new(&self.outcome, Some(self.id), exit).line());
        self.window.printed(printed);
        exit
    }

    fn event(&mut self, event: Box<Event>) {
        self.outcome.apply(&event);
        if let EventBody::Message(message) = &event.body
            && let Some(mine) = self.mine.as_mut().filter(|mine| mine.id == message.id)
        {
            mine.admitted = true;
        }
        if matches!(event.body, EventBody::AgentComplete(_))
            && event.agent_id == self.root
            && let Some(mine) = &self.mine
        {
            match mine.admitted {
                true => self.done = Some(Exit::of(&self.outcome, None)),
                // That was the work before it, and not what this process asked for.
                false => self.outcome = Outcome::of_root(self.root),
            }
        }
        self.window.event(event);
    }

    fn stopped(&mut self, signal: Signal) {
        match signal {
            Signal::Interrupt => {
                self.window.tell("detaching; press Ctrl-C again within two seconds to stop the work there as well");
            }
            Signal::HangUp | Signal::Terminate => {}
        }
    }

    fn leave(&mut self, cancelled: bool, signal: Signal) {
        let owner = self.owner;
        let words = match cancelled {
            true => format!("i detached; process {owner} was told to stop the work"),
            false => format!("i detached; the work continues in process {owner}"),
        };
        self.window.tell(&words);
        let wanted = self.watches && signal == Signal::Interrupt;
        self.done = Some(if wanted { Exit::Done } else { Exit::Stopped(signal) });
    }

    fn closed(&mut self) {
        let id = short_id(self.id);
        let waits = self.mine.as_ref().is_some_and(|mine| !mine.admitted);
        let kept = if waits { "; your message was not read yet and is read first" } else { "" };
        let words = format!("process {} closed the session{kept}. Resume it with  neco resume {id}", self.owner);
        if self.watches {
            self.window.tell(&format!("i {words}"));
            self.done = Some(Exit::Done);
        } else {
            self.fail(words, None);
        }
    }

    fn lost(&mut self, error: &ClientError) {
        let id = short_id(self.id);
        match error {
            ClientError::Gone => self.fail(
                format!("process {} is gone; what it did is saved. Resume it with  neco resume {id}", self.owner),
                None,
            ),
            ClientError::Refused(words) => self.fail(words.clone(), None),
            ClientError::Failed { code, message } => self.fail(message.clone(), Some(*code)),
        }
    }

    fn fail(&mut self, message: String, code: Option<ErrorCode>) {
        self.window.tell(&format!("✗ {message}"));
        self.outcome.error = Some(RunError { code, message });
        self.done = Some(Exit::of_code(code));
    }
}

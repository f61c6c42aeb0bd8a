//! The main thread's loop of a process that is attached to a session of another one: shows what
//! happened lately and what happens now, says its message, answers what is asked, and leaves without
//! stopping anything.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use neco_config::Env;
use neco_proto::{
    AgentId, Answer, Client, ClientError, Command, Event, EventBody, Message, MessageId, Query, Role, SessionId,
    SessionSnapshot,
};
use neco_server::RemoteClient;
use neco_store::SessionRecord;
use neco_tui::line::LineWindow;
use neco_tui::line::loop_event::{LoopEvent, QUEUE, bring_events, tell_time};
use tokio::runtime::Runtime;
use tokio::sync::mpsc::{self, Receiver, Sender};

use super::attach::{self, Attached, Which};
use super::drive::{RunUi, listen};
use super::stop::quit;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::log;
use crate::outcome::{Outcome, RunError};
use crate::print::Printer;
use crate::print::json::Report;
use crate::short_id::short_id;
use crate::signals::{InterruptMask, Signal, Signals};

/// How often a session that is just being closed is asked again, and after which pause.
const CLOSING: u32 = 100;
const PAUSE: Duration = Duration::from_millis(50);

/// Events that are looked through for what happened lately.
const LATELY: u64 = 2000;

/// How long a second Ctrl-C may take to mean that the work is to be stopped.
const AGAIN: Duration = Duration::from_secs(2);

/// How long the session may take to hear that, and the main thread to leave.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// A session of another process that has taken what this one had to say.
pub struct Begun {
    client: Arc<dyn Client>,
    /// The process that has it open.
    owner: u32,
    record: SessionRecord,
    /// How it stood just before.
    snapshot: SessionSnapshot,
    /// The message of this process, if it has one.
    mine: Option<Mine>,
}

impl Begun {
    /// Where the session works.
    #[must_use]
    pub fn folder(&self) -> PathBuf {
        PathBuf::from(&self.record.cwd)
    }

    /// The way to it.
    #[must_use]
    pub fn client(&self) -> Arc<dyn Client> {
        Arc::clone(&self.client)
    }

    /// The process that has it open.
    #[must_use]
    pub fn owner(&self) -> u32 {
        self.owner
    }

    /// The session.
    #[must_use]
    pub fn id(&self) -> SessionId {
        self.record.id
    }
}

/// Says `said`, if anything, to the process that has the session open. `None` when no process has, or
/// not for long enough to hear it: then it can be opened.
///
/// # Errors
/// When a process has it open and can't be talked to, or refuses.
pub async fn begin(which: Which<'_>, env: &Env, said: Option<Command>) -> Result<Option<Begun>, Failure> {
    let mut closing = 0;
    while let Some(Attached { client, record }) = attach::find(which, env).await? {
        match say(&client, said.clone()).await {
            Ok((snapshot, mine)) => {
                let owner = client.owner().pid;
                return Ok(Some(Begun { client: Arc::new(client), owner, record, snapshot, mine }));
            }
            Err(ClientError::Gone) if closing < CLOSING => closing += 1,
            Err(error) => return Err(error.into()),
        }
        tokio::time::sleep(PAUSE).await;
    }
    Ok(None)
}

/// How the session stands, and the message after it was taken.
async fn say(client: &RemoteClient, said: Option<Command>) -> Result<(SessionSnapshot, Option<Mine>), ClientError> {
    let Answer::Snapshot(snapshot) = client.ask(Query::Snapshot).await? else {
        return Err(ClientError::Refused("the session does not say how it stands".to_owned()));
    };
    let Some(said) = said else { return Ok((snapshot, None)) };
    let receipt = client.send(said).await?;
    let mine = receipt.message_id.map(|id| Mine { id, admitted: false });
    Ok((snapshot, mine))
}

/// Shows what happened lately and what happens now, and asks the person, until what was said is done;
/// until the session is closed when nothing was said.
///
/// # Errors
/// When it can't begin.
pub fn follow(runtime: &Runtime, begun: Begun, mut ui: RunUi) -> Result<Exit, Failure> {
    let Begun { client, owner, record, snapshot, mine } = begun;
    let (sender, mut happenings) = mpsc::channel(QUEUE);
    let mask = InterruptMask::default();
    runtime.spawn(hear_signals(listen(runtime, &mask)?, Arc::clone(&client), sender.clone()));
    if ui.printer.shows_time() {
        runtime.spawn(tell_time(sender.clone()));
    }
    let past = match &mut ui.printer {
        Printer::Text(text) => {
            text.show_messages();
            text.set_root(snapshot.root_agent);
            runtime.block_on(lately(client.as_ref(), &snapshot))
        }
        // Who reads events wants those that are new.
        Printer::Json(_) | Printer::StreamJson(_) => Vec::new(),
    };
    let mut window =
        LineWindow::new(Arc::clone(&client), runtime.handle(), ui.printer, ui.person, mask, sender.clone());
    let id = short_id(record.id);
    window.note(&format!("i attached to session {id} in process {owner}; Ctrl-C detaches, the work goes on there"));
    past.iter().for_each(|event| window.past(event));
    runtime.spawn(bring_events(client, snapshot.last_seq, sender));
    window.ask(snapshot.pending, snapshot.questions);
    let root = snapshot.root_agent;
    let outcome = Outcome::of_root(root);
    let mut guest = Guest { id: record.id, root, owner, window, outcome, watches: mine.is_none(), mine, done: None };
    Ok(guest.until_done(&mut happenings))
}

/// What happened since a person said something last.
async fn lately(client: &dyn Client, snapshot: &SessionSnapshot) -> Vec<Event> {
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
struct Guest {
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
}

impl Guest {
    fn until_done(&mut self, happenings: &mut Receiver<LoopEvent>) -> Exit {
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
        log::event(&event);
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
            false => format!("i detached; the work goes on in process {owner}"),
        };
        self.window.tell(&words);
        let wanted = self.watches && signal == Signal::Interrupt;
        self.done = Some(if wanted { Exit::Done } else { Exit::Stopped(signal) });
    }

    fn closed(&mut self) {
        let id = short_id(self.id);
        let waits = self.mine.as_ref().is_some_and(|mine| !mine.admitted);
        let kept = if waits { "; your message was not read yet and comes first" } else { "" };
        let words =
            format!("process {} closed the session{kept}; go on with it: neco --session {id} -m \"…\"", self.owner);
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
                format!("process {} is gone; what it did is kept: neco --session {id} -m \"…\"", self.owner),
                None,
            ),
            ClientError::Refused(words) => self.fail(words.clone(), None),
            ClientError::Failed { code, message } => self.fail(message.clone(), Some(*code)),
        }
    }

    fn fail(&mut self, message: String, code: Option<neco_proto::ErrorCode>) {
        self.window.tell(&format!("✗ {message}"));
        self.outcome.error = Some(RunError { code, message });
        self.done = Some(Exit::of_code(code));
    }
}

/// Hears signals: the first one detaches, a second Ctrl-C soon after it stops the work as well.
async fn hear_signals(mut signals: Signals, client: Arc<dyn Client>, sender: Sender<LoopEvent>) {
    let signal = signals.next().await;
    tell(&sender, LoopEvent::Stopped(signal));
    let again = match signal {
        Signal::Interrupt => tokio::time::timeout(AGAIN, signals.next()).await.is_ok(),
        Signal::HangUp | Signal::Terminate => false,
    };
    let cancelled =
        again && tokio::time::timeout(LAST_WORDS, client.send(Command::StopAll)).await.is_ok_and(|sent| sent.is_ok());
    tell(&sender, LoopEvent::Leave { cancelled, signal });
    // The main thread may wait for a process that says nothing.
    tokio::time::sleep(LAST_WORDS).await;
    quit(signal);
}

/// Tells the main thread without waiting for it.
fn tell(sender: &Sender<LoopEvent>, happening: LoopEvent) {
    let sender = sender.clone();
    tokio::spawn(async move {
        let _ = sender.send(happening).await;
    });
}

//! A process that is attached to a session of another one: says its message, and shows what happened lately and what
//! happens now.

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use neco_app::other_processes::Attached;
use neco_config::Env;
use neco_proto::app::opening::{OpenedSession, WhichSession};
use neco_proto::{Answer, Client, ClientError, Command, MessageId, Query, SessionId, SessionSnapshot};
use neco_tui::line::LineWindow;
use neco_tui::line::loop_event::{LoopEvent, QUEUE, bring_events, tell_time};
use neco_tui::line::run::{Guest, lately};
use tokio::runtime::Runtime;
use tokio::sync::mpsc::{self, Sender};

use super::attach;
use super::drive::{RunUi, listen};
use super::stop::quit;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::print::Printer;
use crate::short_id::short_id;
use crate::signals::{InterruptMask, Signal, Signals};

/// How often a session that is just being closed is asked again, and after which pause.
pub const CLOSING: u32 = 100;
pub const PAUSE: Duration = Duration::from_millis(50);

/// How long a second Ctrl-C may take to mean that the work is to be stopped.
const AGAIN: Duration = Duration::from_secs(2);

/// How long the session may take to hear that, and the main thread to leave.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// A session of another process that has taken what this one had to say.
pub struct Begun {
    /// The way to it.
    pub client: Arc<dyn Client>,
    /// The process that has it open.
    pub owner: u32,
    id: SessionId,
    folder: PathBuf,
    /// How it stood just before.
    snapshot: SessionSnapshot,
    /// The message of this process, if it has one.
    mine: Option<MessageId>,
}

impl Begun {
    /// Says `said`, if anything, to a session that `owner` has open.
    pub async fn say(opened: OpenedSession, owner: u32, said: Option<Command>) -> Result<Self, ClientError> {
        let OpenedSession { id, client, folder, .. } = opened;
        let (snapshot, mine) = say(client.as_ref(), said).await?;
        Ok(Self { client, owner, id, folder: folder.into(), snapshot, mine })
    }

    /// Where the session works.
    pub fn folder(&self) -> PathBuf {
        self.folder.clone()
    }

    /// The session.
    pub fn id(&self) -> SessionId {
        self.id
    }
}

/// The session, if a process has it open for long enough to be watched.
pub async fn begin(which: &WhichSession, folder: &Path, env: &Env) -> Result<Option<Begun>, Failure> {
    let mut closing = 0;
    while let Some((Attached { client, owner }, record)) = attach::find(which, folder, env).await? {
        match say(client.as_ref(), None).await {
            Ok((snapshot, mine)) => {
                let (id, folder) = (record.id, record.cwd.into());
                return Ok(Some(Begun { client, owner, id, folder, snapshot, mine }));
            }
            Err(ClientError::Gone) if closing < CLOSING => closing += 1,
            Err(error) => return Err(error.into()),
        }
        tokio::time::sleep(PAUSE).await;
    }
    Ok(None)
}

/// How the session stands, and the message after it was taken.
async fn say(client: &dyn Client, said: Option<Command>) -> Result<(SessionSnapshot, Option<MessageId>), ClientError> {
    let Answer::Snapshot(snapshot) = client.ask(Query::Snapshot).await? else {
        return Err(ClientError::Refused("the session does not answer".to_owned()));
    };
    let Some(said) = said else { return Ok((snapshot, None)) };
    Ok((snapshot, client.send(said).await?.message_id))
}

/// Shows what happened lately and what happens now, and asks the person, until what was said is done;
/// until the session is closed when nothing was said.
pub fn follow(runtime: &Runtime, begun: Begun, mut ui: RunUi) -> Result<Exit, Failure> {
    let Begun { client, owner, id: session, snapshot, mine, .. } = begun;
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
            // Whoever asked something and reads the answer from a file wants that answer alone.
            match mine.is_none() || io::stdout().is_terminal() {
                true => runtime.block_on(lately(client.as_ref(), &snapshot)),
                false => Vec::new(),
            }
        }
        // Who reads events wants those that are new.
        Printer::Json(_) | Printer::StreamJson(_) | Printer::Claude(_) => Vec::new(),
    };
    let mut window =
        LineWindow::new(Arc::clone(&client), runtime.handle(), ui.printer, ui.person, mask, sender.clone());
    let id = short_id(session);
    window.note(&format!("i attached to session {id} in process {owner}; Ctrl-C detaches, and it keeps working there"));
    past.iter().for_each(|event| window.past(event));
    runtime.spawn(bring_events(client, snapshot.last_seq, sender));
    window.ask(snapshot.pending, snapshot.questions);
    let ends = ui.ends;
    let guest = Guest::new(session, snapshot.root_agent, owner, window, mine);
    let mut guest = guest.judged(Box::new(move |exit, last| ends.after(exit, last)));
    Ok(guest.until_done(&mut happenings))
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

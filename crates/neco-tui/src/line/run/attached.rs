//! A process that is attached to a session of another one: says its message, and shows what happened lately and what
//! happens now.

use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use neco_proto::app::AppError;
use neco_proto::{Answer, Client, ClientError, Command, MessageId, Query, SessionId, SessionSnapshot};
use neco_view::short_id::short_id;
use tokio::runtime::Runtime;
use tokio::sync::mpsc::{self, Sender};

use super::exit::Exit;
use super::guest::{Guest, lately};
use super::see::{RunUi, listen};
use crate::line::LineWindow;
use crate::line::loop_event::{LoopEvent, QUEUE, bring_events, tell_time};
use crate::line::print::Printer;
use crate::line::signals::{InterruptMask, Signal, Signals};

/// How often a session that is just being closed is asked again.
pub const CLOSING: u32 = 100;

/// The pause before that.
pub const PAUSE: Duration = Duration::from_millis(50);

/// How long a second Ctrl-C may take to mean that the work is to be stopped.
const AGAIN: Duration = Duration::from_secs(2);

/// How long the session may take to hear that, and the main thread to leave.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// A session of another process that has taken what this one had to say.
pub struct Begun {
    client: Arc<dyn Client>,
    /// The process that has it open.
    owner: u32,
    id: SessionId,
    folder: PathBuf,
    /// How it stood just before.
    snapshot: SessionSnapshot,
    /// The message of this process, if it has one.
    mine: Option<MessageId>,
}

impl Begun {
    /// Says `said`, if anything, to the session `id` in `folder` that `owner` has open.
    pub async fn say(
        client: Arc<dyn Client>,
        owner: u32,
        (id, folder): (SessionId, String),
        said: Option<Command>,
    ) -> Result<Self, ClientError> {
        let Answer::Snapshot(snapshot) = client.ask(Query::Snapshot).await? else {
            return Err(ClientError::Refused("the session does not answer".to_owned()));
        };
        let mine = match said {
            Some(said) => client.send(said).await?.message_id,
            None => None,
        };
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

/// Shows what happened lately and what happens now, and asks the person, until what was said is done;
/// until the session is closed when nothing was said.
pub fn follow(runtime: &Runtime, begun: Begun, mut ui: RunUi) -> Result<Exit, AppError> {
    let Begun { client, owner, id: session, snapshot, mine, .. } = begun;
    let (sender, mut happenings) = mpsc::channel(QUEUE);
    let mask = InterruptMask::default();
    runtime.spawn(hear_signals(listen(runtime, &mask)?, Arc::clone(&client), sender.clone(), ui.quit));
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
        Printer::Json(json) => {
            json.set_root(snapshot.root_agent);
            Vec::new()
        }
        // Who reads events wants those that are new.
        Printer::StreamJson(_) | Printer::Claude(_) => Vec::new(),
    };
    let mut window =
        LineWindow::new(Arc::clone(&client), runtime.handle(), ui.printer, ui.person, mask, sender.clone());
    let id = short_id(session);
    window.note(&format!("i attached to session {id} in process {owner}; Ctrl-C detaches, and it keeps working there"));
    past.iter().for_each(|event| window.past(event));
    runtime.spawn(bring_events(client, snapshot.last_seq, sender));
    window.ask(snapshot.pending, snapshot.questions);
    let mut guest = Guest::new(session, (snapshot.root_agent, owner), window, mine, ui.judge);
    Ok(guest.until_done(&mut happenings))
}

/// Hears signals: the first one detaches, a second Ctrl-C soon after it stops the work as well.
async fn hear_signals(mut signals: Signals, client: Arc<dyn Client>, sender: Sender<LoopEvent>, quit: fn(Signal)) {
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

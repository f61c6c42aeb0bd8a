//! One session as an editor has it: what it stands on, and what the editor wants of it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema as acp;
use agent_client_protocol::{Client as Editor, Error};
use neco_proto::app::opening::GivenServer;
use neco_proto::app::{App, Caller};
use neco_proto::{CallId, Client, ClientError, Command, QuestionId, Receipt, Seq};
use tokio::runtime::Handle;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;
use tokio::task::{AbortHandle, JoinHandle};
use tokio_util::task::TaskTracker;

use crate::follower::Follower;
use crate::options::Settings;
use crate::permission::Asked;
use crate::prompt::{CheckPictures, Sent};
use crate::prompts::{Prompted, answer};
use crate::sessions::standing;
use crate::terminal::Terminals;
use crate::transcript::Transcript;
use crate::transport::Room;
use crate::world::OpenFiles;
use crate::{commands, failure};

/// How long a session that is closed may take to stop.
const SOON: Duration = Duration::from_secs(1);

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
    /// The room for updates.
    pub room: Room,
    /// Who speaks by way of the editor.
    pub caller: Caller,
    /// Whether another process has it open, which goes on with it.
    pub shared: bool,
    /// The editor's files, where it offers them.
    pub files: Option<OpenFiles>,
    /// The editor's terminals, where it shows commands in them.
    pub terminals: Option<Arc<Terminals>>,
    /// The MCP servers that it was opened with.
    pub servers: Arc<[GivenServer]>,
    /// Whether the editor shows forms.
    pub forms: bool,
    /// The models that can be chosen.
    pub models: Arc<[String]>,
    /// Checks pictures that come with a message.
    pub pictures: CheckPictures,
}

impl Base {
    /// Sends an update that has its room.
    pub fn tell(&self, update: acp::SessionUpdate) {
        if self.room.is_closed() {
            return;
        }
        let told = self.editor.send_notification(acp::SessionNotification::new(self.id.clone(), update));
        if let Err(error) = told {
            tracing::debug!(%error, "the editor is gone");
            self.room.give_back(1);
        }
    }

    /// Everything that came of what was just done is told until this event.
    pub async fn last_seq(&self) -> Seq {
        standing(self.client.as_ref()).await.map_or(0, |session| session.last_seq)
    }

    /// Tells the session something.
    pub async fn send(&self, command: Command) -> Result<Receipt, ClientError> {
        self.client.send_as(self.caller.actor.clone(), command).await
    }
}

/// What of a session is shown when it is opened.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Past {
    /// What happens from now on.
    Known,
    /// Everything that was said and done, too.
    Shown,
}

/// Whoever waits for something that is set, and for all options as they are then.
pub(crate) type SetReply = Box<dyn FnOnce(Result<Vec<acp::SessionConfigOption>, Error>) + Send>;

/// What is wanted of a session. Prompts, settings and what is shown are carried out one after the other; the rest at once.
pub(crate) enum Order {
    /// A prompt.
    Prompt(Box<(Sent, Prompted)>),
    /// Something is to be set.
    Set { command: Command, reply: SetReply },
    /// The editor opens it: what is past is told, then how it is set; what follows waits until that has arrived.
    Show { past: Past, shown: oneshot::Sender<Result<Settings, Error>>, begins: oneshot::Receiver<()> },
    /// The person chose this in a round of a question, or nothing.
    Chose { question: QuestionId, round: usize, chosen: Option<String> },
    /// The editor is told something besides.
    Tell(Box<acp::SessionUpdate>),
    /// What a call runs prints in this terminal from now on.
    PrintsIn(CallId, acp::TerminalId),
    /// The terminal of a call is released when everything is told that was told with it.
    LetGo(CallId, oneshot::Sender<()>),
    /// This prompt is stopped, or everything that is done.
    Cancel(Option<u64>),
    /// Everything is stopped, and nothing follows; ready when every prompt is answered.
    Close(oneshot::Sender<()>),
    /// It is followed no longer.
    Leave,
}

/// Where the editor's part in a session begins.
pub(crate) struct Start {
    pub transcript: Transcript,
    /// The last event before.
    pub since: Seq,
    /// What waits for the person already.
    pub asks: Vec<Asked>,
    /// Whether somebody is at work in it.
    pub at_work: bool,
}

/// A session that the program has lent: it is handed back when nobody has this any more.
pub(crate) struct Loan {
    app: Arc<dyn App>,
    client: Arc<dyn Client>,
    is_back: AtomicBool,
    underway: TaskTracker,
}

impl Loan {
    pub fn new(app: Arc<dyn App>, client: Arc<dyn Client>, underway: TaskTracker) -> Self {
        Self { app, client, is_back: AtomicBool::new(false), underway }
    }

    /// Hands it back, whether or not anybody waits for that; nothing where that was done.
    fn hand_back(&self) -> impl Future<Output = ()> + Send + 'static {
        let (app, client) = (Arc::clone(&self.app), Arc::clone(&self.client));
        let is_back = self.is_back.swap(true, Ordering::AcqRel);
        let hands_back = async move {
            if let Err(error) = app.close(client).await {
                tracing::warn!(%error, "a session could not be closed");
            }
        };
        let handed_back = (!is_back).then(|| self.underway.spawn(hands_back));
        async move {
            if let Some(handed_back) = handed_back
                && let Err(error) = handed_back.await
            {
                tracing::warn!(%error, "a session could not be closed");
            }
        }
    }
}

impl Drop for Loan {
    fn drop(&mut self) {
        if !self.is_back.load(Ordering::Acquire) && Handle::try_current().is_ok() {
            drop(self.hand_back());
        }
    }
}

/// A session that an editor has open.
pub(crate) struct Window {
    /// What it stands on.
    pub base: Base,
    orders: UnboundedSender<Order>,
    follows: JoinHandle<()>,
    /// Whoever tells which commands there are.
    offers: Mutex<Option<Task>>,
    loan: Loan,
}

impl Window {
    /// Follows a session from there on, until this goes.
    pub fn new(base: Base, start: Start, loan: Loan) -> Self {
        // Unbounded: an editor's orders are as many as it has sent, and a cancel must not wait behind them.
        let (orders, wanted) = unbounded_channel();
        let events = base.client.events(start.since);
        let follower = Follower::new(base.clone(), start, orders.downgrade());
        let follows = tokio::spawn(follower.follow(events, wanted));
        Self { base, orders, follows, offers: Mutex::default(), loan }
    }

    /// Tells which commands there are, now and whenever that changes.
    pub fn offer_commands(&self) {
        let (base, orders) = (self.base.clone(), self.orders.downgrade());
        let task = Task::spawn(async move {
            let tell = |commands| {
                let update = acp::SessionUpdate::AvailableCommandsUpdate(acp::AvailableCommandsUpdate::new(commands));
                // Nobody follows a session that is closed.
                if let Some(orders) = orders.upgrade() {
                    let _ = orders.send(Order::Tell(Box::new(update)));
                }
            };
            commands::offer(&base, tell).await;
        });
        *self.offers.lock().unwrap_or_else(PoisonError::into_inner) = Some(task);
    }

    /// Whether it goes on.
    pub fn is_followed(&self) -> bool {
        !self.follows.is_finished()
    }

    /// Hands over an order; whoever waits for it is told when the session is gone.
    pub fn order(&self, order: Order) {
        let Err(gone) = self.orders.send(order) else { return };
        let error = failure::of_client(ClientError::Gone);
        match gone.0 {
            Order::Prompt(prompt) => answer(prompt.1, Err(error)),
            Order::Set { reply, .. } => reply(Err(error)),
            Order::Show { .. }
            | Order::Chose { .. }
            | Order::Tell(_)
            | Order::PrintsIn(..)
            | Order::LetGo(..)
            | Order::Cancel(_)
            | Order::Close(_)
            | Order::Leave => {}
        }
    }

    /// Stops everything and follows no longer, when that is done or after a moment.
    pub async fn close(&self) {
        let (done, closed) = oneshot::channel();
        self.order(Order::Close(done));
        let _ = tokio::time::timeout(SOON, closed).await;
        self.order(Order::Leave);
    }

    /// Hands the session back.
    pub async fn hand_back(&self) {
        self.loan.hand_back().await;
    }
}

/// A task that ends with whoever has this.
pub(crate) struct Task(AbortHandle);

impl Task {
    pub fn spawn(work: impl Future<Output = ()> + Send + 'static) -> Self {
        Self(tokio::spawn(work).abort_handle())
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        self.0.abort();
    }
}

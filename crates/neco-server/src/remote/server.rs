//! A session as it is served to windows of other processes.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use neco_proto::app::opening::OpenSession;
use neco_proto::app::{App, AppError, Call, Caller};
use neco_proto::{Client, ClientError, Command, Receipt, SessionId};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{RwLock, watch};
use tokio::task::{JoinHandle, JoinSet};

use super::desk::{self, Host, LONGEST_HELLO, Over};
use super::frames::{Opened, Reply, Sent};
use super::lines::Lines;
use super::peer;
use super::place::{Bound, SocketPlaces};
use super::transport::{Reader, Writer};

/// Connections at a time; more wait. A window has two.
const MOST: usize = 64;

/// How long a window may take to read the last words.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// How long a command that was taken may keep the end waiting.
const LAST_COMMAND: Duration = Duration::from_secs(2);

/// How long nothing is accepted after the system refused to.
const REST: Duration = Duration::from_millis(100);

/// Serves one session. Whoever opened the session holds it, and ends it as the session ends:
/// [`Server::hold`], [`Server::leave`], then the session, then [`Server::end`].
pub struct Server {
    shared: Arc<Shared>,
    bound: Mutex<Option<Bound>>,
    left: watch::Sender<bool>,
    /// Nothing when the end has come.
    accepting: Mutex<Option<JoinHandle<()>>>,
}

/// What all connections know.
pub(super) struct Shared {
    pub client: Arc<dyn Client>,
    pub app: Arc<dyn App>,
    pub session: SessionId,
    pub version: String,
    /// Whether the session has ended.
    pub over: watch::Sender<Over>,
    /// Whether commands are taken; held for reading while one is.
    open: RwLock<bool>,
    /// Whether no more are taken, also while one is still on its way.
    held: AtomicBool,
    /// Whether a window said something to the agent.
    said: AtomicBool,
    /// How many connections there are.
    windows: AtomicUsize,
}

impl Server {
    /// Begins to serve `client`, whose session's lock this process holds, and the program around it; needs a runtime.
    /// `version` is what windows are told of this program.
    pub fn open(
        client: Arc<dyn Client>,
        app: Arc<dyn App>,
        session: SessionId,
        places: &SocketPlaces,
        version: &str,
    ) -> io::Result<Self> {
        let (listener, bound) = places.bind(session)?;
        let listener = UnixListener::from_std(listener)?;
        let shared = Arc::new(Shared {
            client,
            app,
            session,
            version: version.to_owned(),
            over: watch::Sender::default(),
            open: RwLock::new(true),
            held: AtomicBool::new(false),
            said: AtomicBool::new(false),
            windows: AtomicUsize::new(0),
        });
        let left = watch::Sender::new(false);
        let accepting = tokio::spawn(accept(listener, Arc::clone(&shared), left.subscribe()));
        let places = places.clone();
        tokio::spawn(async move { places.sweep().await });
        Ok(Self { shared, bound: Mutex::new(Some(bound)), left, accepting: Mutex::new(Some(accepting)) })
    }

    /// Takes no commands of other windows for now; what they said before has reached the agent when
    /// this is ready. Tells whether they ever said anything.
    pub async fn hold(&self) -> bool {
        // First of all: whoever gets the lock before this does is the last one.
        self.shared.held.store(true, Ordering::SeqCst);
        match tokio::time::timeout(LAST_COMMAND, self.shared.open.write()).await {
            Ok(mut open) => *open = false,
            Err(_) => tracing::warn!("a command of another window is still on its way"),
        }
        self.shared.said.load(Ordering::SeqCst)
    }

    /// Takes commands again.
    pub async fn release(&self) {
        *self.shared.open.write().await = true;
        self.shared.held.store(false, Ordering::SeqCst);
    }

    /// Whether windows are there now.
    pub fn is_watched(&self) -> bool {
        self.shared.windows.load(Ordering::SeqCst) > 0
    }

    /// Takes no more windows. To be called while the session's lock is held: afterwards the socket's
    /// name may be somebody else's.
    pub fn leave(&self) {
        locked(&self.bound).take();
        let _ = self.left.send(true);
    }

    /// The session has ended: every window that listens is told, then nothing is left.
    pub async fn end(&self) {
        self.leave();
        let _ = self.shared.over.send(Over::Ended);
        let Some(mut accepting) = locked(&self.accepting).take() else { return };
        if tokio::time::timeout(LAST_WORDS, &mut accepting).await.is_err() {
            accepting.abort();
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        locked(&self.accepting).iter().for_each(JoinHandle::abort);
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Host for Shared {
    fn version(&self) -> &str {
        &self.version
    }

    fn serves(&self, session: Option<SessionId>) -> bool {
        session == Some(self.session)
    }

    fn over(&self) -> watch::Receiver<Over> {
        self.over.subscribe()
    }

    fn client(&self, session: Option<SessionId>) -> BoxFuture<'_, Result<Arc<dyn Client>, ClientError>> {
        let found = if self.serves(session) { Ok(Arc::clone(&self.client)) } else { Err(ClientError::Gone) };
        std::future::ready(found).boxed()
    }

    fn send(&self, session: Option<SessionId>, sent: Sent) -> BoxFuture<'_, Result<Receipt, ClientError>> {
        match self.serves(session) {
            true => self.take(sent).boxed(),
            false => std::future::ready(Err(ClientError::Gone)).boxed(),
        }
    }

    fn app(&self) -> &dyn App {
        self.app.as_ref()
    }

    /// Whoever may talk to the session could be the person.
    fn caller(&self, claimed: Caller) -> Caller {
        claimed
    }

    /// Whoever is gone wants nothing any more, as a window of this process does.
    fn changes(&self, _: &Call) -> bool {
        false
    }

    /// What is said here is said once.
    fn once(&self, _: Option<String>, _: Vec<u8>, work: BoxFuture<'static, Reply>) -> BoxFuture<'static, Reply> {
        work
    }

    fn open(&self, _: OpenSession) -> BoxFuture<'_, Result<Opened, AppError>> {
        std::future::ready(Err(AppError::unsupported("opens no sessions for others"))).boxed()
    }
}

impl Shared {
    /// Hands a window's command to the session.
    async fn take(&self, Sent { by, command }: Sent) -> Result<Receipt, ClientError> {
        if matches!(command, Command::Shutdown) {
            let words = "only the process that opened the session can end it";
            return Err(ClientError::Refused(words.to_owned()));
        }
        let open = self.open.read().await;
        if !*open || self.held.load(Ordering::SeqCst) {
            return Err(ClientError::Gone);
        }
        let receipt = self.client.send_as(by, command).await?;
        if receipt.message_id.is_some() {
            self.said.store(true, Ordering::SeqCst);
        }
        Ok(receipt)
    }
}

async fn accept(listener: UnixListener, shared: Arc<Shared>, mut left: watch::Receiver<bool>) {
    let mut connections = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            // Nobody is left to say it, or it was said.
            _ = left.wait_for(|left| *left) => break,
            Some(_) = connections.join_next() => continue,
            accepted = listener.accept(), if connections.len() < MOST => accepted,
        };
        match accepted {
            Ok((stream, _)) => begin(stream, &shared, &mut connections),
            Err(error) => {
                tracing::warn!(%error, "a window could not be accepted");
                tokio::time::sleep(REST).await;
            }
        }
    }
    drop(listener);
    while connections.join_next().await.is_some() {}
}

fn begin(stream: UnixStream, shared: &Arc<Shared>, connections: &mut JoinSet<()>) {
    let shared = Arc::clone(shared);
    connections.spawn(async move {
        let _window = Window::of(&shared);
        let welcome = peer::check(&stream).await;
        let (read, write) = stream.into_split();
        let halves = (Reader::Lines(Lines::new(read, LONGEST_HELLO)), Writer::Lines(write));
        if let Err(error) = desk::serve(halves, shared, welcome).await {
            tracing::debug!(%error, "a window is gone");
        }
    });
}

/// A connection that is counted as long as it is there.
struct Window(Arc<Shared>);

impl Window {
    fn of(shared: &Arc<Shared>) -> Self {
        shared.windows.fetch_add(1, Ordering::SeqCst);
        Self(Arc::clone(shared))
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        self.0.windows.fetch_sub(1, Ordering::SeqCst);
    }
}

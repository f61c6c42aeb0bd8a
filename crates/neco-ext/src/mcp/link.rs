//! The conversation with one server while it is open: how it is begun, held, followed and ended.

use std::ops::Deref;
use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::time::{Instant, sleep_until};
use tokio_util::task::AbortOnDropHandle;

use super::connection::Connection;
use super::host::Hold;
use super::http::Http;
use super::server::{Server, ServerState};
use super::trouble::Trouble;

/// The first pause before a server is started again that could not be, and the longest.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// How long is waited at least between two looks at what a server offers, however often it says that this changed.
const QUIET: Duration = Duration::from_secs(1);

/// The conversation with a server, and how the last ones went.
#[derive(Default)]
pub(super) struct Link {
    pub open: Option<Open>,
    pub failures: u32,
    pub not_before: Option<Instant>,
    pub why: String,
}

pub(super) struct Open {
    pub connection: Arc<Connection>,
    pub since: Instant,
    /// Follows what the server offers, and stops it when nothing is wanted of it.
    pub _keeper: AbortOnDropHandle<()>,
}

impl Link {
    pub(super) fn fail(&mut self, why: String) {
        self.failures += 1;
        let pause = FIRST_PAUSE.saturating_mul(1 << (self.failures - 1).min(10)).min(LONGEST_PAUSE);
        (self.not_before, self.why) = (Some(Instant::now() + pause), why);
    }
}

/// That a server is being started; however that ends, it is not said to go on.
pub(super) struct Starting<'a>(&'a Server);

impl<'a> Starting<'a> {
    pub(super) fn new(server: &'a Server) -> Self {
        server.be(ServerState::Starting);
        Self(server)
    }
}

impl Drop for Starting<'_> {
    fn drop(&mut self) {
        self.0.rest();
    }
}

/// A conversation that is not ended while somebody wants something of it.
pub(super) struct Held {
    connection: Arc<Connection>,
    _hold: Hold,
}

impl Held {
    pub(super) fn new(connection: &Arc<Connection>) -> Self {
        Self { connection: Arc::clone(connection), _hold: connection.host.hold() }
    }
}

impl Deref for Held {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        &self.connection
    }
}

/// Whether the last question found out that a server wants a login.
pub(super) fn wants_login(http: Option<&Http>) -> bool {
    http.and_then(Http::trouble) == Some(Trouble::NeedsLogin)
}

/// Takes up what a server offers whenever it says that this changed, and stops it when nothing is wanted of it.
pub(super) async fn keep(server: Weak<Server>, connection: Arc<Connection>, http: Option<Http>) {
    let times = server.upgrade().map(|server| (server.settings.start_timeout, server.settings.idle));
    let Some((patience, rest)) = times else { return };
    let (listening, idle) = (connection.listen(), connection.host.idle(rest));
    tokio::pin!(listening, idle);
    let mut quiet_until = Instant::now();
    loop {
        let changed = async {
            sleep_until(quiet_until).await;
            connection.host.changed().await;
        };
        tokio::select! {
            () = changed => {
                // It must not live on for this alone.
                let manifest = connection.manifest(patience).await;
                let Some(server) = server.upgrade() else { return };
                match manifest {
                    Ok(manifest) => server.take(manifest).await,
                    Err(error) => server.log.note(&format!("its lists can't be read again: {error}")),
                }
                quiet_until = Instant::now() + QUIET;
            }
            () = &mut listening => return,
            () = connection.over() => {
                let Some(server) = server.upgrade() else { return };
                if wants_login(http.as_ref()) {
                    server.be(ServerState::NeedsLogin);
                } else {
                    server.rest();
                }
                return;
            }
            () = &mut idle => {
                let Some(server) = server.upgrade() else { return };
                if stop_idle(&server, &connection, rest).await {
                    return;
                }
                idle.set(connection.host.idle(rest));
            }
        }
    }
}

/// Stops a server that nothing was wanted of for so long; says whether it did, as somebody may have come meanwhile.
async fn stop_idle(server: &Server, connection: &Connection, idle: Duration) -> bool {
    let mut link = server.link.lock().await;
    if connection.host.is_held() {
        return false;
    }
    server.log.note(&format!("stopped: nothing was wanted of it for {} s", idle.as_secs()));
    // The task that this runs in ends with what is taken here.
    let open = link.open.take();
    drop(link);
    server.rest();
    connection.close().await;
    drop(open);
    true
}

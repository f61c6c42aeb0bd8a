//! `neco serve take-over`: the server of this program in the place of the one that runs, which hands its sessions over.

use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures::FutureExt;
use futures::future::BoxFuture;
use neco_app::shared::{HeldSessions, SharedApp};
use neco_config::Env;
use neco_proto::app::opening::OpenSession;
use neco_server::http::Ending;
use neco_server::http::found::Lock;
use neco_server::http::take_over::{HandedOver, Successor, Taken};

use crate::compose;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::say;
use crate::server::{here, replace, run_folder};

/// How long agents may take until they are between two turns.
const BOUNDARY: Duration = Duration::from_secs(30);

/// Starts a server in the place of the one that runs.
pub fn run(env: &Env) -> Result<Exit, Failure> {
    let Some(before) = here(env)? else {
        return Err(Failure::new(Exit::Failed, "no server runs").hint("`neco serve` starts one."));
    };
    let found = replace(&before, env)?;
    say::out(&format!("{}\n", found.url))?;
    say::note(&format!("Process {} goes on with what process {} did", found.pid, before.pid));
    Ok(Exit::Done)
}

/// What the server that runs hands over to this process.
pub fn ask(env: &Env) -> Result<Taken, Failure> {
    let cannot = |words: &str| {
        let hint = "`neco serve stop` ends it; one that systemd started is renewed with \
                    `systemctl --user restart neco.service`.";
        Failure::new(Exit::Failed, format!("the server can't be taken over: {words}")).hint(hint)
    };
    match Taken::ask(&compose::sockets(env), &run_folder(env)) {
        Ok(Some(taken)) => Ok(taken),
        Ok(None) => Err(cannot("it hands nothing over, as it is of an older version, or systemd runs it")),
        Err(error) => Err(cannot(&error.to_string())),
    }
}

/// What becomes of the sessions of a server that ends: they end with it, or go on in another process.
pub struct SessionsEnd {
    app: Arc<SharedApp>,
    successor: Mutex<Option<Successor>>,
    held: Mutex<Held>,
    handed: Mutex<Vec<OpenSession>>,
}

/// The sessions that begin no turn, and how long it is waited for the present ones.
#[derive(Default)]
struct Held {
    sessions: Vec<HeldSessions>,
    until: Option<Instant>,
}

/// That nobody took over.
pub struct NotGiven {
    pub lock: Lock,
    pub told: HandedOver,
    pub error: std::io::Error,
}

impl SessionsEnd {
    pub fn new(app: Arc<SharedApp>) -> Self {
        Self { app, successor: Mutex::default(), held: Mutex::default(), handed: Mutex::default() }
    }

    /// Another process goes on with them.
    pub fn follows(&self, successor: Successor) {
        *locked(&self.successor) = Some(successor);
    }

    /// They go on here: nobody takes over.
    pub fn go_on(&self) {
        *locked(&self.held) = Held::default();
    }

    /// Gives whoever takes over what it needs, if somebody does; gives back the lock otherwise. May block.
    pub fn give(&self, lock: Lock, listener: &OwnedFd, told: HandedOver) -> Result<Option<Lock>, Box<NotGiven>> {
        let Some(successor) = locked(&self.successor).take() else { return Ok(Some(lock)) };
        let told = HandedOver { sessions: std::mem::take(&mut locked(&self.handed)), ..told };
        match successor.give(lock, listener, &told) {
            Ok(()) => Ok(None),
            Err((lock, error)) => Err(Box::new(NotGiven { lock, told, error })),
        }
    }
}

impl Ending for SessionsEnd {
    fn hands_over(&self) -> bool {
        locked(&self.successor).is_some()
    }

    fn come_to_boundary(&self) -> BoxFuture<'_, ()> {
        async move {
            let until = *locked(&self.held).until.get_or_insert_with(|| Instant::now() + BOUNDARY);
            let held = self.app.hold_all(until.saturating_duration_since(Instant::now())).await;
            locked(&self.held).sessions.push(held);
        }
        .boxed()
    }

    fn end(&self, not_opened: Vec<OpenSession>) -> BoxFuture<'_, ()> {
        async move {
            if self.hands_over() {
                let handed = self.app.hand_all_over().await;
                // One may have been opened in the end.
                let is_there = |wanted: &OpenSession| handed.iter().any(|handed| handed.which == wanted.which);
                let left: Vec<OpenSession> = not_opened.into_iter().filter(|wanted| !is_there(wanted)).collect();
                *locked(&self.handed) = [handed, left].concat();
            } else {
                // What waits for a person, and what did not come to its end, is not given up.
                self.app.leave_work().await;
                self.app.stop_all().await;
            }
            for closed in self.app.close_all().await {
                closed.err().iter().for_each(|error| tracing::error!(%error, "a session could not be ended"));
            }
            self.go_on();
        }
        .boxed()
    }
}

/// Tells the process whose place this one takes that it listens.
pub fn listens(before: &mut Option<UnixStream>) {
    if let Some(mut before) = before.take()
        && let Err(error) = Taken::listens(&mut before)
    {
        tracing::warn!(%error, "the server before this one is gone already");
    }
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

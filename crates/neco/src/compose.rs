//! What one process is composed of: the order in which things start, and its reverse.
//!
//! The order is configuration, store, keys and models, agents (all of them in `Opening::open`), windows of other
//! processes; the way down is the reverse, in [`stop`] for a process with one
//! session and in [`put_away`] for one of several. What fails on the way up leaves nothing behind: whatever was
//! started is owned by what failed, and goes with it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use neco_app::services::{self, Services};
use neco_config::Env;
use neco_proto::{ErrorCode, Seq};
use neco_server::SocketPlaces;
use neco_session::Session;
use neco_store::SqliteStore;
use tokio::runtime::{Builder, Runtime};

use crate::exit::Exit;
use crate::failure::Failure;
use crate::run::socket::SocketServer;
use crate::say;

/// Opens the store of a data folder. The person is told when a damaged one was set aside.
///
/// # Errors
/// When it can't be opened.
pub async fn open_store(data_dir: &Path) -> Result<Arc<SqliteStore>, Failure> {
    let store = services::open_store(data_dir).await?;
    store.set_aside().into_iter().for_each(|aside| say::note(&aside.to_string()));
    Ok(store)
}

/// The runtime: two threads are enough for one session, and cost little to start.
///
/// # Errors
/// When the system has no threads left.
pub fn runtime() -> Result<Runtime, Failure> {
    Builder::new_multi_thread()
        .worker_threads(2)
        .thread_name("neco")
        .enable_all()
        .build()
        .map_err(|error| Failure::new(Exit::Failed, format!("no threads can be started: {error}")))
}

/// Everything down again, however the run went: the session first, then what it stands on. What could
/// not be written is told and counts, even when the work is done.
///
/// # Errors
/// What the run failed with.
pub fn stop(
    runtime: Runtime,
    services: Services,
    session: Session,
    mut others: SocketServer,
    seen: Result<Exit, Failure>,
) -> Result<Exit, Failure> {
    let stopped = runtime.block_on(async {
        others.leave();
        close(session).await;
        others.end().await;
        services.stop().await.map_err(Failure::from)
    });
    // A read that hangs on a dead disk must not keep the process.
    runtime.shutdown_background();
    match (seen, stopped) {
        // That nothing could be written any more is told already, with the end of the work.
        (Ok(Exit::Failed), Err(failure)) if failure.code == Some(ErrorCode::StoreFailed) => Ok(failure.exit),
        (Ok(_), Err(failure)) => {
            say::failure(&failure);
            Ok(failure.exit)
        }
        (seen, _) => seen,
    }
}

/// The same for one of several sessions; the runtime stays. Nothing stays of one that is not to be kept.
///
/// # Errors
/// When something could not be written.
pub async fn put_away(
    services: Services,
    session: Session,
    mut others: SocketServer,
    keep: bool,
) -> Result<(), Failure> {
    others.leave();
    let id = session.id();
    close(session).await;
    others.end().await;
    // What was gone back over was said too, and can be taken back.
    let is_empty = !keep && services.hub.course(id).await.is_ok_and(|course| !course.is_said(Seq::MAX));
    if is_empty && let Ok(record) = services.hub.find(&id.to_string()).await {
        services.hub.remove(std::slice::from_ref(&record)).await?;
    }
    Ok(services.leave().await?)
}

/// Closes a session. What is done at its end may take a while, and nobody has to wait for it.
async fn close(session: Session) {
    let waited_for = async {
        tokio::time::sleep(SOON).await;
        say::note("still busy with what is kept of the session; Ctrl-C ends that");
        let _ = tokio::signal::ctrl_c().await;
    };
    tokio::select! {
        told = session.close() => told.iter().for_each(|told| say::note(&told.text)),
        () = waited_for => {}
    }
}

/// What takes no longer is not spoken of.
const SOON: Duration = Duration::from_millis(1500);

/// Where sessions of a data folder are served to windows of other processes.
#[must_use]
pub fn sockets(env: &Env) -> SocketPlaces {
    let of = |name: &str| env.var_os(name).map(PathBuf::from).filter(|folder| folder.is_absolute());
    let short = [of("XDG_RUNTIME_DIR"), of("TMPDIR"), Some(PathBuf::from("/tmp"))];
    SocketPlaces::new(env.data_dir().join("sockets"), short.into_iter().flatten().collect())
}

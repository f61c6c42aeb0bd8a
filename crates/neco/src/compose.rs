//! What one process is composed of: the order in which things start, and its reverse.
//!
//! The order is configuration, store, keys and models, agents (all of them in `Opening::open`), windows of other
//! processes; the way down is the reverse, in `SharedApp::close` for each session, and in [`stop`] for the process. What fails on the way up leaves nothing behind: whatever was
//! started is owned by what failed, and goes with it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use neco_app::services;
use neco_config::Env;
use neco_proto::ErrorCode;
use neco_proto::app::AppError;
use neco_server::SocketPlaces;
use neco_store::SqliteStore;
use tokio::runtime::{Builder, Runtime};

use crate::ask::tty::restore_terminal;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::log;
use crate::say;
use crate::signals::Signal;

/// Opens the store of a data folder. The person is told when a damaged one was set aside.
pub async fn open_store(data_dir: &Path) -> Result<Arc<SqliteStore>, Failure> {
    let store = services::open_store(data_dir).await?;
    store.set_aside().into_iter().for_each(|aside| say::note(&aside.to_string()));
    Ok(store)
}

/// The runtime: two threads are enough for one session, and cost little to start.
pub fn runtime() -> Result<Runtime, Failure> {
    Builder::new_multi_thread()
        .worker_threads(2)
        .thread_name("neco")
        .enable_all()
        .build()
        .map_err(|error| Failure::new(Exit::Failed, format!("no threads can be started: {error}")))
}

/// Everything down again, however the run went: what `ends` ends, then the runtime. What could not be written is told
/// and counts, even when the work is done.
pub fn stop(
    runtime: Runtime,
    ends: impl Future<Output = Result<(), AppError>>,
    seen: Result<Exit, Failure>,
) -> Result<Exit, Failure> {
    let stopped = runtime.block_on(ends).map_err(Failure::from);
    // A read that hangs on a dead disk must not keep the process.
    runtime.shutdown_background();
    told(stopped, seen)
}

/// How a run ended, after its session was handed back.
pub fn after(left: Result<(), AppError>, seen: Result<Exit, Failure>) -> Result<Exit, Failure> {
    told(left.map_err(Failure::from), seen)
}

fn told(stopped: Result<(), Failure>, seen: Result<Exit, Failure>) -> Result<Exit, Failure> {
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

/// Ends the process at once. What commands still run is killed by the watchdog.
pub fn quit(signal: Signal) {
    restore_terminal();
    tracing::warn!(?signal, "stopped at once");
    log::finish();
    std::process::exit(i32::from(Exit::Stopped(signal).number()));
}

/// Where sessions of a data folder are served to windows of other processes.
pub fn sockets(env: &Env) -> SocketPlaces {
    let of = |name: &str| env.var_os(name).map(PathBuf::from).filter(|folder| folder.is_absolute());
    let short = [of("XDG_RUNTIME_DIR"), of("TMPDIR"), Some(PathBuf::from("/tmp"))];
    SocketPlaces::new(env.data_dir().join("sockets"), short.into_iter().flatten().collect())
}

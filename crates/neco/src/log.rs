//! The log file, for those who want one.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use neco_config::Env;
use tracing_appender::non_blocking::WorkerGuard;
use tracing_subscriber::EnvFilter;

use crate::failure::Failure;
use crate::say;

/// What `--debug` writes.
const DEBUG: &str = "neco=debug,warn";
/// A log that is larger is put aside.
const LARGEST: u64 = 10 * 1024 * 1024;

/// Where the log file lies.
#[must_use]
pub fn path(env: &Env) -> PathBuf {
    env.data_dir().join("logs").join("neco.log")
}

/// Begins to log if `--debug` or `NECO_LOG` asks for it. What is logged is on the disk when the guard
/// is dropped. Nothing is set up otherwise: it would be paid for at every start.
///
/// # Errors
/// When the filter is none or the file can't be written.
pub fn start(env: &Env, debug: bool) -> Result<Option<WorkerGuard>, Failure> {
    let wanted = env.var("NECO_LOG").filter(|filter| !filter.is_empty());
    let Some(filter) = wanted.or(debug.then_some(DEBUG)) else { return Ok(None) };
    let filter =
        EnvFilter::try_new(filter).map_err(|error| Failure::usage(format!("NECO_LOG is not understood: {error}")))?;
    let path = path(env);
    let file =
        open(&path).map_err(|error| Failure::usage(format!("the log {} can't be written: {error}", path.display())))?;
    let (writer, guard) = tracing_appender::non_blocking(file);
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(writer).with_ansi(false).init();
    say::note(&format!("log: {}", path.display()));
    Ok(Some(guard))
}

/// A log tells what was worked on, so it is for its owner alone.
fn open(path: &Path) -> io::Result<fs::File> {
    if let Some(folder) = path.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    if fs::metadata(path).is_ok_and(|file| file.len() > LARGEST) {
        fs::rename(path, path.with_extension("log.1"))?;
    }
    OpenOptions::new().create(true).append(true).mode(0o600).open(path)
}

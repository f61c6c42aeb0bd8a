//! The log file, for those who want one: what happened and how long it took, never what was said.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, PoisonError};

use neco_config::Env;
use neco_proto::app::AppError;
use neco_safety::secrets::{Redactor, Scope};
use tracing_appender::non_blocking::WorkerGuard;
use tracing_subscriber::EnvFilter;

use crate::error::invalid;

/// What `--debug` writes.
const DEBUG: &str = "neco=debug,warn";
/// A log that is larger is put aside.
const LARGEST: u64 = 10 * 1024 * 1024;

/// Writes what waits when it is dropped. Not in somebody's hands, because a process may end anywhere.
static GUARD: Mutex<Option<WorkerGuard>> = Mutex::new(None);

/// Takes secrets out of what is logged: the one log of a process has what several folders bring along. It knows each
/// secret once, and what was one stays out of the log.
static HIDDEN: LazyLock<Redactor> = LazyLock::new(Redactor::default);

/// From now on nothing is logged that `redactor` knows, or learns later.
pub fn hide(redactor: &Redactor) {
    redactor.teach(&HIDDEN);
}

/// `text` without the secrets that are known, and without what looks like one.
pub fn redacted(text: &str, scope: Scope) -> String {
    HIDDEN.redact(text, scope).into_owned()
}

/// A file that no secret is written to; what is written comes line by line.
struct WithoutSecrets<W>(W);

impl<W: Write> Write for WithoutSecrets<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(bytes);
        let redacted = redacted(&text, Scope::Outside);
        self.0.write_all(redacted.as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Where the log file lies.
pub fn path(env: &Env) -> PathBuf {
    env.data_dir().join("logs").join("neco.log")
}

/// Begins to log if `--debug` or `NECO_LOG` asks for it, and gives the file; [`finish`] ends it. Nothing is set up
/// otherwise: it would be paid for at every start.
///
/// # Errors
/// When `NECO_LOG` makes no sense, or the file can't be written.
pub fn start(env: &Env, debug: bool) -> Result<Option<PathBuf>, AppError> {
    let wanted = env.var("NECO_LOG").filter(|filter| !filter.is_empty());
    let Some(filter) = wanted.or(debug.then_some(DEBUG)) else { return Ok(None) };
    let filter = EnvFilter::try_new(filter).map_err(|error| invalid(format!("NECO_LOG is not understood: {error}")))?;
    let path = path(env);
    let file = open(&path).map_err(|error| invalid(format!("the log {} can't be written: {error}", path.display())))?;
    let (writer, guard) = tracing_appender::non_blocking(WithoutSecrets(file));
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(writer).with_ansi(false).init();
    *GUARD.lock().unwrap_or_else(PoisonError::into_inner) = Some(guard);
    tracing::info!(version = env!("CARGO_PKG_VERSION"), pid = std::process::id(), "neco starts");
    Ok(Some(path))
}

/// Everything that was logged is on the disk after this; what comes later is not logged.
pub fn finish() {
    drop(GUARD.lock().unwrap_or_else(PoisonError::into_inner).take());
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

#[cfg(test)]
mod tests {
    use neco_safety::secrets::KnownSecret;

    use super::*;

    #[test]
    fn the_secrets_of_every_folder_stay_out_of_the_one_log() {
        let known = |value: &str| KnownSecret { what: "KEY".to_owned(), value: value.to_owned() };
        let (first, second) = ("first-secret-value-1", "second-secret-value-2");
        hide(&Redactor::new([known(first)]));
        let learns = Redactor::default();
        hide(&learns);
        learns.learn([known(second)]);
        // What is looked up without any secret takes none away.
        hide(&Redactor::default());
        let logged = redacted(&format!("{first} {second}"), Scope::Outside);
        assert_eq!(logged, "[redacted: KEY] [redacted: KEY]");
    }
}

//! The log file, for those who want one: what happened and how long it took, never what was said.

use std::fmt;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, PoisonError};

use jiff::Timestamp;
use neco_config::Env;
use neco_proto::app::AppError;
use neco_safety::secrets::{Redactor, Scope};
use serde_json::{Map, Value};
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_appender::non_blocking::{NonBlocking, WorkerGuard};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

use crate::error::invalid;

/// What `--debug` writes.
const DEBUG: &str = "neco=debug,warn";
/// What a server writes.
const SERVER: &str = "neco=info,warn";
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
    let Some(filter) = wanted(env, debug) else { return Ok(None) };
    let (path, filter) = (path(env), read(filter)?);
    let writer = writer(&path)?;
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(writer).with_ansi(false).init();
    begins();
    Ok(Some(path))
}

/// Begins to log in `folder` what a server does: nobody looks at it, so it does so unasked, as lines of JSON.
/// `NECO_LOG` and `--debug` say how much. [`finish`] ends it.
///
/// # Errors
/// When `NECO_LOG` makes no sense, or the file can't be written.
pub fn start_server(env: &Env, debug: bool, folder: &Path) -> Result<PathBuf, AppError> {
    let path = folder.join("log.jsonl");
    let filter = read(wanted(env, debug).unwrap_or(SERVER))?;
    let writer = writer(&path)?;
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(writer).event_format(JsonLines).init();
    begins();
    Ok(path)
}

fn wanted(env: &Env, debug: bool) -> Option<&str> {
    env.var("NECO_LOG").filter(|filter| !filter.is_empty()).or(debug.then_some(DEBUG))
}

fn read(filter: &str) -> Result<EnvFilter, AppError> {
    EnvFilter::try_new(filter).map_err(|error| invalid(format!("NECO_LOG is not understood: {error}")))
}

fn writer(path: &Path) -> Result<NonBlocking, AppError> {
    let file = LogFile::open(path);
    let file = file.map_err(|error| invalid(format!("the log {} can't be written: {error}", path.display())))?;
    let (writer, guard) = tracing_appender::non_blocking(WithoutSecrets(file));
    *GUARD.lock().unwrap_or_else(PoisonError::into_inner) = Some(guard);
    Ok(writer)
}

fn begins() {
    tracing::info!(version = env!("CARGO_PKG_VERSION"), pid = std::process::id(), "neco starts");
}

/// Each event as an object in a line.
struct JsonLines;

impl<S: Subscriber + for<'a> LookupSpan<'a>, N: for<'a> FormatFields<'a> + 'static> FormatEvent<S, N> for JsonLines {
    fn format_event(&self, _: &FmtContext<'_, S, N>, mut writer: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        let about = event.metadata();
        let mut fields = Fields(Map::new());
        event.record(&mut fields);
        fields.0.insert("at".to_owned(), Timestamp::now().to_string().into());
        fields.0.insert("level".to_owned(), about.level().as_str().to_lowercase().into());
        fields.0.insert("room".to_owned(), about.target().into());
        writeln!(writer, "{}", Value::Object(fields.0))
    }
}

/// What an event says.
struct Fields(Map<String, Value>);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0.insert(field.name().to_owned(), format!("{value:?}").into());
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name().to_owned(), value.into());
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.0.insert(field.name().to_owned(), value.into());
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.0.insert(field.name().to_owned(), value.into());
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.0.insert(field.name().to_owned(), value.into());
    }
}

/// Everything that was logged is on the disk after this; what comes later is not logged.
pub fn finish() {
    drop(GUARD.lock().unwrap_or_else(PoisonError::into_inner).take());
}

/// A file that is put aside when it is too large, and begun anew. A log tells what was worked on, so it is for its owner
/// alone.
struct LogFile {
    path: PathBuf,
    file: fs::File,
    size: u64,
}

impl LogFile {
    fn open(path: &Path) -> io::Result<Self> {
        if let Some(folder) = path.parent() {
            DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        }
        let file = OpenOptions::new().create(true).append(true).mode(0o600).open(path)?;
        let size = file.metadata()?.len();
        Ok(Self { path: path.to_owned(), file, size })
    }
}

impl Write for LogFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.size > LARGEST {
            fs::rename(&self.path, self.path.with_added_extension("1"))?;
            *self = Self::open(&self.path)?;
        }
        let written = self.file.write(bytes)?;
        self.size += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

#[cfg(test)]
mod tests {
    use neco_safety::secrets::KnownSecret;

    use super::*;

    #[test]
    fn a_log_is_bounded_while_it_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("logs/neco.log");
        let mut log = LogFile::open(&path).unwrap();
        let line = vec![b'x'; 1024 * 1024];
        (0..25).for_each(|_| log.write_all(&line).unwrap());
        let size = |path: PathBuf| fs::metadata(path).unwrap().len();
        let (now, before) = (size(path.clone()), size(path.with_added_extension("1")));
        assert!(now <= LARGEST + 1024 * 1024 && before <= LARGEST + 1024 * 1024, "{now} {before}");
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 2);
    }

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

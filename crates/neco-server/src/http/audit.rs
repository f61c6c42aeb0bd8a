//! Who did what at the server, and with which token: a line of JSON for everything that changes something, and for
//! everybody who was turned away. It is written before whoever asked hears of it.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use futures::{FutureExt, StreamExt};
use futures::future::BoxFuture;
use futures::stream::BoxStream;
use jiff::Timestamp;
use neco_proto::app::opening::{OpenSession, OpenedSession};
use neco_proto::app::{App, AppError, Call, Caller, Described, Scope};
use neco_proto::{Actor, Client, SessionId};
use serde::Serialize;
use serde_json::Value;

/// The file, in the folder of the server.
const FILE: &str = "audit.jsonl";

/// The one before, when that became too big.
const BEFORE: &str = "audit.before.jsonl";

/// Bytes of a file.
const MOST: u64 = 16 * 1024 * 1024;

/// The lines of a server. Clones write to the same file.
#[derive(Clone)]
pub(crate) struct Audit(Arc<Mutex<PathBuf>>);

/// One of them.
#[derive(Default, Serialize)]
pub(crate) struct Line {
    /// Nothing of whoever showed no token that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<Actor>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<Scope>,
    /// A call, a command of a session, or what was asked by whoever was turned away.
    pub does: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The address of whoever was turned away.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Why nothing came of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}

impl Line {
    /// What a caller does, and what came of it.
    pub fn of<T>(caller: &Caller, does: &str, done: &Result<T, AppError>) -> Self {
        let refused = done.as_ref().err().map(|error| error.message.clone());
        Self { by: Some(caller.actor.clone()), scope: Some(caller.scope), does: does.to_owned(), refused, ..Self::default() }
    }

    /// The session that it is about.
    pub fn in_session(self, id: SessionId) -> Self {
        Self { session: Some(id.to_string()), ..self }
    }
}

impl Audit {
    pub fn of(folder: &Path) -> Self {
        Self(Arc::new(Mutex::new(folder.join(FILE))))
    }

    /// Writes a line. That it can't be written is logged, and keeps nobody from working.
    pub async fn note(&self, line: Line) {
        #[derive(Serialize)]
        struct Timed {
            at: String,
            #[serde(flatten)]
            line: Line,
        }
        let timed = Timed { at: Timestamp::now().to_string(), line };
        let own = self.clone();
        let written = tokio::task::spawn_blocking(move || own.append(&serde_json::to_string(&timed)?)).await;
        match written {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::warn!(%error, "who did what could not be written"),
            Err(error) => tracing::warn!(%error, "who did what could not be written"),
        }
    }

    fn append(&self, line: &str) -> io::Result<()> {
        let path = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if fs::metadata(&*path).is_ok_and(|file| file.len() > MOST) {
            fs::rename(&*path, path.with_file_name(BEFORE))?;
        }
        let mut file = OpenOptions::new().create(true).append(true).mode(0o600).open(&*path)?;
        file.write_all(format!("{line}\n").as_bytes())
    }
}

/// A program of which is written down what callers change with it.
pub(crate) struct Audited {
    pub app: Arc<dyn App>,
    pub calls: &'static [Described],
    pub audit: Audit,
}

impl Audited {
    fn changes(&self, name: &str) -> bool {
        let route = self.calls.iter().find(|described| described.route.name == name);
        route.is_none_or(|described| described.route.scope > Scope::Read)
    }
}

impl App for Audited {
    fn call<'a>(&'a self, caller: &'a Caller, call: Call) -> BoxFuture<'a, Result<Value, AppError>> {
        if !self.changes(&call.name) {
            return self.app.call(caller, call);
        }
        async move {
            let name = call.name.clone();
            let done = self.app.call(caller, call).await;
            self.audit.note(Line::of(caller, &name, &done)).await;
            done
        }
        .boxed()
    }

    fn stream<'a>(&'a self, caller: &'a Caller, call: Call) -> BoxStream<'a, Result<Value, AppError>> {
        if !self.changes(&call.name) {
            return self.app.stream(caller, call);
        }
        let begun = async move {
            self.audit.note(Line::of(caller, &call.name, &Ok(()))).await;
            self.app.stream(caller, call)
        };
        begun.flatten_stream().boxed()
    }

    fn open<'a>(&'a self, caller: &'a Caller, wanted: OpenSession) -> BoxFuture<'a, Result<OpenedSession, AppError>> {
        async move {
            let done = self.app.open(caller, wanted).await;
            let line = Line::of(caller, "sessions.open", &done);
            let line = match &done {
                Ok(opened) => line.in_session(opened.id),
                Err(_) => line,
            };
            self.audit.note(line).await;
            done
        }
        .boxed()
    }

    fn close(&self, client: Arc<dyn Client>) -> BoxFuture<'_, Result<Option<SessionId>, AppError>> {
        self.app.close(client)
    }

    fn is_watched(&self, session: SessionId) -> bool {
        self.app.is_watched(session)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_line_says_who_did_what_and_a_file_that_is_too_big_makes_room() {
        let folder = tempfile::tempdir().unwrap();
        let audit = Audit::of(folder.path());
        let phone = Caller { actor: Actor::Device { name: "phone".to_owned() }, scope: Scope::Work, tenant: None };
        let refused: Result<(), AppError> = Err(AppError::new(neco_proto::app::Trouble::NotAllowed, "not you"));
        audit.note(Line::of(&phone, "rules.add", &refused).in_session(SessionId::new())).await;
        let file = folder.path().join(FILE);
        let line: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
        assert_eq!((&line["does"], &line["refused"], &line["scope"]), (&"rules.add".into(), &"not you".into(), &"work".into()));
        assert_eq!(line["by"]["name"], "phone", "{line}");
        fs::File::options().write(true).open(&file).unwrap().set_len(MOST + 1).unwrap();
        audit.note(Line::of(&phone, "rules.add", &refused)).await;
        assert!(fs::metadata(&file).unwrap().len() < MOST && folder.path().join(BEFORE).exists());
    }
}

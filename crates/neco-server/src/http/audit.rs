//! Who did what at the server, and with which token: a line of JSON for everything that changes something, and for
//! those who were turned away. It is written before whoever asked hears of it.
//!
//! Invariant: nobody who may do nothing makes room in the file of what was done: what they were refused has a file of its
//! own.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use futures::future::BoxFuture;
use futures::stream::BoxStream;
use futures::{FutureExt, StreamExt};
use jiff::Timestamp;
use neco_proto::app::access::{AuditLine, AuditPage};
use neco_proto::app::opening::{OpenSession, OpenedSession};
use neco_proto::app::{App, AppError, Call, Caller, Described, Scope};
use neco_proto::{Actor, Client, SessionId};
use serde::Serialize;
use serde_json::Value;

/// A file, in the folder of the server.
struct Place {
    name: &'static str,
    /// The one before, when that became too big.
    before: &'static str,
    /// Bytes of it.
    most: u64,
}

/// What was done, and what those were refused who may do something.
const DONE: Place = Place { name: "audit.jsonl", before: "audit.before.jsonl", most: 16 * 1024 * 1024 };

/// What all others were refused.
const REFUSED: Place =
    Place { name: "audit.refused.jsonl", before: "audit.refused.before.jsonl", most: 4 * 1024 * 1024 };

/// Characters of what somebody did, or was told.
const LONGEST: usize = 200;

/// The lines of a server, in its folder. Clones write to the same files.
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
    /// The token that is made or removed; empty is the person's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    /// Why nothing came of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}

impl Line {
    /// What a caller does, and what came of it.
    pub fn of<T>(caller: &Caller, does: &str, done: &Result<T, AppError>) -> Self {
        let refused = done.as_ref().err().map(|error| error.message.clone());
        Self {
            by: Some(caller.actor.clone()),
            scope: Some(caller.scope),
            does: does.to_owned(),
            refused,
            ..Self::default()
        }
    }

    /// Where it belongs.
    fn place(&self) -> &'static Place {
        let may_nothing = self.scope.is_none_or(|scope| scope < Scope::Work);
        if self.refused.is_some() && may_nothing { &REFUSED } else { &DONE }
    }

    /// No longer than anybody reads: strangers say what stands in it.
    fn in_short(self) -> Self {
        let short = |words: String| words.chars().take(LONGEST).collect::<String>();
        Self { does: short(self.does), refused: self.refused.map(short), ..self }
    }

    /// The session that it is about.
    pub fn in_session(self, id: SessionId) -> Self {
        Self { session: Some(id.to_string()), ..self }
    }
}

impl Audit {
    pub fn of(folder: &Path) -> Self {
        Self(Arc::new(Mutex::new(folder.to_owned())))
    }

    /// Writes a line. That it can't be written is logged, and keeps nobody from working.
    pub async fn note(&self, line: Line) {
        let own = self.clone();
        let written = tokio::task::spawn_blocking(move || own.write(line)).await;
        match written {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::warn!(%error, "who did what could not be written"),
            Err(error) => tracing::warn!(%error, "who did what could not be written"),
        }
    }

    /// Writes a line; it may block.
    pub fn write(&self, line: Line) -> io::Result<()> {
        #[derive(Serialize)]
        struct Timed {
            at: String,
            #[serde(flatten)]
            line: Line,
        }
        let place = line.place();
        let timed = Timed { at: Timestamp::now().to_string(), line: line.in_short() };
        self.append(place, &serde_json::to_string(&timed)?)
    }

    fn append(&self, place: &Place, line: &str) -> io::Result<()> {
        let folder = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let path = folder.join(place.name);
        if fs::metadata(&path).is_ok_and(|file| file.len() > place.most) {
            fs::rename(&path, folder.join(place.before))?;
        }
        let mut file = OpenOptions::new().create(true).append(true).mode(0o600).open(&path)?;
        file.write_all(format!("{line}\n").as_bytes())
    }
}

/// What was written down and is still kept, the newest first: at most `limit` lines of before a moment. It reads files.
pub(crate) fn lines(folder: &Path, refused: bool, before: Option<Timestamp>, limit: usize) -> io::Result<AuditPage> {
    let place = if refused { &REFUSED } else { &DONE };
    let mut found = Vec::new();
    for name in [place.name, place.before] {
        let text = match fs::read(folder.join(name)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            read => String::from_utf8_lossy(&read?).into_owned(),
        };
        let is_older =
            |line: &AuditLine| before.is_none_or(|before| line.at.parse().is_ok_and(|at: Timestamp| at < before));
        let read = text.lines().rev().filter_map(|line| serde_json::from_str(line).ok()).filter(is_older);
        found.extend(read.take(limit + 1 - found.len()));
    }
    let more = found.len() > limit;
    found.truncate(limit);
    Ok(AuditPage { next: found.last().filter(|_| more).map(|line| line.at.clone()), lines: found })
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
        let file = folder.path().join(DONE.name);
        let line: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
        assert_eq!(
            (&line["does"], &line["refused"], &line["scope"]),
            (&"rules.add".into(), &"not you".into(), &"work".into())
        );
        assert_eq!(line["by"]["name"], "phone", "{line}");
        fs::File::options().write(true).open(&file).unwrap().set_len(DONE.most + 1).unwrap();
        audit.note(Line::of(&phone, "rules.add", &refused)).await;
        assert!(fs::metadata(&file).unwrap().len() < DONE.most && folder.path().join(DONE.before).exists());
    }

    #[tokio::test]
    async fn what_was_done_is_read_page_by_page_the_newest_first_also_in_the_file_before() {
        let folder = tempfile::tempdir().unwrap();
        let audit = Audit::of(folder.path());
        for number in 0..5 {
            if number == 2 {
                fs::rename(folder.path().join(DONE.name), folder.path().join(DONE.before)).unwrap();
            }
            let line = Line::of(&Caller::person(), &format!("call {number}"), &Ok(()));
            audit.write(line).unwrap();
        }
        let broken = "{\"at\": \n";
        fs::File::options()
            .append(true)
            .open(folder.path().join(DONE.name))
            .unwrap()
            .write_all(broken.as_bytes())
            .unwrap();
        let (mut told, mut before) = (Vec::new(), None);
        loop {
            let page = lines(folder.path(), false, before, 2).unwrap();
            told.extend(page.lines.into_iter().map(|line| line.does));
            let Some(next) = page.next else { break };
            before = Some(next.parse().unwrap());
        }
        assert_eq!(told, ["call 4", "call 3", "call 2", "call 1", "call 0"]);
        assert!(lines(folder.path(), true, None, 2).unwrap().lines.is_empty());
    }

    #[tokio::test]
    async fn what_strangers_are_refused_takes_no_room_of_what_was_done() {
        let folder = tempfile::tempdir().unwrap();
        let audit = Audit::of(folder.path());
        let size = |name: &str| fs::metadata(folder.path().join(name)).map_or(0, |file| file.len());
        let refused = || Some("x".repeat(100_000));
        audit.note(Line { does: "GET /".repeat(100_000), refused: refused(), ..Line::default() }).await;
        let reader = Line { scope: Some(Scope::Read), does: "steer".to_owned(), refused: refused(), ..Line::default() };
        audit.note(reader).await;
        assert_eq!(size(DONE.name), 0);
        assert!((1..4096).contains(&size(REFUSED.name)), "{}", size(REFUSED.name));
    }
}

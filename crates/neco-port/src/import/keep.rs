//! A session enters the store: whole, or not at all.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use neco_config::Env;
use neco_proto::app::port::{ImportNote, ImportedSession, Program};
use neco_proto::event::TitleSource;
use neco_proto::{Event, SessionId};
use neco_safety::secrets::Redactor;
use neco_session::Hub;
use neco_session::redacted::redact;
use neco_store::{Catalog, Durability, EventLog, Lease, SessionRecord, SqliteStore, lease_and_append};

use super::events::{Log, Source, log, session_id};
use super::foreign::Foreign;
use crate::error::PortError;

/// Events that are appended at a time.
pub(super) const BATCH: usize = 1000;

/// Takes sessions in.
pub struct Keeper<'a> {
    /// Where they are kept.
    pub store: &'a SqliteStore,
    /// What knows where their big outputs lie.
    pub hub: &'a Hub,
    /// The environment.
    pub env: &'a Env,
    /// Takes secrets out of what comes in.
    pub redactor: Redactor,
    /// Whether what is here already comes in a second time.
    pub again: bool,
    /// The folder that is worked in.
    pub folder: &'a Path,
    /// Whether they go on in that folder, and not in their own.
    pub moves: bool,
}

/// Where a session works from now on, and what is to be said about that.
pub(super) struct Place {
    /// The folder.
    pub cwd: PathBuf,
    /// What is to be said.
    pub note: Option<ImportNote>,
}

impl Keeper<'_> {
    /// The session with an id, if there is one.
    pub(super) async fn find(&self, id: SessionId) -> Result<Option<SessionRecord>, PortError> {
        Ok(self.store.find(&id.to_string(), 1).await?.pop())
    }

    /// The folder that a person chose, else the session's own if it is here, else this one.
    pub(super) fn place(&self, own: Option<&str>) -> Place {
        let cwd = self.folder.to_owned();
        if self.moves {
            return Place { cwd, note: None };
        }
        let own_folder = own.map(Path::new).filter(|own| own.is_absolute()).and_then(|own| own.canonicalize().ok());
        if let Some(own) = own_folder.filter(|own| own.is_dir()) {
            let note = (own != cwd).then(|| ImportNote::OwnFolder { folder: own.display().to_string() });
            return Place { cwd: own, note };
        }
        let note = ImportNote::OtherFolder { own: own.map(str::to_owned), folder: cwd.display().to_string() };
        Place { cwd, note: Some(note) }
    }

    /// Takes in a session of another agent.
    pub(super) async fn foreign(
        &self,
        program: Program,
        mut foreign: Foreign,
        file: &str,
    ) -> Result<ImportedSession, PortError> {
        let known = session_id(program, &foreign);
        if self.find(known).await?.is_some_and(|record| record.events == 0) {
            // An import was cut short before its first event.
            self.store.remove(known).await?;
        }
        if let Some(record) = self.find(known).await?.filter(|_| !self.again) {
            return Ok(ImportedSession {
                session: record.id,
                program: program.into(),
                title: record.title,
                events: record.events,
                already: true,
                notes: Vec::new(),
            });
        }
        let session = if self.find(known).await?.is_some() { SessionId::new() } else { known };
        let place = self.place(foreign.cwd.as_deref());
        let cwd = place.cwd.display().to_string();
        let version = env!("CARGO_PKG_VERSION");
        let source = Source { from: program, file, cwd: &cwd, version, session, now: Timestamp::now() };
        let Log { title, title_by, mut events } = log(&mut foreign, &source);
        events.iter_mut().for_each(|event| redact(event, &self.redactor));
        let created_ms = events.first().map_or(0, |event| event.ts.as_millisecond());
        let record = self.record(session, &place.cwd, title, Some(title_by), created_ms);
        let (title, count) = (record.title.clone(), events.len() as u64);
        self.store.create(record).await?;
        // All of it in one piece: whoever is killed leaves all of it, or nothing.
        if let Err(error) = lease_and_append(self.store, events, Durability::Now).await {
            self.forget(session).await;
            return Err(error.into());
        }
        let skipped = Some(foreign.skipped.records()).filter(|records| !records.is_empty());
        let skipped = skipped.map(|records| ImportNote::Skipped { records });
        let notes = skipped.into_iter().chain(place.note).collect();
        Ok(ImportedSession { session, program: program.into(), title, events: count, already: false, notes })
    }

    /// A record of a session that comes in now. It was last used when its last event happened, not now: what a person
    /// goes on with, and what is old, is not changed by bringing it here.
    pub(super) fn record(
        &self,
        id: SessionId,
        cwd: &Path,
        title: String,
        title_by: Option<TitleSource>,
        created_ms: i64,
    ) -> SessionRecord {
        let title = self.redactor.redact(&title, neco_safety::secrets::Scope::Said).into_owned();
        SessionRecord {
            folder: neco_session::folder::identity(cwd),
            title_by: title_by.filter(|_| !title.is_empty()),
            title,
            ..SessionRecord::new(id, cwd.display().to_string(), created_ms)
        }
    }

    pub(super) async fn append(&self, lease: &Lease, events: Vec<Event>) -> Result<(), PortError> {
        Ok(self.store.append(lease, events, Durability::Soon).await?)
    }

    /// Takes back what was begun.
    pub(super) async fn forget(&self, session: SessionId) {
        if let Err(error) = self.store.remove(session).await {
            tracing::warn!(%error, "a session that was imported in part could not be removed");
        }
    }
}

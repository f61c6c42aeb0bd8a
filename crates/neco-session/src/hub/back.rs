//! Sessions that nobody has open: going back in them, forking, naming and removing them.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;
use neco_proto::event::TitleSource;
use neco_proto::{AgentId, EventBody, RewindPreview, Seq, SessionId};
use neco_safety::secrets::Scope;
use neco_store::{Prune, Pruned, SessionLock, SessionRecord, StoreError, StoreSizes};
use neco_workspace::checkpoint::Checkpoints;

use super::hub::Hub;
use crate::error::SessionError;
use crate::folder::identity;
use crate::journal::Journal;
use crate::rewind::{Course, Way, Went, go_back, preview, rewind_event, told};
use crate::title::{tidy, title_event};

impl Hub {
    /// What the log of a session says about going back.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn course(&self, session: SessionId) -> Result<Course, SessionError> {
        Ok(Course::read(self.setup.log.as_ref(), session).await?)
    }

    /// What a way back in a session would do.
    ///
    /// # Errors
    /// When the files can't be looked at.
    pub async fn preview(&self, record: &SessionRecord, way: &Way) -> Result<RewindPreview, SessionError> {
        Ok(preview(way, record.id, self.checkpoints(Path::new(&record.cwd)).await).await?)
    }

    /// Goes a way back that was found in the session's [`Course`].
    ///
    /// # Errors
    /// When the session is open elsewhere or has gone on since, or the files or the log can't be written.
    pub async fn go_back(&self, record: &SessionRecord, course: &Course, way: &Way) -> Result<Went, SessionError> {
        let _lock = SessionLock::acquire(&self.locks(), record.id)?;
        let standing = self.fold(record.id).await?.standing;
        if standing.last_seq != course.last_seq {
            return Err(SessionError::GoneOn(record.id));
        }
        let root = standing.root_agent.unwrap_or_else(AgentId::new);
        let went = go_back(way, record.id, self.checkpoints(Path::new(&record.cwd)).await).await?;
        let log = Arc::clone(&self.setup.log);
        let journal = Journal::new(record.id, log, standing, self.setup.workshop.redactor.clone());
        let undo = went.before.as_ref().map(|before| before.rev.clone());
        if let Some(before) = went.before.clone() {
            journal.emit(root, None, EventBody::Checkpoint(before)).await?;
        }
        journal.commit(root, None, EventBody::Rewind(rewind_event(way, undo))).await?;
        if let Some(told) = told(way) {
            journal.commit(root, None, EventBody::Message(told)).await?;
        }
        Ok(went)
    }

    /// Makes a session that begins with the events of another one up to `at` and then goes its own way.
    /// Nothing is copied.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn fork(
        &self,
        parent: &SessionRecord,
        at: Seq,
        title: Option<&str>,
    ) -> Result<SessionRecord, SessionError> {
        let now = Timestamp::now().as_millisecond();
        let named = title.map(|title| self.title_of(title));
        let record = SessionRecord {
            folder: parent.folder.clone().or_else(|| identity(Path::new(&parent.cwd))),
            title: named.clone().unwrap_or_else(|| parent.title.clone()),
            title_by: if named.is_some() { Some(TitleSource::Person) } else { parent.title_by },
            events: at,
            parent: Some((parent.id, at)),
            ..SessionRecord::new(SessionId::new(), parent.cwd.clone(), now)
        };
        self.setup.catalog.fork(record.clone(), parent.id, at).await?;
        Ok(record)
    }

    /// Gives a session a title that no model replaces.
    ///
    /// # Errors
    /// When it is open elsewhere, or the store fails.
    pub async fn rename(&self, record: &SessionRecord, title: &str) -> Result<String, SessionError> {
        let _lock = SessionLock::acquire(&self.locks(), record.id)?;
        let title = self.title_of(title);
        if title.is_empty() {
            return Err(SessionError::EmptyTitle);
        }
        let standing = self.fold(record.id).await?.standing;
        if let Some(root) = standing.root_agent {
            let log = Arc::clone(&self.setup.log);
            let journal = Journal::new(record.id, log, standing, self.setup.workshop.redactor.clone());
            journal.commit(root, None, title_event(&title, TitleSource::Person)).await?;
        }
        self.setup.catalog.set_title(record.id, &title, TitleSource::Person).await?;
        Ok(title)
    }

    /// Removes a session for good; what its forks have of it stays.
    ///
    /// # Errors
    /// When it is open elsewhere, or the store fails.
    pub async fn remove(&self, record: &SessionRecord) -> Result<(), SessionError> {
        let _lock = SessionLock::acquire(&self.locks(), record.id)?;
        self.setup.catalog.remove(record.id).await?;
        self.remove_outputs(std::slice::from_ref(record)).await;
        Ok(())
    }

    /// Removes old sessions, or says which ones would go. Those that are open stay.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn prune(&self, prune: Prune) -> Result<Pruned, SessionError> {
        let dry = Prune { dry_run: true, ..prune.clone() };
        let wanted = self.setup.catalog.prune(dry).await?.sessions;
        let is_open = |record: &&SessionRecord| {
            let tried = SessionLock::acquire(&self.locks(), record.id).map(drop);
            matches!(tried, Err(StoreError::InUse { .. }))
        };
        let mut spare = prune.spare.clone();
        spare.extend(wanted.iter().filter(is_open).map(|record| record.id));
        let dry_run = prune.dry_run;
        let pruned = self.setup.catalog.prune(Prune { spare, ..prune }).await?;
        if !dry_run {
            self.remove_outputs(&pruned.sessions).await;
        }
        Ok(pruned)
    }

    /// How much there is and how much room it takes.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn sizes(&self) -> Result<StoreSizes, SessionError> {
        Ok(self.setup.catalog.sizes().await?)
    }

    /// The states of the files of a workspace; `None` where none are kept. Opening them may take a moment,
    /// so it is done aside.
    pub async fn checkpoints(&self, cwd: &Path) -> Option<Arc<dyn Checkpoints>> {
        let (open, cwd) = (Arc::clone(&self.setup.workshop.checkpoints), cwd.to_owned());
        tokio::task::spawn_blocking(move || open(&cwd)).await.ok().flatten()
    }

    fn title_of(&self, title: &str) -> String {
        tidy(&self.setup.workshop.redactor.redact(title, Scope::Said))
    }

    /// Big outputs that lie beside the store; those that a fork may name stay. What can't be removed is in
    /// nobody's way.
    async fn remove_outputs(&self, removed: &[SessionRecord]) {
        let all = self.setup.catalog.list(None, usize::MAX >> 1).await.unwrap_or_default();
        let named: HashSet<SessionId> = all.iter().filter_map(|other| other.parent).map(|(parent, _)| parent).collect();
        for record in removed.iter().filter(|record| !named.contains(&record.id)) {
            let folder = self.setup.data_dir.join("sessions").join(record.id.to_string());
            if let Err(error) = tokio::fs::remove_dir_all(&folder).await
                && error.kind() != std::io::ErrorKind::NotFound
            {
                tracing::warn!(%error, folder = %folder.display(), "outputs of a removed session are left");
            }
        }
    }
}

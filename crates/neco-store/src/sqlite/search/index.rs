//! The face of the search index.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use sqlx::sqlite::SqliteSynchronous;
use sqlx::{Connection, SqliteConnection};
use tokio::sync::{Mutex, MutexGuard};

use super::{catch_up, find};
use crate::error::StoreError;
use crate::search::terms::terms_of;
use crate::search::{SearchHit, SearchQuery};
use crate::sqlite::events::Unreadable;
use crate::sqlite::{failure, open, sizes};

/// Step `n` leads from version `n` to `n + 1`. A step that was released is never changed.
const STEPS: &[&str] = &[include_str!("migrations/0001_words.sql")];

pub(in crate::sqlite) struct SearchIndex {
    store: PathBuf,
    path: PathBuf,
    connection: Mutex<Option<SqliteConnection>>,
    is_closing: AtomicBool,
}

impl SearchIndex {
    /// The index beside the store at `store`, which is opened when it is first needed.
    pub(in crate::sqlite) fn beside(store: &Path) -> Self {
        let mut name = store.file_stem().map(OsString::from).unwrap_or_default();
        name.push("-search.db");
        let path = store.with_file_name(name);
        Self { store: store.to_owned(), path, connection: Mutex::default(), is_closing: AtomicBool::new(false) }
    }

    /// What `query` asks for, in an index that has everything the store has.
    pub(in crate::sqlite) async fn search(&self, query: &SearchQuery) -> Result<Vec<SearchHit>, StoreError> {
        let terms = terms_of(&query.words);
        if terms.is_empty() || query.limit == 0 {
            return Ok(Vec::new());
        }
        let mut slot = self.connection.lock().await;
        let mut is_second = false;
        loop {
            // Whoever stops waiting for it takes the connection along, with whatever it was in the middle of.
            let mut connection = self.take_opened(&mut slot).await?;
            let found = async {
                match catch_up::catch_up(&mut connection, || false).await {
                    // What is new can't be taken in; what is there can be found all the same.
                    Err(Unreadable::Sql(error)) if failure::is_full(&failure::plain(&error)) => {}
                    other => other?,
                }
                find::find(&mut connection, query, &terms).await
            };
            let found = found.await;
            *slot = Some(connection);
            match found {
                Ok(hits) => return Ok(hits),
                Err(error) if is_second => return Err(self.failed(&error)),
                Err(error) => self.drop_if_damaged(&mut slot, error).await?,
            }
            is_second = true;
        }
    }

    /// Takes in what is new in the store, until it is told to close.
    pub(in crate::sqlite) async fn catch_up(&self) -> Result<(), StoreError> {
        let mut slot = self.connection.lock().await;
        let mut connection = self.take_opened(&mut slot).await?;
        let done = catch_up::catch_up(&mut connection, || self.is_closing.load(Ordering::Relaxed)).await;
        *slot = Some(connection);
        match done {
            Ok(()) => Ok(()),
            Err(error) => self.drop_if_damaged(&mut slot, error).await,
        }
    }

    /// Whoever takes in what is new stops at the next opportunity.
    pub(in crate::sqlite) fn begin_closing(&self) {
        self.is_closing.store(true, Ordering::Relaxed);
    }

    /// Closes the file, if it is open.
    pub(in crate::sqlite) async fn close(&self) {
        self.begin_closing();
        if let Some(connection) = self.connection.lock().await.take()
            && let Err(error) = connection.close().await
        {
            tracing::warn!(%error, "the search index did not close cleanly; it is made again where it is damaged");
        }
        self.is_closing.store(false, Ordering::Relaxed);
    }

    /// Takes out what is no longer in the store, for good. Without an index there is nothing to do.
    pub(in crate::sqlite) async fn forget_removed(&self) -> Result<(), StoreError> {
        let mut slot = self.connection.lock().await;
        if !self.path.exists() {
            return Ok(());
        }
        let mut connection = self.take_opened(&mut slot).await?;
        let done = catch_up::forget_removed(&mut connection).await;
        *slot = Some(connection);
        done.map_err(|error| self.failed(&Unreadable::Sql(error)))
    }

    /// Removes the index; the next search makes it again.
    pub(in crate::sqlite) async fn remove(&self) {
        if let Some(connection) = self.connection.lock().await.take() {
            let _ = connection.close().await;
        }
        self.remove_files().await;
    }

    /// How many bytes it takes.
    pub(in crate::sqlite) fn bytes(&self) -> u64 {
        sizes::bytes_of(&self.path)
    }

    async fn take_opened(
        &self,
        slot: &mut MutexGuard<'_, Option<SqliteConnection>>,
    ) -> Result<SqliteConnection, StoreError> {
        if let Some(connection) = slot.take() {
            return Ok(connection);
        }
        match self.open_file().await {
            Err(StoreError::Damaged { reason, .. }) => {
                tracing::warn!(%reason, "the search index is made anew");
                self.remove_files().await;
                self.open_file().await
            }
            other => other,
        }
    }

    async fn open_file(&self) -> Result<SqliteConnection, StoreError> {
        // What is lost with a loss of power is read from the log again.
        let mut connection = open::open_with(&self.path, SqliteSynchronous::Normal, STEPS).await?;
        let attached =
            sql!(query.execute(&mut connection), "ATTACH DATABASE ? AS store", (self.store.display().to_string()));
        attached.map_err(|error| failure::reading(&self.store, &error))?;
        Ok(connection)
    }

    /// After a failure: lets go of an index that is damaged, so that it is made anew. Other failures are
    /// the caller's.
    async fn drop_if_damaged(
        &self,
        slot: &mut MutexGuard<'_, Option<SqliteConnection>>,
        error: Unreadable,
    ) -> Result<(), StoreError> {
        if let Some(connection) = slot.take() {
            let _ = connection.close().await;
        }
        // It may be the store that is damaged; then the second attempt says so.
        match &error {
            Unreadable::Sql(sql) if failure::is_damage(sql) => {
                tracing::warn!(error = %sql, "the search index is made anew");
                self.remove_files().await;
                Ok(())
            }
            Unreadable::Sql(_) | Unreadable::Event(_) | Unreadable::Missing(_) | Unreadable::Broken(_) => {
                Err(self.failed(&error))
            }
        }
    }

    async fn remove_files(&self) {
        let files = sizes::files_of(&self.path);
        let removed = tokio::task::spawn_blocking(move || {
            for file in files {
                match std::fs::remove_file(&file) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => {
                        tracing::warn!(path = %file.display(), %error, "can't be removed");
                    }
                    Ok(()) | Err(_) => {}
                }
            }
        });
        let _ = removed.await;
    }

    fn failed(&self, error: &Unreadable) -> StoreError {
        match error {
            Unreadable::Sql(error) if failure::is_damage(error) => failure::reading(&self.store, error),
            Unreadable::Sql(error) => failure::reading(&self.path, error),
            Unreadable::Event(reason) => StoreError::Read(failure::with_path(&self.store, reason)),
            Unreadable::Missing(seq) => failure::missing(&self.store, *seq),
            Unreadable::Broken(reason) => failure::broken(&self.store, reason),
        }
    }
}

//! Finding sessions: by id, by folder, also when the folder was moved.

use std::path::{Path, PathBuf};

use neco_store::{SearchHit, SearchQuery, SessionRecord};

use super::hub::{Hub, usable_folder};
use crate::error::SessionError;
use crate::folder::identity;

/// Sessions of a moved folder that are looked at.
const MOVED: usize = 1000;

/// A session that was found, and where it goes on.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The session, with the folder that it goes on in.
    pub record: SessionRecord,
    /// Where its folder was, when it is elsewhere now.
    pub moved_from: Option<String>,
}

impl Found {
    fn here(record: SessionRecord) -> Self {
        Self { record, moved_from: None }
    }

    fn moved(record: SessionRecord, cwd: &Path) -> Self {
        let moved_from = Some(record.cwd.clone());
        let record = SessionRecord { cwd: cwd.display().to_string(), folder: identity(cwd), ..record };
        Self { record, moved_from }
    }
}

impl Hub {
    /// The one session whose id begins with `prefix`.
    ///
    /// # Errors
    /// When there is none or several.
    pub async fn find(&self, prefix: &str) -> Result<SessionRecord, SessionError> {
        // Nothing is the beginning of every id, and nobody means that.
        let nothing = prefix.chars().all(|char| char == '-' || char.is_whitespace());
        let mut found = if nothing { Vec::new() } else { self.setup.catalog.find(prefix, 5).await? };
        match found.len() {
            0 => Err(SessionError::NotFound(prefix.to_owned())),
            1 => Ok(found.remove(0)),
            _ => Err(SessionError::Ambiguous {
                prefix: prefix.to_owned(),
                matches: found.iter().map(|record| record.id.to_string()).collect(),
            }),
        }
    }

    /// The session last used in `cwd`, or in the same folder when it lay elsewhere.
    ///
    /// # Errors
    /// When there is none.
    pub async fn latest(&self, cwd: &Path) -> Result<Found, SessionError> {
        let cwd = usable_folder(cwd)?;
        let mut here = self.setup.catalog.list(Some(&cwd.display().to_string()), 1).await?;
        if !here.is_empty() {
            return Ok(Found::here(here.remove(0)));
        }
        match self.moved_to(&cwd).await?.into_iter().next() {
            Some(record) => Ok(Found::moved(record, &cwd)),
            None => Err(SessionError::NoneHere(cwd.display().to_string())),
        }
    }

    /// Where a session goes on. When its folder is gone, that is `here` if this is the same folder, or if
    /// a person `chose` it.
    ///
    /// # Errors
    /// When its folder is gone and nothing takes its place.
    pub fn place_of(&self, record: SessionRecord, here: &Path, chose: bool) -> Result<Found, SessionError> {
        if usable_folder(Path::new(&record.cwd)).is_ok() {
            return Ok(Found::here(record));
        }
        let here = usable_folder(here)?;
        let same = record.folder.is_some() && record.folder == identity(&here);
        if same || chose {
            return Ok(Found::moved(record, &here));
        }
        Err(SessionError::FolderGone { id: record.id, path: record.cwd })
    }

    /// Keeps where a session works now.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn settle(&self, found: Found) -> Result<SessionRecord, SessionError> {
        let Found { record, moved_from } = found;
        if moved_from.is_some() {
            self.setup.catalog.set_folder(record.id, &record.cwd, record.folder.as_deref()).await?;
        }
        Ok(record)
    }

    /// Sessions by last use, newest first; of one folder those of the time when it lay elsewhere too.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn list(&self, cwd: Option<&Path>, limit: usize) -> Result<Vec<SessionRecord>, SessionError> {
        let Some(cwd) = cwd.map(usable_folder).transpose()? else {
            return Ok(self.setup.catalog.list(None, limit).await?);
        };
        let mut found = self.setup.catalog.list(Some(&cwd.display().to_string()), limit).await?;
        found.extend(self.moved_to(&cwd).await?);
        found.sort_by_key(|record| std::cmp::Reverse(record.updated_ms));
        found.truncate(limit);
        Ok(found)
    }

    /// What was said where, in all sessions.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn search(&self, query: SearchQuery) -> Result<Vec<SearchHit>, SessionError> {
        Ok(self.setup.catalog.search(query).await?)
    }

    /// The sessions of the folder at `cwd` from when it lay elsewhere.
    async fn moved_to(&self, cwd: &Path) -> Result<Vec<SessionRecord>, SessionError> {
        let Some(folder) = identity(cwd) else { return Ok(Vec::new()) };
        let found = self.setup.catalog.of_folder(&folder, MOVED).await?;
        let gone = |record: &SessionRecord| {
            let path = PathBuf::from(&record.cwd);
            path != cwd && identity(&path).as_ref() != Some(&folder)
        };
        Ok(found.into_iter().filter(gone).collect())
    }
}

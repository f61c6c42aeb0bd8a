//! How much a store holds, and what may go.

use std::collections::HashMap;

use neco_proto::SessionId;

use crate::catalog::SessionRecord;
use crate::error::StoreError;

/// How much a store holds and how much room it takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StoreSizes {
    /// Sessions that can be opened.
    pub sessions: u64,
    /// How many of them are forks.
    pub forks: u64,
    /// Sessions that were removed and are kept in part, for their forks.
    pub kept_for_forks: u64,
    /// Events, each counted once however many forks have it.
    pub events: u64,
    /// Big texts and pictures that are kept apart, each once.
    pub blobs: u64,
    /// How many bytes those would be if each was written once as it is.
    pub blob_bytes: u64,
    /// How many bytes they take.
    pub blob_stored_bytes: u64,
    /// The bytes of all files of the store, but for the search index; 0 where there are none.
    pub file_bytes: u64,
    /// The bytes of the search index, which can be made again at any time.
    pub search_bytes: u64,
    /// The bytes that are kept for the day when the disk is full.
    pub reserve_bytes: u64,
    /// How many of the bytes of the files are free for what comes next.
    pub free_bytes: u64,
}

/// Which sessions may go. A session goes when everything that is set here lets it go; with nothing set
/// none does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prune {
    /// Only those last used before this time, in milliseconds since 1970.
    pub unused_since_ms: Option<i64>,
    /// The newest so many of each folder stay, whatever their age.
    pub keep_newest: Option<usize>,
    /// Only those of this folder.
    pub cwd: Option<String>,
    /// These stay in any case, such as those that are open.
    pub spare: Vec<SessionId>,
    /// No others than these, such as those that a person agreed to.
    pub only: Option<Vec<SessionId>>,
    /// Only says what would go.
    pub dry_run: bool,
}

/// What went, or would go.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pruned {
    /// The sessions, the one that was used last first.
    pub sessions: Vec<SessionRecord>,
    /// How many bytes the files are smaller; 0 when nothing was removed.
    pub freed_bytes: u64,
    /// Why it ended before all had gone that should.
    pub stopped_by: Option<StoreError>,
}

impl Prune {
    /// Those of `records`, which are sorted by last use, newest first, that may go.
    pub fn choose(&self, records: Vec<SessionRecord>) -> Vec<SessionRecord> {
        if self.unused_since_ms.is_none() && self.keep_newest.is_none() {
            return Vec::new();
        }
        let mut newer: HashMap<String, usize> = HashMap::new();
        let here = records.into_iter().filter(|record| self.cwd.as_ref().is_none_or(|cwd| record.cwd == *cwd));
        let rest = here.filter(|record| {
            let newer = newer.entry(record.cwd.clone()).or_default();
            *newer += 1;
            *newer > self.keep_newest.unwrap_or(0)
        });
        rest.filter(|record| self.unused_since_ms.is_none_or(|since| record.updated_ms < since))
            .filter(|record| !self.spare.contains(&record.id))
            .filter(|record| self.only.as_ref().is_none_or(|only| only.contains(&record.id)))
            .collect()
    }
}

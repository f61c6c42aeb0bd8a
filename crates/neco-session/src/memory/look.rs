//! Looking: what there is, what fits a question, what one entry says.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use neco_proto::event::{MemoryNote, MemoryScope};
use neco_store::recall::Record;

use super::entry::{Category, Entry, PERSON};
use super::folder::{Folder, stem_of};
use super::memory::{Memory, MemoryError, blocking};
use super::rank;
use super::scan::{read_entry, scan};

/// How much an id must look like another to be meant.
const ALIKE: f64 = 0.75;

/// How often the index is brought up to date when it breaks meanwhile.
const ATTEMPTS: usize = 3;

/// An entry that is seen from where the work is, without its content.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// What it is called by; no other entry that is seen has it.
    pub id: String,
    /// What it is about.
    pub title: String,
    /// The same in a sentence or two.
    pub summary: String,
    /// Its kind.
    pub category: Category,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// Who wrote it.
    pub source: String,
    /// Where it lies.
    pub folder: Folder,
    /// Its file there.
    pub file: String,
    /// The folder that it is about, for one of the person's own; empty for none.
    pub reach: String,
    /// When it was made, in milliseconds since 1970.
    pub created_ms: i64,
    /// When it was last of use, in milliseconds since 1970; 0 for never.
    pub last_ms: i64,
    /// How often it was.
    pub uses: i64,
    /// What is wrong with its file, line by line.
    pub troubles: Vec<String>,
    /// Whether it says anything: a file that can't be read does not.
    pub readable: bool,
    /// The id that its file says, which others may have too.
    own_id: String,
}

impl Found {
    /// Its file.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.folder.path().join(&self.file)
    }

    /// How far it reaches.
    #[must_use]
    pub fn scope(&self) -> MemoryScope {
        self.folder.scope
    }

    /// Whether these are the person's own words rather than an earlier session's or a repository's.
    pub fn is_the_persons(&self) -> bool {
        self.scope() == MemoryScope::Global && self.source == PERSON
    }

    /// What can be compared with other entries: all but the content.
    pub(super) fn entry(&self) -> Entry {
        Entry {
            id: self.own_id.clone(),
            title: self.title.clone(),
            summary: self.summary.clone(),
            category: self.category.clone(),
            tags: self.tags.clone(),
            source: self.source.clone(),
            created_ms: self.created_ms,
            reach: self.reach.clone(),
            others: Vec::new(),
            content: String::new(),
        }
    }

    /// It in short, for an event.
    #[must_use]
    pub fn note(&self) -> MemoryNote {
        MemoryNote {
            id: self.id.clone(),
            title: self.title.clone(),
            scope: self.scope(),
            path: self.path().display().to_string(),
        }
    }
}

impl Memory {
    /// Every entry that is seen from here. The index is brought up to date first; where there are no
    /// entries at all it is not even opened.
    pub async fn look(&self) -> Result<Vec<Found>, MemoryError> {
        let folders = self.folders();
        if !has_entries(&folders).await {
            return Ok(Vec::new());
        }
        let places: Vec<String> = folders.iter().map(|folder| folder.path().display().to_string()).collect();
        let mut records = Vec::new();
        for _ in 0..ATTEMPTS {
            let opened = self.index.times_opened().max(1);
            for folder in &folders {
                self.bring_up_to_date(folder).await?;
            }
            records = self.index.entries(&places).await?;
            // An index that was made anew meanwhile has not seen all folders.
            if self.index.times_opened() <= opened {
                break;
            }
        }
        Ok(self.seen(&folders, &places, records))
    }

    /// What fits a question, the best first.
    pub async fn search(&self, question: &str, limit: usize) -> Result<Vec<Found>, MemoryError> {
        let entries = self.look().await?;
        if entries.is_empty() {
            return Ok(entries);
        }
        let scores = self.scores(question).await?;
        let now = self.now_ms();
        let fits = |found: Found| {
            let text = *scores.get(&key(&found))?;
            let worth = rank::worth_found(&found, text, now);
            Some((found, worth))
        };
        let mut hits: Vec<_> = entries.into_iter().filter_map(fits).collect();
        rank::sort(&mut hits);
        Ok(hits.into_iter().take(limit).map(|(found, _)| found).collect())
    }

    /// Every entry that says something, the ones that matter most for a request first.
    pub async fn ranked(&self, request: &str) -> Result<Vec<Found>, MemoryError> {
        let entries = self.look().await?;
        if entries.is_empty() {
            return Ok(entries);
        }
        let scores = self.scores(request).await?;
        let now = self.now_ms();
        let weighed = |found: Found| {
            let worth = rank::worth(&found, scores.get(&key(&found)).copied().unwrap_or(0.0), now);
            (found, worth)
        };
        let mut ranked: Vec<_> = entries.into_iter().filter(|found| found.readable).map(weighed).collect();
        rank::sort(&mut ranked);
        Ok(ranked.into_iter().map(|(found, _)| found).collect())
    }

    /// One entry, by its id or the name of its file.
    ///
    /// # Errors
    /// [`MemoryError::Unknown`] with ids that look like it.
    pub async fn find(&self, id: &str) -> Result<Found, MemoryError> {
        self.find_each(&[id]).await?.remove(0)
    }

    /// Several entries, each by its id, the beginning of it that no other has, or the name of its file; for one that
    /// is not there [`MemoryError::Unknown`] with ids that look like it.
    pub async fn find_each(&self, ids: &[&str]) -> Result<Vec<Result<Found, MemoryError>>, MemoryError> {
        let entries = self.look().await?;
        Ok(ids.iter().map(|id| find_in(&entries, id)).collect())
    }

    /// All that an entry says, as its file has it now.
    pub async fn read(&self, found: &Found) -> Result<Entry, MemoryError> {
        let (folder, file, created) = (found.folder.clone(), found.file.clone(), found.created_ms);
        blocking(move || {
            let (entry, _) = read_entry(&folder, &file, created)
                .map_err(|error| MemoryError::File(format!("{}: {error}", folder.path().join(&file).display())))?;
            Ok(entry)
        })
        .await
    }

    /// Counts that an entry was of use. What fails is only logged: it ranks and no more.
    pub async fn count_use(&self, found: &Found) {
        let place = found.folder.path().display().to_string();
        if let Err(error) = self.index.count_use(&place, &found.own_id, self.now_ms()).await {
            tracing::warn!(%error, "the use of an entry is not counted");
        }
    }

    async fn bring_up_to_date(&self, folder: &Folder) -> Result<(), MemoryError> {
        let place = folder.path().display().to_string();
        let known = self.index.files(&place).await?;
        let (looked_at, now_ns, telling) = (folder.clone(), self.now_ns(), self.telling.clone());
        let changes = blocking(move || Ok(scan(&looked_at, known, now_ns, &telling))).await?;
        Ok(self.index.apply(&place, &changes.changed, &changes.gone).await?)
    }

    /// How well entries fit, by folder and file; 1 for the best.
    async fn scores(&self, question: &str) -> Result<HashMap<(String, String), f64>, MemoryError> {
        let places: Vec<String> = self.folders().iter().map(|folder| folder.path().display().to_string()).collect();
        let scores = self.index.scores(&places, question).await?;
        let best = scores.iter().map(|(_, score)| *score).fold(f64::MIN_POSITIVE, f64::max);
        Ok(scores.into_iter().map(|(key, score)| (key, (score / best).clamp(0.0, 1.0))).collect())
    }

    fn seen(&self, folders: &[Folder], places: &[String], records: Vec<Record>) -> Vec<Found> {
        let mut taken = HashSet::new();
        let concerns = |record: &Record| record.reach.is_empty() || self.cwd.starts_with(Path::new(&record.reach));
        let mut entries = Vec::new();
        let mut records: Vec<Record> = records.into_iter().filter(concerns).collect();
        // A copy of an entry does not take its id away: the file that is named by it keeps it.
        let order = |record: &Record| places.iter().position(|place| *place == record.folder);
        records.sort_by_key(|record| (order(record), stem_of(&record.file) != record.id));
        for record in records {
            let at = places.iter().position(|place| *place == record.folder);
            let Some(folder) = at.and_then(|at| folders.get(at)) else { continue };
            entries.push(found_of(record, folder, &mut taken));
        }
        entries
    }
}

fn key(found: &Found) -> (String, String) {
    (found.folder.path().display().to_string(), found.file.clone())
}

/// Whether any folder has a file at all: costs a few looks, and spares the index in most places.
async fn has_entries(folders: &[Folder]) -> bool {
    let folders = folders.to_vec();
    let look = move || folders.iter().any(|folder| folder.list().is_ok_and(|files| !files.is_empty()));
    tokio::task::spawn_blocking(look).await.unwrap_or(false)
}

/// An id that is taken gives way to the name of the file, and that to a number after it.
fn free_id(record: &Record, taken: &HashSet<String>) -> String {
    let stem = stem_of(&record.file);
    let numbered = (2..).map(|number: u32| format!("{stem}-{number}"));
    let candidates = [record.id.clone(), stem.to_owned()].into_iter().chain(numbered);
    candidates.into_iter().find(|id| !taken.contains(id)).unwrap_or_default()
}

fn found_of(record: Record, folder: &Folder, taken: &mut HashSet<String>) -> Found {
    let id = free_id(&record, taken);
    taken.insert(id.clone());
    let mut troubles: Vec<String> = record.trouble.lines().map(str::to_owned).collect();
    if id != record.id {
        troubles
            .push(format!("{}: another entry has the id {:?} too; this one is {id:?} here", record.file, record.id));
    }
    let readable = !record.category.is_empty();
    Found {
        id,
        own_id: record.id,
        category: Category::of(&record.category, &record.topic).unwrap_or_else(|| Category::usual(folder.scope)),
        title: if readable { record.title } else { stem_of(&record.file).to_owned() },
        summary: record.summary,
        tags: record.tags,
        source: record.source,
        folder: folder.clone(),
        file: record.file,
        reach: record.reach,
        created_ms: record.created_ms,
        last_ms: record.last_ms,
        uses: record.uses,
        troubles,
        readable,
    }
}

fn find_in(entries: &[Found], id: &str) -> Result<Found, MemoryError> {
    let wanted = id.trim().trim_matches(['[', ']']);
    let named = entries.iter().find(|found| found.id == wanted);
    let named = named.or_else(|| entries.iter().find(|found| stem_of(&found.file) == stem_of(wanted)));
    let begins = || {
        let mut begins = entries.iter().filter(|found| !wanted.is_empty() && found.id.starts_with(wanted));
        begins.next().filter(|_| begins.next().is_none())
    };
    let unknown = || MemoryError::Unknown { id: wanted.to_owned(), near: near_ids(wanted, entries) };
    named.or_else(begins).cloned().ok_or_else(unknown)
}

fn near_ids(wanted: &str, entries: &[Found]) -> Vec<String> {
    let begins = |id: &str| if id.starts_with(wanted) && !wanted.is_empty() { 1.0 } else { 0.0 };
    let mut near: Vec<(f64, &str)> = entries
        .iter()
        .map(|found| (strsim::jaro_winkler(wanted, &found.id).max(begins(&found.id)), found.id.as_str()))
        .filter(|(alike, _)| *alike >= ALIKE)
        .collect();
    near.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(other.1)));
    near.into_iter().take(3).map(|(_, id)| id.to_owned()).collect()
}

//! The memory as work in one folder sees it: what there is, what fits a question, what one entry says.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use neco_safety::policy::Telling;
use neco_safety::secrets::{Redactor, Scope};
use neco_safety::{Policy, invisible};
use neco_store::MemoryIndex;
use neco_store::recall::{IndexError, Record};

use super::entry::{Category, Entry};
use super::folder::{Folder, stem_of};
use super::found::Found;
use super::guessed::without_guessed;
use super::scan::{read_entry, scan};

/// The file of the index in the data folder.
const INDEX_FILE: &str = "memory.db";

/// How much an id must look like another to be meant.
const ALIKE: f64 = 0.75;

/// How often the index is brought up to date when it breaks meanwhile.
const ATTEMPTS: usize = 3;

/// The present time.
pub type Now = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// What a memory is made of.
pub struct MemorySetup {
    /// The folder of everything that is kept.
    pub data_dir: PathBuf,
    /// The folder that is worked in, resolved.
    pub cwd: PathBuf,
    /// Takes secrets out of what is kept.
    pub redactor: Redactor,
    /// The clock.
    pub now: Now,
    /// Judges which entries of folders may be told.
    pub telling: Telling,
}

impl MemorySetup {
    /// A memory with the clock of this machine.
    pub fn new(data_dir: &Path, cwd: &Path, redactor: Redactor) -> Self {
        Self {
            data_dir: data_dir.to_owned(),
            cwd: cwd.to_owned(),
            redactor,
            now: Arc::new(Timestamp::now),
            telling: Policy::default().telling(),
        }
    }
}

/// The memory as work in one folder sees it: the person's own entries, and those of the folder and of
/// the folders above it. Making one costs nothing; the index is opened when it is first needed.
pub struct Memory {
    pub(super) data_dir: PathBuf,
    pub(super) cwd: PathBuf,
    pub(super) redactor: Redactor,
    telling: Telling,
    index: MemoryIndex,
    now: Now,
}

/// Why the memory did not do what it was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the message says what each field is")]
pub enum MemoryError {
    /// There is no such entry.
    #[error("there is no entry {id:?}{}", near_words(.near))]
    Unknown { id: String, near: Vec<String> },
    /// What is to be kept says nothing, or too much.
    #[error("{0}")]
    Refused(String),
    /// A file can't be read or written.
    #[error("{0}")]
    File(String),
    /// The index failed.
    #[error(transparent)]
    Index(#[from] IndexError),
}

fn near_words(near: &[String]) -> String {
    if near.is_empty() { String::new() } else { format!("; did you mean {}?", near.join(" or ")) }
}

impl Memory {
    /// A memory.
    pub fn new(setup: MemorySetup) -> Self {
        Self {
            index: MemoryIndex::new(setup.data_dir.join(INDEX_FILE)),
            data_dir: setup.data_dir,
            cwd: setup.cwd,
            redactor: setup.redactor,
            telling: setup.telling,
            now: setup.now,
        }
    }

    /// The folder that is worked in.
    pub fn cwd(&self) -> &Path {
        &self.cwd
    }

    /// The person's own entries.
    pub fn global_folder(&self) -> Folder {
        Folder::global(&self.data_dir)
    }

    /// The entries of the folder that is worked in.
    pub fn own_folder(&self) -> Folder {
        Folder::of_directory(&self.cwd)
    }

    /// Every folder whose entries are seen: the person's own first, then the one that is worked in
    /// and those above it. A git repository is not left; outside of one only the folder itself
    /// counts, as the folders above it may be anybody's.
    pub fn folders(&self) -> Vec<Folder> {
        let global = self.global_folder();
        let root = self.cwd.ancestors().position(|folder| folder.join(".git").exists());
        let near = self.cwd.ancestors().take(root.map_or(1, |root| root + 1)).map(Folder::of_directory);
        // With a data folder that is called `.neco` both are the same.
        let near: Vec<Folder> = near.filter(|folder| folder.path() != global.path()).collect();
        std::iter::once(global).chain(near).collect()
    }

    /// Closes the index, if it is open.
    pub async fn close(&self) {
        self.index.close().await;
    }

    /// A text of the memory as it may leave it: people write files by hand, and not everything in them is
    /// for a model.
    pub(super) fn without_secrets(&self, text: &str) -> String {
        let seen = invisible::seen(text);
        without_guessed(&self.redactor.redact(&seen.text, Scope::Outside))
    }

    /// Milliseconds since 1970.
    pub(super) fn now_ms(&self) -> i64 {
        (self.now)().as_millisecond()
    }

    /// Nanoseconds since 1970.
    fn now_ns(&self) -> i64 {
        i64::try_from((self.now)().as_nanosecond()).unwrap_or(i64::MAX)
    }

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
            let worth = worth_found(&found, text, now);
            Some((found, worth))
        };
        let mut hits: Vec<_> = entries.into_iter().filter_map(fits).collect();
        sort(&mut hits);
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
            let worth = worth(&found, scores.get(&key(&found)).copied().unwrap_or(0.0), now);
            (found, worth)
        };
        let mut ranked: Vec<_> = entries.into_iter().filter(|found| found.readable).map(weighed).collect();
        sort(&mut ranked);
        Ok(ranked.into_iter().map(|(found, _)| found).collect())
    }

    /// One entry, by its id or the name of its file.
    /// Fails with [`MemoryError::Unknown`] with ids that look like it.
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
        if let Err(error) = self.index.count_use(&place, &found.entry.id, self.now_ms()).await {
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
    let entry = Entry {
        id: record.id,
        category: Category::of(&record.category, &record.topic).unwrap_or_else(|| Category::usual(folder.scope)),
        title: if readable { record.title } else { stem_of(&record.file).to_owned() },
        summary: record.summary,
        tags: record.tags,
        source: record.source,
        created_ms: record.created_ms,
        reach: record.reach,
        others: Vec::new(),
        content: String::new(),
    };
    let (folder, file, last_ms, uses) = (folder.clone(), record.file, record.last_ms, record.uses);
    Found { id, entry, folder, file, last_ms, uses, troubles, readable }
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

/// Does something with files away from the async runtime.
pub(super) async fn blocking<T: Send + 'static>(
    act: impl FnOnce() -> Result<T, MemoryError> + Send + 'static,
) -> Result<T, MemoryError> {
    tokio::task::spawn_blocking(act).await.map_err(|error| MemoryError::File(error.to_string()))?
}

/// After so many milliseconds without use half of the freshness is gone.
const HALF_LIFE_MS: f64 = 30.0 * 24.0 * 3600.0 * 1000.0;

/// What is left of an entry that is very old.
const OLD: f64 = 0.5;

/// How much more the best fit counts than an entry that is shown whatever is asked.
const TEXT: f64 = 2.0;

/// What an entry is worth that fits nothing of what is asked: preferences and facts about the folder
/// hold for every request, solutions only for theirs.
fn worth_unasked(category: &Category) -> f64 {
    match category {
        Category::Preference => 1.0,
        Category::Directory => 0.8,
        Category::Strategy => 0.3,
        Category::ExploreResult => 0.2,
        Category::Solution { .. } => 0.15,
    }
}

/// What an entry is worth for a request that it fits by `text`, 1 for the best of all and 0 for not at all.
pub fn worth(found: &Found, text: f64, now_ms: i64) -> f64 {
    (worth_unasked(&found.category) + TEXT * text) * recency(found, now_ms) * usefulness(found.uses)
}

/// The same for a search, where only what fits counts.
pub fn worth_found(found: &Found, text: f64, now_ms: i64) -> f64 {
    text * recency(found, now_ms) * usefulness(found.uses)
}

/// The best first; what is worth the same stays in the order of time, then of folders and files.
pub fn sort(entries: &mut [(Found, f64)]) {
    entries.sort_by(|(one, worth), (other, others)| {
        others.total_cmp(worth).then(other.created_ms.cmp(&one.created_ms)).then(one.id.cmp(&other.id))
    });
}

fn recency(found: &Found, now_ms: i64) -> f64 {
    let last = found.created_ms.max(found.last_ms);
    let age = now_ms.saturating_sub(last).max(0) as f64;
    OLD + (1.0 - OLD) * (-age / HALF_LIFE_MS).exp2()
}

fn usefulness(uses: i64) -> f64 {
    (1.0 + (uses.max(0) as f64).ln_1p() / 4.0).min(2.0)
}

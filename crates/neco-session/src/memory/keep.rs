//! Keeping: a new entry, or a near one brought up to date; and forgetting.

use std::collections::HashSet;
use std::sync::Arc;

use neco_proto::app::memory::{Kept, MemoryReach, Resembled};
use neco_proto::event::{MemoryAction, MemoryNote, MemoryScope};
use neco_safety::path::Stamp;
use neco_safety::secrets::Scope;

use super::entry::{Category, Entry, LONGEST_SUMMARY, LONGEST_TITLE, PERSON, is_made_of, one_line};
use super::folder::{Folder, FolderError, Lock, MOST_BYTES, file_of, stem_of};
use super::found::Found;
use super::frontmatter::{self, Around};
use super::guessed::without_guessed;
use super::memory::{Memory, MemoryError, blocking};
use super::near::{LONGEST_CONTENT, Nearness, merged, nearness};

/// How often a name is looked for that no file has.
const ATTEMPTS: usize = 5;

/// Entries that are looked at again before one of them is brought up to date.
const MOST_NEAR: usize = 3;

/// Where a kind of entry is kept when nobody says: what holds for the person everywhere, what is
/// about the folder in it, and what was learnt on the way where it needs nobody's consent.
pub(super) fn usual_reach(category: &Category) -> MemoryReach {
    match category {
        Category::Preference | Category::Strategy => MemoryReach::Global,
        Category::Directory => MemoryReach::Directory,
        Category::ExploreResult | Category::Solution { .. } => MemoryReach::Private,
    }
}

/// Something to be kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewEntry {
    /// What it is about.
    pub title: String,
    /// The same in a sentence or two; the beginning of the content when empty.
    pub summary: String,
    /// All there is to know.
    pub content: String,
    /// Its kind.
    pub category: Category,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// Who says it.
    pub source: String,
    /// Where it is kept.
    pub keep: MemoryReach,
    /// The entry whose place it takes, instead of one that is near.
    pub replaces: Option<String>,
}

/// What became of something that was to be kept, for the person, with the command that takes it back.
pub fn kept_words(kept: &Kept) -> String {
    let MemoryNote { id, title, path, .. } = &kept.note;
    let (done, back) = match kept.action {
        Some(MemoryAction::Stored | MemoryAction::Recalled) => {
            ("Remembered", format!("; neco memory rm {id} deletes it"))
        }
        Some(MemoryAction::Updated) => ("Brought up to date", format!("; neco memory edit {id} changes it")),
        None => ("Known already", String::new()),
    };
    let redacted = if kept.redacted { "; what looked like a secret was left out" } else { "" };
    let beside = kept.resembles.as_ref().map(|other| {
        format!(
            "\n{} stays, with nearly the same words: {} (neco memory rm {} deletes it)",
            other.id, other.title, other.id
        )
    });
    format!("{done}: {title} ({path}){redacted}{back}{}", beside.unwrap_or_default())
}

/// A file as it is and as it would be.
#[derive(Clone, Debug)]
pub struct Draft {
    pub folder: Folder,
    /// Its name there.
    pub file: String,
    pub entry: Entry,
    /// Its text now; `None` for a new one.
    pub before: Option<String>,
    /// Its text then.
    pub after: String,
    /// Whether it takes the place of what a person wrote.
    pub replaces_a_persons: bool,
    /// Another entry that has nearly the same words and may say the opposite.
    pub resembles: Option<Resembled>,
    stamp: Option<Stamp>,
}

impl Memory {
    /// What keeping something would do, without doing it.
    /// Fails when it says nothing or too much, or an entry can't be read.
    pub async fn draft(self: &Arc<Self>, new: NewEntry) -> Result<Draft, MemoryError> {
        let (target, near) = (self.target(&new).await?, self.near(&new).await?);
        let memory = Arc::clone(self);
        blocking(move || memory.prepare(new, target.as_ref(), &near, 0).map(|(draft, _)| draft)).await
    }

    /// Keeps something: in an entry that says nearly the same if there is one, else in a new one.
    /// Fails as [`Memory::draft`], or when a file can't be written.
    pub async fn keep(self: &Arc<Self>, new: NewEntry) -> Result<Kept, MemoryError> {
        let (target, near) = (self.target(&new).await?, self.near(&new).await?);
        self.put(new, target, near).await
    }

    /// Keeps something as an entry of its own, however near another one is.
    /// Fails as [`Memory::keep`].
    pub async fn keep_apart(self: &Arc<Self>, new: NewEntry) -> Result<Kept, MemoryError> {
        self.put(new, None, Near::Nowhere).await
    }

    /// The entry that something would be by itself, without secrets.
    /// Fails when it says nothing or too much.
    pub fn entry(&self, new: NewEntry) -> Result<Entry, MemoryError> {
        self.entry_of(new, 0).map(|(entry, _)| entry)
    }

    async fn put(self: &Arc<Self>, new: NewEntry, target: Option<Found>, near: Near) -> Result<Kept, MemoryError> {
        let memory = Arc::clone(self);
        blocking(move || {
            let lock = memory.lock()?;
            let mut attempt = 0;
            loop {
                let (draft, redacted) = memory.prepare(new.clone(), target.as_ref(), &near, attempt)?;
                attempt += 1;
                match draft.write(&lock) {
                    // Somebody edits the file by hand, or took the name.
                    Err(FolderError::Changed(_)) if attempt < ATTEMPTS => {}
                    Err(error) => return Err(MemoryError::File(error.to_string())),
                    Ok(action) => {
                        return Ok(Kept { note: draft.note(), action, redacted, resembles: draft.resembles });
                    }
                }
            }
        })
        .await
    }

    /// Forgets an entry: its file is removed.
    pub async fn forget(self: &Arc<Self>, found: &Found) -> Result<(), MemoryError> {
        let (memory, folder, file) = (Arc::clone(self), found.folder.clone(), found.file.clone());
        blocking(move || {
            let lock = memory.lock()?;
            let failed = |error: FolderError| MemoryError::File(error.to_string());
            let metadata = folder.locate(&file).and_then(|located| Ok(located.metadata()?)).map_err(failed)?;
            let stamp = Stamp::of(&metadata);
            folder.remove(&file, &stamp, &lock).map_err(failed)
        })
        .await
    }

    fn lock(&self) -> Result<Lock, MemoryError> {
        Lock::take(&self.data_dir).map_err(|error| MemoryError::File(format!("the memory can't be locked: {error}")))
    }

    /// The entry that a new one is to take the place of.
    async fn target(&self, new: &NewEntry) -> Result<Option<Found>, MemoryError> {
        let Some(id) = &new.replaces else { return Ok(None) };
        let found = self.find(id).await?;
        if found.folder != self.global_folder() && found.folder != self.own_folder() {
            let words = format!("{} lies in a folder above the workspace, where nothing is written", found.id);
            return Err(MemoryError::Refused(words));
        }
        Ok(Some(found))
    }

    /// The entries that say nearly the same as far as the index knows.
    async fn near(&self, new: &NewEntry) -> Result<Near, MemoryError> {
        if new.replaces.is_some() {
            return Ok(Near::Nowhere);
        }
        let (entry, _) = self.entry_of(new.clone(), 0)?;
        let folder = self.folder_of(new.keep);
        let seen = match self.look().await {
            Ok(seen) => seen,
            Err(error) => {
                tracing::warn!(%error, "all entries are looked through for one that says the same");
                return Ok(Near::Anywhere);
            }
        };
        let of_folder: Vec<&Found> = seen.iter().filter(|found| found.folder == folder).collect();
        // Only what was looked at is known: what somebody keeps meanwhile may say the same.
        let known = of_folder.iter().map(|found| found.file.clone()).collect();
        let readable = of_folder.iter().filter(|found| found.readable);
        let mut near: Vec<(f64, String)> =
            readable.filter_map(|found| Some((score(nearness(&found.entry, &entry))?, found.file.clone()))).collect();
        near.sort_by(|(one, _), (other, _)| other.total_cmp(one));
        let files = near.into_iter().take(MOST_NEAR).map(|(_, file)| file).collect();
        Ok(Near::Among { files, known })
    }

    fn folder_of(&self, keep: MemoryReach) -> Folder {
        match keep {
            MemoryReach::Global | MemoryReach::Private => self.global_folder(),
            MemoryReach::Directory => self.own_folder(),
        }
    }

    fn prepare(
        &self,
        new: NewEntry,
        target: Option<&Found>,
        near: &Near,
        attempt: usize,
    ) -> Result<(Draft, bool), MemoryError> {
        let keep = new.keep;
        let (entry, redacted) = self.entry_of(new, attempt)?;
        let draft = match target {
            Some(found) => Draft::replacing(found.folder.clone(), &found.file, entry)?,
            None => Draft::near_or_new(self.folder_of(keep), entry, near)?,
        };
        Ok((draft, redacted))
    }

    /// The entry that something makes: cut to size, without secrets. Another attempt has another id, for
    /// a name that is taken.
    fn entry_of(&self, new: NewEntry, attempt: usize) -> Result<(Entry, bool), MemoryError> {
        let mut redacted = false;
        let mut clean = |text: &str| {
            let safe = without_guessed(&self.redactor.redact(text, Scope::Outside));
            redacted |= safe != text;
            safe
        };
        let content = clean(new.content.trim());
        if content.chars().count() > LONGEST_CONTENT {
            let words = format!("the content is longer than {LONGEST_CONTENT} characters; keep what matters");
            return Err(MemoryError::Refused(words));
        }
        let title = one_line(&clean(&new.title), LONGEST_TITLE);
        if title.is_empty() {
            let words = if content.is_empty() {
                "there is nothing to keep: the text is empty"
            } else {
                "an entry needs a title"
            };
            return Err(MemoryError::Refused(words.to_owned()));
        }
        let summary = one_line(&clean(&new.summary), LONGEST_SUMMARY);
        let summary = if summary.is_empty() { one_line(&content, LONGEST_SUMMARY) } else { summary };
        let tags = new.tags.iter().map(|tag| one_line(&clean(tag), LONGEST_TITLE)).filter(|tag| !tag.is_empty());
        let entry = Entry {
            id: Entry::new_id(&title, &format!("{}\n{summary}\n{content}\n{attempt}", new.source)),
            summary: if summary.is_empty() { title.clone() } else { summary },
            title,
            category: new.category,
            tags: tags.collect(),
            source: new.source,
            created_ms: self.now_ms(),
            reach: match new.keep {
                MemoryReach::Private => self.cwd.display().to_string(),
                MemoryReach::Global | MemoryReach::Directory => String::new(),
            },
            others: Vec::new(),
            content,
        };
        Ok((entry, redacted))
    }
}

impl Draft {
    /// Where the file is or will be.
    pub fn path(&self) -> std::path::PathBuf {
        self.folder.path().join(&self.file)
    }

    fn note(&self) -> MemoryNote {
        MemoryNote {
            id: self.entry.id.clone(),
            title: self.entry.title.clone(),
            scope: self.folder.scope,
            path: self.path().display().to_string(),
        }
    }

    fn new(folder: Folder, entry: Entry) -> Self {
        let after = frontmatter::write(&entry);
        Self {
            folder,
            file: file_of(&entry.id),
            entry,
            before: None,
            after,
            stamp: None,
            replaces_a_persons: false,
            resembles: None,
        }
    }

    fn changing(folder: Folder, seen: Seen, entry: Entry) -> Self {
        let after = if entry == seen.entry { seen.text.clone() } else { frontmatter::write(&entry) };
        let replaces_a_persons = seen.entry.source == PERSON;
        let (before, stamp) = (Some(seen.text), Some(seen.stamp));
        Self { folder, file: seen.file, entry, before, after, stamp, replaces_a_persons, resembles: None }
    }

    fn replacing(folder: Folder, file: &str, entry: Entry) -> Result<Self, MemoryError> {
        let seen = see(&folder, file).map_err(|error| MemoryError::File(error.to_string()))?;
        let old = seen.entry.clone();
        // An id speaks: one that was made of another title would say something else than its entry.
        let id = if old.title == entry.title || !is_made_of(&old.id, &old.title) { old.id } else { entry.id };
        let entry = Entry { id, created_ms: old.created_ms, others: old.others, reach: old.reach, ..entry };
        Ok(Self::changing(folder, seen, entry))
    }

    /// Of all files only those are read that may be near, and those that came since they were indexed.
    fn near_or_new(folder: Folder, entry: Entry, near: &Near) -> Result<Self, MemoryError> {
        let listed = folder.list().map_err(|error| MemoryError::File(error.to_string()))?;
        let may_be = |name: &String| match near {
            Near::Anywhere => true,
            Near::Among { files, known } => files.contains(name) || !known.contains(name),
            Near::Nowhere => false,
        };
        // What can't be read can't be near.
        let seen = listed.iter().filter(|file| may_be(&file.name)).filter_map(|file| see(&folder, &file.name).ok());
        let near = seen.filter_map(|seen| {
            let nearness = nearness(&seen.entry, &entry);
            score(nearness).map(|score| (matches!(nearness, Nearness::Same(_)), score, seen))
        });
        // One that says the same comes before one that may say the opposite, however many words it has in common.
        let nearest = near.max_by(|one, other| one.0.cmp(&other.0).then(one.1.total_cmp(&other.1)));
        let nearest = match nearest {
            Some((true, _, nearest)) => nearest,
            Some((false, _, Seen { entry: Entry { id, title, .. }, .. })) => {
                return Ok(Self { resembles: Some(Resembled { id, title }), ..Self::new(folder, entry) });
            }
            None => return Ok(Self::new(folder, entry)),
        };
        let full = || {
            let id = &nearest.entry.id;
            let words =
                format!("the entry {id} says nearly the same, but it would grow too long: replace it by its id");
            MemoryError::Refused(words)
        };
        let merged = merged(&nearest.entry, &entry).ok_or_else(full)?;
        Ok(Self::changing(folder, nearest, merged))
    }

    fn write(&self, lock: &Lock) -> Result<Option<MemoryAction>, FolderError> {
        if self.before.as_ref() == Some(&self.after) {
            return Ok(None);
        }
        self.folder.write(&self.file, &self.after, self.stamp.as_ref(), lock)?;
        Ok(Some(if self.before.is_some() { MemoryAction::Updated } else { MemoryAction::Stored }))
    }
}

fn score(nearness: Nearness) -> Option<f64> {
    match nearness {
        Nearness::Apart => None,
        Nearness::Doubtful(score) | Nearness::Same(score) => Some(score),
    }
}

/// Where an entry may be that says nearly the same.
#[derive(Debug)]
enum Near {
    /// The index has no say: in every file.
    Anywhere,
    /// In few files, and in those that came since.
    Among {
        /// Files of entries that are near, as the index has them.
        files: Vec<String>,
        /// All files that the index knows.
        known: HashSet<String>,
    },
    /// No entry is looked for.
    Nowhere,
}

/// An entry as its file has it.
struct Seen {
    file: String,
    entry: Entry,
    text: String,
    stamp: Stamp,
}

fn see(folder: &Folder, file: &str) -> Result<Seen, FolderError> {
    let located = folder.locate(file)?;
    let (bytes, stamp) = located.read(MOST_BYTES + 1)?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(FolderError::Failed(format!("{file} is larger than {MOST_BYTES} bytes")));
    }
    // Bytes that are no text would be lost.
    let text = String::from_utf8(bytes).map_err(|_| FolderError::Failed(format!("{file} is no UTF-8 text")))?;
    let modified_ms = located.metadata().ok().and_then(|metadata| metadata.modified().ok());
    let since = modified_ms.and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
    let modified_ms = since.map_or(0, |since| i64::try_from(since.as_millis()).unwrap_or(i64::MAX));
    let around = Around { stem: stem_of(file), scope: folder.scope, modified_ms };
    let (entry, _) = frontmatter::read(&text, around);
    Ok(Seen { file: file.to_owned(), entry, text, stamp })
}

/// A scope in words for people and models.
pub fn reach_words(scope: MemoryScope, reach: &str) -> String {
    match (scope, reach) {
        (MemoryScope::Global, "") => "global".to_owned(),
        (MemoryScope::Global, reach) => format!("private, for {reach}"),
        (MemoryScope::Directory, _) => "directory".to_owned(),
    }
}

/// What a message asks to remember: the whole message is one line that begins with `#` and a space.
pub fn to_remember(message: &str) -> Option<NewEntry> {
    let line = message.trim().strip_prefix("# ")?.trim();
    let one = !line.is_empty() && !line.contains('\n');
    one.then(|| said_by_person(line))
}

/// What a person said in one line, as an entry that holds everywhere.
pub fn said_by_person(line: &str) -> NewEntry {
    NewEntry {
        title: one_line(line, LONGEST_TITLE),
        summary: line.to_owned(),
        content: line.to_owned(),
        category: Category::Preference,
        tags: Vec::new(),
        source: PERSON.to_owned(),
        keep: MemoryReach::Global,
        replaces: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_whole_line_is_a_note() {
        for (message, note) in [
            ("# use tabs", Some("use tabs")),
            ("  # use tabs \n", Some("use tabs")),
            ("# ", None),
            ("#use tabs", None),
            ("## Heading", None),
            ("# Heading\n\nand a text", None),
            ("fix # this", None),
        ] {
            assert_eq!(to_remember(message).map(|new| new.title).as_deref(), note, "{message:?}");
        }
    }
}

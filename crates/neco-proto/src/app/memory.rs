//! What is remembered from one session to the next.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::known::Known;
use super::request::{Page, request};
use crate::event::{MemoryAction, MemoryNote, MemoryUpdate};
use crate::mode::names;

/// Lists what is remembered for work in a folder, the newest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ListMemory {
    /// The folder.
    pub folder: String,
    /// Only what fits these words, the best match first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub words: Option<MemoryWords>,
    /// Only entries of this reach.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub only: Option<MemoryReach>,
    /// Which part of the list is wanted.
    #[serde(flatten)]
    pub page: Page,
}

/// Words that are looked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryWords {
    /// The words.
    pub text: String,
    /// How many entries at most.
    pub limit: usize,
}

request!(ListMemory => MemoryList, "memory.list", Get "/memory", Read, repeatable);

/// Entries of the memory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryList {
    /// The entries.
    pub entries: Vec<MemoryEntry>,
    /// The cursor of the page that follows, where there are more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// An entry of the memory without its content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryEntry {
    /// What it is called by; no other entry that is seen has it.
    pub id: String,
    /// What it is about.
    pub title: String,
    /// The same in a sentence or two.
    pub summary: String,
    /// Its kind.
    pub category: Known<MemoryCategory>,
    /// What the problem of a solution was about.
    pub topic: Option<String>,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// How far it reaches.
    pub scope: Known<MemoryReach>,
    /// The folder that it is about, for one of the person's own.
    pub directory: Option<String>,
    /// Who wrote it.
    pub source: String,
    /// When it was made.
    #[schemars(with = "Option<String>")]
    pub created: Option<Timestamp>,
    /// When it was last of use.
    #[schemars(with = "Option<String>")]
    pub last_used: Option<Timestamp>,
    /// How often it was.
    pub uses: i64,
    /// Its file.
    pub path: String,
    /// What is wrong with its file, line by line.
    pub troubles: Vec<String>,
}

names! {
    /// What kind of thing an entry says.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    pub enum MemoryCategory {
        /// How the person wants things done, everywhere.
        Preference = "preference",
        /// Something about a folder that is not obvious from its files.
        Directory = "directory",
        /// What a look around has shown.
        ExploreResult = "explore_result",
        /// How a problem was solved.
        Solution = "solution",
        /// What to do differently with work of a kind.
        Strategy = "strategy",
    }
}

names! {
    /// How far an entry reaches, and where it is kept.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    pub enum MemoryReach {
        /// Everywhere; it is kept with the person's own.
        #[default]
        Global = "global",
        /// One folder and those below it; it is kept with the person's own.
        Private = "private",
        /// One folder and those below it; it is kept in that folder, as a file that can be committed.
        Directory = "directory",
    }
}

/// Shows an entry as a whole.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ShowMemory {
    /// The folder that is worked in.
    pub folder: String,
    /// The entry, by its id.
    pub id: String,
}

request!(ShowMemory => ShownMemory, "memory.show", Get "/memory/{id}", Read, repeatable);

/// All of an entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ShownMemory {
    /// What is known without its file.
    #[serde(flatten)]
    pub entry: MemoryEntry,
    /// All there is to know.
    pub content: String,
    /// Why its file can't be read, where that is so; there is no content then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unreadable: Option<String>,
}

/// Remembers something: in an entry that says nearly the same if there is one, else in a new one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct AddMemory {
    /// The folder that is worked in.
    pub folder: String,
    /// What it is about.
    pub title: String,
    /// The same in a sentence or two; the beginning of the content when empty.
    pub summary: String,
    /// All there is to know.
    pub content: String,
    /// Its kind; what is usual for its reach when that is not told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub category: Option<MemoryCategory>,
    /// What the problem of a solution was about.
    pub topic: String,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// How far it reaches.
    pub reach: MemoryReach,
    /// The entry whose place it takes, by its id, instead of one that is near.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replaces: Option<String>,
}

request!(AddMemory => Kept, "memory.add", Post "/memory", Work, repeatable);

/// Remembers what a person says in one line, where there is a memory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct KeepNote {
    /// The folder that is worked in.
    pub folder: String,
    /// The line.
    pub text: String,
}

request!(KeepNote => KeptNote, "memory.note", Post "/memory/notes", Work, repeatable);

/// What became of a line that is to be remembered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KeptNote {
    /// The entry.
    pub kept: Kept,
    /// The same for a person.
    pub words: String,
}

/// What became of something that is to be remembered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Kept {
    /// The entry in short.
    pub note: MemoryNote,
    /// What happened to it; nothing when everything was known already.
    pub action: Option<MemoryAction>,
    /// Whether secrets were taken out.
    pub redacted: bool,
    /// Another entry that has nearly the same words and may say the opposite.
    pub resembles: Option<Resembled>,
}

impl Kept {
    /// The event that tells of it.
    #[must_use]
    pub fn event(&self) -> Option<MemoryUpdate> {
        let action = self.action?;
        Some(MemoryUpdate { action, entries: vec![self.note.clone()], text: None })
    }
}

/// An entry that has nearly the same words as another, and is none the less kept beside it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Resembled {
    /// Its id.
    pub id: String,
    /// Its title.
    pub title: String,
}

/// Removes entries for good. All of them must be there: half of what was asked is not done.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RemoveMemory {
    /// The folder that is worked in.
    pub folder: String,
    /// The entries, by their ids.
    pub ids: Vec<String>,
}

request!(RemoveMemory => RemovedMemory, "memory.remove", Delete "/memory", Work, once);

/// Entries that were removed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RemovedMemory {
    /// Their files.
    pub paths: Vec<String>,
}

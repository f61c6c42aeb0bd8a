//! An entry as it is found, without its content.

use std::ops::Deref;
use std::path::PathBuf;

use neco_proto::event::{MemoryNote, MemoryScope};

use super::entry::{Entry, PERSON};
use super::folder::Folder;

/// An entry that is seen from where the work is, without its content.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// What it is called by; no other entry that is seen has it.
    pub id: String,
    /// What it says, without the content; its own id may be that of others too.
    pub entry: Entry,
    /// Where it lies.
    pub folder: Folder,
    /// Its file there.
    pub file: String,
    /// When it was last of use, in milliseconds since 1970; 0 for never.
    pub last_ms: i64,
    /// How often it was.
    pub uses: i64,
    /// What is wrong with its file, line by line.
    pub troubles: Vec<String>,
    /// Whether it says anything: a file that can't be read does not.
    pub readable: bool,
}

impl Deref for Found {
    type Target = Entry;

    fn deref(&self) -> &Entry {
        &self.entry
    }
}

impl Found {
    /// Its file.
    pub fn path(&self) -> PathBuf {
        self.folder.path().join(&self.file)
    }

    /// How far it reaches.
    pub fn scope(&self) -> MemoryScope {
        self.folder.scope
    }

    /// Whether these are the person's own words rather than an earlier session's or a repository's.
    pub fn is_the_persons(&self) -> bool {
        self.scope() == MemoryScope::Global && self.source == PERSON
    }

    /// It in short, for an event.
    pub fn note(&self) -> MemoryNote {
        MemoryNote {
            id: self.id.clone(),
            title: self.title.clone(),
            scope: self.scope(),
            path: self.path().display().to_string(),
        }
    }
}

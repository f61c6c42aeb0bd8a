//! What is known of the files of skills, kept from one start to the next: a file that is as it was is not read.

use std::collections::HashMap;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::head::Head;
use crate::folder_files::Stamp;

/// The most bytes of the file; a bigger one begins anew.
const MOST_BYTES: u64 = 8 * 1024 * 1024;

/// The most skills that are kept; then only those that were seen last.
const MOST: usize = 4000;

/// What is known of the files of skills.
#[derive(Debug, Default)]
pub(super) struct KeptHeads {
    file: PathBuf,
    /// Read when the first skill is looked for.
    known: Option<HashMap<String, KeptHead>>,
    changed: bool,
}

/// What is known of one skill.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct KeptHead {
    /// Its file, as the system told of it.
    stamp: Stamp,
    head: Head,
    /// All files of its folder, as the system told of them, and what trust in them is trust in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    folder: Option<(String, String)>,
    /// Whether it was there this time.
    #[serde(skip)]
    is_seen: bool,
}

impl KeptHeads {
    /// Those of a data folder; nothing is read yet.
    pub(super) fn new(data_dir: &Path) -> Self {
        Self { file: data_dir.join("skills.json"), ..Self::default() }
    }

    /// The head of a file of this stamp; `read` reads it where it is not known.
    pub(super) fn head<E>(
        &mut self,
        file: &Path,
        stamp: Stamp,
        read: impl FnOnce() -> Result<Head, E>,
    ) -> Result<Head, E> {
        let key = file.to_string_lossy();
        if let Some(known) = self.known().get_mut(key.as_ref()) {
            known.is_seen = true;
            if known.stamp == stamp {
                return Ok(known.head.clone());
            }
        }
        let head = read()?;
        self.changed = true;
        let known = KeptHead { stamp, head: head.clone(), folder: None, is_seen: true };
        self.known().insert(key.into_owned(), known);
        Ok(head)
    }

    /// What trust in a folder of this stamp is trust in; `look` reads it where it is not known.
    pub(super) fn hash<E>(
        &mut self,
        file: &Path,
        stamp: String,
        look: impl FnOnce() -> Result<String, E>,
    ) -> Result<String, E> {
        let key = file.display().to_string();
        let known = self.known().get(&key).and_then(|known| known.folder.clone());
        if let Some((_, hash)) = known.filter(|(seen, _)| *seen == stamp) {
            return Ok(hash);
        }
        let hash = look()?;
        if let Some(known) = self.known().get_mut(&key) {
            known.folder = Some((stamp, hash.clone()));
            self.changed = true;
        }
        Ok(hash)
    }

    fn known(&mut self) -> &mut HashMap<String, KeptHead> {
        let file = &self.file;
        self.known.get_or_insert_with(|| load(file).unwrap_or_default())
    }

    /// Keeps what is new. What can't be kept is read again the next time.
    pub(super) fn close(mut self) {
        if !self.changed {
            return;
        }
        let mut known = self.known.take().unwrap_or_default();
        if known.len() > MOST {
            known.retain(|_, head| head.is_seen);
        }
        if let Err(error) = save(&self.file, &known) {
            tracing::debug!(%error, "what is known of skills is not kept");
        }
    }
}

fn load(file: &Path) -> Option<HashMap<String, KeptHead>> {
    if fs::metadata(file).ok()?.len() > MOST_BYTES {
        return None;
    }
    serde_json::from_slice(&fs::read(file).ok()?).ok()
}

fn save(file: &Path, known: &HashMap<String, KeptHead>) -> io::Result<()> {
    let folder = file.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let mut temporary = tempfile::NamedTempFile::new_in(folder)?;
    temporary.write_all(&serde_json::to_vec(known)?)?;
    temporary.persist(file)?;
    Ok(())
}

//! Modules of WASM, which are big: each is read once, and again when the system says that it is another one.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use neco_config::open_regular_file;
use sha2::{Digest, Sha256};

use crate::folder_files::{Stamp, stamp};

/// Bytes of a module, and of all modules of a repository that are read at one look.
const LARGEST: u64 = 64 * 1024 * 1024;

/// Modules that are kept; of more only those that were asked about last. And the bytes of the file that they are kept in.
const MOST: usize = 500;
const MOST_BYTES: u64 = 1024 * 1024;

/// What is known of modules: of each file how the system told of it, and its hash.
#[derive(Debug, Default)]
pub(super) struct KnownModules {
    file: PathBuf,
    /// Read when the first module is asked about.
    known: Option<BTreeMap<String, (Stamp, String)>>,
    asked: BTreeSet<String>,
    is_changed: bool,
    /// Bytes of repositories that were read.
    read: u64,
}

/// Why nobody can say what a module is.
#[derive(Debug, thiserror::Error)]
pub(super) enum ModuleError {
    #[error("can't be read: {0}")]
    Read(#[from] io::Error),
    #[error("is larger than {} MB", LARGEST / 1024 / 1024)]
    Large,
    #[error("comes behind others: all modules of a project together may have {} MB", LARGEST / 1024 / 1024)]
    Many,
}

impl KnownModules {
    /// Those of a data folder; nothing is read yet.
    pub(super) fn new(data_dir: &Path) -> Self {
        Self { file: data_dir.join("modules.json"), ..Self::default() }
    }

    /// The hash of a module, which is read where it is not known.
    pub(super) fn hash(&mut self, path: &Path, in_repository: bool) -> Result<String, ModuleError> {
        let (file, found) = open(path, in_repository)?;
        let (key, stamp) = (path.display().to_string(), stamp(&found));
        self.asked.insert(key.clone());
        if let Some((_, hash)) = self.known().get(&key).filter(|(seen, _)| *seen == stamp) {
            return Ok(hash.clone());
        }
        if in_repository {
            self.read = self.read.saturating_add(found.len());
            if self.read > LARGEST {
                return Err(ModuleError::Many);
            }
        }
        let hash = hash_of(&bytes_of(file)?);
        self.known().insert(key, (stamp, hash.clone()));
        self.is_changed = true;
        Ok(hash)
    }

    fn known(&mut self) -> &mut BTreeMap<String, (Stamp, String)> {
        let file = &self.file;
        self.known.get_or_insert_with(|| load(file).unwrap_or_default())
    }

    /// Keeps what is new. What can't be kept is read again the next time.
    pub(super) fn close(self) {
        let Some(mut known) = self.known.filter(|_| self.is_changed) else { return };
        if known.len() > MOST {
            known.retain(|file, _| self.asked.contains(file));
        }
        if let Err(error) = save(&self.file, &known) {
            tracing::debug!(%error, "what is known of modules is not kept");
        }
    }
}

/// The bytes of a module.
pub(super) fn read(path: &Path, in_repository: bool) -> Result<Vec<u8>, ModuleError> {
    bytes_of(open(path, in_repository)?.0)
}

/// What tells whether bytes are the same.
pub(super) fn hash_of(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// It could be a pipe, on which reading waits for ever.
fn open(path: &Path, in_repository: bool) -> Result<(fs::File, fs::Metadata), ModuleError> {
    let file = open_regular_file(path, in_repository)?.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
    let found = file.metadata()?;
    if found.len() > LARGEST { Err(ModuleError::Large) } else { Ok((file, found)) }
}

fn bytes_of(file: fs::File) -> Result<Vec<u8>, ModuleError> {
    let mut bytes = Vec::new();
    file.take(LARGEST + 1).read_to_end(&mut bytes)?;
    // It may grow while it is read.
    if bytes.len() as u64 > LARGEST { Err(ModuleError::Large) } else { Ok(bytes) }
}

fn load(file: &Path) -> Option<BTreeMap<String, (Stamp, String)>> {
    if fs::metadata(file).ok()?.len() > MOST_BYTES {
        return None;
    }
    serde_json::from_slice(&fs::read(file).ok()?).ok()
}

fn save(file: &Path, known: &BTreeMap<String, (Stamp, String)>) -> io::Result<()> {
    let folder = file.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let mut temporary = tempfile::NamedTempFile::new_in(folder)?;
    temporary.write_all(&serde_json::to_vec(known)?)?;
    temporary.persist(file)?;
    Ok(())
}

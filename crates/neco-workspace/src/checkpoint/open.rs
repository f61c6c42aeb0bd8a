//! Finding the store of a workspace, and opening the backend that a person chose.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use gix::objs::Kind;
use neco_config::section::CheckpointBackend;

use super::checkpoints::Checkpoints;
use super::error::CheckpointError;
use super::git::GitVault;
use super::jj::JjVault;
use super::keeper::{Keeper, Place};
use super::memory::MemoryVault;
use super::tree::id_of;

/// States in a Jujutsu repository of Neco's own.
pub type JjCheckpoints = Keeper<JjVault>;

/// States in the person's git repository.
pub type GitCheckpoints = Keeper<GitVault>;

/// States in memory, for tests.
pub type MemoryCheckpoints = Keeper<MemoryVault>;

/// Which backend a person chose.
pub type Backend = CheckpointBackend;

/// The file in a store that says whose it is.
const WHOSE: &str = "workspace";

impl Keeper<JjVault> {
    /// The states of a workspace; nothing is opened yet.
    #[must_use]
    pub fn new(place: Place) -> Self {
        let vault = JjVault::new(&place.store);
        Self::with(place, vault)
    }
}

impl Keeper<GitVault> {
    /// The states of a workspace that lies in a git repository.
    ///
    /// # Errors
    /// When it does not, or the repository is of a kind that is not known here.
    pub fn new(place: Place) -> Result<Self, CheckpointError> {
        let id = place.store.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let vault = GitVault::of(&place.root, &id)?;
        Ok(Self::with(Place { store: place.store.join("in-git"), ..place }, vault))
    }
}

impl Keeper<MemoryVault> {
    /// The states of a workspace, as long as this lives.
    #[must_use]
    pub fn new(place: Place) -> Self {
        Self::with(place, MemoryVault::default())
    }
}

/// The states of a workspace in the backend that a person chose, and what they should be told when that
/// one can't be used.
#[must_use]
pub fn open(backend: Backend, place: Place) -> (Arc<dyn Checkpoints>, Option<String>) {
    let chosen = match backend {
        Backend::Jj => return (Arc::new(JjCheckpoints::new(place)), None),
        Backend::Git => GitCheckpoints::new(place.clone()),
    };
    match chosen {
        Ok(git) => (Arc::new(git), None),
        Err(error) => {
            let notice = format!("checkpoints are kept outside this folder, not in git: {error}");
            (Arc::new(JjCheckpoints::new(place)), Some(notice))
        }
    }
}

/// The folder of the store of a workspace, below the folder of all stores. A workspace that was moved
/// finds the one it had.
#[must_use]
pub fn store_folder(stores: &Path, root: &Path) -> PathBuf {
    let name = id_of(Kind::Blob, root.as_os_str().as_bytes()).map(|id| id.to_hex_with_len(16).to_string());
    let folder = stores.join(name.unwrap_or_default());
    if folder.exists() {
        return folder;
    }
    let Some(identity) = identity(root) else { return folder };
    let is_ours = |store: &PathBuf| fs::read_to_string(store.join(WHOSE)).is_ok_and(|whose| whose == identity);
    let others = fs::read_dir(stores).into_iter().flatten().flatten().map(|entry| entry.path());
    if let Some(moved) = others.into_iter().find(is_ours) {
        // Where that fails, a new one is begun.
        let _ = fs::rename(moved, &folder);
    }
    folder
}

/// Says whose a store is, for when the workspace is moved.
pub(super) fn sign(store: &Path, root: &Path) {
    let file = store.join(WHOSE);
    if let Some(identity) = identity(root).filter(|_| !file.exists()) {
        // Without it a workspace that is moved begins a new store.
        let _ = fs::write(file, identity);
    }
}

/// What stays the same when a folder is moved: its disk, its place on it, and when it was made.
fn identity(root: &Path) -> Option<String> {
    use std::os::unix::fs::MetadataExt;
    let facts = fs::metadata(root).ok()?;
    let born = facts.created().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some(format!("{}-{}-{}", facts.dev(), facts.ino(), born.as_nanos()))
}

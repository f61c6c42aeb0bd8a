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
use super::exchanges::IN_GIT;
use super::git::GitVault;
use super::jj::JjVault;
use super::keeper::{Keeper, Place, Unsaved};
use super::leave_out::LeaveOutSettings;
use super::tree::id_of;
use super::vault::MemoryVault;

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
    pub fn new(place: Place) -> Self {
        let vault = JjVault::new(&place.store);
        Self::with(place, vault)
    }
}

impl Keeper<GitVault> {
    /// The states of a workspace that lies in a git repository.
    /// Fails when it does not, or the repository is of a kind that is not known here.
    pub fn new(place: Place) -> Result<Self, CheckpointError> {
        let vault = GitVault::of(&place.root, &place.store)?;
        Ok(Self::with(Place { store: place.store.join(IN_GIT), ..place }, vault))
    }
}

impl Keeper<MemoryVault> {
    /// The states of a workspace, as long as this lives.
    pub fn new(place: Place) -> Self {
        Self::with(place, MemoryVault::default())
    }
}

/// The states of a workspace in the backend that a person chose, and what they should be told when that
/// one can't be used.
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

/// The states in a store that a person names: its folder, or that of its repository. Nothing when there is none. It is
/// only read: it may be a backup.
pub fn open_store(folder: &Path) -> Option<JjCheckpoints> {
    let named = [folder.to_path_buf(), folder.join(IN_GIT)].into_iter().chain(folder.parent().map(Path::to_path_buf));
    let store = named.into_iter().find(|store| store.join("git/objects").is_dir())?;
    let root = workspace_of(&store).unwrap_or_else(|| store.clone());
    let vault = JjVault::only_read(&store);
    let (settings, unsaved) = (LeaveOutSettings::default(), Unsaved::default());
    let place = Place { root, store, home: None, settings, unsaved };
    Some(JjCheckpoints::with(place, vault))
}

/// The folder of all stores in the data folder.
pub fn stores_in(data_dir: &Path) -> PathBuf {
    data_dir.join("checkpoints")
}

/// The folder of the store of a workspace, below the folder of all stores. A workspace that was moved
/// finds the one it had.
pub fn store_folder(stores: &Path, root: &Path) -> PathBuf {
    let name = id_of(Kind::Blob, root.as_os_str().as_bytes()).map(|id| id.to_hex_with_len(16).to_string());
    let folder = stores.join(name.unwrap_or_default());
    if folder.exists() {
        return folder;
    }
    let Some(identity) = identity(root) else { return folder };
    let others = fs::read_dir(stores).into_iter().flatten().flatten().map(|entry| entry.path());
    let signed = others.filter_map(|store| Some((fs::read_to_string(store.join(WHOSE)).ok()?, store)));
    let ours = signed.into_iter().find(|(whose, _)| whose.lines().next() == Some(identity.as_str()));
    let Some((whose, store)) = ours else { return folder };
    let at = whose.lines().nth(1).map(Path::new);
    if at.is_some_and(|at| self::identity(at).as_ref() == Some(&identity)) {
        // It was not moved: it is at two places, and somebody may use the store from the other one.
        return store;
    }
    // Where that fails, a new one is begun.
    if fs::rename(store, &folder).is_ok() {
        write_signature(&folder, root, &identity);
    }
    folder
}

/// The workspace of a store, where it says so.
pub fn workspace_of(store: &Path) -> Option<PathBuf> {
    fs::read_to_string(store.join(WHOSE)).ok()?.lines().nth(1).map(PathBuf::from)
}

/// Says whose a store is, for when the workspace is moved.
pub(super) fn sign(store: &Path, root: &Path) {
    if let Some(identity) = identity(root).filter(|_| !store.join(WHOSE).exists()) {
        write_signature(store, root, &identity);
    }
}

/// Without it a workspace that is moved begins a new store.
fn write_signature(store: &Path, root: &Path, identity: &str) {
    let _ = fs::write(store.join(WHOSE), format!("{identity}\n{}\n", root.display()));
}

/// What stays the same when a folder is moved: its disk, its place on it, and when it was made.
fn identity(root: &Path) -> Option<String> {
    use std::os::unix::fs::MetadataExt;
    let facts = fs::metadata(root).ok()?;
    let born = facts.created().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some(format!("{}-{}-{}", facts.dev(), facts.ino(), born.as_nanos()))
}

//! A workspace to work on, and a backend beside it.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use neco_proto::event::CheckpointWhen;
use neco_workspace::checkpoint::{
    Agreed, Change, ChangeKind, Checkpoints, GitCheckpoints, JjCheckpoints, LeaveOutSettings, MemoryCheckpoints, Note,
    Place, RestoreOptions, Restored, Snapshot,
};

/// Which backend is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Jj,
    Git,
    Memory,
}

pub const ALL: [Kind; 3] = [Kind::Jj, Kind::Git, Kind::Memory];

/// A workspace with a backend.
pub struct Desk {
    _folder: tempfile::TempDir,
    pub root: PathBuf,
    pub store: PathBuf,
    pub kind: Kind,
    pub points: Arc<dyn Checkpoints>,
}

impl Desk {
    /// An empty workspace; a repository where the backend needs one.
    pub fn new(kind: Kind) -> Self {
        Self::with(kind, settings())
    }

    /// The same in memory, where there is such a place: a file system whose folders can be relied on.
    pub fn in_memory(kind: Kind) -> Self {
        let memory = Path::new("/dev/shm");
        let folder = tempfile::tempdir_in(memory).or_else(|_| tempfile::tempdir()).unwrap();
        Self::inside(folder, kind, settings())
    }

    pub fn with(kind: Kind, settings: LeaveOutSettings) -> Self {
        Self::inside(tempfile::tempdir().unwrap(), kind, settings)
    }

    fn inside(folder: tempfile::TempDir, kind: Kind, settings: LeaveOutSettings) -> Self {
        let root = folder.path().canonicalize().unwrap().join("work");
        fs::create_dir(&root).unwrap();
        if kind == Kind::Git {
            git(&root, &["init", "-q"]);
        }
        let store = folder.path().join("stores/one");
        let points = open(kind, &root, &store, settings);
        Self { _folder: folder, root, store, kind, points }
    }

    /// The same again, as another process would have it.
    pub fn again(&self) -> Arc<dyn Checkpoints> {
        open(self.kind, &self.root, &self.store, settings())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    pub fn remove(&self, name: &str) {
        fs::remove_file(self.path(name)).unwrap();
    }

    /// Keeps the workspace before a turn of session `s`.
    pub fn before(&self) -> Snapshot {
        self.keep(CheckpointWhen::Before, "s")
    }

    /// Keeps it after one.
    pub fn after(&self) -> Snapshot {
        self.keep(CheckpointWhen::After, "s")
    }

    pub fn keep(&self, when: CheckpointWhen, session: &str) -> Snapshot {
        self.points.snapshot(&note(when, session)).unwrap()
    }

    /// Goes back, whoever changed what.
    pub fn back(&self, rev: &str) -> Restored {
        let options = RestoreOptions { session: "s".to_owned(), agreed: Agreed::Anything, ..RestoreOptions::default() };
        self.points.restore(rev, &options, &mut |_| Ok(())).unwrap()
    }
}

/// What is too big is small here.
pub fn settings() -> LeaveOutSettings {
    LeaveOutSettings { max_file_bytes: 1000, ..LeaveOutSettings::default() }
}

pub fn note(when: CheckpointWhen, session: &str) -> Note {
    Note { when, label: format!("{when} something"), session: session.to_owned() }
}

pub fn open(kind: Kind, root: &Path, store: &Path, settings: LeaveOutSettings) -> Arc<dyn Checkpoints> {
    let place = Place {
        root: root.to_path_buf(),
        store: store.to_path_buf(),
        home: None,
        settings,
        unsaved: Default::default(),
    };
    match kind {
        Kind::Jj => Arc::new(JjCheckpoints::new(place)),
        Kind::Git => Arc::new(GitCheckpoints::new(place).unwrap()),
        Kind::Memory => Arc::new(MemoryCheckpoints::new(place)),
    }
}

pub fn git(folder: &Path, arguments: &[&str]) -> String {
    let done = Command::new("git")
        .args(["-c", "user.name=t", "-c", "user.email=t@t", "-c", "protocol.file.allow=always", "-C"])
        .arg(folder)
        .args(arguments)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .unwrap();
    assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8_lossy(&done.stdout).into_owned()
}

pub fn change(path: &str, kind: ChangeKind) -> Change {
    Change { path: path.into(), kind }
}

/// Everything in a folder: names, contents, links, permissions.
pub fn everything(folder: &Path) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        let facts = path.symlink_metadata().unwrap();
        let content = if facts.is_symlink() {
            fs::read_link(&path).unwrap().as_os_str().as_bytes().to_vec()
        } else if facts.is_file() {
            fs::read(&path).unwrap()
        } else {
            Vec::new()
        };
        if facts.is_dir() {
            all.extend(everything(&path));
        }
        all.insert(path, (facts.permissions().mode(), content));
    }
    all
}

//! A workspace in a temporary folder, and its index.

use std::fs;
use std::path::{Path, PathBuf};

use neco_safety::path::Access;
use neco_safety::world::Files;
use neco_workspace::index::{Index, Patient, Snapshot};

pub struct Desk {
    _folder: tempfile::TempDir,
    pub workspace: PathBuf,
    pub indexes: PathBuf,
}

impl Desk {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().canonicalize().unwrap();
        let workspace = base.join("work");
        fs::create_dir(&workspace).unwrap();
        Self { _folder: folder, workspace, indexes: base.join("indexes") }
    }

    pub fn put(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.workspace.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub fn index(&self) -> Index {
        self.index_in(&self.indexes)
    }

    pub fn index_in(&self, indexes: &Path) -> Index {
        let files = Files::new(&self.workspace, Vec::new()).unwrap();
        Index::new(indexes, files.locate(".", Access::Read).unwrap())
    }

    /// The folder with the files of the index.
    pub fn kept(&self) -> PathBuf {
        let mut folders = fs::read_dir(&self.indexes).unwrap();
        folders.next().unwrap().unwrap().path()
    }
}

pub fn anywhere(_: &Path) -> bool {
    true
}

pub fn found(index: &Index, question: &str) -> Vec<String> {
    index.ask(&Patient, |snapshot| Ok(paths(snapshot, question))).unwrap()
}

fn paths(snapshot: &Snapshot, question: &str) -> Vec<String> {
    let hits = snapshot.search(question, &anywhere, 0, 100).unwrap().hits;
    hits.iter().map(|hit| hit.path.to_str().unwrap().to_owned()).collect()
}

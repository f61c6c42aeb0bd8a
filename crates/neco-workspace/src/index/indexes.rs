//! The indexes of a process, one for each workspace, shared by all that ask them.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use neco_safety::Located;

use super::store::Index;

/// The indexes of a process. Cheap to have: nothing is opened before it is asked for.
#[derive(Debug)]
pub struct Indexes {
    folder: PathBuf,
    open: Mutex<HashMap<PathBuf, Arc<Index>>>,
}

impl Indexes {
    /// Indexes that are kept below a folder.
    pub fn new(folder: PathBuf) -> Self {
        Self { folder, open: Mutex::default() }
    }

    /// The index of a workspace.
    pub fn of(&self, root: Located) -> Arc<Index> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let path = root.path().to_path_buf();
        Arc::clone(open.entry(path).or_insert_with(|| Arc::new(Index::new(&self.folder, root).followed())))
    }
}

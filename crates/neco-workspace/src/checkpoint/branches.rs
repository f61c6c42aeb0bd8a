//! The branches of a store of Neco's own: what was said in sessions, and how it goes when they are deleted.

use std::collections::HashSet;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::{Arc, PoisonError};

use gix::ObjectId;

use super::cache::replace;
use super::error::CheckpointError;
use super::exchange::{StoredExchange, own_objects};
use super::exchanges::{OLD, REWOUND, SESSIONS, line};
use super::jj::{BRANCHES, HEAD, JjVault};
use super::vault::Vault;

impl JjVault {
    /// All branches of sessions, also those that were rewound over.
    pub(super) fn all_branches(&mut self) -> Result<Vec<(String, ObjectId)>, CheckpointError> {
        Ok([self.branches(SESSIONS)?, self.branches(REWOUND)?].concat())
    }

    /// Gives branches names under which nobody goes on from them, as what they lead to is about to go. Whoever is killed
    /// meanwhile leaves them to be found by the next one.
    fn make_old(&self, gone: &[(String, ObjectId)]) -> Result<Vec<(String, ObjectId)>, CheckpointError> {
        let names = self.git().join(BRANCHES);
        let mut old = Vec::new();
        for (name, id) in gone {
            let free = (1..).map(|number| format!("{name}-{number}{OLD}")).find(|new| !names.join(new).exists());
            let new = free.filter(|_| !name.ends_with(OLD)).unwrap_or_else(|| name.clone());
            let path = names.join(name);
            fs::rename(&path, names.join(&new)).map_err(|error| CheckpointError::at(&path, error))?;
            old.push((new, *id));
        }
        Ok(old)
    }

    /// Removes branches and all that only they lead to, but for files of the workspace. The branches go last: as long as
    /// something is left that they lead to, it is found by them.
    pub fn forget(&mut self, gone: &[(String, ObjectId)]) -> Result<(), CheckpointError> {
        let gone = self.make_old(gone)?;
        let names: HashSet<&str> = gone.iter().map(|(name, _)| name.as_str()).collect();
        let stay: Vec<_> =
            self.all_branches()?.into_iter().filter(|(name, _)| !names.contains(name.as_str())).collect();
        let mut needed = HashSet::new();
        for (_, line) in lines_since(self, stay, i64::MIN) {
            needed.extend(line.iter().map(|exchange| exchange.id));
            needed.extend(line.last().and_then(|tip| own_objects(self, tip).ok()).unwrap_or_default().1);
        }
        // What was said, then the oldest first: what is left leads to what is left.
        let (mut said, mut rest) = (Vec::new(), Vec::new());
        for exchange in lines_since(self, gone.clone(), i64::MIN).iter().flat_map(|(_, line)| line) {
            if !needed.contains(&exchange.id) {
                let (trees, files) = own_objects(self, exchange).unwrap_or_default();
                said.extend(files);
                rest.extend(trees.into_iter().chain([exchange.id]));
            }
        }
        let operations = Arc::clone(&self.operations);
        let mut operations = operations.lock().unwrap_or_else(PoisonError::into_inner);
        // The log speaks of what is gone; it is made anew of what stays.
        let _log = operations.hold()?;
        operations.forget()?;
        for id in said.into_iter().chain(rest).filter(|id| !needed.contains(id)) {
            remove(&self.objects()?.file(id))?;
        }
        for (name, _) in &gone {
            self.set_branch(name, None)?;
        }
        // What is looked at first must be there.
        let first = fs::read_to_string(self.git().join("HEAD")).unwrap_or_default();
        if first.trim_end().strip_prefix("ref: ").is_none_or(|name| !self.git().join(name).exists()) {
            replace(&self.git().join("HEAD"), format!("ref: {HEAD}\n").as_bytes())?;
        }
        // The names by which Jujutsu holds on to commits.
        match fs::remove_dir_all(self.git().join("refs/jj")) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(CheckpointError::at(&self.git(), error)),
            Ok(()) | Err(_) => Ok(()),
        }
    }
}

/// The exchanges that branches lead to, oldest first, since a moment in seconds since 1970; the newest of each at least.
pub(super) fn lines_since(
    vault: &JjVault,
    branches: Vec<(String, ObjectId)>,
    seconds: i64,
) -> Vec<(String, Vec<StoredExchange>)> {
    let mut lines = Vec::new();
    for (name, id) in branches {
        let Ok(tip) = StoredExchange::read(vault, id) else { continue };
        let mut line = line(vault, tip);
        let old = line.partition_point(|exchange| exchange.kept.time_ms.div_euclid(1000) < seconds);
        lines.push((name, line.split_off(old.min(line.len().saturating_sub(1)))));
    }
    lines
}

/// Removes a file, if it is there.
pub(super) fn remove(path: &Path) -> Result<(), CheckpointError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(CheckpointError::at(path, error)),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// The name of a commit in a file.
pub(super) fn id_in(path: &Path) -> Option<ObjectId> {
    ObjectId::from_hex(fs::read(path).ok()?.trim_ascii()).ok()
}

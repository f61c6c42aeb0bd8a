//! Objects in a folder of git's making: one file each, found by their content.
//!
//! They are not forced to the disk one by one: that would take longer than the work they protect. After
//! a power cut the newest ones may be missing or empty.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use gix::ObjectId;
use gix::objs::{Exists, Find, Kind, Write};
use gix::odb::loose;

use super::checkpoints::Kept;
use super::error::CheckpointError;
use super::plan::Plan;
use super::tree::id_of;
use super::vault::Vault;

/// The objects of one repository.
pub struct Objects {
    folder: PathBuf,
    loose: loose::Store,
    /// Those that git has packed; only in a person's own repository.
    packed: Option<gix::odb::Handle>,
}

impl Objects {
    /// Objects that nobody packs.
    pub fn of_ours(folder: &Path) -> Self {
        let loose = loose::Store::at(folder, gix::hash::Kind::Sha1);
        Self { folder: folder.to_path_buf(), loose, packed: None }
    }

    /// Objects of a person's own repository.
    pub fn of_theirs(folder: &Path) -> Result<Self, CheckpointError> {
        let mut packed =
            gix::odb::at(folder, gix::hash::Kind::Sha1).map_err(|error| CheckpointError::at(folder, error))?;
        // Otherwise every object that is new has all packs listed again.
        packed.refresh_never();
        Ok(Self { packed: Some(packed), ..Self::of_ours(folder) })
    }

    /// Keeps an object, if it is not there yet, and says whether it was new.
    pub fn put(&self, kind: Kind, bytes: &[u8]) -> Result<(ObjectId, bool), CheckpointError> {
        let id = id_of(kind, bytes)?;
        if self.has(id) {
            return Ok((id, false));
        }
        self.write(kind, bytes, id)
    }

    /// The same; but what is there counts only if it is whole.
    pub fn put_whole(&self, kind: Kind, bytes: &[u8]) -> Result<(ObjectId, bool), CheckpointError> {
        let id = id_of(kind, bytes)?;
        match self.get(id) {
            Ok(_) => Ok((id, false)),
            Err(_) => self.write(kind, bytes, id),
        }
    }

    fn write(&self, kind: Kind, bytes: &[u8], id: ObjectId) -> Result<(ObjectId, bool), CheckpointError> {
        self.loose
            .write_buf_with_known_id(kind, bytes, id)
            .map(|id| (id, true))
            .map_err(|error| CheckpointError::at(&self.folder, std::io::Error::other(all_of(error.as_ref()))))
    }

    /// The bytes of an object.
    pub fn get(&self, id: ObjectId) -> Result<Vec<u8>, CheckpointError> {
        let mut bytes = Vec::new();
        let found = match self.loose.try_find(&id, &mut bytes) {
            Ok(found) => found.map(|found| (found.kind, found.data.to_vec())),
            Err(error) => return Err(CheckpointError::Damaged(format!("{id} can't be read: {}", all_of(&error)))),
        };
        let found = match (found, &self.packed) {
            (None, Some(packed)) => packed
                .try_find(&id, &mut bytes)
                .map_err(|error| CheckpointError::Damaged(format!("{id} can't be read: {error}")))?
                .map(|found| (found.kind, found.data.to_vec())),
            (found, _) => found,
        };
        let (kind, bytes) = found.ok_or_else(|| CheckpointError::Damaged(format!("{id} is missing")))?;
        // A file that a power cut left half written must not be put into a workspace.
        if id_of(kind, &bytes)? != id {
            return Err(CheckpointError::Damaged(format!("{id} is not whole")));
        }
        Ok(bytes)
    }

    pub fn has(&self, id: ObjectId) -> bool {
        self.loose.contains(&id) || self.packed.as_ref().is_some_and(|packed| packed.exists(&id))
    }

    /// The file of an object that is not packed.
    pub fn file(&self, id: ObjectId) -> PathBuf {
        self.loose.object_path(&id)
    }
}

/// An error with all that caused it.
pub fn all_of(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}

/// Bytes that are held on to; of more it is only known that they are there.
const HELD: usize = 64 * 1024 * 1024;

/// What files are to hold.
#[derive(Debug, Default)]
pub struct Contents {
    held: HashMap<ObjectId, Vec<u8>>,
    bytes: usize,
}

impl Contents {
    /// What a plan needs. A file whose content is missing or not whole is left alone, and the plan says so.
    /// Fails when the store can't be read, or nothing of what is needed is whole.
    pub fn of<V: Vault>(vault: &V, plan: &mut Plan) -> Result<Self, CheckpointError> {
        let mut contents = Self::default();
        let (mut damage, mut whole) = (None, 0);
        for step in std::mem::take(&mut plan.steps) {
            match step.change.after.map(|item| contents.add(vault, item.id)) {
                None => {}
                Some(Ok(())) => whole += 1,
                Some(Err(error)) if error.is_damage() => {
                    let path = OsStr::from_bytes(&step.change.path).into();
                    plan.kept.push(Kept { path, reason: format!("what it held then can't be read any more: {error}") });
                    damage = damage.or(Some(error));
                    continue;
                }
                Some(Err(error)) => return Err(error),
            }
            plan.steps.push(step);
        }
        match damage {
            Some(damage) if whole == 0 => Err(damage),
            Some(_) | None => Ok(contents),
        }
    }

    fn add<V: Vault>(&mut self, vault: &V, id: ObjectId) -> Result<(), CheckpointError> {
        if self.held.contains_key(&id) {
            return Ok(());
        }
        let content = vault.get(id)?;
        self.bytes += content.len();
        if self.bytes <= HELD {
            self.held.insert(id, content);
        }
        Ok(())
    }

    pub fn get<V: Vault>(&self, vault: &V, id: ObjectId) -> Result<Vec<u8>, CheckpointError> {
        match self.held.get(&id) {
            Some(content) => Ok(content.clone()),
            None => vault.get(id),
        }
    }
}

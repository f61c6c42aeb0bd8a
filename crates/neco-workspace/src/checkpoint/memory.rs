//! States in memory, for tests.

use std::collections::HashMap;

use gix::ObjectId;
use gix::objs::Kind;

use super::error::CheckpointError;
use super::point::{StoredPoint, commit_object};
use super::tree::id_of;
use super::vault::Vault;

/// Keeps objects as long as it lives.
#[derive(Debug, Default)]
pub struct MemoryVault {
    objects: HashMap<ObjectId, Vec<u8>>,
    head: Option<ObjectId>,
    seconds: i64,
}

impl Vault for MemoryVault {
    const NAME: &'static str = "memory";

    fn open(&mut self) -> Result<(), CheckpointError> {
        Ok(())
    }

    fn put(&mut self, kind: Kind, bytes: &[u8]) -> Result<ObjectId, CheckpointError> {
        let id = id_of(kind, bytes)?;
        self.objects.entry(id).or_insert_with(|| bytes.to_vec());
        Ok(id)
    }

    fn get(&self, id: ObjectId) -> Result<Vec<u8>, CheckpointError> {
        self.objects.get(&id).cloned().ok_or_else(|| CheckpointError::Damaged(format!("{id} is missing")))
    }

    fn has(&self, id: ObjectId) -> bool {
        self.objects.contains_key(&id)
    }

    fn head(&mut self) -> Result<Option<ObjectId>, CheckpointError> {
        Ok(self.head)
    }

    /// A second a point, so that no two are the same.
    fn commit(&mut self, tree: ObjectId, message: &str) -> Result<ObjectId, CheckpointError> {
        self.seconds += 1;
        let id = self.put(Kind::Commit, &commit_object(tree, self.head, message, self.seconds))?;
        self.head = Some(id);
        Ok(id)
    }

    fn force(&mut self) -> Result<(), CheckpointError> {
        Ok(())
    }

    /// The points that are left out can't be found any more; their objects go with the vault.
    fn keep_only(&mut self, points: &[StoredPoint]) -> Result<(), CheckpointError> {
        let mut next = self.head;
        while let Some(id) = next {
            next = StoredPoint::parse(id, &self.get(id)?)?.parent.filter(|parent| self.has(*parent));
            if !points.iter().any(|point| point.id == id) {
                self.objects.remove(&id);
            }
        }
        Ok(())
    }

    fn set_aside(&mut self) -> Result<String, CheckpointError> {
        *self = Self::default();
        Ok("nowhere".to_owned())
    }
}

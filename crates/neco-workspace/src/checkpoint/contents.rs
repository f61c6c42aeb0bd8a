//! What files are to hold, read before any of them is touched: whatever is missing is found then.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use gix::ObjectId;

use super::checkpoints::Kept;
use super::error::CheckpointError;
use super::plan::Plan;
use super::vault::Vault;

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
    ///
    /// # Errors
    /// When the store can't be read, or nothing of what is needed is whole.
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

    /// One of them.
    pub fn get<V: Vault>(&self, vault: &V, id: ObjectId) -> Result<Vec<u8>, CheckpointError> {
        match self.held.get(&id) {
            Some(content) => Ok(content.clone()),
            None => vault.get(id),
        }
    }
}

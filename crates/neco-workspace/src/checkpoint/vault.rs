//! Where states are kept: objects in git's format, and a line of points, each with the one before it.

use std::collections::{BTreeMap, HashMap};

use gix::ObjectId;
use gix::objs::Kind;

use super::error::CheckpointError;
use super::point::{StoredPoint, commit_object};
use super::settling::{Settling, Unforced};
use super::tree::id_of;

/// A backend's part of the work: everything else is the same for all.
pub trait Vault: Send {
    /// The name of the backend.
    const NAME: &'static str;

    /// Whether nothing may be written, not even a lock.
    fn is_only_read(&self) -> bool {
        false
    }

    /// Makes ready what [`Vault::put`] needs; once for each state, before anything is put.
    fn open(&mut self) -> Result<(), CheckpointError>;

    /// Keeps an object, if it is not there yet.
    fn put(&mut self, kind: Kind, bytes: &[u8]) -> Result<ObjectId, CheckpointError>;

    /// The bytes of an object.
    fn get(&self, id: ObjectId) -> Result<Vec<u8>, CheckpointError>;

    fn has(&self, id: ObjectId) -> bool;

    /// The newest point.
    fn head(&mut self) -> Result<Option<ObjectId>, CheckpointError>;

    /// The same right after [`Vault::open`], which is not done once more.
    fn newest(&mut self) -> Result<Option<ObjectId>, CheckpointError> {
        self.head()
    }

    /// Adds a point after the newest one and makes it the newest one.
    fn commit(&mut self, tree: ObjectId, message: &str) -> Result<ObjectId, CheckpointError>;

    /// Has everything that was put and committed on the disk for good.
    fn force(&mut self) -> Result<(), CheckpointError>;

    /// What can wait: nobody is kept waiting for it, others use the store meanwhile, and a process that ends
    /// before it is done has lost nothing.
    fn settling(&mut self) -> Result<Option<Settling>, CheckpointError> {
        Ok(None)
    }

    /// Whether nothing waits, as far as a glance tells.
    fn is_settled(&self) -> bool {
        true
    }

    /// Notes that what could wait is done.
    fn settled(&mut self, _: &Unforced) {}

    /// Whether what is known of files from earlier looks can be relied on.
    fn trusts_what_is_known(&self) -> bool {
        true
    }

    /// Makes ready what [`Vault::put_private`] needs.
    fn open_private(&mut self) -> Result<(), CheckpointError> {
        self.open()
    }

    /// Keeps an object that is for the person alone, if it is not there yet or not whole.
    fn put_private(&mut self, kind: Kind, bytes: &[u8]) -> Result<ObjectId, CheckpointError> {
        self.put(kind, bytes)
    }

    /// The bytes of an object that is for the person alone.
    fn get_private(&self, id: ObjectId) -> Result<Vec<u8>, CheckpointError> {
        self.get(id)
    }

    /// Whether all that branches lead to is there.
    fn trusts_private(&self) -> bool {
        self.trusts_what_is_known()
    }

    /// What a branch of exchanges leads to.
    fn branch(&mut self, name: &str) -> Result<Option<ObjectId>, CheckpointError>;

    /// All branches in a folder of names, by name, with what they lead to.
    fn branches(&mut self, below: &str) -> Result<Vec<(String, ObjectId)>, CheckpointError>;

    /// Has a branch lead to something; to nothing removes it.
    fn set_branch(&mut self, name: &str, to: Option<ObjectId>) -> Result<(), CheckpointError>;

    /// Removes everything but these points, newest first, and what they hold; and of each branch what is older, but for
    /// its newest commit.
    fn keep_only(&mut self, points: &[StoredPoint]) -> Result<(), CheckpointError>;

    /// Puts a damaged store aside, so that the next use begins a new one; gives where it is now.
    fn set_aside(&mut self) -> Result<String, CheckpointError>;
}

/// Keeps objects as long as it lives.
#[derive(Debug, Default)]
pub struct MemoryVault {
    objects: HashMap<ObjectId, Vec<u8>>,
    head: Option<ObjectId>,
    branches: BTreeMap<String, ObjectId>,
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

    fn branch(&mut self, name: &str) -> Result<Option<ObjectId>, CheckpointError> {
        Ok(self.branches.get(name).copied())
    }

    fn branches(&mut self, below: &str) -> Result<Vec<(String, ObjectId)>, CheckpointError> {
        let is_below = |name: &String| name.strip_prefix(below).is_some_and(|rest| rest.starts_with('/'));
        Ok(self.branches.iter().filter(|(name, _)| is_below(name)).map(|(name, id)| (name.clone(), *id)).collect())
    }

    fn set_branch(&mut self, name: &str, to: Option<ObjectId>) -> Result<(), CheckpointError> {
        match to {
            Some(id) => self.branches.insert(name.to_owned(), id),
            None => self.branches.remove(name),
        };
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

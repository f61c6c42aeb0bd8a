//! Where states are kept: objects in git's format, and a line of points, each with the one before it.

use gix::ObjectId;
use gix::objs::Kind;

use super::error::CheckpointError;
use super::point::StoredPoint;
use super::settling::{Settling, Unforced};

/// A backend's part of the work: everything else is the same for all.
pub trait Vault: Send {
    /// The name of the backend.
    const NAME: &'static str;

    /// Makes ready what [`Vault::put`] needs; once for each state, before anything is put.
    fn open(&mut self) -> Result<(), CheckpointError>;

    /// Keeps an object, if it is not there yet.
    fn put(&mut self, kind: Kind, bytes: &[u8]) -> Result<ObjectId, CheckpointError>;

    /// The bytes of an object.
    fn get(&self, id: ObjectId) -> Result<Vec<u8>, CheckpointError>;

    /// Whether an object is there.
    fn has(&self, id: ObjectId) -> bool;

    /// The newest point.
    fn head(&mut self) -> Result<Option<ObjectId>, CheckpointError>;

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

    /// Removes everything but these points, newest first, and what they hold.
    fn keep_only(&mut self, points: &[StoredPoint]) -> Result<(), CheckpointError>;

    /// Puts a damaged store aside, so that the next use begins a new one; gives where it is now.
    fn set_aside(&mut self) -> Result<String, CheckpointError>;
}

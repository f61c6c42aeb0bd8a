//! What was written to a store and may not be on the disk yet, by this process or by another one.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use gix::ObjectId;

use super::error::CheckpointError;
use super::objects::Objects;
use super::settling::{Mark, Unforced};

/// What this process wrote since everything was on the disk, and the mark that says so.
#[derive(Default)]
pub(super) struct Written {
    objects: Vec<ObjectId>,
    branches: Vec<PathBuf>,
    /// The mark that was set last.
    mark: Option<String>,
    /// Whether it was set since the store was opened for what is being done.
    is_marked: bool,
    /// Whether somebody else wrote something of which nobody knows that it is on the disk.
    others_wrote: bool,
}

impl Written {
    /// The store is opened for something else: it is marked again before that is written.
    pub(super) fn open(&mut self) {
        self.is_marked = false;
    }

    /// Whether the store is marked for what is being done.
    pub(super) fn is_marked(&self) -> bool {
        self.is_marked
    }

    /// Says that something is about to be written. A mark of somebody else is about what they wrote, and they
    /// may be gone by now.
    pub(super) fn mark(&mut self, store: &Path) -> Result<(), CheckpointError> {
        self.others_wrote = self.by_others(store);
        self.mark_as_ours(store)
    }

    /// The same where what others wrote was looked at.
    pub(super) fn mark_as_ours(&mut self, store: &Path) -> Result<(), CheckpointError> {
        self.mark = Some(Mark::set(store)?);
        self.is_marked = true;
        Ok(())
    }

    /// Takes note of an object.
    pub(super) fn add_object(&mut self, id: ObjectId) {
        self.objects.push(id);
    }

    /// Takes note of a branch that was set.
    pub(super) fn add_branch(&mut self, file: PathBuf) {
        self.branches.push(file);
    }

    /// Whether somebody else may have left something.
    pub(super) fn by_others(&self, store: &Path) -> bool {
        self.others_wrote || Mark::read(store).is_some_and(|mark| self.mark.as_ref() != Some(&mark))
    }

    /// The files of all that this process wrote; `head`, the name of the newest point, leads to the others.
    pub(super) fn files(&self, objects: &Objects, head: PathBuf) -> Unforced {
        let files = self.objects.iter().map(|id| objects.file(*id)).chain(self.branches.iter().cloned());
        Unforced::Files(files.chain([head]).collect())
    }

    /// All that this process wrote is on the disk.
    pub(super) fn forced(&mut self) {
        self.objects.clear();
        self.branches.clear();
    }

    /// What was gathered before is on the disk.
    pub(super) fn settled(&mut self, settled: &Unforced, objects: Option<&Objects>, store: &Path) {
        match (settled, objects) {
            (Unforced::Files(files), Some(objects)) => {
                let done: HashSet<&PathBuf> = files.iter().collect();
                self.objects.retain(|id| !done.contains(&objects.file(*id)));
                self.branches.retain(|branch| !done.contains(branch));
            }
            (Unforced::Files(_), None) => {}
            // Without a mark nobody wrote anything since.
            (Unforced::Anything, _) if Mark::read(store).is_none() => {
                self.others_wrote = false;
                self.forced();
            }
            (Unforced::Anything, _) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use gix::objs::Kind;

    use super::super::jj::JjVault;
    use super::super::settling::MOST_FORCED;
    use super::super::vault::Vault;
    use super::*;

    #[test]
    fn what_a_process_before_left_unforced_is_forced_before_the_mark_goes() {
        let folder = tempfile::tempdir().unwrap();
        let keep = |vault: &mut JjVault, text: &str| {
            vault.open().unwrap();
            let tree = vault.put(Kind::Tree, &[]).unwrap();
            vault.put(Kind::Blob, text.as_bytes()).unwrap();
            vault.commit(tree, text).unwrap();
        };
        let mut first = JjVault::new(folder.path());
        keep(&mut first, "one");
        assert!(matches!(first.unforced().unwrap(), Unforced::Files(files) if files.len() == 4), "its own are known");
        // It ends without settling, as a short run does.
        let mut second = JjVault::new(folder.path());
        keep(&mut second, "two");
        assert!(matches!(second.unforced().unwrap(), Unforced::Anything));
        assert!(matches!(first.unforced().unwrap(), Unforced::Anything), "nor does the first know of the second");
        let settling = second.settling().unwrap().unwrap();
        let settled = settling.unforced.clone();
        settling.run(MOST_FORCED).unwrap();
        second.settled(&settled);
        assert_eq!(Mark::read(folder.path()), None);
        keep(&mut second, "three");
        assert!(matches!(second.unforced().unwrap(), Unforced::Files(_)), "from here on all are its own");
        assert!(Mark::read(folder.path()).is_some(), "what is written after a mark went has another one");
    }

    #[test]
    fn one_mark_is_set_for_all_that_a_point_needs() {
        let folder = tempfile::tempdir().unwrap();
        let mut vault = JjVault::new(folder.path());
        vault.open().unwrap();
        let tree = vault.put(Kind::Tree, &[]).unwrap();
        let mark = Mark::read(folder.path());
        vault.commit(tree, "one").unwrap();
        assert!(mark.is_some() && Mark::read(folder.path()) == mark);
    }

    #[test]
    fn what_could_not_be_settled_is_settled_the_next_time() {
        let folder = tempfile::tempdir().unwrap();
        let mut vault = JjVault::new(folder.path());
        vault.open().unwrap();
        let tree = vault.put(Kind::Tree, &[]).unwrap();
        vault.commit(tree, "one").unwrap();
        let waits = |vault: &mut JjVault| match vault.settling().unwrap().unwrap().unforced {
            Unforced::Files(files) => files.len(),
            Unforced::Anything => usize::MAX,
        };
        assert_eq!((waits(&mut vault), waits(&mut vault)), (3, 3), "gathering alone is no settling");
        vault.force().unwrap();
        assert_eq!(waits(&mut vault), 1);
    }
}

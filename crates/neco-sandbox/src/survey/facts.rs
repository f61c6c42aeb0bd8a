//! What one look at files saw: whatever is asked of a file once more is answered without the system, and so is what a
//! listed folder tells.
//!
//! Invariant: facts stand for one moment. They are gathered before a command, which its plan is drawn from, or after it,
//! and are not kept.
//!
//! That a fact is a little older than its use weakens nothing. What comes to a missing place meanwhile refuses the
//! stand-in for it, and the plan is drawn anew from another look. No box is built around something else than was found.
//! Stamps that are older than what is read lead to one more reading, never to one too few. What is put aside is looked
//! at by the hands that do it, and what a command still makes is found by the look after it.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::after::known::{Birth, Stamp, birth_of, stamp_of};
use crate::plan::listed::Listed;
use crate::survey::search::Identity;

/// What one look saw.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    /// The folders that were listed.
    pub(crate) listed: Listed,
    asked: RefCell<HashMap<PathBuf, Option<Metadata>>>,
}

impl Facts {
    /// What the system says of something; of a link, what it says of the link. Nothing where nothing is.
    pub(crate) fn of(&self, path: &Path) -> Option<Metadata> {
        if let Some(known) = self.asked.borrow().get(path) {
            return known.clone();
        }
        let is_missing = self.listed.holds(path) == Some(false);
        let found = if is_missing { None } else { fs::symlink_metadata(path).ok() };
        self.asked.borrow_mut().insert(path.to_path_buf(), found.clone());
        found
    }

    pub(crate) fn is_there(&self, path: &Path) -> bool {
        self.listed.holds(path).unwrap_or_else(|| self.of(path).is_some())
    }

    pub(crate) fn is_link(&self, path: &Path) -> bool {
        let listed = self.listed.kind(path).map(|kind| kind.is_symlink());
        listed.unwrap_or_else(|| self.of(path).is_some_and(|found| found.is_symlink()))
    }

    pub(crate) fn identity(&self, path: &Path) -> Option<Identity> {
        self.of(path).map(|found| (found.dev(), found.ino()))
    }

    pub(crate) fn stamp(&self, path: &Path) -> Option<Stamp> {
        self.of(path).as_ref().map(stamp_of)
    }

    pub(crate) fn birth(&self, path: &Path) -> Option<Birth> {
        self.of(path).as_ref().map(birth_of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_seen_once_is_not_asked_for_again() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("file"), "one").unwrap();
        std::os::unix::fs::symlink("nowhere", at("link")).unwrap();
        let facts = Facts::default();
        let before = (facts.stamp(&at("file")), facts.stamp(&at("later")));
        assert!(facts.is_link(&at("link")) && !facts.is_link(&at("file")) && facts.is_there(&at("link")));
        fs::write(at("file"), "another").unwrap();
        fs::write(at("later"), "").unwrap();
        assert_eq!((facts.stamp(&at("file")), facts.stamp(&at("later"))), before, "one look is one moment");
        assert_ne!(Facts::default().stamp(&at("file")), before.0);
    }

    #[test]
    fn what_a_listed_folder_does_not_hold_is_not_asked_for() {
        let folder = tempfile::tempdir().unwrap();
        let facts = Facts::default();
        facts.listed.look_at(folder.path());
        fs::write(folder.path().join("late"), "").unwrap();
        assert!(!facts.is_there(&folder.path().join("late")) && facts.birth(&folder.path().join("late")).is_none());
    }
}

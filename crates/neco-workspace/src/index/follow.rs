//! Which files may have changed since all were looked at, told without looking at all of them again.
//!
//! Whoever looks at everything begins [`Notices`] first, so that nothing falls between the two. What they tell stays
//! suspect until an index that holds it is committed. Whenever something can't be told file by file (a folder came or
//! went, rules of what is ignored changed, another process committed), [`Following::suspects`] tells nothing, and
//! everything is looked at again.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use neco_safety::Located;

use super::notices::{Notice, Notices};
use super::scan::{Seen, is_indexed};
use crate::rules::Rules;

/// Files with other names that are looked at every time; with more of them nothing is followed.
const MOST_WITH_OTHER_NAMES: usize = 256;
/// Files that may have changed; with more of them looking at everything is as quick.
const MOST_SUSPECTS: usize = 4096;

/// What is known about a folder since everything in it was looked at.
#[derive(Debug)]
pub(super) struct Following {
    notices: Notices,
    rules: Arc<Rules>,
    /// The folder that was looked at: another may have taken its place.
    number: (u64, u64),
    /// Files that can be changed under a name of which nothing is noted.
    with_other_names: Vec<PathBuf>,
    /// Which files may have changed, and when that was told.
    suspects: HashMap<PathBuf, u64>,
    /// Counts how often was asked.
    asked: u64,
    /// The generation of the index that holds everything but the suspects.
    generation: u64,
    /// Set once something happened that can't be told file by file.
    lost: bool,
}

/// Files that may have changed.
#[derive(Debug)]
pub(super) struct Suspects {
    /// From the root.
    pub(super) paths: Vec<PathBuf>,
    asked: u64,
}

impl Following {
    /// From what everything looked like; nothing when that can't be followed.
    pub(super) fn begin(root: &Located, notices: Notices, rules: Arc<Rules>, seen: &[Seen]) -> Option<Self> {
        let with_other_names: Vec<PathBuf> =
            seen.iter().filter(|seen| seen.has_other_names).map(|seen| seen.path.clone()).collect();
        if !notices.is_whole() || with_other_names.len() > MOST_WITH_OTHER_NAMES {
            return None;
        }
        let number = number(root.path())?;
        let suspects = HashMap::new();
        Some(Self { notices, rules, number, with_other_names, suspects, asked: 0, generation: 0, lost: false })
    }

    /// The index of this generation holds what was looked at, except `unread` files.
    pub(super) fn begun(&mut self, unread: Vec<PathBuf>, generation: u64) {
        self.suspects.extend(unread.into_iter().map(|path| (path, self.asked)));
        self.generation = generation;
    }

    /// The files that may have changed since the index of this generation was committed; nothing when that can't be
    /// told.
    pub(super) fn suspects(&mut self, root: &Located, generation: u64) -> Option<Suspects> {
        self.asked += 1;
        let mut notices = Vec::new();
        self.notices.drain(|notice| notices.push(notice));
        for notice in notices {
            self.hear(notice, root.path());
        }
        self.lost |= number(root.path()) != Some(self.number)
            || !self.rules.are_same_elsewhere()
            || self.suspects.len() > MOST_SUSPECTS;
        if self.lost || generation != self.generation {
            return None;
        }
        let paths = self.suspects.keys().chain(&self.with_other_names).cloned().collect();
        Some(Suspects { paths, asked: self.asked })
    }

    /// Files that were looked at; those that have other names by now are looked at from now on.
    pub(super) fn met<'a>(&mut self, files: impl Iterator<Item = &'a Seen>) {
        for seen in files.filter(|seen| seen.has_other_names) {
            if !self.with_other_names.contains(&seen.path) {
                self.with_other_names.push(seen.path.clone());
            }
        }
        self.lost |= self.with_other_names.len() > MOST_WITH_OTHER_NAMES;
    }

    fn hear(&mut self, notice: Notice, root: &Path) {
        match notice {
            Notice::File(path) => {
                self.lost |= holds_rules(&path);
                if is_indexed(&path, false, &self.rules)
                    && let Ok(path) = path.strip_prefix(root)
                {
                    self.suspects.insert(path.to_path_buf(), self.asked);
                }
            }
            Notice::Folder(path) => {
                self.lost |= path == root || holds_rules(&path) || is_indexed(&path, true, &self.rules);
            }
            Notice::Lost => self.lost = true,
        }
    }

    /// The index of this generation holds these as they were when they were asked for, except `unread` ones.
    pub(super) fn committed(&mut self, suspects: &Suspects, unread: Vec<PathBuf>, generation: u64) {
        self.suspects.retain(|_, told| *told > suspects.asked);
        self.begun(unread, generation);
    }
}

/// Whether what is ignored is told by a file of this name, or a repository begins with it.
fn holds_rules(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == ".gitignore" || name == ".ignore" || name == ".git")
}

fn number(path: &Path) -> Option<(u64, u64)> {
    fs::symlink_metadata(path).ok().map(|facts| (facts.dev(), facts.ino()))
}

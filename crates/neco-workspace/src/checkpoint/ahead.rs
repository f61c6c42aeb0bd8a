//! A second thread that asks the system about the files of the last look, from their end, while the walk comes from
//! their beginning: nearly all the time of a look at a workspace in which little changed goes into that.
//!
//! What it finds is only whether a file is still what it was; everything else is the walk's. It follows no link in a
//! folder's own name, and what it says of a file counts only when all facts are those of the last look, its place on
//! the disk included.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::OnceLock;

use rustix::fs::{AtFlags, Mode, OFlags};

use super::cache::{Cache, Facts, KnownFolder};

/// With fewer files a thread costs more than it saves.
const WORTH_IT: usize = 500;

/// What is found ahead of the walk.
#[derive(Default)]
pub struct Ahead<'a> {
    folders: HashMap<&'a [u8], Folder<'a>>,
}

struct Folder<'a> {
    known: &'a KnownFolder,
    /// For each file whether it is what it was; nothing is said of a folder that the walk has reached before.
    same: OnceLock<Vec<bool>>,
}

impl<'a> Ahead<'a> {
    /// Of what was known; nothing where that is little.
    pub fn of(known: &'a Cache) -> Self {
        let files: usize = known.folders.values().map(|folder| folder.files.len()).sum();
        if files < WORTH_IT {
            return Self::default();
        }
        let folder = |known: &'a KnownFolder| Folder { known, same: OnceLock::new() };
        Self { folders: known.folders.iter().map(|(path, known)| (path.as_slice(), folder(known))).collect() }
    }

    /// Whether there is anything to do.
    pub fn is_empty(&self) -> bool {
        self.folders.is_empty()
    }

    /// Looks at all folders, the last one first, until it meets the walk.
    pub fn look(&self, root: &Path) {
        let mut folders: Vec<(&&[u8], &Folder<'_>)> = self.folders.iter().collect();
        folders.sort_unstable_by(|one, other| in_walk(other.0).cmp(in_walk(one.0)));
        for (path, folder) in folders {
            if folder.same.get().is_some() || folder.same.set(same(root, path, folder.known)).is_err() {
                return;
            }
        }
    }

    /// What was found in a folder; whoever looks ahead comes no further.
    pub fn reached(&self, path: &[u8]) -> &[bool] {
        self.folders.get(path).map_or(&[], |folder| folder.same.get_or_init(Vec::new))
    }

    /// Nobody wants to know any more.
    pub fn end(&self) {
        self.folders.values().for_each(|folder| drop(folder.same.set(Vec::new())));
    }
}

/// Names in the order of a walk, where what is in a folder comes before what is beside it.
fn in_walk<'p>(path: &&'p [u8]) -> impl Iterator<Item = u8> + use<'p> {
    path.iter().map(|byte| if *byte == b'/' { 0 } else { *byte })
}

fn same(root: &Path, path: &[u8], known: &KnownFolder) -> Vec<bool> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let Ok(folder) = rustix::fs::open(root.join(OsStr::from_bytes(path)), flags, Mode::empty()) else {
        return Vec::new();
    };
    let is_same = |file: &super::cache::KnownFile| {
        let stat = rustix::fs::statat(&folder, file.name.as_slice(), AtFlags::SYMLINK_NOFOLLOW);
        stat.is_ok_and(|stat| Facts::from(&stat) == file.facts)
    };
    known.files.iter().map(is_same).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::sync::Arc;

    use gix::ObjectId;

    use super::super::cache::KnownFile;
    use super::super::tree::ItemKind;
    use super::*;

    fn known(root: &Path, files: usize) -> Cache {
        let id = ObjectId::empty_tree(gix::hash::Kind::Sha1);
        let mut folders = HashMap::new();
        for folder in ["a", "a.b", "a/b", "c"] {
            std::fs::create_dir_all(root.join(folder)).unwrap();
            let mut all = Vec::new();
            for number in 0..files {
                let name = format!("f{number:04}");
                std::fs::write(root.join(folder).join(&name), "x").unwrap();
                let stat = rustix::fs::lstat(root.join(folder).join(&name)).unwrap();
                all.push(KnownFile { name: name.into_bytes(), facts: Facts::from(&stat), kind: ItemKind::File, id });
            }
            let known = KnownFolder { tree: id, files: all, folders: Vec::new(), whole: None };
            folders.insert(folder.as_bytes().to_vec(), Arc::new(known));
        }
        Cache { folders }
    }

    #[test]
    fn it_comes_from_the_end_until_it_meets_the_walk() {
        let root = tempfile::tempdir().unwrap();
        let cache = known(root.path(), WORTH_IT);
        std::fs::write(root.path().join("c/f0003"), "another").unwrap();
        std::fs::remove_file(root.path().join("c/f0004")).unwrap();
        let ahead = Ahead::of(&cache);
        // The walk is in the second of four.
        assert!(ahead.reached(b"a").is_empty() && ahead.reached(b"a/b").is_empty());
        ahead.look(root.path());
        assert_eq!(ahead.reached(b"a.b"), [true; WORTH_IT], "what is in a folder comes before what is beside it");
        let last = ahead.reached(b"c");
        let different: Vec<usize> = (0..WORTH_IT).filter(|at| !last[*at]).collect();
        assert_eq!(different, [3, 4]);
        assert!(ahead.reached(b"a/b").is_empty(), "the walk was there before");
    }

    #[test]
    fn nothing_is_done_where_there_is_little_or_nobody_waits() {
        let root = tempfile::tempdir().unwrap();
        assert!(Ahead::of(&known(root.path(), 5)).is_empty());
        let cache = known(root.path(), WORTH_IT);
        let ahead = Ahead::of(&cache);
        ahead.end();
        ahead.look(root.path());
        assert!(ahead.reached(b"c").is_empty());
    }
}

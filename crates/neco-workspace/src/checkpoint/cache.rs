//! What was known of the files at the last look: a file with the same facts has the same content.
//!
//! Facts count only when they are older than the look itself: a file that was written in the very
//! moment it was read could be written again without its time changing. Such files are read anew.

use std::collections::HashMap;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use gix::ObjectId;
use rustix::fs::Stat;

use super::error::CheckpointError;
use super::tree::ItemKind;
use crate::bytes::{Damaged, Reader, fingerprint, put_bytes, put_number};

/// What a file of this kind begins with; another number for another form.
const MAGIC: &[u8; 8] = b"necofs04";

/// A system may give the same time to writes that are this far apart.
const MOMENT: Duration = Duration::from_millis(50);

/// What the system says of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// Its bytes.
    pub size: u64,
    inode: u64,
    modified: (i64, i64),
    changed: (i64, i64),
    /// What it is, and its permissions.
    pub mode: u32,
}

impl From<&Stat> for Facts {
    fn from(stat: &Stat) -> Self {
        Self {
            size: u64::try_from(stat.st_size).unwrap_or(0),
            inode: stat.st_ino,
            modified: (stat.st_mtime, nanoseconds(stat.st_mtime_nsec)),
            changed: (stat.st_ctime, nanoseconds(stat.st_ctime_nsec)),
            mode: stat.st_mode,
        }
    }
}

/// A field that has another type on every system.
pub fn nanoseconds(value: impl TryInto<i64>) -> i64 {
    value.try_into().unwrap_or(0)
}

/// Tells whether a file of ours was replaced meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp(Facts);

impl Stamp {
    /// The stamp of a file; nothing when there is none.
    pub fn of(path: &Path) -> Option<Self> {
        rustix::fs::stat(path).ok().map(|stat| Self(Facts::from(&stat)))
    }
}

/// A file at the last look.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownFile {
    /// Its name in its folder.
    pub name: Vec<u8>,
    /// What the system said of it; all zero when that can't be relied on.
    pub facts: Facts,
    pub kind: ItemKind,
    /// Its content.
    pub id: ObjectId,
}

/// A folder at the last look.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownFolder {
    pub tree: ObjectId,
    /// Its files, sorted by name.
    pub files: Vec<KnownFile>,
    /// The names of the folders in it that have a tree of their own, sorted.
    pub folders: Vec<Vec<u8>>,
    /// Set when all that was in it was part of the state.
    pub whole: Option<Whole>,
}

/// A folder of which everything was part of the state: as long as the system says the same of it, it holds no other
/// names, and as long as the same rules hold, nothing of it is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Whole {
    /// What the system said of the folder.
    pub facts: Facts,
    /// The rules, as [`super::leave_out::LeaveOut::key`] names them.
    pub rules: u64,
}

impl KnownFolder {
    pub fn file(&self, name: &[u8]) -> Option<&KnownFile> {
        self.files.get(self.position(name)?)
    }

    /// Where a file stands among them.
    pub fn position(&self, name: &[u8]) -> Option<usize> {
        self.files.binary_search_by(|file| file.name.as_slice().cmp(name)).ok()
    }
}

/// All folders at the last look, by path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cache {
    pub folders: HashMap<Vec<u8>, Arc<KnownFolder>>,
}

/// The moment a look begins.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    reliable_before: (i64, i64),
}

impl Look {
    /// Now.
    pub fn begin() -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().saturating_sub(MOMENT);
        Self { reliable_before: (i64::try_from(now.as_secs()).unwrap_or(i64::MAX), i64::from(now.subsec_nanos())) }
    }

    /// The facts of a file, as far as they can be relied on later.
    pub fn remembers(&self, facts: Facts) -> Facts {
        if self.relies_on(&facts) { facts } else { Facts::default() }
    }

    /// Whether nothing can happen from now on without these facts becoming others.
    pub fn relies_on(&self, facts: &Facts) -> bool {
        [facts.modified, facts.changed].into_iter().all(|time| match time {
            // Some file systems know whole seconds only.
            (second, 0) => second.saturating_add(2) < self.reliable_before.0,
            time => time < self.reliable_before,
        })
    }
}

impl Cache {
    /// What a file holds; nothing when it is missing or none: then everything is read anew.
    pub fn load(path: &Path) -> Option<Self> {
        let bytes = fs::read(path).ok()?;
        let (body, sum) = bytes.split_at_checked(bytes.len().checked_sub(8)?)?;
        let is_whole = body.starts_with(MAGIC) && fingerprint(body).to_le_bytes() == sum;
        is_whole.then(|| read_cache(Reader(body.get(MAGIC.len()..).unwrap_or_default())).ok()).flatten()
    }

    /// Writes a file in the place of the old one, whole or not at all.
    pub fn save(&self, path: &Path) -> Result<(), CheckpointError> {
        let mut bytes = MAGIC.to_vec();
        for (path, folder) in &self.folders {
            put_bytes(&mut bytes, path);
            bytes.extend_from_slice(folder.tree.as_bytes());
            bytes.push(u8::from(folder.whole.is_some()));
            if let Some(Whole { facts, rules }) = &folder.whole {
                put_facts(&mut bytes, facts);
                bytes.extend_from_slice(&rules.to_le_bytes());
            }
            put_number(&mut bytes, folder.folders.len() as u64);
            folder.folders.iter().for_each(|name| put_bytes(&mut bytes, name));
            put_number(&mut bytes, folder.files.len() as u64);
            folder.files.iter().for_each(|file| put_file(&mut bytes, file));
        }
        let sum = fingerprint(&bytes);
        bytes.extend_from_slice(&sum.to_le_bytes());
        replace(path, &bytes)
    }

    /// Forgets the folders that hold a path, seen from the workspace.
    pub fn forget(&mut self, path: &[u8]) {
        let ends = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
        for end in ends.chain([0]) {
            self.folders.remove(path.get(..end).unwrap_or_default());
        }
    }
}

/// Puts a file in the place of another, whole or not at all.
pub fn replace(path: &Path, bytes: &[u8]) -> Result<(), CheckpointError> {
    let folder = path.parent().unwrap_or(path);
    let failed = |error| CheckpointError::at(path, error);
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
    file.write_all(bytes).map_err(failed)?;
    file.persist(path).map_err(|error| failed(error.error))?;
    Ok(())
}

fn put_file(out: &mut Vec<u8>, file: &KnownFile) {
    put_bytes(out, &file.name);
    out.push(match file.kind {
        ItemKind::File => 0,
        ItemKind::Program => 1,
        ItemKind::Link => 2,
        ItemKind::Folder => 3,
    });
    out.extend_from_slice(file.id.as_bytes());
    put_facts(out, &file.facts);
}

fn put_facts(out: &mut Vec<u8>, facts: &Facts) {
    for number in [facts.size, facts.inode, u64::from(facts.mode)] {
        out.extend_from_slice(&number.to_le_bytes());
    }
    for number in [facts.modified.0, facts.modified.1, facts.changed.0, facts.changed.1] {
        out.extend_from_slice(&number.to_le_bytes());
    }
}

fn read_cache(mut reader: Reader<'_>) -> Result<Cache, Damaged> {
    let mut folders = HashMap::new();
    while !reader.is_empty() {
        let path = reader.bytes()?.to_vec();
        let tree = read_id(&mut reader)?;
        let whole = match reader.take(1)? {
            [0] => None,
            _ => Some(Whole { facts: read_facts(&mut reader)?, rules: reader.fixed()? }),
        };
        let count = reader.number()?;
        let below = (0..count).map(|_| Ok(reader.bytes()?.to_vec())).collect::<Result<_, Damaged>>()?;
        let count = reader.number()?;
        let files = (0..count).map(|_| read_file(&mut reader)).collect::<Result<_, Damaged>>()?;
        folders.insert(path, Arc::new(KnownFolder { tree, files, folders: below, whole }));
    }
    Ok(Cache { folders })
}

fn read_id(reader: &mut Reader<'_>) -> Result<ObjectId, Damaged> {
    ObjectId::try_from(reader.take(20)?).map_err(|_| Damaged)
}

fn read_file(reader: &mut Reader<'_>) -> Result<KnownFile, Damaged> {
    let name = reader.bytes()?.to_vec();
    let kind = match reader.take(1)? {
        [0] => ItemKind::File,
        [1] => ItemKind::Program,
        [2] => ItemKind::Link,
        _ => return Err(Damaged),
    };
    Ok(KnownFile { name, kind, id: read_id(reader)?, facts: read_facts(reader)? })
}

fn read_facts(reader: &mut Reader<'_>) -> Result<Facts, Damaged> {
    let (size, inode) = (reader.fixed()?, reader.fixed()?);
    let mode = u32::try_from(reader.fixed()?).map_err(|_| Damaged)?;
    let mut time = || Ok((reader.fixed()?.cast_signed(), reader.fixed()?.cast_signed()));
    Ok(Facts { size, inode, modified: time()?, changed: time()?, mode })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn facts_are_relied_on_when_nothing_can_happen_in_the_same_moment() {
        let look = Look { reliable_before: (100, 500) };
        let at = |modified, changed| Facts { modified, changed, ..Facts::default() };
        assert!(look.relies_on(&at((100, 499), (99, 1))));
        assert!(!look.relies_on(&at((100, 500), (99, 1))) && !look.relies_on(&at((99, 1), (100, 501))));
        assert!(!look.relies_on(&at((98, 0), (1, 1))), "a file system of whole seconds");
        assert!(look.relies_on(&at((97, 0), (97, 0))));
    }

    proptest! {
        #[test]
        fn a_cache_is_read_as_it_was_written_and_a_torn_one_is_none(
            names in prop::collection::btree_set(prop::collection::vec(1u8..255, 1..6), 0..6),
            size in any::<u64>(), time in any::<i64>(), cut in 0usize..400, flip in any::<u8>(),
            rules in any::<Option<u64>>(),
        ) {
            let id = ObjectId::empty_tree(gix::hash::Kind::Sha1);
            let facts = Facts { size, inode: size ^ 7, modified: (time, 3), changed: (time, 4), mode: 0o100644 };
            let files = names.into_iter().map(|name| KnownFile { name, facts, kind: ItemKind::Program, id });
            let files: Vec<KnownFile> = files.collect();
            let folders = files.iter().map(|file| file.name.clone()).collect();
            let whole = rules.map(|rules| Whole { facts, rules });
            let folder = Arc::new(KnownFolder { tree: id, files, folders, whole });
            let cache = Cache { folders: [(b"a/b".to_vec(), Arc::clone(&folder)), (Vec::new(), folder)].into() };
            let place = tempfile::tempdir().unwrap();
            let path = place.path().join("cache");
            cache.save(&path).unwrap();
            prop_assert_eq!(Cache::load(&path), Some(cache));
            let mut bytes = fs::read(&path).unwrap();
            let at = cut % bytes.len();
            bytes[at] ^= flip | 1;
            fs::write(&path, &bytes).unwrap();
            prop_assert_eq!(Cache::load(&path), None, "a flipped byte");
            bytes[at] ^= flip | 1;
            bytes.truncate(at);
            fs::write(&path, &bytes).unwrap();
            prop_assert_eq!(Cache::load(&path), None, "a cut tail");
        }
    }
}

//! The manifest: which files are indexed, as what, and which segments hold them. Whoever replaces it
//! has committed; all else in the folder of the index is scratch.

use std::cmp::Ordering;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use super::store::IndexError;
use crate::bytes::{Damaged, Reader, fingerprint, put_bytes, put_number};

/// Changes with every change of what is stored or how; what was written otherwise is built anew.
const FORMAT: &[u8] = b"neco index 1\n";
const NAME: &str = "manifest";

/// Which files are indexed, as what, and which segments hold them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Manifest {
    /// The folder that is indexed.
    pub(super) root: PathBuf,
    /// Grows with every commit; zero while nothing is indexed.
    pub(super) generation: u64,
    pub(super) next_segment: u64,
    pub(super) segments: Vec<SegmentEntry>,
    /// By path.
    pub(super) files: Vec<FileEntry>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SegmentEntry {
    pub(super) id: u64,
    /// How many files it was written with.
    pub(super) docs: u32,
}

/// What is known of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FileEntry {
    /// From the root.
    pub(super) path: PathBuf,
    pub(super) stamp: FileStamp,
    pub(super) fingerprint: u64,
    /// Whether the stamp alone tells that it is unchanged; a file that was changed in the moment it
    /// was read can change again and look the same.
    pub(super) settled: bool,
    /// Where it is; nothing for a file that holds no text.
    pub(super) place: Option<Place>,
}

/// Where a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) segment: u64,
    pub(super) doc: u32,
    /// How much text it has.
    pub(super) length: u32,
}

/// What tells one state of a file from another without reading it; times in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct FileStamp {
    pub(super) size: u64,
    pub(super) modified: i64,
    /// Unlike the time of modification nobody can set it back.
    pub(super) changed: i64,
}

impl Manifest {
    /// The manifest of an index that is begun. Its numbers are larger than those of any that was there
    /// before: whoever still has that open must not take the new one for it.
    pub(super) fn begun(root: &Path) -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |since| since.as_micros());
        let now = u64::try_from(now).unwrap_or(1);
        Self { root: root.to_path_buf(), generation: now, next_segment: now, ..Self::default() }
    }

    /// The manifest in a folder; nothing when there is none.
    pub(super) fn load(folder: &Path) -> Result<Option<Self>, IndexError> {
        let bytes = match fs::read(folder.join(NAME)) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        Ok(Some(Self::decode(&bytes)?))
    }

    /// Puts it into a folder in the place of the one before.
    pub(super) fn save(&self, folder: &Path) -> io::Result<()> {
        let mut file = tempfile::Builder::new().prefix("new-").tempfile_in(folder)?;
        file.write_all(&self.encode())?;
        file.persist(folder.join(NAME)).map(drop).map_err(|failed| failed.error)
    }

    /// Removes it from a folder: nothing is indexed any more.
    pub(super) fn remove(folder: &Path) -> io::Result<()> {
        match fs::remove_file(folder.join(NAME)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// Whether it is still the one in the folder: told without reading all of it.
    pub(super) fn is_current(&self, folder: &Path) -> bool {
        let Ok(file) = fs::File::open(folder.join(NAME)) else { return self.generation == 0 };
        let mut head = Vec::new();
        let read = io::Read::read_to_end(&mut io::Read::take(file, (FORMAT.len() + 8) as u64), &mut head);
        read.is_ok() && head.get(FORMAT.len()..) == Some(&self.generation.to_le_bytes())
    }

    /// What is known of a file.
    pub(super) fn file(&self, path: &Path) -> Option<&FileEntry> {
        let at = self.files.binary_search_by(|entry| in_order(&entry.path, path)).ok()?;
        self.files.get(at)
    }

    /// Puts entries in the place of those with the same paths.
    pub(super) fn put(&mut self, mut entries: Vec<FileEntry>) {
        self.files.append(&mut entries);
        // The newer of two comes behind the older, and the sort keeps that.
        self.files.sort_by(|a, b| in_order(&a.path, &b.path));
        self.files.dedup_by(|newer, older| {
            let same = newer.path.as_os_str() == older.path.as_os_str();
            if same {
                std::mem::swap(newer, older);
            }
            same
        });
    }

    fn encode(&self) -> Vec<u8> {
        let mut body = Vec::with_capacity(self.files.len() * 64 + 256);
        put_bytes(&mut body, self.root.as_os_str().as_bytes());
        put_number(&mut body, self.next_segment);
        put_number(&mut body, self.segments.len() as u64);
        for segment in &self.segments {
            put_number(&mut body, segment.id);
            put_number(&mut body, u64::from(segment.docs));
        }
        let mut last: &[u8] = &[];
        for file in &self.files {
            let path = file.path.as_os_str().as_bytes();
            let shared = last.iter().zip(path).take_while(|(a, b)| a == b).count();
            put_number(&mut body, shared as u64);
            put_bytes(&mut body, path.get(shared..).unwrap_or_default());
            file.encode(&mut body);
            last = path;
        }
        let mut out = FORMAT.to_vec();
        out.extend_from_slice(&self.generation.to_le_bytes());
        out.extend_from_slice(&(fingerprint(&body) ^ self.generation).to_le_bytes());
        out.append(&mut body);
        out
    }

    fn decode(bytes: &[u8]) -> Result<Self, Damaged> {
        let mut reader = Reader(bytes.strip_prefix(FORMAT).ok_or(Damaged)?);
        let (generation, expected) = (reader.fixed()?, reader.fixed()?);
        if fingerprint(reader.0) ^ generation != expected {
            return Err(Damaged);
        }
        let root = PathBuf::from(OsStr::from_bytes(reader.bytes()?));
        let next_segment = reader.number()?;
        let mut segments = Vec::new();
        for _ in 0..reader.number()? {
            segments.push(SegmentEntry { id: reader.number()?, docs: reader.small()? });
        }
        let (mut files, mut last) = (Vec::new(), Vec::new());
        while !reader.is_empty() {
            let shared = usize::try_from(reader.number()?).map_err(|_| Damaged)?;
            if shared > last.len() {
                return Err(Damaged);
            }
            last.truncate(shared);
            last.extend_from_slice(reader.bytes()?);
            files.push(FileEntry::decode(PathBuf::from(OsStr::from_bytes(&last)), &mut reader)?);
        }
        Ok(Self { root, generation, next_segment, segments, files })
    }
}

/// The order of paths in the manifest: by their bytes, which is much quicker to tell than by their names.
pub(super) fn in_order(a: &Path, b: &Path) -> Ordering {
    a.as_os_str().as_bytes().cmp(b.as_os_str().as_bytes())
}

impl FileEntry {
    fn encode(&self, out: &mut Vec<u8>) {
        put_number(out, u64::from(self.settled) | u64::from(self.place.is_some()) << 1);
        put_number(out, self.stamp.size);
        for number in [self.stamp.modified as u64, self.stamp.changed as u64, self.fingerprint] {
            out.extend_from_slice(&number.to_le_bytes());
        }
        if let Some(place) = self.place {
            put_number(out, place.segment);
            put_number(out, u64::from(place.doc));
            put_number(out, u64::from(place.length));
        }
    }

    fn decode(path: PathBuf, reader: &mut Reader<'_>) -> Result<Self, Damaged> {
        let flags = reader.number()?;
        let size = reader.number()?;
        let (modified, changed) = (reader.fixed()? as i64, reader.fixed()? as i64);
        let fingerprint = reader.fixed()?;
        let place = if flags & 2 == 2 {
            Some(Place { segment: reader.number()?, doc: reader.small()?, length: reader.small()? })
        } else {
            None
        };
        let stamp = FileStamp { size, modified, changed };
        Ok(Self { path, stamp, fingerprint, settled: flags & 1 == 1, place })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(path: &str, fingerprint: u64) -> FileEntry {
        let stamp = FileStamp { size: 12, modified: -5, changed: 1 << 60 };
        let place = fingerprint.is_multiple_of(2).then_some(Place { segment: 3, doc: 7, length: 900 });
        FileEntry { path: path.into(), stamp, fingerprint, settled: fingerprint > 4, place }
    }

    fn sample() -> Manifest {
        Manifest {
            root: "/home/me/code".into(),
            generation: 9,
            next_segment: 5,
            segments: vec![SegmentEntry { id: 3, docs: 8 }, SegmentEntry { id: 4, docs: 1 }],
            files: vec![entry("a/b.rs", 1), entry("a/bc.rs", 2), entry("b", 5)],
        }
    }

    #[test]
    fn what_is_saved_is_loaded() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(Manifest::load(folder.path()).unwrap(), None);
        let manifest = sample();
        manifest.save(folder.path()).unwrap();
        assert_eq!(Manifest::load(folder.path()).unwrap(), Some(manifest.clone()));
        assert!(manifest.is_current(folder.path()));
        assert!(!Manifest { generation: 10, ..manifest }.is_current(folder.path()));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn damage_is_seen() {
        let good = sample().encode();
        for at in 0..good.len() {
            let mut bad = good.clone();
            bad[at] ^= 4;
            assert!(Manifest::decode(&bad).is_err(), "{at}");
            assert!(Manifest::decode(&good[..at]).is_err(), "{at}");
        }
    }

    #[test]
    fn newer_entries_take_the_place_of_older_ones() {
        let mut manifest = sample();
        manifest.put(vec![entry("b", 8), entry("a/bb.rs", 6)]);
        let found: Vec<_> = manifest.files.iter().map(|file| (file.path.to_str().unwrap(), file.fingerprint)).collect();
        assert_eq!(found, [("a/b.rs", 1), ("a/bb.rs", 6), ("a/bc.rs", 2), ("b", 8)]);
        assert_eq!(manifest.file(Path::new("b")).unwrap().fingerprint, 8);
        assert_eq!(manifest.file(Path::new("c")), None);
    }
}

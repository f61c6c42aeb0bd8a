//! The files of a folder that somebody brings: a skill or a plugin. What trust in it covers is every byte of them.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

/// The most that a folder may hold.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits {
    /// Files.
    pub files: usize,
    /// Folders within folders.
    pub depth: usize,
    /// Bytes of all files that trust covers.
    pub bytes: u64,
    /// Names of folders that are left out.
    pub left_out: &'static [&'static str],
}

/// Why nobody can say what a folder holds.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// It holds too much.
    #[error("its folder holds more than {} files or as many folders, or they lie deeper than {} folders", .0.files, .0.depth)]
    TooMany(Limits),
    /// Its files are too big.
    #[error("the files of its folder have more than {} MB", .0.bytes / 1024 / 1024)]
    TooBig(Limits),
    /// A link leads out of it.
    #[error("{} leads out of its folder", .0.display())]
    LeadsOut(PathBuf),
    /// A link stands for a folder in it.
    #[error("{} is a link to a folder, whose files are neither taken nor watched there: put them there", .0.display())]
    LinkedFolder(PathBuf),
    /// Something in it is neither a file nor a folder: reading it may take for ever.
    #[error("{} is neither a file nor a folder", .0.display())]
    NoFile(PathBuf),
    /// It can't be read.
    #[error("its folder can't be read: {0}")]
    Io(#[from] io::Error),
}

/// The files of a folder, by their paths in it.
#[derive(Debug, Default)]
pub struct FolderFiles {
    folder: PathBuf,
    limits: Limits,
    files: Vec<(PathBuf, fs::Metadata)>,
    left_out: Vec<PathBuf>,
}

impl FolderFiles {
    /// Looks which files there are; reads none of them.
    ///
    /// # Errors
    /// When there are too many, or one of them is a link that leads out or to a folder.
    pub fn of(folder: &Path, limits: Limits) -> Result<Self, FolderError> {
        let folder = &folder.canonicalize()?;
        let mut found = Self { folder: folder.clone(), limits, ..Self::default() };
        let (mut open, mut others) = (vec![(folder.clone(), 0)], 0);
        while let Some((here, depth)) = open.pop() {
            for entry in fs::read_dir(&here)? {
                let path = entry?.path();
                let kind = fs::symlink_metadata(&path)?;
                if kind.is_symlink() && !fs::canonicalize(&path).is_ok_and(|path| path.starts_with(folder)) {
                    return Err(FolderError::LeadsOut(path));
                }
                let facts = fs::metadata(&path)?;
                if !facts.is_file() && !facts.is_dir() {
                    return Err(FolderError::NoFile(path));
                }
                others += usize::from(!facts.is_file());
                if facts.is_file() {
                    found.files.push((path, facts));
                } else if facts.is_dir() && limits.leave_out(&path) {
                    found.left_out.push(path);
                } else if facts.is_dir() && kind.is_symlink() {
                    // It would be walked twice, or for ever.
                    return Err(FolderError::LinkedFolder(path));
                } else if facts.is_dir() && depth == limits.depth {
                    return Err(FolderError::TooMany(limits));
                } else if facts.is_dir() {
                    open.push((path, depth + 1));
                }
                if found.files.len().max(others) > limits.files {
                    return Err(FolderError::TooMany(limits));
                }
            }
        }
        found.files.sort_by(|one, other| one.0.cmp(&other.0));
        found.left_out.sort();
        Ok(found)
    }

    /// Bytes of all of them.
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|(_, file)| file.len()).sum()
    }

    /// The paths, as they stand in the folder.
    pub fn names(&self) -> impl Iterator<Item = &Path> {
        self.files.iter().filter_map(|(path, _)| path.strip_prefix(&self.folder).ok())
    }

    /// The folders that are left out with all that they hold.
    pub fn left_out(&self) -> impl Iterator<Item = &Path> {
        self.left_out.iter().filter_map(|path| path.strip_prefix(&self.folder).ok())
    }

    /// Another text when any of the files is another one, as far as the system tells without reading them.
    pub fn stamp(&self) -> String {
        let mut digest = Sha256::new();
        for (path, file) in &self.files {
            digest.update(path.as_os_str().as_encoded_bytes());
            stamp(file).iter().for_each(|number| digest.update(number.to_le_bytes()));
        }
        hex(digest)
    }

    /// What trust in the folder is trust in: every file of it, to the byte.
    ///
    /// # Errors
    /// When they are too big, or can't be read.
    pub fn hash(&self) -> Result<String, FolderError> {
        self.hash_with(|_, _| ())
    }

    /// The same, with the bytes of the file of this path as they were hashed; empty where there is none.
    ///
    /// # Errors
    /// When they are too big, or can't be read.
    pub fn hash_and_read(&self, wanted: &Path) -> Result<(String, Vec<u8>), FolderError> {
        let mut read = Vec::new();
        let hash = self.hash_with(|name, bytes| {
            if name == wanted {
                read = bytes.to_vec();
            }
        })?;
        Ok((hash, read))
    }

    /// The same, with every file as it was hashed handed to `each`.
    ///
    /// # Errors
    /// When they are too big, or can't be read.
    pub fn hash_with(&self, mut each: impl FnMut(&Path, &[u8])) -> Result<String, FolderError> {
        let mut digest = Sha256::new();
        digest.update(b"folder\0");
        self.read_all(|name, bytes| {
            for part in [name.as_os_str().as_encoded_bytes(), bytes] {
                digest.update((part.len() as u64).to_le_bytes());
                digest.update(part);
            }
            each(name, bytes);
        })?;
        Ok(hex(digest))
    }

    /// The hash of each file, by its path in the folder: where [`Self::hash`] is another one, these say why.
    ///
    /// # Errors
    /// When they are too big, or can't be read.
    pub fn hashes(&self) -> Result<BTreeMap<String, String>, FolderError> {
        let mut hashes = BTreeMap::new();
        self.read_all(|name, bytes| {
            hashes.insert(name.display().to_string(), hex(Sha256::new_with_prefix(bytes)));
        })?;
        Ok(hashes)
    }

    /// Copies every file with its bits into a folder. What a link leads to is a file of its own there.
    ///
    /// # Errors
    /// When one of them can't be copied: the path and why.
    pub fn copy_to(&self, folder: &Path) -> Result<(), (PathBuf, io::Error)> {
        for (from, _) in &self.files {
            let to = folder.join(from.strip_prefix(&self.folder).unwrap_or(from));
            to.parent().map_or(Ok(()), fs::create_dir_all).map_err(|error| (to.clone(), error))?;
            fs::copy(from, to).map_err(|error| (from.clone(), error))?;
        }
        Ok(())
    }

    /// Reads every file, in the order of their paths.
    ///
    /// # Errors
    /// When they are too big, or can't be read.
    pub fn read_all(&self, mut each: impl FnMut(&Path, &[u8])) -> Result<(), FolderError> {
        if self.bytes() > self.limits.bytes {
            return Err(FolderError::TooBig(self.limits));
        }
        for (path, _) in &self.files {
            let mut bytes = Vec::new();
            fs::File::open(path)?.take(self.limits.bytes).read_to_end(&mut bytes)?;
            each(path.strip_prefix(&self.folder).unwrap_or(path), &bytes);
        }
        Ok(())
    }
}

impl Limits {
    fn leave_out(self, path: &Path) -> bool {
        path.file_name().is_some_and(|name| self.left_out.iter().any(|one| name == *one))
    }
}

/// When a file was changed, how big it is and which it is.
pub(crate) type Stamp = [u64; 6];

/// What the system tells of a file. Whoever sets back the time of a file can't set back when it was changed last.
pub(crate) fn stamp(file: &fs::Metadata) -> Stamp {
    let times = [file.mtime(), file.mtime_nsec(), file.ctime(), file.ctime_nsec()].map(i64::cast_unsigned);
    let [written, written_part, changed, changed_part] = times;
    [written, written_part, changed, changed_part, file.len(), file.ino()]
}

fn hex(digest: Sha256) -> String {
    digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    const LIMITS: Limits = Limits { files: 50, depth: 3, bytes: 1024, left_out: &[".git"] };

    #[test]
    fn every_byte_counts_and_no_link_leads_out() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().canonicalize().unwrap().join("skill");
        fs::create_dir_all(folder.join("scripts")).unwrap();
        fs::write(folder.join("SKILL.md"), "x").unwrap();
        fs::write(folder.join("scripts/run.sh"), "echo").unwrap();
        let hash = || FolderFiles::of(&folder, LIMITS).unwrap().hash().unwrap();
        let before = hash();
        assert_eq!(before, hash());
        fs::write(folder.join("scripts/run.sh"), "ech0").unwrap();
        assert_ne!(before, hash(), "the same size");
        let names: Vec<PathBuf> = FolderFiles::of(&folder, LIMITS).unwrap().names().map(Path::to_owned).collect();
        assert_eq!(names, [PathBuf::from("SKILL.md"), PathBuf::from("scripts/run.sh")]);
        symlink("SKILL.md", folder.join("inside.md")).unwrap();
        assert_eq!(FolderFiles::of(&folder, LIMITS).unwrap().names().count(), 3);
        symlink("../../..", folder.join("scripts/up")).unwrap();
        assert!(matches!(FolderFiles::of(&folder, LIMITS), Err(FolderError::LeadsOut(_))));
        fs::remove_file(folder.join("scripts/up")).unwrap();
        symlink("/etc/passwd", folder.join("passwd")).unwrap();
        assert!(matches!(FolderFiles::of(&folder, LIMITS), Err(FolderError::LeadsOut(_))));
    }

    #[test]
    fn a_link_to_a_folder_is_refused_and_what_is_left_out_is_told() {
        let place = tempfile::tempdir().unwrap();
        fs::create_dir_all(place.path().join("a/.git")).unwrap();
        fs::write(place.path().join("a/x"), "").unwrap();
        let files = FolderFiles::of(place.path(), LIMITS).unwrap();
        assert_eq!(files.left_out().collect::<Vec<_>>(), [Path::new("a/.git")]);
        symlink("a", place.path().join("b")).unwrap();
        let error = FolderFiles::of(place.path(), LIMITS).unwrap_err();
        assert!(matches!(&error, FolderError::LinkedFolder(link) if link.ends_with("b")), "{error}");
    }

    #[test]
    fn a_huge_folder_is_refused() {
        let empty = tempfile::tempdir().unwrap();
        for number in 0..=LIMITS.files {
            fs::create_dir(empty.path().join(number.to_string())).unwrap();
        }
        assert!(matches!(FolderFiles::of(empty.path(), LIMITS), Err(FolderError::TooMany(_))), "folders count, too");
        let place = tempfile::tempdir().unwrap();
        for number in 0..=LIMITS.files {
            fs::write(place.path().join(number.to_string()), "").unwrap();
        }
        assert!(matches!(FolderFiles::of(place.path(), LIMITS), Err(FolderError::TooMany(_))));
        let deep = tempfile::tempdir().unwrap();
        fs::create_dir_all(deep.path().join("a/b/c/d/e/f/g/h")).unwrap();
        assert!(matches!(FolderFiles::of(deep.path(), LIMITS), Err(FolderError::TooMany(_))));
        let big = tempfile::tempdir().unwrap();
        fs::File::create(big.path().join("big")).unwrap().set_len(LIMITS.bytes + 1).unwrap();
        assert!(matches!(FolderFiles::of(big.path(), LIMITS).unwrap().hash(), Err(FolderError::TooBig(_))));
    }
}

//! One folder of entries: listed, read and written, never through a link that leads out of it.

use std::fs::{self, DirBuilder, File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use neco_proto::event::MemoryScope;
use neco_safety::PathError;
use neco_safety::path::{Access, Attributes, Located, Stamp};
use neco_safety::world::Files;

/// What entries are called.
const ENDING: &str = ".md";

/// A file beyond this is no entry.
pub const MOST_BYTES: u64 = 256 * 1024;

/// Files beyond this many in one folder are left out.
pub const MOST_FILES: usize = 5000;

/// Where the entries of a folder lie in it.
const IN_FOLDER: &str = ".neco/memory";

/// One folder of entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folder {
    /// Whose entries these are.
    pub scope: MemoryScope,
    /// What no path may lead out of.
    base: PathBuf,
    below: &'static str,
}

/// A file of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    pub name: String,
    /// When it was last written, in nanoseconds since 1970.
    pub modified_ns: i64,
    pub size: i64,
}

/// Why a file of a folder was not read or written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FolderError {
    /// It is not as it was seen.
    #[error("{0}")]
    Changed(String),
    /// Something stands in the way.
    #[error("{0}")]
    Failed(String),
}

impl From<PathError> for FolderError {
    fn from(error: PathError) -> Self {
        match error {
            PathError::Changed(_) => Self::Changed(error.to_string()),
            error => Self::Failed(error.to_string()),
        }
    }
}

impl Folder {
    /// The person's own entries.
    pub fn global(data_dir: &Path) -> Self {
        Self { scope: MemoryScope::Global, base: data_dir.join("memory"), below: "." }
    }

    /// The entries that lie in a folder.
    pub fn of_directory(folder: &Path) -> Self {
        Self { scope: MemoryScope::Directory, base: folder.to_owned(), below: IN_FOLDER }
    }

    /// Where its files are.
    pub fn path(&self) -> PathBuf {
        match self.scope {
            MemoryScope::Global => self.base.clone(),
            MemoryScope::Directory => self.base.join(self.below),
        }
    }

    /// Its files by name; none when it is not there.
    /// Fails when it can't be looked at, or leads out of where it lies.
    pub fn list(&self) -> io::Result<Vec<Listed>> {
        let folder = match self.located() {
            Ok(Some(folder)) => folder,
            Ok(None) => return Ok(Vec::new()),
            Err(error) => return Err(io::Error::other(error.to_string())),
        };
        let mut files = Vec::new();
        for item in fs::read_dir(folder.path())? {
            let item = item?;
            let Ok(name) = item.file_name().into_string() else { continue };
            // A link is no entry: it could lead anywhere.
            let Some(metadata) = item.metadata().ok().filter(Metadata::is_file) else { continue };
            if name.ends_with(ENDING) && !name.starts_with('.') && !name.eq_ignore_ascii_case("readme.md") {
                files.push(Listed { name, modified_ns: modified_ns(&metadata), size: metadata.len().cast_signed() });
            }
        }
        files.sort_by(|one, other| one.name.cmp(&other.name));
        files.truncate(MOST_FILES);
        Ok(files)
    }

    /// The bytes of a file.
    /// Fails when it is not there, is too large, is no file, or belongs to somebody else.
    pub fn read(&self, name: &str) -> io::Result<Vec<u8>> {
        let folder = self.located().map_err(|error| io::Error::other(error.to_string()))?;
        let folder = folder.ok_or(io::ErrorKind::NotFound)?;
        let file = folder.open_below(&folder.path().join(name))?;
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(io::Error::other("not a file"));
        }
        // In a shared folder anybody could leave one.
        let owner = metadata.uid();
        if self.scope == MemoryScope::Directory && owner != 0 && owner != rustix::process::geteuid().as_raw() {
            return Err(io::Error::other("it belongs to another user"));
        }
        let mut bytes = Vec::new();
        file.take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > MOST_BYTES {
            return Err(io::Error::other(format!("larger than {MOST_BYTES} bytes")));
        }
        Ok(bytes)
    }

    /// Where a file is or would be.
    pub fn locate(&self, name: &str) -> Result<Located, FolderError> {
        Ok(self.files()?.locate(Path::new(self.below).join(name), Access::Write)?)
    }

    /// Makes or replaces a file; `before` is what was seen there. `lock` is held meanwhile, and the
    /// person's own entries are as private as it is.
    /// Fails when it can't be written, or is not as it was seen.
    pub fn write(&self, name: &str, text: &str, before: Option<&Stamp>, lock: &Lock) -> Result<(), FolderError> {
        let private = match self.scope {
            MemoryScope::Global => {
                let made = DirBuilder::new().recursive(true).mode(0o700).create(&self.base);
                made.map_err(|error| self.failed(&error))?;
                lock.0.metadata().ok().as_ref().map(Attributes::plain)
            }
            MemoryScope::Directory => None,
        };
        self.locate(name)?.replace_like(text.as_bytes(), before, private.as_ref())?;
        Ok(())
    }

    /// Removes a file that was seen in the state `before`.
    /// Fails when it can't be removed, or is not as it was seen.
    pub fn remove(&self, name: &str, before: &Stamp, _lock: &Lock) -> Result<(), FolderError> {
        Ok(self.locate(name)?.remove(before)?)
    }

    fn files(&self) -> Result<Files, FolderError> {
        Files::new(&self.base, Vec::new()).map_err(|error| self.failed(&error))
    }

    fn failed(&self, error: &io::Error) -> FolderError {
        FolderError::Failed(format!("{}: {error}", self.base.display()))
    }

    /// The folder itself, if it is there.
    fn located(&self) -> Result<Option<Located>, FolderError> {
        if !self.path().is_dir() {
            return Ok(None);
        }
        Ok(Some(self.files()?.locate(self.below, Access::Read)?))
    }
}

/// What two processes don't hold at a time: entries are compared and written in one go.
pub struct Lock(File);

impl Lock {
    /// Waits for the lock in a data folder.
    pub fn take(data_dir: &Path) -> io::Result<Self> {
        let folder = data_dir.join("locks");
        DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
        let mut options = OpenOptions::new();
        options.create(true).truncate(false).read(true).write(true).mode(0o600);
        let file = options.open(folder.join("memory.lock"))?;
        file.lock()?;
        Ok(Self(file))
    }
}

/// The name of an entry's file.
pub fn file_of(id: &str) -> String {
    format!("{id}{ENDING}")
}

/// The name of a file without its ending.
pub fn stem_of(name: &str) -> &str {
    name.strip_suffix(ENDING).unwrap_or(name)
}

fn modified_ns(metadata: &Metadata) -> i64 {
    metadata.mtime().saturating_mul(1_000_000_000).saturating_add(metadata.mtime_nsec())
}

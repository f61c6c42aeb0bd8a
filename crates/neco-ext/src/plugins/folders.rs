//! Folders of plugins and marketplaces: copied beside their place, and put into it whole or not at all.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::installed::{LIMITS, PluginsError};
use crate::folder_files::FolderFiles;

/// A copy of a folder beside the place that it is for; it is gone where nobody put it there.
pub(super) struct Copied {
    beside: PathBuf,
    to: PathBuf,
}

impl Copied {
    /// Copies the files of a folder, which hold no more than a plugin may.
    pub(super) fn of(from: &Path, to: &Path) -> Result<Self, PluginsError> {
        let copied = Self { beside: next_to(to, "new"), to: to.to_owned() };
        remove(&copied.beside)?;
        fs::create_dir_all(&copied.beside).map_err(|error| at(&copied.beside, error))?;
        FolderFiles::of(from, LIMITS)?.copy_to(&copied.beside).map_err(|(path, error)| at(&path, error))?;
        Ok(copied)
    }

    /// The files of the copy.
    pub(super) fn files(&self) -> Result<FolderFiles, PluginsError> {
        Ok(FolderFiles::of(&self.beside, LIMITS)?)
    }

    /// Puts it into its place and does `then` with it there; where that fails, what was there before is there again.
    pub(super) fn place(self, then: impl FnOnce() -> Result<(), PluginsError>) -> Result<(), PluginsError> {
        let (to, before) = (&self.to, next_to(&self.to, "old"));
        if before.exists() && !to.exists() {
            // Whoever did this last was stopped in the middle of it.
            fs::rename(&before, to).map_err(|error| at(to, error))?;
        }
        remove(&before)?;
        let had_one = to.exists();
        if had_one {
            fs::rename(to, &before).map_err(|error| at(to, error))?;
        }
        let placed = fs::rename(&self.beside, to).map_err(|error| at(to, error)).and_then(|()| then());
        if placed.is_err() {
            remove(to)?;
            if had_one {
                fs::rename(&before, to).map_err(|error| at(to, error))?;
            }
        }
        // What was before is no loss; the next one takes it away.
        let _ = remove(&before);
        placed
    }
}

impl Drop for Copied {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.beside);
    }
}

/// A hidden name beside a folder: none of a plugin begins so.
fn next_to(folder: &Path, what: &str) -> PathBuf {
    let name = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    folder.with_file_name(format!(".{what}-{name}"))
}

/// Removes a folder or a file, if it is there.
pub(super) fn remove(path: &Path) -> Result<(), PluginsError> {
    let removed = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(at(path, error)),
        _ => Ok(()),
    }
}

pub(super) fn at(path: &Path, error: io::Error) -> PluginsError {
    PluginsError::Io { path: path.to_owned(), error }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fails_leaves_what_was_there() {
        let place = tempfile::tempdir().unwrap();
        let (from, to) = (place.path().join("from"), place.path().join("to"));
        fs::create_dir(&from).unwrap();
        let put = |text: &str, then: Result<(), PluginsError>| {
            fs::write(from.join("a"), text).unwrap();
            Copied::of(&from, &to).unwrap().place(|| then)
        };
        let failing = || Err(at(&to, io::Error::other("no")));
        assert!(put("none", failing()).is_err() && !to.exists());
        put("first", Ok(())).unwrap();
        assert!(put("second", failing()).is_err());
        assert_eq!(fs::read_to_string(to.join("a")).unwrap(), "first");
        put("third", Ok(())).unwrap();
        assert_eq!(fs::read_to_string(to.join("a")).unwrap(), "third");
        drop(Copied::of(&from, &to).unwrap());
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 2, "nothing is left beside it");
    }
}

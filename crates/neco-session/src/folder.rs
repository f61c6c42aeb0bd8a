//! What a folder is wherever it lies: a folder that was renamed or moved on its disk is still the same one.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// The identity of the folder at `path`: its disk, its place on it, and when it was made, for places are
/// given to others once they are free. `None` where the system does not say all of this.
pub fn identity(path: &Path) -> Option<String> {
    let folder = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_dir)?;
    let made = folder.created().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
    Some(format!("{:x}:{:x}:{}", folder.dev(), folder.ino(), made.as_nanos()))
}

/// Why a folder can't be opened, in plain words.
pub fn why_closed(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such folder".to_owned(),
        io::ErrorKind::NotADirectory => "a part of it is a file, not a folder".to_owned(),
        io::ErrorKind::PermissionDenied => "the system does not let you open it".to_owned(),
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_is_not_there_is_told_in_plain_words() {
        let dir = tempfile::tempdir().unwrap();
        let error = dir.path().join("nowhere").canonicalize().unwrap_err();
        assert_eq!(why_closed(&error), "there is no such folder");
    }

    #[test]
    fn a_folder_that_moves_stays_itself() {
        let dir = tempfile::tempdir().unwrap();
        let (old, new) = (dir.path().join("old"), dir.path().join("new"));
        std::fs::create_dir(&old).unwrap();
        let Some(before) = identity(&old) else { return };
        std::fs::rename(&old, &new).unwrap();
        assert_eq!(identity(&new).as_ref(), Some(&before));
        assert_eq!(identity(&old), None);
        std::fs::create_dir(&old).unwrap();
        assert_ne!(identity(&old), Some(before), "another folder in its place is another one");
    }
}

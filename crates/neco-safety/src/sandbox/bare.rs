//! Folders that git would take for a repository by themselves, and what is done about one that a command made.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Under how many names something is put aside at most.
const MOST_ASIDE: usize = 100;

/// Whether git would take the folder itself for a repository, if nothing better is in it. The parts may lie
/// in the folder that `commondir` names.
pub(crate) fn is_bare(folder: &Path) -> bool {
    let is_there = |name: &str| fs::symlink_metadata(folder.join(name)).is_ok();
    let is_folder = |name: &str| fs::metadata(folder.join(name)).is_ok_and(|found| found.is_dir());
    is_there("HEAD") && (is_there("commondir") || (is_folder("refs") && is_folder("objects")))
}

/// Whether no link is on the way to something: what a command put in a folder's place is not followed.
pub(crate) fn is_straight(path: &Path) -> bool {
    path.parent().is_some_and(|folder| fs::canonicalize(folder).is_ok_and(|real| real == folder))
}

/// Makes it an ordinary folder again: its `HEAD` gets another name. Gives that name, where there was need.
pub(crate) fn unmake(folder: &Path) -> Option<PathBuf> {
    is_bare(folder).then(|| put_aside(&folder.join("HEAD"), "refused").ok()).flatten()
}

/// Gives something another name beside its own, with this word in it, and says which.
///
/// # Errors
/// When it can't be renamed, or there are too many names already.
pub(crate) fn put_aside(path: &Path, word: &str) -> io::Result<PathBuf> {
    if !is_straight(path) {
        return Err(io::Error::other("a link is on the way to it"));
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let free = (1..=MOST_ASIDE)
        .map(|number| path.with_file_name(format!("{name}.{word}-{number}")))
        .find(|aside| fs::symlink_metadata(aside).is_err());
    let aside = free.ok_or_else(|| io::Error::from(io::ErrorKind::AlreadyExists))?;
    fs::rename(path, &aside)?;
    Ok(aside)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_became_a_repository_is_none_any_more() {
        let folder = tempfile::tempdir_in(fs::canonicalize(std::env::temp_dir()).unwrap()).unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("refs")).unwrap();
        fs::write(at("HEAD"), "ref: refs/heads/main").unwrap();
        assert_eq!(unmake(folder.path()), None, "there are no objects");
        fs::create_dir(at("objects")).unwrap();
        assert_eq!(unmake(folder.path()), Some(at("HEAD.refused-1")));
        assert!(!is_bare(folder.path()) && at("HEAD.refused-1").is_file());
        fs::write(at("HEAD"), "again").unwrap();
        assert_eq!(unmake(folder.path()), Some(at("HEAD.refused-2")));
    }

    #[test]
    fn a_repository_whose_parts_lie_elsewhere_is_one_too() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("HEAD"), "ref: refs/heads/main").unwrap();
        assert!(!is_bare(folder.path()));
        fs::write(folder.path().join("commondir"), "sub").unwrap();
        assert!(is_bare(folder.path()));
    }

    #[test]
    fn nothing_is_put_aside_behind_a_link() {
        let folder = tempfile::tempdir_in(fs::canonicalize(std::env::temp_dir()).unwrap()).unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("elsewhere")).unwrap();
        fs::write(at("elsewhere/config"), "theirs").unwrap();
        std::os::unix::fs::symlink(at("elsewhere"), at("git")).unwrap();
        assert!(put_aside(&at("git/config"), "replaced").is_err());
        assert_eq!(fs::read_to_string(at("elsewhere/config")).unwrap(), "theirs");
        assert!(put_aside(&at("elsewhere/config"), "replaced").is_ok());
    }
}

//! Folders that git would take for a repository by themselves, and what is done about one that a command made.

use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::after::hands::Hands;

/// Whether git would take the folder itself for a repository, if nothing better is in it. The parts may lie
/// in the folder that `commondir` names.
pub(crate) fn is_bare(folder: &Path) -> bool {
    let is_there = |name: &str| fs::symlink_metadata(folder.join(name)).is_ok();
    let is_folder = |name: &str| fs::metadata(folder.join(name)).is_ok_and(|found| found.is_dir());
    is_there("HEAD") && (is_there("commondir") || (is_folder("refs") && is_folder("objects")))
}

/// Makes it an ordinary folder again: its `HEAD` gets another name. Gives that name; nothing where there was no need.
pub(crate) fn unmake(hands: &Hands, folder: &Path) -> Option<io::Result<PathBuf>> {
    is_bare(folder).then(|| hands.put_aside(&folder.join("HEAD"), "refused"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_became_a_repository_is_none_any_more() {
        let folder = tempfile::tempdir_in(fs::canonicalize(std::env::temp_dir()).unwrap()).unwrap();
        let at = |name: &str| folder.path().join(name);
        let hands = Hands::open(folder.path()).unwrap();
        fs::create_dir(at("refs")).unwrap();
        fs::write(at("HEAD"), "ref: refs/heads/main").unwrap();
        assert!(unmake(&hands, folder.path()).is_none(), "there are no objects");
        fs::create_dir(at("objects")).unwrap();
        assert_eq!(unmake(&hands, folder.path()).unwrap().unwrap(), at("HEAD.refused-1"));
        assert!(!is_bare(folder.path()) && at("HEAD.refused-1").is_file());
        fs::write(at("HEAD"), "again").unwrap();
        assert_eq!(unmake(&hands, folder.path()).unwrap().unwrap(), at("HEAD.refused-2"));
    }

    #[test]
    fn a_repository_whose_parts_lie_elsewhere_is_one_too() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("HEAD"), "ref: refs/heads/main").unwrap();
        assert!(!is_bare(folder.path()));
        fs::write(folder.path().join("commondir"), "sub").unwrap();
        assert!(is_bare(folder.path()));
    }
}

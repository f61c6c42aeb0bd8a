//! Caches that only boxes use. One that programs outside used too could be a way out; one that the boxes of several
//! workspaces used could be a way from one into another. So every repository has its own, which its worktrees share.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use sha2::{Digest, Sha256};

use crate::git::linked::named_back;

/// What was not used for so long goes when a new one comes.
const UNUSED: Duration = Duration::from_secs(60 * 24 * 60 * 60);

/// The folder for the caches of a workspace, which is there from now on.
pub(super) fn folder_for(all: &Path, workspace: Option<&PathBuf>) -> io::Result<PathBuf> {
    let folder = all.join(workspace.map_or_else(|| "none".to_owned(), |workspace| name_for(workspace)));
    let is_new = !folder.is_dir();
    fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
    let _ = File::open(&folder).and_then(|folder| folder.set_modified(SystemTime::now()));
    if is_new {
        remove_unused(all, SystemTime::now());
    }
    Ok(folder)
}

/// The name says which folder it is, not only what it is called: what is cloned to the place of another is another.
fn name_for(workspace: &Path) -> String {
    let dot_git = workspace.join(".git");
    let shared = match fs::symlink_metadata(&dot_git) {
        Ok(found) if found.is_dir() => Some(dot_git),
        Ok(_) => named_back(&dot_git).map(|linked| linked.shared),
        Err(_) => None,
    };
    let whose = shared.as_deref().unwrap_or(workspace);
    let mut hash = Sha256::new();
    hash.update(whose.as_os_str().as_bytes());
    if let Ok(found) = fs::metadata(whose) {
        hash.update([0]);
        hash.update(found.dev().to_be_bytes());
        hash.update(found.ino().to_be_bytes());
    }
    hash.finalize().iter().take(16).fold(String::new(), |mut name, byte| {
        let _ = write!(name, "{byte:02x}");
        name
    })
}

fn remove_unused(all: &Path, now: SystemTime) {
    let is_old = |path: &PathBuf| {
        let used = fs::symlink_metadata(path).and_then(|found| found.modified());
        used.is_ok_and(|used| now.duration_since(used).is_ok_and(|since| since > UNUSED))
    };
    let old: Vec<PathBuf> =
        fs::read_dir(all).into_iter().flatten().flatten().map(|entry| entry.path()).filter(is_old).collect();
    if old.is_empty() {
        return;
    }
    // Apart: they may be large.
    let started = std::thread::Builder::new().name("neco-caches".to_owned()).spawn(move || {
        for folder in old {
            if let Err(error) = fs::remove_dir_all(&folder) {
                tracing::warn!(folder = %folder.display(), %error, "a cache that nobody uses could not be removed");
            }
        }
    });
    drop(started);
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn every_repository_has_its_own_and_worktrees_have_that_of_theirs() {
        let folder = tempfile::tempdir_in(fs::canonicalize(std::env::temp_dir()).unwrap()).unwrap();
        let at = |name: &str| folder.path().join(name);
        let script = "set -e; mkdir plain; for i in a b; do git init -q $i; \
            git -C $i -c user.name=a -c user.email=a@b commit -q --allow-empty -m x; done; git -C a worktree add -q ../tree; \
            mkdir liar; echo 'gitdir: ../b/.git' >liar/.git";
        assert!(Command::new("sh").args(["-c", script]).current_dir(folder.path()).status().unwrap().success());
        let of = |name: &str| folder_for(&at("cache"), Some(&at(name))).unwrap();
        let all = ["a", "b", "plain", "liar"].map(of);
        for (number, one) in all.iter().enumerate() {
            assert!(one.is_dir() && all.iter().skip(number + 1).all(|other| other != one), "{all:?}");
        }
        assert_eq!(of("tree"), of("a"));
        fs::rename(at("plain"), at("gone")).unwrap();
        fs::create_dir(at("plain")).unwrap();
        assert_ne!(of("plain"), all[2], "another folder of the same name");
    }

    #[test]
    fn what_nobody_uses_goes() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("go-build/x")).unwrap();
        remove_unused(folder.path(), SystemTime::now());
        assert!(folder.path().join("go-build").is_dir());
        remove_unused(folder.path(), SystemTime::now() + UNUSED + Duration::from_secs(9));
        let begun = std::time::Instant::now();
        while folder.path().join("go-build").exists() {
            assert!(begun.elapsed() < Duration::from_secs(20), "it stayed");
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

//! Where the shell of an agent stands between two commands.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Read};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use neco_safety::path::{Access, open_without_links};
use neco_safety::world::Files;
use tempfile::TempDir;

/// No path that a system takes is longer.
const LONGEST_PATH: u64 = 4096;

/// Where the shell stands. The methods look at the disk: not for a thread of the runtime.
#[derive(Debug, Default)]
pub(super) struct ShellFolder {
    /// Nothing stands for the workspace.
    stands: Mutex<Option<PathBuf>>,
    /// A private folder for the files in which shells say where they ended.
    reports: Mutex<Option<TempDir>>,
    count: AtomicU64,
}

impl ShellFolder {
    /// The folder that the next command starts in, and what the model must know about it.
    pub(super) fn start(&self, files: &Files) -> (PathBuf, Option<String>) {
        let mut stands = self.stands.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(folder) = stands.take() else { return (files.workspace().to_path_buf(), None) };
        if is_there(files, &folder) {
            *stands = Some(folder.clone());
            return (folder, None);
        }
        let note = format!("the folder {} is gone: the shell stands in the workspace again", folder.display());
        (files.workspace().to_path_buf(), Some(note))
    }

    /// The folder that the next command would start in.
    pub(super) fn stands(&self, files: &Files) -> PathBuf {
        let stands = self.stands.lock().unwrap_or_else(PoisonError::into_inner);
        let there = stands.as_ref().filter(|folder| is_there(files, folder));
        there.map_or_else(|| files.workspace().to_path_buf(), PathBuf::clone)
    }

    /// A file that does not exist, for a shell to say where it ended.
    pub(super) fn report_file(&self, temporary: &Path) -> io::Result<PathBuf> {
        let mut reports = self.reports.lock().unwrap_or_else(PoisonError::into_inner);
        // A command may have emptied the folder of temporary files.
        if !reports.as_ref().is_some_and(|folder| folder.path().is_dir()) {
            *reports = Some(tempfile::Builder::new().prefix("neco-shell-").tempdir_in(temporary)?);
        }
        let folder = reports.as_ref().map_or(temporary, TempDir::path);
        Ok(folder.join(format!("folder-{}", self.count.fetch_add(1, Ordering::Relaxed))))
    }

    /// Takes up where a shell ended. A shell that did not say leaves things as they were.
    pub(super) fn take_report(&self, files: &Files, report: &Path) -> Option<String> {
        let mut said = read_report(report)?;
        // What can't be removed goes with its folder.
        let _ = fs::remove_file(report);
        if said.pop() != Some(b'\n') || said.is_empty() {
            return None;
        }
        let folder = PathBuf::from(OsString::from_vec(said));
        let inside = files.locate(&folder, Access::Write).is_ok();
        let mut stands = self.stands.lock().unwrap_or_else(PoisonError::into_inner);
        if inside {
            *stands = Some(folder).filter(|folder| folder != files.workspace());
            return None;
        }
        *stands = None;
        Some(format!(
            "the command ended in {}, outside the workspace: the shell stands in {} again",
            folder.display(),
            files.workspace().display()
        ))
    }

    /// Forgets a report that does not count.
    pub(super) fn drop_report(&self, report: &Path) {
        // It may never have been written; what can't be removed goes with its folder.
        let _ = fs::remove_file(report);
    }
}

/// Whether a folder is still the one that was meant.
fn is_there(files: &Files, folder: &Path) -> bool {
    files.locate(folder, Access::Write).is_ok_and(|located| located.path() == folder) && folder.is_dir()
}

/// What a shell said. The command could put anything there: a link, a pipe, or more than any path has.
fn read_report(report: &Path) -> Option<Vec<u8>> {
    let file = open_without_links(report).ok()?;
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut said = Vec::new();
    // One byte more than a path and its newline can have.
    file.take(LONGEST_PATH + 2).read_to_end(&mut said).ok()?;
    (said.len() as u64 <= LONGEST_PATH + 1).then_some(said)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn only_a_short_regular_file_is_a_report() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("plain"), "/somewhere\n").unwrap();
        fs::write(path("long"), "x".repeat(5000)).unwrap();
        symlink(path("plain"), path("link")).unwrap();
        symlink("/dev/zero", path("endless")).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(path("pipe")).status().unwrap().success());
        assert_eq!(read_report(&path("plain")).as_deref(), Some(&b"/somewhere\n"[..]));
        for name in ["long", "link", "endless", "pipe", "missing"] {
            assert_eq!(read_report(&path(name)), None, "{name}");
        }
    }
}

//! The fresh folder of one run.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use neco_proto::app::AppError;
use tempfile::TempDir;

use crate::error::failed;
use crate::opening::on_thread;

/// How the names of these folders begin.
const BEGINNING: &str = "neco-eval-";

/// Whether a folder is called like that of a run.
pub(crate) fn is_called_so(folder: &Path) -> bool {
    folder.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with(BEGINNING))
}

/// The folder of one run; gone with it, unless it is kept.
pub(crate) struct Place {
    folder: Option<TempDir>,
    /// Its name without links.
    path: PathBuf,
}

impl Place {
    /// A new folder with these files.
    pub async fn make(task: &str, files: BTreeMap<String, String>) -> Result<Self, AppError> {
        let prefix = format!("{BEGINNING}{task}-");
        on_thread(move || {
            let made = tempfile::Builder::new().prefix(&prefix).tempdir();
            let folder = made.map_err(|error| failed(format!("no temporary folder can be made: {error}")))?;
            let path = folder.path().canonicalize().map_err(failed)?;
            put(&path, &files)?;
            Ok(Self { folder: Some(folder), path })
        })
        .await
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Puts files into it, over whatever is there.
    pub async fn put(&self, files: BTreeMap<String, String>) -> Result<(), AppError> {
        let path = self.path.clone();
        on_thread(move || put(&path, &files)).await
    }

    /// Ends with it: gives where it is when it is kept, and removes it otherwise.
    pub async fn end(mut self, keep: bool) -> Option<String> {
        let folder = self.folder.take()?;
        if keep {
            return Some(folder.keep().display().to_string());
        }
        // What can't be removed is left to whoever cleans up temporary files.
        let _ = on_thread(move || folder.close().map_err(failed)).await;
        None
    }
}

fn put(folder: &Path, files: &BTreeMap<String, String>) -> Result<(), AppError> {
    for (path, text) in files {
        write(folder, Path::new(path), text).map_err(|error| failed(format!("{path} can't be written: {error}")))?;
    }
    Ok(())
}

/// Writes one file. What an agent left on the way, a link above all, is replaced and never followed: the agent must not
/// decide what is written outside of the folder.
fn write(folder: &Path, path: &Path, text: &str) -> io::Result<()> {
    let mut at = folder.to_owned();
    for part in path.parent().into_iter().flat_map(Path::components) {
        at.push(part);
        match fs::symlink_metadata(&at) {
            Ok(found) if found.is_dir() => {}
            Ok(_) => fs::remove_file(&at).and_then(|()| fs::create_dir(&at))?,
            Err(_) => fs::create_dir(&at)?,
        }
    }
    let file = folder.join(path);
    match fs::symlink_metadata(&file) {
        Ok(found) if found.is_dir() => fs::remove_dir_all(&file)?,
        Ok(_) => fs::remove_file(&file)?,
        Err(_) => {}
    }
    OpenOptions::new().write(true).create_new(true).open(&file)?.write_all(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn links_that_an_agent_left_are_replaced() {
        let (folder, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let secret = outside.path().join("t.py");
        fs::write(&secret, "mine").unwrap();
        symlink(outside.path(), folder.path().join("tests")).unwrap();
        symlink(&secret, folder.path().join("t.py")).unwrap();
        let files = ["tests/t.py", "t.py"].map(|path| (path.to_owned(), "check".to_owned()));
        put(folder.path(), &BTreeMap::from(files)).unwrap();
        assert_eq!(fs::read_to_string(&secret).unwrap(), "mine");
        assert_eq!(fs::read_to_string(folder.path().join("tests/t.py")).unwrap(), "check");
        assert_eq!(fs::read_to_string(folder.path().join("t.py")).unwrap(), "check");
    }

    #[test]
    fn a_folder_in_the_way_of_a_file_goes() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("a/b")).unwrap();
        put(folder.path(), &BTreeMap::from([("a".to_owned(), "file".to_owned())])).unwrap();
        assert_eq!(fs::read_to_string(folder.path().join("a")).unwrap(), "file");
    }
}

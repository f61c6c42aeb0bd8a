//! What a person keeps of a session's changes: names of exactly these changes, in a file beside the session, which goes
//! with it.

use std::collections::BTreeSet;
use std::fs::{self, DirBuilder, File};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use neco_proto::SessionId;

/// Most names that are kept; changes that are no more lose theirs first.
const MOST: usize = 20_000;

/// Characters of a name.
const LONGEST: usize = 64;

/// The file of one session.
pub(super) struct ReviewMarks {
    folder: PathBuf,
}

impl ReviewMarks {
    pub(super) fn of(data_dir: &Path, session: SessionId) -> Self {
        Self { folder: data_dir.join("sessions").join(session.to_string()) }
    }

    /// What is kept; nothing where that can't be read.
    pub(super) fn kept(&self) -> BTreeSet<String> {
        self.read().unwrap_or_default().into_iter().collect()
    }

    /// Keeps more, and some no longer; gives what is kept then.
    pub(super) fn change(&self, more: &[String], no_longer: &[String]) -> io::Result<BTreeSet<String>> {
        DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)?;
        // The file itself is replaced, so the folder is locked.
        let folder = File::open(&self.folder)?;
        folder.lock()?;
        let mut kept = self.read()?;
        kept.retain(|name| !no_longer.contains(name) && !more.contains(name));
        let is_name = |name: &&String| !name.is_empty() && name.len() <= LONGEST;
        let mut seen = BTreeSet::new();
        kept.extend(more.iter().filter(is_name).filter(|name| seen.insert(*name)).cloned());
        let old = kept.len().saturating_sub(MOST);
        kept.drain(..old);
        let mut file = tempfile::NamedTempFile::new_in(&self.folder)?;
        file.write_all(&serde_json::to_vec(&kept)?)?;
        file.persist(self.file())?;
        Ok(kept.into_iter().collect())
    }

    /// What is kept, the last at the end.
    fn read(&self) -> io::Result<Vec<String>> {
        match fs::read(self.file()) {
            // What somebody broke is begun anew.
            Ok(bytes) => Ok(serde_json::from_slice(&bytes).unwrap_or_default()),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }

    fn file(&self) -> PathBuf {
        self.folder.join("kept.json")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_kept_until_they_are_taken_back() {
        let folder = tempfile::tempdir().unwrap();
        let marks = ReviewMarks::of(folder.path(), SessionId::new());
        let names = |names: &[&str]| -> Vec<String> { names.iter().map(|name| (*name).to_owned()).collect() };
        assert!(marks.kept().is_empty());
        marks.change(&names(&["a", "b", "b"]), &[]).unwrap();
        let kept = marks.change(&names(&["c"]), &names(&["a", "unknown"])).unwrap();
        assert_eq!(kept, names(&["b", "c"]).into_iter().collect());
        assert_eq!(marks.kept(), kept);
        let many: Vec<String> = (0..MOST).map(|number| number.to_string()).collect();
        assert!(!marks.change(&many, &[]).unwrap().contains("b"), "what is oldest goes first");
        assert!(marks.change(&names(&["", &"x".repeat(65)]), &[]).unwrap().len() == MOST);
    }
}

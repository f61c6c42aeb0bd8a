//! Where skills come from that a person added: kept among their settings, so that each can be fetched anew.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::plugins::Source;

/// A skill that was added, and where it comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AddedSkill {
    /// Its folder.
    pub folder: PathBuf,
    /// What it was copied from.
    pub source: Source,
    /// The folder in that; all of it where it is empty.
    #[serde(default)]
    pub below: PathBuf,
    /// The commit that was taken, for one of a git repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// What was said yes to: every file of it.
    pub hash: String,
}

/// The skills that a person added.
#[derive(Clone, Debug)]
pub struct AddedSkills {
    file: PathBuf,
}

impl AddedSkills {
    /// Those of a folder of settings.
    pub fn new(config_dir: &Path) -> Self {
        Self { file: config_dir.join("added-skills.json") }
    }

    /// All of them.
    ///
    /// # Errors
    /// When the list can't be read.
    pub fn all(&self) -> io::Result<Vec<AddedSkill>> {
        match fs::read(&self.file) {
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(|error| self.at(error.into())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(self.at(error)),
        }
    }

    /// Keeps where a skill comes from.
    ///
    /// # Errors
    /// When that can't be kept.
    pub fn keep(&self, skill: AddedSkill) -> io::Result<()> {
        self.change(|all| {
            all.retain(|known| known.folder != skill.folder);
            all.push(skill);
        })
    }

    /// Forgets where the skill of a folder comes from.
    ///
    /// # Errors
    /// When that can't be kept.
    pub fn forget(&self, folder: &Path) -> io::Result<()> {
        match self.all()?.iter().any(|known| known.folder == folder) {
            true => self.change(|all| all.retain(|known| known.folder != folder)),
            false => Ok(()),
        }
    }

    fn change(&self, change: impl FnOnce(&mut Vec<AddedSkill>)) -> io::Result<()> {
        let folder = self.file.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder)?;
        // Who changes it waits for whoever else does.
        let lock = fs::File::open(folder)?;
        rustix::fs::flock(&lock, rustix::fs::FlockOperation::LockExclusive)?;
        let mut all = self.all()?;
        change(&mut all);
        let mut temporary = tempfile::NamedTempFile::new_in(folder)?;
        temporary.write_all(&serde_json::to_vec_pretty(&all)?)?;
        temporary.persist(&self.file)?;
        Ok(())
    }

    fn at(&self, error: io::Error) -> io::Error {
        io::Error::new(error.kind(), format!("{}: {error}", self.file.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_there_until_it_is_forgotten() {
        let place = tempfile::tempdir().unwrap();
        let added = AddedSkills::new(&place.path().join("settings"));
        let skill = |folder: &str, hash: &str| AddedSkill {
            folder: folder.into(),
            source: Source::Folder("/from".into()),
            below: "a".into(),
            commit: None,
            hash: hash.to_owned(),
        };
        assert_eq!(added.all().unwrap(), []);
        added.forget(Path::new("/one")).unwrap();
        for (folder, hash) in [("/one", "1"), ("/two", "2"), ("/one", "3")] {
            added.keep(skill(folder, hash)).unwrap();
        }
        assert_eq!(added.all().unwrap(), [skill("/two", "2"), skill("/one", "3")]);
        added.forget(Path::new("/two")).unwrap();
        assert_eq!(added.all().unwrap(), [skill("/one", "3")]);
        fs::write(place.path().join("settings/added-skills.json"), "{").unwrap();
        assert!(added.all().unwrap_err().to_string().contains("added-skills.json"));
        assert!(added.keep(skill("/two", "2")).is_err(), "what can't be read is not written over");
    }
}

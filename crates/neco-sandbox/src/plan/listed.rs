//! What is in folders, as one look at each tells it: most names that are asked for are not there, and none of those has
//! to be asked for by itself.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

/// A look at a folder costs as much as asking for so many things in it.
pub(crate) const SEVERAL: usize = 4;

/// The folders that were looked at while one plan is drawn, or one command is looked after.
#[derive(Debug, Default)]
pub(crate) struct Listed(RefCell<HashMap<PathBuf, Option<Names>>>);

/// The names in a folder.
#[derive(Debug, Default)]
struct Names {
    /// As they are written.
    exact: HashSet<OsString>,
    /// Without what some disks make no difference of.
    folded: HashSet<String>,
}

impl Listed {
    /// Looks at a folder, once. Whether all names in it can be read.
    pub(crate) fn look_at(&self, folder: &Path) -> bool {
        let mut folders = self.0.borrow_mut();
        folders.entry(folder.to_path_buf()).or_insert_with(|| Names::of(folder)).is_some()
    }

    /// Takes the names in a folder from whoever looked at it; nothing where they can't be read.
    pub(crate) fn take(&self, folder: &Path, names: Option<Vec<OsString>>) {
        let names = names.map(|names| names.into_iter().fold(Names::default(), Names::with));
        self.0.borrow_mut().insert(folder.to_path_buf(), names);
    }

    /// Whether something is there, as far as the folder was looked at: nothing where that does not tell.
    pub(crate) fn holds(&self, path: &Path) -> Option<bool> {
        let folders = self.0.borrow();
        let names = folders.get(path.parent()?)?.as_ref()?;
        names.hold(path.file_name()?)
    }

    /// Whether something may be at a path below a folder, as far as the folders on the way were looked at.
    pub(crate) fn may_hold(&self, folder: &Path, below: &Path) -> bool {
        let mut at = folder.to_path_buf();
        below.iter().all(|name| {
            at.push(name);
            self.holds(&at) != Some(false)
        })
    }

    /// Which of these paths below a folder may be there. Folders of which several things are asked are looked at.
    pub(crate) fn among<'a>(&self, folder: &Path, below: impl Iterator<Item = &'a str>) -> Vec<PathBuf> {
        let below: Vec<&Path> = below.map(Path::new).collect();
        let mut asked: BTreeMap<&Path, usize> = BTreeMap::new();
        for parent in below.iter().filter_map(|path| path.parent()) {
            *asked.entry(parent).or_default() += 1;
        }
        // Those above come before those below.
        for (parent, _) in asked.into_iter().filter(|(_, count)| *count >= SEVERAL) {
            if self.may_hold(folder, parent) {
                self.look_at(&folder.join(parent));
            }
        }
        below.into_iter().filter(|path| self.may_hold(folder, path)).map(|path| folder.join(path)).collect()
    }
}

impl Names {
    /// Nothing where not all of them can be read.
    fn of(folder: &Path) -> Option<Self> {
        let entries = match fs::read_dir(folder) {
            Ok(entries) => entries,
            // Nothing is in what is not there.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Some(Self::default()),
            Err(_) => return None,
        };
        let mut names = Self::default();
        for entry in entries {
            names = names.with(entry.ok()?.file_name());
        }
        Some(names)
    }

    fn with(mut self, name: OsString) -> Self {
        self.folded.insert(folded(&name));
        self.exact.insert(name);
        self
    }

    fn hold(&self, name: &OsStr) -> Option<bool> {
        if self.exact.contains(name) {
            return Some(true);
        }
        // Whether the disk takes one for the other only the disk knows.
        (!self.folded.contains(&folded(name))).then_some(false)
    }
}

/// A name without the size of its letters, and without what has none.
fn folded(name: &OsStr) -> String {
    let name = name.to_string_lossy();
    name.chars().filter(|letter| !is_unseen(*letter)).collect::<String>().to_lowercase().to_uppercase()
}

/// Whether nothing is drawn for a letter: there are disks that leave such out of a name.
fn is_unseen(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}')
        || matches!(letter, '\u{fe00}'..='\u{fe0f}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_listed_is_not_there_and_what_only_the_disk_knows_is_not_said() {
        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| folder.path().join(path);
        fs::create_dir_all(at(".config/gh")).unwrap();
        for name in [".SSH", ".Netrc", ".aws", ".\u{212a}ube", ".pgpa\u{17f}s", ".s3\u{200d}cfg"] {
            fs::write(at(name), "").unwrap();
        }
        let listed = Listed::default();
        assert_eq!(listed.holds(&at(".aws")), None, "nobody looked");
        listed.look_at(folder.path());
        assert_eq!((listed.holds(&at(".aws")), listed.holds(&at(".oci"))), (Some(true), Some(false)));
        for name in [".ssh", ".netrc", ".kube", ".pgpass", ".s3cfg"] {
            assert_eq!(listed.holds(&at(name)), None, "{name}");
        }
        let may_hold = |below: &str| listed.may_hold(folder.path(), Path::new(below));
        assert!(may_hold(".config/gh") && may_hold(".aws/x") && may_hold(".ssh/x") && !may_hold(".local/share/amp"));
        let asked = ".config/gh .config/hub .config/a .config/b .oci .aws .local/a .local/b .local/c .local/d";
        let found = listed.among(folder.path(), asked.split(' '));
        assert_eq!(found, [at(".config/gh"), at(".aws")]);
    }
}

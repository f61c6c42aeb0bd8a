//! What is in folders, as one look at each tells it: most names that are asked for are not there, and none of those has
//! to be asked for by itself.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use rustix::fs::FileType;

use crate::survey::unreadable::{Entry, first_entries};

/// A look at a folder costs as much as asking for so many things in it.
pub(crate) const SEVERAL: usize = 4;

/// A folder with more than this is not looked at: asking for all that anybody wants to know of it costs less.
pub(crate) const MOST_LISTED: usize = 2000;

/// The folders that were looked at while one plan is drawn, or one command is looked after.
#[derive(Debug, Default)]
pub(crate) struct Listed(RefCell<HashMap<PathBuf, Look>>);

/// What a look at a folder came to.
#[derive(Debug)]
enum Look {
    /// It holds these.
    All(Names),
    /// It holds too much.
    TooMuch,
    /// It can't be read.
    Unreadable,
}

/// The names in a folder.
#[derive(Debug, Default)]
struct Names {
    /// As they are written, and what they stand for.
    exact: HashMap<OsString, FileType>,
    /// Without the size of their letters, which some disks make no difference of.
    folded: HashSet<OsString>,
    /// Whether some are not plain: which others a disk takes for these only the disk knows.
    any_unusual: bool,
}

impl Listed {
    /// Looks at a folder, once. Whether it can be read.
    pub(crate) fn look_at(&self, folder: &Path) -> bool {
        let mut folders = self.0.borrow_mut();
        let look = folders.entry(folder.to_path_buf()).or_insert_with(|| Look::at(folder));
        !matches!(look, Look::Unreadable)
    }

    /// Looks at a folder below one that was looked at. What is not there as far as that tells is empty.
    pub(crate) fn look_below(&self, folder: &Path, below: &str) {
        let at = folder.join(below);
        if self.may_hold(folder, Path::new(below)) {
            self.look_at(&at);
        } else {
            self.take(&at, Vec::new());
        }
    }

    /// Takes what is in a folder from whoever looked at it.
    pub(crate) fn take(&self, folder: &Path, entries: Vec<Entry>) {
        let names = entries.into_iter().fold(Names::default(), Names::with);
        self.0.borrow_mut().insert(folder.to_path_buf(), Look::All(names));
    }

    /// Whether something is there, as far as the folder was looked at: nothing where that does not tell.
    pub(crate) fn holds(&self, path: &Path) -> Option<bool> {
        let folders = self.0.borrow();
        match folders.get(path.parent()?)? {
            Look::All(names) => names.hold(path.file_name()?),
            Look::TooMuch | Look::Unreadable => None,
        }
    }

    /// What something is, as far as the folder was looked at; of a link, that it is one.
    pub(crate) fn kind(&self, path: &Path) -> Option<FileType> {
        let folders = self.0.borrow();
        match folders.get(path.parent()?)? {
            Look::All(names) => names.exact.get(path.file_name()?).copied(),
            Look::TooMuch | Look::Unreadable => None,
        }
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

impl Look {
    fn at(folder: &Path) -> Self {
        match first_entries(folder, MOST_LISTED + 1) {
            Ok(entries) if entries.len() > MOST_LISTED => Self::TooMuch,
            Ok(entries) => Self::All(entries.into_iter().fold(Names::default(), Names::with)),
            // Nothing is in what is not there.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Self::All(Names::default()),
            Err(_) => Self::Unreadable,
        }
    }
}

impl Names {
    fn with(mut self, entry: Entry) -> Self {
        self.any_unusual |= !is_plain(&entry.name);
        self.folded.insert(entry.name.to_ascii_lowercase());
        self.exact.insert(entry.name, entry.kind);
        self
    }

    fn hold(&self, name: &OsStr) -> Option<bool> {
        if self.exact.contains_key(name) {
            return Some(true);
        }
        // Whether the disk takes one for the other only the disk knows.
        let is_known = !self.any_unusual && is_plain(name) && !self.folded.contains(&name.to_ascii_lowercase());
        is_known.then_some(false)
    }
}

/// Whether a name has nothing but letters that every disk reads alike, whatever their size: there are disks that leave
/// out what is not seen, and take for one what looks alike.
fn is_plain(name: &OsStr) -> bool {
    name.as_encoded_bytes().iter().all(|byte| matches!(byte, b' '..=b'~'))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn what_is_not_listed_is_not_there_and_what_only_the_disk_knows_is_not_said() {
        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| folder.path().join(path);
        fs::create_dir_all(at(".config/gh")).unwrap();
        for name in [".SSH", ".Netrc", ".aws"] {
            fs::write(at(name), "").unwrap();
        }
        let listed = Listed::default();
        assert_eq!(listed.holds(&at(".aws")), None, "nobody looked");
        listed.look_at(folder.path());
        assert_eq!((listed.holds(&at(".aws")), listed.holds(&at(".oci"))), (Some(true), Some(false)));
        let kinds = [".config", ".aws", ".oci"].map(|name| listed.kind(&at(name)));
        assert_eq!(kinds, [Some(FileType::Directory), Some(FileType::RegularFile), None]);
        for name in [".ssh", ".netrc", ".\u{212a}ube"] {
            assert_eq!(listed.holds(&at(name)), None, "{name}");
        }
        let may_hold = |below: &str| listed.may_hold(folder.path(), Path::new(below));
        assert!(may_hold(".config/gh") && may_hold(".aws/x") && may_hold(".ssh/x") && !may_hold(".local/share/amp"));
        let asked = ".config/gh .config/hub .config/a .config/b .oci .aws .local/a .local/b .local/c .local/d";
        let found = listed.among(folder.path(), asked.split(' '));
        assert_eq!(found, [at(".config/gh"), at(".aws")]);
        listed.look_below(folder.path(), ".oci/deep");
        assert_eq!(listed.holds(&at(".oci/deep/x")), Some(false), "nothing is in what is not there");
    }

    #[test]
    fn beside_a_name_that_disks_read_in_their_own_ways_nothing_is_known_to_be_missing() {
        for (name, means) in [
            (".\u{212a}ube", ".kube"),
            (".pgpa\u{17f}s", ".pgpass"),
            (".s3\u{34f}cfg", ".s3cfg"),
            (".o\u{7f}ci", ".oci"),
        ] {
            let folder = tempfile::tempdir().unwrap();
            fs::write(folder.path().join(name), "").unwrap();
            let listed = Listed::default();
            assert!(listed.look_at(folder.path()));
            assert_eq!(listed.holds(&folder.path().join(name)), Some(true));
            assert_eq!(listed.holds(&folder.path().join(means)), None, "{name:?}");
        }
    }

    #[test]
    fn a_folder_that_holds_too_much_tells_nothing_and_can_be_read_all_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("missing");
        for (count, expected) in [(MOST_LISTED, Some(false)), (MOST_LISTED + 1, None)] {
            for number in 0..count {
                fs::write(folder.path().join(number.to_string()), "").unwrap();
            }
            let listed = Listed::default();
            assert!(listed.look_at(folder.path()));
            assert_eq!(listed.holds(&missing), expected);
        }
    }
}

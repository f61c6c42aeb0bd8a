//! Other names of files that rules close: a file has several where it was linked, and each leads to the same content.

use std::collections::{BTreeMap, HashMap};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{fs, io};

use crate::plan::closing::{Shut, unseen};
use crate::survey::search::Identity;
use crate::survey::unreadable;

/// So much is looked at in all for files with several names, and for those names, and so long.
const MOST_ENTRIES: usize = 1_000_000;
const PATIENCE: Duration = Duration::from_secs(10);

/// What lies on no disk: no file there has a name elsewhere.
const ON_NO_DISK: &[&str] = &["/proc", "/sys"];

/// The other names, below these folders, of files that are closed. Boxes make none: what is closed lies on a mount of
/// its own there.
/// Fails when there is too much to look at, or something can't be looked at: a name that was not found would be open.
pub(crate) fn other_names(places: &BTreeMap<PathBuf, Shut>, roots: &[PathBuf]) -> io::Result<BTreeMap<PathBuf, Shut>> {
    names_within(places, roots, MOST_ENTRIES)
}

fn names_within(
    places: &BTreeMap<PathBuf, Shut>,
    roots: &[PathBuf],
    most: usize,
) -> io::Result<BTreeMap<PathBuf, Shut>> {
    let mut look = Look { roots, left: most, until: Instant::now() + PATIENCE };
    let mut several: HashMap<Identity, Shut> = HashMap::new();
    let is_shut = |(_, shut): &(&PathBuf, &Shut)| shut.reading || shut.changing;
    for (place, shut) in places.iter().filter(is_shut) {
        look.files_below(place, |_, found| {
            if found.nlink() > 1 {
                several.insert((found.dev(), found.ino()), *shut);
            }
        })?;
    }
    let mut others = BTreeMap::new();
    if several.is_empty() {
        return Ok(others);
    }
    for root in roots {
        look.files_below(root, |path, found| {
            let shut = several.get(&(found.dev(), found.ino())).filter(|_| found.nlink() > 1);
            if let Some(shut) = shut.filter(|_| !path.ancestors().any(|above| places.contains_key(above))) {
                others.insert(path.to_path_buf(), *shut);
            }
        })?;
    }
    Ok(others)
}

/// A look at files, and how far it still goes.
struct Look<'a> {
    /// The folders that commands work in.
    roots: &'a [PathBuf],
    left: usize,
    until: Instant,
}

impl Look<'_> {
    fn files_below(&mut self, start: &Path, mut each: impl FnMut(&Path, &fs::Metadata)) -> io::Result<()> {
        let mut waiting = vec![start.to_path_buf()];
        while let Some(path) = waiting.pop() {
            if self.left == 0 || Instant::now() > self.until {
                let words = "there is too much to look through for other names of files that rules close, so nothing \
                             is run: close less in the rules, or work in a smaller folder";
                return Err(io::Error::other(format!("{}: {words}", start.display())));
            }
            self.left -= 1;
            // Elsewhere no command opens what is closed to it now.
            let counts = self.roots.iter().any(|root| path.starts_with(root));
            let found = match fs::symlink_metadata(&path) {
                Ok(found) => found,
                Err(error) if counts && error.kind() != io::ErrorKind::NotFound => return Err(unseen(&path, &error)),
                Err(_) => continue,
            };
            if found.is_file() {
                each(&path, &found);
            } else if found.is_dir() && !ON_NO_DISK.iter().any(|own| path.starts_with(own)) {
                match unreadable::entries(&path) {
                    Ok(entries) => {
                        let may_count = |entry: &unreadable::Entry| entry.kind.is_file() || entry.kind.is_dir();
                        waiting.extend(entries.into_iter().filter(may_count).map(|entry| path.join(entry.name)));
                    }
                    Err(error) if counts => return Err(unseen(&path, &error)),
                    Err(_) => {}
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    const GONE: Shut = Shut { reading: true, changing: true };

    #[test]
    fn all_places_share_what_may_be_looked_at() {
        let folder = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(folder.path()).unwrap();
        for name in ["a", "b", "c"] {
            fs::create_dir(root.join(name)).unwrap();
            fs::write(root.join(name).join("file"), "").unwrap();
        }
        fs::hard_link(root.join("a/file"), root.join("c/other")).unwrap();
        let places = BTreeMap::from([(root.join("a"), GONE), (root.join("b"), GONE)]);
        let names = |most: usize| names_within(&places, std::slice::from_ref(&root), most);
        // Two folders with one file each, then all of the eight.
        assert_eq!(names(12).unwrap(), BTreeMap::from([(root.join("c/other"), GONE)]));
        for too_few in [0, 3, 11] {
            let refused = names(too_few).unwrap_err().to_string();
            assert!(refused.contains("nothing is run"), "{refused}");
        }
    }

    #[test]
    fn a_folder_that_its_owner_may_not_read_hides_no_name() {
        let folder = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(folder.path()).unwrap();
        fs::create_dir(root.join("sub")).unwrap();
        fs::write(root.join("a"), "").unwrap();
        fs::hard_link(root.join("a"), root.join("sub/other")).unwrap();
        let places = BTreeMap::from([(root.join("a"), GONE)]);
        let set = |mode: u32| fs::set_permissions(root.join("sub"), fs::Permissions::from_mode(mode)).unwrap();
        set(0o311);
        let found = other_names(&places, std::slice::from_ref(&root));
        set(0o000);
        let closed = other_names(&places, std::slice::from_ref(&root));
        set(0o755);
        let expected = BTreeMap::from([(root.join("sub/other"), GONE)]);
        assert_eq!(found.unwrap(), expected);
        // Whoever may not enter it can't ask what is there, but root.
        assert!(closed.map_or_else(|error| error.to_string().contains("nothing is run"), |found| found == expected));
    }
}

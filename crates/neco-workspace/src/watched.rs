//! Whether files were edited since they were looked at: what the system says of them, without reading them.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::OsString;
use std::fs::{self, Metadata};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::fs::{Dir, Mode, OFlags};

/// A folder that changed no longer ago than this may change again and look the same.
const MOMENT: Duration = Duration::from_millis(50);

/// The same on a disk that counts whole seconds.
const COARSE_MOMENT: Duration = Duration::from_secs(2);

/// So many paths in a folder that changed are asked for one by one; for more its names are read, which costs less.
const FEW: usize = 2;

/// A folder with more names is not read for them.
const MOST_NAMES: usize = 200;

/// When a file was changed in any way, how long it is, and which one it is.
type Seen = ((i64, i64), u64, u64);

/// Paths that were looked at, each as the system saw it then.
///
/// ```
/// let mut watched = neco_workspace::Watched::default();
/// watched.add("/".as_ref());
/// assert!(watched.is_current(), "nobody has touched it since");
/// ```
#[derive(Debug, Default)]
pub struct Watched {
    paths: HashMap<OsString, Option<Seen>>,
    /// Folders in which everything was missing that was looked for: as long as the system says the same of them,
    /// nothing came to them.
    without: Mutex<BTreeMap<PathBuf, Seen>>,
}

impl Clone for Watched {
    fn clone(&self) -> Self {
        Self { paths: self.paths.clone(), without: Mutex::default() }
    }
}

impl PartialEq for Watched {
    fn eq(&self, other: &Self) -> bool {
        self.paths == other.paths
    }
}

impl Eq for Watched {}

impl Watched {
    /// Looks at a path, which is read only afterwards. Where nothing lies, it is the first part of the path that is
    /// missing, so that other things may come and go in the folder above it.
    pub fn add(&mut self, path: &Path) {
        match fs::metadata(path) {
            Ok(file) => self.add_found(path, &file),
            Err(_) => {
                // A link that leads nowhere may lead somewhere later: it is looked at itself.
                let is_missing = |place: &&Path| fs::symlink_metadata(place).is_err();
                self.keep(path.ancestors().take_while(is_missing).last().unwrap_or(path), None);
            }
        }
    }

    /// The same for a path that the system was just asked about.
    pub fn add_found(&mut self, path: &Path, file: &Metadata) {
        self.keep(path, Some(as_seen(file)));
    }

    fn keep(&mut self, path: &Path, seen: Option<Seen>) {
        self.paths.entry(path.as_os_str().to_owned()).or_insert(seen);
        self.without = Mutex::default();
    }

    /// Looks at what another one looked at, too.
    pub fn extend(&mut self, other: Self) {
        for (path, seen) in other.paths {
            self.paths.entry(path).or_insert(seen);
        }
        self.without = Mutex::default();
    }

    /// How many paths are asked about.
    pub fn len(&self) -> usize {
        self.paths.len()
    }

    /// Whether it was told of no path.
    pub fn is_empty(&self) -> bool {
        self.paths.is_empty()
    }

    /// Whether all of them are as they were: at most one question to the system for each, and nothing is read.
    pub fn is_current(&self) -> bool {
        let mut missing: BTreeMap<&Path, Vec<&Path>> = BTreeMap::new();
        for (path, before) in &self.paths {
            let path = Path::new(path);
            match (before, path.parent()) {
                (None, Some(folder)) => missing.entry(folder).or_default().push(path),
                (_, _) if seen(path) != *before => return false,
                (_, _) => {}
            }
        }
        missing.into_iter().all(|(folder, paths)| self.are_missing(folder, &paths))
    }

    /// Whether these paths in a folder still lead to nothing. Where several are looked for, a folder that did not
    /// change answers for all of them.
    fn are_missing(&self, folder: &Path, paths: &[&Path]) -> bool {
        if let [path] = paths {
            return seen(path).is_none();
        }
        // What was looked at a moment ago is as it was.
        let now = self.paths.get(folder.as_os_str()).copied().flatten().or_else(|| seen(folder));
        let mut without = self.without.lock().unwrap_or_else(PoisonError::into_inner);
        if now.is_some() && without.get(folder) == now.as_ref() {
            return true;
        }
        let mut is_certain = true;
        for path in may_be_there(folder, paths) {
            if fs::symlink_metadata(path).is_err() {
                continue;
            }
            // A link may lead somewhere without a change of the folder that it is in.
            is_certain = false;
            if seen(path).is_some() {
                return false;
            }
        }
        if let Some(now) = now.filter(|now| is_certain && is_settled(now) && tells_of_changes(folder)) {
            without.insert(folder.to_path_buf(), now);
        }
        true
    }
}

/// Those of these paths in a folder that may be there, as far as its names tell.
fn may_be_there<'a>(folder: &Path, paths: &[&'a Path]) -> Vec<&'a Path> {
    let Some(names) = (paths.len() > FEW).then(|| plain_names(folder)).flatten() else { return paths.to_vec() };
    let may_be = |path: &&&'a Path| {
        let name = path.file_name().map(OsStrExt::as_bytes);
        name.is_none_or(|name| !is_plain(name) || names.contains(&name.to_ascii_lowercase()))
    };
    paths.iter().filter(may_be).copied().collect()
}

/// The names in a folder, without the size of their letters, which is no difference on some disks. Nothing where there
/// are many, or some that only the disk itself can compare.
fn plain_names(folder: &Path) -> Option<HashSet<Vec<u8>>> {
    let opened = rustix::fs::open(folder, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()).ok()?;
    let mut names = HashSet::new();
    for entry in Dir::new(opened).ok()? {
        let entry = entry.ok()?;
        let name = entry.file_name().to_bytes();
        if !is_plain(name) || names.len() > MOST_NAMES {
            return None;
        }
        names.insert(name.to_ascii_lowercase());
    }
    Some(names)
}

/// Whether every disk reads a name alike, whatever the size of its letters.
fn is_plain(name: &[u8]) -> bool {
    name.iter().all(|byte| matches!(byte, b' '..=b'~'))
}

/// Whether the times of a folder can be relied on: what a program shows as one, such as a bucket in a cloud, may have
/// the same ones for ever.
#[cfg(target_os = "linux")]
#[allow(clippy::useless_conversion, reason = "the field has another type on other machines")]
fn tells_of_changes(folder: &Path) -> bool {
    const SHOWN_BY_A_PROGRAM: i64 = 0x6573_5546;
    rustix::fs::statfs(folder).is_ok_and(|system| i64::from(system.f_type) != SHOWN_BY_A_PROGRAM)
}

#[cfg(not(target_os = "linux"))]
fn tells_of_changes(_folder: &Path) -> bool {
    true
}

/// Whether another change would look different. A disk that keeps no times says 1970.
fn is_settled(((seconds, nanos), _, _): &Seen) -> bool {
    let part = |number: &i64| u64::try_from(*number).unwrap_or_default();
    let changed = UNIX_EPOCH + Duration::from_secs(part(seconds)) + Duration::from_nanos(part(nanos));
    let moment = if *nanos == 0 { COARSE_MOMENT } else { MOMENT };
    *seconds > 0 && SystemTime::now().duration_since(changed).is_ok_and(|age| age > moment)
}

fn seen(path: &Path) -> Option<Seen> {
    fs::metadata(path).ok().as_ref().map(as_seen)
}

fn as_seen(file: &Metadata) -> Seen {
    ((file.ctime(), file.ctime_nsec()), file.len(), file.ino())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_edited_comes_or_goes_is_seen() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("file"), "one").unwrap();
        std::os::unix::fs::symlink(at("later"), at("link")).unwrap();
        let looked = || {
            let mut watched = Watched::default();
            ["file", "deep/down/below", "link"].iter().for_each(|name| watched.add(&at(name)));
            assert!(watched.is_current());
            assert_eq!(watched.len(), 3, "the file, the first folder that is not there, the link");
            watched
        };
        let edits: [(&str, &dyn Fn()); 5] = [
            ("an edit", &|| fs::write(at("file"), "other").unwrap()),
            ("a folder that comes", &|| fs::create_dir(at("deep")).unwrap()),
            ("what may be read", &|| {
                let mode = std::os::unix::fs::PermissionsExt::from_mode(0o600);
                fs::set_permissions(at("file"), mode).unwrap();
            }),
            ("the end of a link", &|| fs::write(at("later"), "").unwrap()),
            ("a file that goes", &|| fs::remove_file(at("file")).unwrap()),
        ];
        let before = looked();
        fs::write(at("other"), "one").unwrap();
        assert!(before.is_current(), "what lies beside them does not matter");
        for (what, edit) in edits {
            let before = looked();
            edit();
            assert!(!before.is_current(), "{what}");
        }
    }

    #[test]
    fn a_folder_that_did_not_change_answers_for_what_is_not_in_it() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let mut watched = Watched::default();
        ["a", "b/below"].iter().for_each(|name| watched.add(&at(name)));
        assert!(watched.is_current());
        assert!(watched.without.lock().unwrap().is_empty(), "it was made just now");
        std::thread::sleep(MOMENT + Duration::from_millis(50));
        assert!(watched.is_current() && watched.is_current());
        assert_eq!(watched.without.lock().unwrap().len(), 1);
        fs::write(at("other"), "").unwrap();
        assert!(watched.is_current(), "another came");
        fs::write(at("b"), "").unwrap();
        assert!(!watched.is_current());
    }

    #[test]
    fn of_many_that_are_missing_the_names_in_their_folder_tell_which_came() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let wanted = ["a", "b", "c", "d", "E\u{301}"];
        let paths: Vec<PathBuf> = wanted.map(at).into();
        let paths: Vec<&Path> = paths.iter().map(PathBuf::as_path).collect();
        let left = || may_be_there(folder.path(), &paths).len();
        assert_eq!(left(), 1, "only the disk knows which names it takes for the odd one");
        fs::write(at("B"), "").unwrap();
        assert_eq!(left(), 2, "a disk may take one letter for the other");
        fs::write(at("\u{e9}"), "").unwrap();
        assert_eq!(left(), 5, "beside an odd name nothing is known");
        let mut watched = Watched::default();
        paths.iter().for_each(|path| watched.add(path));
        assert!(watched.is_current());
        fs::create_dir(at("d")).unwrap();
        assert!(!watched.is_current());
    }

    #[test]
    fn a_folder_whose_times_never_change_answers_for_nothing() {
        assert!(is_settled(&((1, 0), 4096, 2)) && !is_settled(&((0, 0), 4096, 2)));
    }

    #[test]
    fn a_link_that_leads_nowhere_is_asked_each_time() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("elsewhere")).unwrap();
        std::os::unix::fs::symlink(at("elsewhere/later"), at("link")).unwrap();
        let mut watched = Watched::default();
        ["a", "link"].iter().for_each(|name| watched.add(&at(name)));
        std::thread::sleep(MOMENT + Duration::from_millis(50));
        assert!(watched.is_current() && watched.is_current());
        fs::write(at("elsewhere/later"), "").unwrap();
        assert!(!watched.is_current());
    }
}

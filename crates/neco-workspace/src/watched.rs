//! Whether files were edited since they were looked at: what the system says of them, without reading them.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// When a file was changed in any way, how long it is, and which one it is.
type Seen = ((i64, i64), u64, u64);

/// Paths that were looked at, each as the system saw it then.
///
/// ```
/// let mut watched = neco_workspace::Watched::default();
/// watched.add("/".as_ref());
/// assert!(watched.is_current(), "nobody has touched it since");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Watched(BTreeMap<PathBuf, Option<Seen>>);

impl Watched {
    /// Looks at a path, which is read only afterwards. Where nothing lies, it is the first part of the path that is
    /// missing, so that other things may come and go in the folder above it.
    pub fn add(&mut self, path: &Path) {
        let seen = seen(path);
        // A link that leads nowhere may lead somewhere later: it is looked at itself.
        let is_missing = |place: &&Path| fs::symlink_metadata(place).is_err();
        let place = match seen {
            Some(_) => path,
            None => path.ancestors().take_while(is_missing).last().unwrap_or(path),
        };
        self.0.entry(place.to_owned()).or_insert(seen);
    }

    /// Looks at what another one looked at, too.
    pub fn extend(&mut self, other: Self) {
        for (path, seen) in other.0 {
            self.0.entry(path).or_insert(seen);
        }
    }

    /// How many paths are asked about.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether it was told of no path.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether all of them are as they were: one question to the system for each, and nothing is read.
    pub fn is_current(&self) -> bool {
        self.0.iter().all(|(path, before)| seen(path) == *before)
    }
}

fn seen(path: &Path) -> Option<Seen> {
    let file = fs::metadata(path).ok()?;
    Some(((file.ctime(), file.ctime_nsec()), file.len(), file.ino()))
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
}
